/*
 * The command why: why the trace is as it is, why a function cannot be traced, where the code of a
 * line is, why no probe can be at a place, and what a probe records.
 */
#include <kernel/lines.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/whynot.h>
#include <trace/dyn_events.h>
#include <trace/errno.h>
#include <trace/fmt.h>
#include <trace/kprobe.h>
#include <trace/trace_seq.h>
#include <trace/types.h>
#include "cmd_reader.h"
#include "command_tables.h"

#define WHY_BYTES	320
#define WHY_PATH_BYTES	256
#define WHY_EVENT_BYTES 16384

/* ---- The trace ---- */

/* Print the file `why` of tracefs; that of an instance if `name` is not NULL. */
static int cmd_why_trace(struct command_env *env, const char *name)
{
	char path[WHY_PATH_BYTES], *paths[1] = { path }, *bytes;
	struct reader reader;
	size_t len;

	trace_snprintf(path, sizeof(path), "/sys/kernel/tracing/%s%s/why",
		       name ? "instances/" : ".", name ? name : "");
	if (!reader_open(&reader, env, 1, paths))
		return 1;
	while (reader_next_file(&reader)) {
		while ((len = reader_chunk(&reader, &bytes)) != 0)
			command_write(env, bytes, len);
	}
	reader_close(&reader);
	return reader.nr_failed != 0;
}

/* ---- Events ---- */

/* False: there is no event of that name. */
static bool cmd_why_event(struct command_env *env, const char *name, int *out_status)
{
	char *text = kmalloc(WHY_EVENT_BYTES);
	struct trace_seq seq;
	int err;

	if (!text) {
		command_perror(env, name, ENOMEM);
		*out_status = 1;
		return true;
	}
	trace_seq_init(&seq, text, WHY_EVENT_BYTES);
	err = trace_dyn_event_explain(name, &seq);
	if (err == -EINVAL)
		command_printf(env, "%s: an event of the kernel, which no line defines\n", name);
	command_write(env, text, seq.len);
	if (seq.overflowed)
		command_printf(env, "...\n");
	kfree(text);
	*out_status = 0;
	return err != -ENOENT;
}

/* ---- Places ---- */

/* Print the place of `line`, and the line that was taken instead if it has no code. */
static void cmd_why_place(struct command_env *env, const struct line_place *place, uint64_t line)
{
	char name[KSYM_NAME_LEN];
	uintptr_t start;
	size_t bytes;

	if (place->line != line)
		command_printf(env, "line %lu has no code; the next that has: ", line);
	command_printf(env, "%s:%u is at ", place->file, place->line);
	if (symbols_lookup(place->addr, name, &start, &bytes))
		command_printf(env, "%s+0x%lx", name, place->addr - start);
	else
		command_printf(env, "0x%lx", place->addr);
	if (place->nr > 1)
		command_printf(env, ", the first of %u pieces of code", place->nr);
	command_printf(env, "\n");
}

static const char *cmd_why_no_place(int err)
{
	switch (err) {
	case -ENOENT:
		return "no code comes from a file of that name";
	case -EEXIST:
		return "several files are called so; write more of the path";
	case -ENODATA:
		return "there is no code from that line on";
	case -EOPNOTSUPP:
		return "this kernel has no table of lines (LINE_TABLE=0)";
	default:
		return "this is not FILE:LINE";
	}
}

/* Say why no probe can be at `addr`, if that is so. Returns a status. */
static int cmd_why_refused(struct command_env *env, uintptr_t addr)
{
	struct symbols_variable variable;
	char text[WHY_BYTES];

	if (!kprobe_refusal(addr, text, sizeof(text)))
		return 0;
	command_printf(env, "    no probe can be at %s\n", text);
	if (symbols_variable_at(addr, text, &variable))
		command_printf(env, "    that is %s+0x%lx, which w@0x%lx watches\n", text,
			       addr - variable.addr, addr);
	return 1;
}

/* Answer about FILE:LINE; `colon` is the colon in front of the line. Returns a status. */
static int cmd_why_line(struct command_env *env, const char *text, const char *colon)
{
	struct line_place place;
	uint64_t line;
	int err = -EINVAL;

	if (command_parse_u64(colon + 1, &line) && line < UINT32_MAX)
		err = lines_find(text, (size_t)(colon - text), (uint32_t)line, &place);
	command_printf(env, "%s: ", text);
	if (err) {
		command_printf(env, "%s\n", cmd_why_no_place(err));
		return 1;
	}
	cmd_why_place(env, &place, line);
	return cmd_why_refused(env, place.addr);
}

/*
 * Answer about an instruction, given by its address: its place, and how to put a probe there.
 * Returns a status.
 */
static int cmd_why_address(struct command_env *env, const char *text, uintptr_t addr)
{
	char name[KSYM_NAME_LEN];
	struct line_place place;
	uintptr_t start;
	size_t bytes;

	command_printf(env, "%s: ", text);
	if (symbols_lookup(addr, name, &start, &bytes))
		command_printf(env, "%s+0x%lx", name, addr - start);
	else
		command_printf(env, "0x%lx", addr);
	if (!lines_of(addr, &place))
		command_printf(env, ", of %s:%u", place.file, place.line);
	command_printf(env, "\n");
	return cmd_why_refused(env, addr);
}

/* Answer about FUNCTION+OFFSET; `plus` is the sign in front of the offset. */
static int cmd_why_offset(struct command_env *env, const char *text, const char *plus)
{
	char name[KSYM_NAME_LEN];
	uintptr_t start = 0;
	uint64_t offset;

	if ((size_t)(plus - text) < sizeof(name)) {
		strlcpy(name, text, (size_t)(plus - text) + 1);
		start = symbols_find(name);
	}
	if (start && command_parse_u64(plus + 1, &offset))
		return cmd_why_address(env, text, start + offset);
	command_printf(env, "%s: this is not FUNCTION+OFFSET\n", text);
	return 1;
}

/* False: there is no variable of that name. */
static bool cmd_why_variable(struct command_env *env, const char *name)
{
	struct symbols_variable variable;
	uint32_t nr = symbols_find_variable(name, &variable);

	if (nr == 1)
		command_printf(env, "%s: a variable of %lu bytes at 0x%lx, which w@%s watches\n",
			       name, variable.bytes, variable.addr, name);
	else if (nr)
		command_printf(env, "%s: %u variables, the first of %lu bytes at 0x%lx\n", name, nr,
			       variable.bytes, variable.addr);
	return nr;
}

/* Answer about the function, or the variable, of that name. */
static int cmd_why_name(struct command_env *env, const char *name)
{
	uintptr_t addr = symbols_find(name);
	struct line_place place;
	char text[WHY_BYTES];
	int status;

	if (!addr && cmd_why_variable(env, name))
		return 0;
	if (!addr && cmd_why_event(env, name, &status))
		return status;
	status = whynot_lookup(name, text, sizeof(text)) != WHYNOT_TRACEABLE;
	command_printf(env, "%s: %s\n", name, text);
	if (trace_function_prototype(name, text, sizeof(text)) > 0)
		command_printf(env, "    %s\n", text);
	if (!lines_of(addr, &place))
		command_printf(env, "    %s:%u\n", place.file, place.line);
	return addr ? status | cmd_why_refused(env, addr) : status;
}

/* Answer about a place of a program, PATH:OFFSET or PATH:SYMBOL. Returns a status. */
static TRACE_NOINLINE int cmd_why_program(struct command_env *env, const char *place)
{
	char line[WHY_PATH_BYTES + 2], text[WHY_PATH_BYTES + WHY_BYTES];
	struct trace_seq seq;
	int err;

	trace_snprintf(line, sizeof(line), "p %s", place);
	trace_seq_init(&seq, text, sizeof(text));
	err = trace_dyn_event_explain_place(line, &seq);
	command_printf(env, "%s: ", place);
	if (seq.len)
		command_write(env, text, seq.len);
	else
		command_printf(env, "there are no probes of programs\n");
	return err != 0;
}

static int cmd_why_one(struct command_env *env, const char *text)
{
	const char *colon = strchr(text, ':'), *slash = strchr(text, '/'),
		   *plus = strchr(text, '+');
	uint64_t addr;
	int status;

	if ((colon || slash || strchr(text, '.')) && cmd_why_event(env, text, &status))
		return status;
	if (colon && *text == '/')
		return cmd_why_program(env, text);
	if (colon)
		return cmd_why_line(env, text, colon);
	if (slash) {
		command_printf(env, "%s: there is no such event\n", text);
		return 1;
	}
	if (plus)
		return cmd_why_offset(env, text, plus);
	if (command_parse_u64(text, &addr))
		return cmd_why_address(env, text, addr);
	return cmd_why_name(env, text);
}

static int cmd_why(struct command_env *env, int argc, char **argv)
{
	int status = 0;

	if (argc < 2)
		return cmd_why_trace(env, NULL);
	if (strcmp(argv[1], "-i") == 0)
		return argc == 3 ? cmd_why_trace(env, argv[2]) : COMMAND_USAGE;
	for (int i = 1; i < argc; i++)
		status |= cmd_why_one(env, argv[i]);
	return status;
}

const struct command why_commands[] = {
	{ "why",
	  "[-i INSTANCE | NAME... | FUNCTION+OFFSET... | FILE:LINE... | ADDRESS... | "
	  "PROGRAM:PLACE... | EVENT...]",
	  "say why the trace is as it is, why a function cannot be traced, or a place not probed; "
	  "where a line is; what a probe records",
	  cmd_why, 0 },
	{ 0 },
};

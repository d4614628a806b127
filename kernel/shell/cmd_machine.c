/*
 * Commands about the machine and the kernel's image: poweroff, reboot, panic, why, uname.
 */
#include <arch/power.h>
#include <arch/smp.h>
#include <kernel/console.h>
#include <kernel/lines.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/thread.h>
#include <kernel/version.h>
#include <kernel/whynot.h>
#include <trace/fmt.h>
#include <trace/types.h>
#include "cmd_reader.h"
#include "command_tables.h"

#define WHY_BYTES      320
#define WHY_PATH_BYTES 256

static int cmd_poweroff(struct command_env *env, int argc, char **argv)
{
	(void)env;
	(void)argc;
	(void)argv;
	console_drain();
	smp_stop_others_nmi();
	power_off();
}

static int cmd_reboot(struct command_env *env, int argc, char **argv)
{
	(void)env;
	(void)argc;
	(void)argv;
	console_drain();
	smp_stop_others_nmi();
	power_reboot();
}

/* Uses up the stack until the guard page ends it. */
static TRACE_NOINLINE uint64_t cmd_use_stack(volatile uint64_t depth)
{
	return depth == UINT64_MAX ? 0 : cmd_use_stack(depth + 1) + depth;
}

static void cmd_cause_fault(void)
{
	volatile uintptr_t nowhere = 0x10; /* volatile, so that no compiler sees the mistake */

	*(volatile uint64_t *)nowhere = 0;
}

static void cmd_panic_in_cache(const char *name, size_t bytes, uint64_t live, uint64_t pages,
			       void *arg)
{
	(void)name;
	(void)bytes;
	(void)live;
	(void)pages;
	(void)arg;
	panic("with the locks of threads and of memory held");
}

static void cmd_panic_in_thread(struct thread *thread, void *arg)
{
	(void)thread;
	mm_each_cache(cmd_panic_in_cache, arg);
}

static int cmd_panic(struct command_env *env, int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "requested by a command";

	if (argc > 2)
		return COMMAND_USAGE;
	if (strcmp(what, "-fault") == 0)
		cmd_cause_fault();
	else if (strcmp(what, "-stack") == 0)
		command_printf(env, "%lu\n", cmd_use_stack(0));
	else if (strcmp(what, "-locks") == 0)
		thread_each(cmd_panic_in_thread, NULL);
	panic("%s", what);
}

/* Print what the file `why` of tracefs says; of an instance if `name` is not NULL. */
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

/* Where the `line` of a place is, and what was taken instead if that has no code. */
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

/* FILE:LINE; `colon` is that in front of the line. Returns a status. */
static int cmd_why_line(struct command_env *env, const char *text, const char *colon)
{
	struct line_place place;
	uint64_t line;
	int err = -EINVAL;

	if (command_parse_u64(colon + 1, &line) && line < UINT32_MAX)
		err = lines_find(text, (size_t)(colon - text), (uint32_t)line, &place);
	command_printf(env, "%s: ", text);
	if (err)
		command_printf(env, "%s\n", cmd_why_no_place(err));
	else
		cmd_why_place(env, &place, line);
	return err != 0;
}

static int cmd_why(struct command_env *env, int argc, char **argv)
{
	struct line_place place;
	char text[WHY_BYTES];
	int status = 0;

	if (argc < 2)
		return cmd_why_trace(env, NULL);
	if (strcmp(argv[1], "-i") == 0)
		return argc == 3 ? cmd_why_trace(env, argv[2]) : COMMAND_USAGE;
	for (int i = 1; i < argc; i++) {
		if (strchr(argv[i], ':')) {
			status |= cmd_why_line(env, argv[i], strchr(argv[i], ':'));
			continue;
		}
		if (whynot_lookup(argv[i], text, sizeof(text)) != WHYNOT_TRACEABLE)
			status = 1;
		command_printf(env, "%s: %s\n", argv[i], text);
		if (trace_function_prototype(argv[i], text, sizeof(text)) > 0)
			command_printf(env, "    %s\n", text);
		if (!lines_of(symbols_find(argv[i]), &place))
			command_printf(env, "    %s:%u\n", place.file, place.line);
	}
	return status;
}

static int cmd_uname(struct command_env *env, int argc, char **argv)
{
	bool all = argc == 2 && strcmp(argv[1], "-a") == 0;
	bool release = argc == 2 && strcmp(argv[1], "-r") == 0;

	if (argc > 1 && !all && !release)
		return COMMAND_USAGE;
	if (all)
		command_printf(env, "Fathom fathom %s %s SMP x86_64\n", KERNEL_VERSION,
			       KERNEL_COMPILER);
	else
		command_printf(env, "%s\n", release ? KERNEL_VERSION : "Fathom");
	return 0;
}

const struct command machine_commands[] = {
	{ "panic", "[-fault | -locks | -stack | MESSAGE]", "stop the kernel as a fatal error does",
	  cmd_panic, 0 },
	{ "poweroff", "", "turn the machine off", cmd_poweroff, 0 },
	{ "reboot", "", "start the machine anew", cmd_reboot, 0 },
	{ "uname", "[-a | -r]", "name the kernel", cmd_uname, 0 },
	{ "why", "[-i INSTANCE | NAME... | FILE:LINE...]",
	  "say why the trace is as it is, or a function cannot be traced; where a line is", cmd_why,
	  0 },
	{ 0 },
};

/*
 * Probes of scripts in programs: uprobe:PATH:PLACE and uretprobe:PATH:PLACE, by <trace/uprobe.h>. See
 * script.h. A place is a symbol of the file, SYMBOL+OFFSET, or an offset in the file.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include "probes/probe_uprobe.h"
#include "script_target.h"
#include "text/str.h"

/* ---- Places ---- */

static int script_program_symbol(struct trace_script *script, const struct expr_word *place,
				 struct uprobe_consumer *consumer)
{
	struct expr_word rest = *place, name = expr_take_until(&rest, "+");
	struct probe_elf_symbol symbol;
	uint64_t offset = 0;
	int err;

	if (expr_take(&rest, '+') && trace_expr_number(&rest, 0, false, &offset))
		return trace_script_refuse(script, place, -EINVAL, "no offset: '%.*s'",
					   (int)rest.len, rest.at);
	err = trace_probe_elf_find(consumer->file, name.at, name.len, &symbol);
	if (!err && symbol.nr > 1)
		err = -EINVAL;
	if (err)
		return trace_script_refuse(script, place, err, "%s '%.*s'",
					   err == -ENOENT    ? "the file has no symbol"
					   : err == -ENODATA ? "the file has no symbols, so no"
					   : err == -ENOEXEC ? "this is no program, and has no"
							     : "the file has several symbols",
					   (int)name.len, name.at);
	consumer->offset = symbol.offset + offset;
	return 0;
}

static int script_program_place(struct trace_script *script, const struct expr_word *place,
				struct uprobe_consumer *consumer)
{
	char why[100] = "";
	int err = 0;

	if (trace_script_is_pattern(place))
		return trace_script_refuse(script, place, -EINVAL,
					   "one symbol or offset stands here, no pattern");
	if (trace_expr_number(place, 0, false, &consumer->offset))
		err = script_program_symbol(script, place, consumer);
	if (err)
		return err;
	err = uprobe_refusal(consumer->file, consumer->offset, why, sizeof(why));
	return err ? trace_script_refuse(script, place, err, "no probe can be there: %s", why) : 0;
}

/* PATH:PLACE, cut at the last colon; or PATH:"PLACE". */
static bool script_program_split(const struct expr_word *rest, struct expr_word *out_path,
				 struct expr_word *out_place)
{
	size_t quotes = trace_expr_ends(rest, "\""), end = rest->len - quotes, len = end;

	while (len && rest->at[len - 1] != (quotes ? '"' : ':'))
		len--;
	if (len < 2 + quotes || rest->at[len - quotes - 1] != ':')
		return false;
	*out_path = (struct expr_word){ rest->at, len - quotes - 1 };
	*out_place = expr_between(rest->at + len, rest->at + end);
	return out_place->len;
}

/* The file `libc` as a library of that name: its number stands behind `.so`. */
static int script_program_library(const char *name, struct uprobe_file **out_file)
{
	static const char *const places[] = { "/lib/x86_64-linux-gnu",
					      "/usr/lib/x86_64-linux-gnu",
					      "/lib64",
					      "/usr/lib64",
					      "/lib",
					      "/usr/lib" };
	char path[PROBE_PATH_MAX];

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(places); i++) {
		for (int number = 0; number < 10; number++) {
			trace_snprintf(path, sizeof(path), "%s/%s.so.%d", places[i], name, number);
			if (!uprobe_file_get(path, out_file))
				return 0;
		}
		trace_snprintf(path, sizeof(path), "%s/%s.so", places[i], name);
		if (!uprobe_file_get(path, out_file))
			return 0;
	}
	return -ENOENT;
}

int trace_script_program_file(struct trace_script *script, const struct expr_word *path,
			      struct uprobe_file **out_file)
{
	char text[PROBE_PATH_MAX];
	int err = trace_expr_copy(text, sizeof(text), path) ? uprobe_file_get(text, out_file)
							    : -ENAMETOOLONG;

	if (err == -ENOENT && trace_str_starts(text, "lib"))
		err = script_program_library(text, out_file);
	return err ? trace_script_refuse(script, path, err, "%s '%.*s'",
					 err == -ENODEV ? "this machine has no programs, so no"
							: "there is no file",
					 (int)path->len, path->at)
		   : 0;
}

int trace_script_program_find(struct trace_script *script, struct script_probe *probe,
			      const struct expr_word *rest)
{
	struct script_target *target;
	struct expr_word file, place;
	int err;

	if (!script_program_split(rest, &file, &place))
		return trace_script_refuse(script, rest, -EINVAL,
					   "a probe of a program is PATH:SYMBOL or PATH:OFFSET");
	target = trace_script_target(probe, 1, 0);
	if (!target)
		return script->err;
	err = trace_script_program_file(script, &file, &target->uprobe.file);
	return err ? err : script_program_place(script, &place, &target->uprobe);
}

/* ---- Hits: the thread of the program ---- */

static void script_program_run(struct uprobe_consumer *self, uintptr_t ip, struct ftrace_regs *regs)
{
	struct script_target *target =
		(struct script_target *)(void *)((char *)self -
						 offsetof(struct script_target, uprobe));
	const struct script_hit hit = { .probe = target->probe, .regs = regs, .ip = ip };

	trace_plat_preempt_disable();
	trace_script_hit(target->probe->clause, &hit);
	trace_plat_preempt_enable();
}

static void script_program_entry(struct uprobe_consumer *self, struct ftrace_regs *regs)
{
	script_program_run(self, ftrace_regs_get_instruction_pointer(regs), regs);
}

static void script_program_return(struct uprobe_consumer *self, uintptr_t func,
				  struct ftrace_regs *regs)
{
	script_program_run(self, func, regs);
}

/* ---- On and off ---- */

int trace_script_program_attach(struct script_probe *probe)
{
	struct uprobe_consumer *consumer = &probe->target->uprobe;

	if (probe->kind == SCRIPT_UPROBE)
		consumer->handler = script_program_entry;
	else
		consumer->ret_handler = script_program_return;
	return register_uprobe(consumer);
}

void trace_script_program_detach(struct script_probe *probe)
{
	unregister_uprobe(&probe->target->uprobe);
}

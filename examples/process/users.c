/* See users.h. */
#include "users.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/defaults.h>
#include <trace/fs.h>
#include <trace/ftrace.h>
#include <trace/kprobe.h>
#include "process.h"
#include "target.h"

#define LINE_BYTES  128
#define STATS_BYTES 1024
#define LOOK_NS	    1000000u
#define MAX_LOOKS   1000u

enum user_kind {
	USER_OPS,
	USER_DIRECT,
	USER_TRACER,
	USER_PROBE
};

struct user {
	enum user_kind kind;
	struct ftrace_ops ops;
	const char *instance, *tracer;
	struct kprobe probe;
	uint32_t offset; /* of that, in target() */
	bool wants_jump;
};

void users_count_directly(void);

uint64_t users_hits;

/* ---- Callbacks ---- */

static void count(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	users_hits++;
}

static int count_probe(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	(void)regs;
	users_hits++;
	return 0;
}

static void count_and_override(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	count(ip, parent_ip, ops, fregs);
	ftrace_override_function_with_return(fregs);
}

/*
 * It has a symbol with a size. To free a direct call the library waits until no thread is in the
 * function; without a symbol it would take this for a part of the function before.
 */
__asm__(".pushsection .text\n"
	".globl users_count_directly\n"
	".type users_count_directly, @function\n"
	"users_count_directly:\n"
	"	incq users_hits(%rip)\n"
	"	ret\n"
	".size users_count_directly, . - users_count_directly\n"
	".popsection\n");

/* ---- Users ---- */

struct user counter = { .ops = { .func = count } };
struct user counter_too = { .ops = { .func = count } };
struct user counter_regs = { .ops = { .func = count, .flags = FTRACE_OPS_FL_SAVE_REGS } };
struct user direct = { .kind = USER_DIRECT };
struct user overrider = { .ops = { .func = count_and_override,
				   .flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY } };
struct user function = { .kind = USER_TRACER, .instance = "a", .tracer = "function" };
struct user function_too = { .kind = USER_TRACER, .instance = "b", .tracer = "function" };
struct user graph = { .kind = USER_TRACER, .instance = "a", .tracer = "function_graph" };
struct user graph_too = { .kind = USER_TRACER, .instance = "b", .tracer = "function_graph" };

struct user probe_site = { .kind = USER_PROBE };
struct user probe_int3 = { .kind = USER_PROBE, .offset = TRACE_INSN_SIZE };
struct user probe_jump = { .kind = USER_PROBE, .offset = TRACE_INSN_SIZE, .wants_jump = true };

struct answer {
	char text[STATS_BYTES];
	size_t len;
};

static void keep(void *arg, const char *text, size_t len)
{
	struct answer *answer = arg;

	if (len >= sizeof(answer->text) - answer->len)
		die("a long answer");
	memcpy(answer->text + answer->len, text, len);
	answer->len += len;
	answer->text[answer->len] = '\0';
}

/* Execute the line. Returns what it has printed, which is good until the next call. */
static const char *command(const char *fmt, ...)
{
	static struct answer answer;
	char line[LINE_BYTES];
	va_list args;
	int err;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	answer.len = 0;
	err = trace_fs_command(line, keep, &answer, NULL);
	if (err)
		die("%s: %d", line, err);
	return answer.text;
}

void users_init(void)
{
	command("mkdir instances/a; mkdir instances/b");
	/* These two cannot be registered without a filter, for all functions. */
	if (ftrace_set_filter_ip(&direct.ops, (uintptr_t)target, false, false) ||
	    ftrace_set_filter_ip(&overrider.ops, (uintptr_t)target, false, false))
		die("no filter");
}

static void wait_for_jump(const struct kprobe *p)
{
	for (uint32_t i = 0; !(p->flags & KPROBE_FLAG_OPTIMIZED); i++) {
		if (i == MAX_LOOKS)
			die("no jump");
		trace_plat_pause(LOOK_NS, false);
		trace_run_later();
	}
}

static int start_probe(struct user *user)
{
	int err = kprobes_set_optimization(user->wants_jump);

	user->probe = (struct kprobe){ .addr = (uintptr_t)target + user->offset,
				       .pre_handler = count_probe,
				       .flags = KPROBE_FLAG_ARGS };
	if (!err)
		err = register_kprobe(&user->probe);
	if (!err && user->wants_jump)
		wait_for_jump(&user->probe);
	return err;
}

void user_start(struct user *user)
{
	int err = 0;

	if (user->kind == USER_TRACER)
		command("echo %s > instances/%s/current_tracer", user->tracer, user->instance);
	else if (user->kind == USER_DIRECT)
		err = register_ftrace_direct(&user->ops, (uintptr_t)users_count_directly);
	else if (user->kind == USER_PROBE)
		err = start_probe(user);
	else
		err = register_ftrace_function(&user->ops);
	if (err)
		die("start: %d", err);
}

void user_stop(struct user *user)
{
	int err = 0;

	if (user->kind == USER_TRACER)
		command("echo nop > instances/%s/current_tracer", user->instance);
	else if (user->kind == USER_DIRECT)
		err = unregister_ftrace_direct(&user->ops, (uintptr_t)users_count_directly, false);
	else if (user->kind == USER_PROBE)
		unregister_kprobe(&user->probe);
	else
		err = unregister_ftrace_function(&user->ops);
	if (err)
		die("stop: %d", err);
	trace_run_later(); /* the memory of its trampoline */
}

static uint64_t stat(const char *stats, const char *name)
{
	const char *line = strstr(stats, name);

	if (!line)
		die("no %s in stats", name);
	return strtoull(line + strlen(name), NULL, 10);
}

static uint64_t events_of(const char *instance)
{
	const char *stats = command("cat instances/%s/per_cpu/cpu0/stats", instance);

	if (stat(stats, "dropped events:"))
		die("events were dropped");
	return stat(stats, "entries:") + stat(stats, "overrun:");
}

uint64_t users_events(void)
{
	return events_of("a") + events_of("b");
}

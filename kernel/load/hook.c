/*
 * The command hook: registers an ops of each kind on a function, to show its effect, its line in
 * the file enabled_functions, and the refusals. An example of the API of <trace/ftrace.h>.
 *
 * Context: thread; one command at a time.
 */
#include <kernel/command.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <stdatomic.h>
#include <trace/ftrace.h>

#define MODIFY (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY)
#define TARGET "hook_target"

struct hook {
	const char *name;
	const char *what; /* for the list */
	ftrace_func_t func;
	uint32_t flags;		/* of the ops */
	bool target_only;	/* may be put on hook_target() only: other functions would break */
	struct ftrace_ops *ops; /* NULL: off */
	_Atomic uint64_t nr_calls;
	uint64_t first_argument; /* of the last call */
};

static struct mutex hook_lock; /* one command at a time */

/* A function to try hooks on. */
static TRACE_NOINLINE long hook_target(long a, long b)
{
	__asm__ volatile("" : "+r"(a), "+r"(b));
	return a + b;
}

static TRACE_NOINLINE long hook_replacement(long a, long b)
{
	__asm__ volatile("" : "+r"(a), "+r"(b));
	return a * b;
}

/* ---- Callbacks ---- */

static TRACE_NOTRACE void count(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				struct ftrace_regs *fregs)
{
	struct hook *hook = ops->private;

	(void)ip;
	(void)parent_ip;
	hook->first_argument = ftrace_regs_get_argument(fregs, 0);
	atomic_fetch_add_explicit(&hook->nr_calls, 1, memory_order_relaxed);
}

/* The function is called with twice its first argument. */
static TRACE_NOTRACE void change_argument(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					  struct ftrace_regs *fregs)
{
	count(ip, parent_ip, ops, fregs);
	ftrace_regs_set_argument(fregs, 0, 2 * ftrace_regs_get_argument(fregs, 0));
}

static TRACE_NOTRACE void replace(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				  struct ftrace_regs *fregs)
{
	count(ip, parent_ip, ops, fregs);
	ftrace_regs_set_instruction_pointer(fregs, (uintptr_t)hook_replacement);
}

/* The function does not run: its caller gets 7. */
static TRACE_NOTRACE void return_seven(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	count(ip, parent_ip, ops, fregs);
	ftrace_regs_set_return_value(fregs, 7);
	ftrace_override_function_with_return(fregs);
}

static struct hook hooks[] = {
	{ .name = "plain", .func = count, .what = "counts calls" },
	{ .name = "plain2", .func = count, .what = "another" },
	{ .name = "dynamic", .func = count, .what = "the same", .flags = FTRACE_OPS_FL_DYNAMIC },
	{ .name = "guarded",
	  .func = count,
	  .what = "ftrace keeps it from recursion",
	  .flags = FTRACE_OPS_FL_RECURSION },
	{ .name = "permanent",
	  .func = count,
	  .what = "ftrace_enabled cannot be turned off",
	  .flags = FTRACE_OPS_FL_PERMANENT },
	{ .name = "regs",
	  .func = count,
	  .what = "gets all registers",
	  .flags = FTRACE_OPS_FL_SAVE_REGS },
	{ .name = "double",
	  .func = change_argument,
	  .what = "doubles the first argument",
	  .flags = FTRACE_OPS_FL_SAVE_REGS,
	  .target_only = true },
	{ .name = "ipmodify", .func = count, .what = "may change where it goes", .flags = MODIFY },
	{ .name = "ipmodify2", .func = count, .what = "another: refused", .flags = MODIFY },
	{ .name = "ipnoregs",
	  .func = count,
	  .what = "without registers: refused",
	  .flags = FTRACE_OPS_FL_IPMODIFY },
	{ .name = "replace",
	  .func = replace,
	  .what = "has another function called",
	  .flags = MODIFY,
	  .target_only = true },
	{ .name = "seven",
	  .func = return_seven,
	  .what = "returns 7 at once",
	  .flags = MODIFY,
	  .target_only = true },
	{ .name = "jump",
	  .func = replace,
	  .what = "the site itself jumps to another function",
	  .flags = MODIFY,
	  .target_only = true },
	{ .name = "direct", .what = "is called without a trampoline" },
};

#define DIRECT (&hooks[ARRAY_SIZE(hooks) - 1])

static TRACE_DIRECT_BODY void hook_note_one(long a)
{
	DIRECT->first_argument = (uint64_t)a;
	atomic_fetch_add_explicit(&DIRECT->nr_calls, 1, memory_order_relaxed);
}

static TRACE_DIRECT_BODY void hook_note_thousand(long a)
{
	DIRECT->first_argument = (uint64_t)a;
	atomic_fetch_add_explicit(&DIRECT->nr_calls, 1000, memory_order_relaxed);
}

TRACE_DIRECT(hook_direct, hook_note_one);
TRACE_DIRECT(hook_direct2, hook_note_thousand);

/* ---- On and off ---- */

static struct hook *hook_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (strcmp(hooks[i].name, name) == 0)
			return &hooks[i];
	}
	return NULL;
}

static int hook_attach(struct hook *hook)
{
	int err;

	if (hook == DIRECT)
		return register_ftrace_direct(hook->ops, (uintptr_t)hook_direct);
	if (strcmp(hook->name, "jump") == 0) {
		err = ftrace_set_site_jump(hook->ops, (uintptr_t)hook_replacement);
		if (err)
			return err;
	}
	return register_ftrace_function(hook->ops);
}

static int hook_turn_on(struct hook *hook, const char *func)
{
	int err;

	if (hook->ops)
		return -EBUSY;
	if (hook->target_only && strcmp(func, TARGET) != 0)
		return -EPERM;
	hook->ops = kzalloc(sizeof(*hook->ops));
	if (!hook->ops)
		return -ENOMEM;
	*hook->ops = (struct ftrace_ops){
		.func = hook->func,
		.flags = hook->flags,
		.private = hook,
	};
	atomic_store(&hook->nr_calls, 0);
	err = ftrace_set_filter(hook->ops, func, strlen(func), true);
	if (err)
		goto free;
	err = hook_attach(hook);
	if (!err)
		return 0;
	/* Damage was found while call sites were patched. Some may call the ops, so it stays. */
	if (err == -ENODEV) {
		hook->ops = NULL;
		return err;
	}
free:
	ftrace_free_filter(hook->ops);
	kfree(hook->ops);
	hook->ops = NULL;
	return err;
}

/* When unregister has returned, the ops is in use nowhere any more: it can be freed. */
static int hook_turn_off(struct hook *hook)
{
	int err;

	if (!hook->ops)
		return -EINVAL;
	if (hook == DIRECT)
		err = unregister_ftrace_direct(hook->ops, hook->ops->direct_call, false);
	else
		err = unregister_ftrace_function(hook->ops);
	if (err)
		return err;
	ftrace_free_filter(hook->ops);
	kfree(hook->ops);
	hook->ops = NULL;
	return 0;
}

static int hook_modify_direct(void)
{
	uintptr_t other = (uintptr_t)hook_direct;

	if (!DIRECT->ops)
		return -EINVAL;
	if (DIRECT->ops->direct_call == other)
		other = (uintptr_t)hook_direct2;
	return modify_ftrace_direct(DIRECT->ops, other);
}

static int hook_change(struct command_env *env, const char *name, const char *arg)
{
	struct hook *hook = hook_find(name);
	int err;

	if (!hook)
		return COMMAND_USAGE;
	if (strcmp(arg, "off") == 0)
		err = hook_turn_off(hook);
	else if (strcmp(arg, "modify") == 0 && hook == DIRECT)
		err = hook_modify_direct();
	else
		err = hook_turn_on(hook, arg);
	if (!err)
		return 0;
	command_perror(env, name, err);
	return 1;
}

static void hook_list(struct command_env *env)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		const struct hook *hook = &hooks[i];

		command_printf(env, "%-10s %-44s", hook->name, hook->what);
		if (hook->ops)
			command_printf(env, "%lu calls, the last with %ld\n",
				       (unsigned long)atomic_load(&hook->nr_calls),
				       (long)hook->first_argument);
		else
			command_puts(env, "off\n");
	}
}

static int hook_call_target(struct command_env *env, char **argv)
{
	uint64_t a, b;

	if (!command_parse_u64(argv[0], &a) || !command_parse_u64(argv[1], &b))
		return COMMAND_USAGE;
	command_printf(env, TARGET "(%ld, %ld) = %ld\n", (long)a, (long)b,
		       hook_target((long)a, (long)b));
	return 0;
}

static int hook_run(struct command_env *env, int argc, char **argv)
{
	int status = COMMAND_USAGE;

	mutex_lock(&hook_lock);
	if (argc == 1) {
		hook_list(env);
		status = 0;
	} else if (argc == 4 && strcmp(argv[1], "call") == 0) {
		status = hook_call_target(env, argv + 2);
	} else if (argc == 3) {
		status = hook_change(env, argv[1], argv[2]);
	}
	mutex_unlock(&hook_lock);
	return status;
}

const struct command hook_commands[] = {
	{ .name = "hook",
	  .usage = "[KIND FUNCTION | KIND off | direct modify | call A B]",
	  .help = "hook functions through the API, call " TARGET "(A, B)",
	  .run = hook_run },
	{}
};

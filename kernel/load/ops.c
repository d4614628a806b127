/*
 * The command ops: registers an ops of each kind on a function, to show its effect, its line in
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
#define TARGET "ops_target"

struct ops_kind {
	const char *name;
	const char *what; /* for the list */
	ftrace_func_t func;
	uint32_t flags;		/* of the ops */
	bool target_only;	/* may be put on ops_target() only: other functions would break */
	struct ftrace_ops *ops; /* NULL: off */
	_Atomic uint64_t nr_calls;
	uint64_t first_argument; /* of the last call */
};

static struct mutex ops_lock; /* one command at a time */

/* A function to try ops on. */
static TRACE_NOINLINE long ops_target(long a, long b)
{
	__asm__ volatile("" : "+r"(a), "+r"(b));
	return a + b;
}

static TRACE_NOINLINE long ops_replacement(long a, long b)
{
	__asm__ volatile("" : "+r"(a), "+r"(b));
	return a * b;
}

/* ---- Callbacks ---- */

static TRACE_NOTRACE void count(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				struct ftrace_regs *fregs)
{
	struct ops_kind *kind = ops->private;

	(void)ip;
	(void)parent_ip;
	kind->first_argument = ftrace_regs_get_argument(fregs, 0);
	atomic_fetch_add_explicit(&kind->nr_calls, 1, memory_order_relaxed);
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
	ftrace_regs_set_instruction_pointer(fregs, (uintptr_t)ops_replacement);
}

/* The function does not run: its caller gets 7. */
static TRACE_NOTRACE void return_seven(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	count(ip, parent_ip, ops, fregs);
	ftrace_regs_set_return_value(fregs, 7);
	ftrace_override_function_with_return(fregs);
}

static struct ops_kind kinds[] = {
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

#define DIRECT (&kinds[ARRAY_SIZE(kinds) - 1])

static TRACE_DIRECT_BODY void ops_note_one(long a)
{
	DIRECT->first_argument = (uint64_t)a;
	atomic_fetch_add_explicit(&DIRECT->nr_calls, 1, memory_order_relaxed);
}

static TRACE_DIRECT_BODY void ops_note_thousand(long a)
{
	DIRECT->first_argument = (uint64_t)a;
	atomic_fetch_add_explicit(&DIRECT->nr_calls, 1000, memory_order_relaxed);
}

TRACE_DIRECT(ops_direct, ops_note_one);
TRACE_DIRECT(ops_direct2, ops_note_thousand);

/* ---- On and off ---- */

static struct ops_kind *ops_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

static int ops_attach(struct ops_kind *kind)
{
	int err;

	if (kind == DIRECT)
		return register_ftrace_direct(kind->ops, (uintptr_t)ops_direct);
	if (strcmp(kind->name, "jump") == 0) {
		err = ftrace_set_site_jump(kind->ops, (uintptr_t)ops_replacement);
		if (err)
			return err;
	}
	return register_ftrace_function(kind->ops);
}

static int ops_turn_on(struct ops_kind *kind, const char *func)
{
	int err;

	if (kind->ops)
		return -EBUSY;
	if (kind->target_only && strcmp(func, TARGET) != 0)
		return -EPERM;
	kind->ops = kzalloc(sizeof(*kind->ops));
	if (!kind->ops)
		return -ENOMEM;
	*kind->ops = (struct ftrace_ops){
		.func = kind->func,
		.flags = kind->flags,
		.private = kind,
	};
	atomic_store(&kind->nr_calls, 0);
	err = ftrace_set_filter(kind->ops, func, strlen(func), true);
	if (err)
		goto free;
	err = ops_attach(kind);
	if (!err)
		return 0;
	/* Damage was found while call sites were patched. Some may call the ops, so it stays. */
	if (err == -ENODEV) {
		kind->ops = NULL;
		return err;
	}
free:
	ftrace_free_filter(kind->ops);
	kfree(kind->ops);
	kind->ops = NULL;
	return err;
}

/* When unregister has returned, the ops is in use nowhere any more: it can be freed. */
static int ops_turn_off(struct ops_kind *kind)
{
	int err;

	if (!kind->ops)
		return -EINVAL;
	if (kind == DIRECT)
		err = unregister_ftrace_direct(kind->ops, kind->ops->direct_call, false);
	else
		err = unregister_ftrace_function(kind->ops);
	if (err)
		return err;
	ftrace_free_filter(kind->ops);
	kfree(kind->ops);
	kind->ops = NULL;
	return 0;
}

static int ops_modify_direct(void)
{
	uintptr_t other = (uintptr_t)ops_direct;

	if (!DIRECT->ops)
		return -EINVAL;
	if (DIRECT->ops->direct_call == other)
		other = (uintptr_t)ops_direct2;
	return modify_ftrace_direct(DIRECT->ops, other);
}

static int ops_change(struct command_env *env, const char *name, const char *arg)
{
	struct ops_kind *kind = ops_find(name);
	int err;

	if (!kind)
		return COMMAND_USAGE;
	if (strcmp(arg, "off") == 0)
		err = ops_turn_off(kind);
	else if (strcmp(arg, "modify") == 0 && kind == DIRECT)
		err = ops_modify_direct();
	else
		err = ops_turn_on(kind, arg);
	if (!err)
		return 0;
	command_perror(env, name, err);
	return 1;
}

static void ops_list(struct command_env *env)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct ops_kind *kind = &kinds[i];

		command_printf(env, "%-10s %-44s", kind->name, kind->what);
		if (kind->ops)
			command_printf(env, "%lu calls, the last with %ld\n",
				       (unsigned long)atomic_load(&kind->nr_calls),
				       (long)kind->first_argument);
		else
			command_puts(env, "off\n");
	}
}

static int ops_call_target(struct command_env *env, char **argv)
{
	uint64_t a, b;

	if (!command_parse_u64(argv[0], &a) || !command_parse_u64(argv[1], &b))
		return COMMAND_USAGE;
	command_printf(env, TARGET "(%ld, %ld) = %ld\n", (long)a, (long)b,
		       ops_target((long)a, (long)b));
	return 0;
}

static int ops_run(struct command_env *env, int argc, char **argv)
{
	int status = COMMAND_USAGE;

	mutex_lock(&ops_lock);
	if (argc == 1) {
		ops_list(env);
		status = 0;
	} else if (argc == 4 && strcmp(argv[1], "call") == 0) {
		status = ops_call_target(env, argv + 2);
	} else if (argc == 3) {
		status = ops_change(env, argv[1], argv[2]);
	}
	mutex_unlock(&ops_lock);
	return status;
}

const struct command ops_commands[] = {
	{ .name = "ops",
	  .usage = "[KIND FUNCTION | KIND off | direct modify | call A B]",
	  .help = "call functions by ftrace_ops, call " TARGET "(A, B)",
	  .run = ops_run },
	{}
};

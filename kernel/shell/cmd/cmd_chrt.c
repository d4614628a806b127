/*
 * The command chrt: scheduling policies and real-time priorities, as util-linux has it.
 *
 *   chrt [-f|-r|-o] PRIORITY COMMAND [ARGUMENT]...	run COMMAND with them
 *   chrt [-f|-r|-o] -p PRIORITY PID			change a thread
 *   chrt -p PID					show a thread
 *   chrt -m						show what priorities there are
 */
#include <kernel/string.h>
#include <kernel/thread.h>
#include "command_tables.h"

struct request {
	enum thread_policy policy;
	bool has_policy;
	bool about_pid;
	bool shows_limits;
};

static const char *const policy_names[] = { "SCHED_OTHER", "SCHED_FIFO", "SCHED_RR" };

/* The letters of one argument, such as `fp`. False for an unknown letter. */
static bool chrt_take_letters(struct request *request, const char *letters)
{
	request->has_policy |= strchr(letters, 'f') || strchr(letters, 'r') || strchr(letters, 'o');
	for (; *letters; letters++) {
		if (*letters == 'f')
			request->policy = THREAD_FIFO;
		else if (*letters == 'r')
			request->policy = THREAD_RR;
		else if (*letters == 'o')
			request->policy = THREAD_NORMAL;
		else if (*letters == 'p')
			request->about_pid = true;
		else if (*letters == 'm')
			request->shows_limits = true;
		else
			return false;
	}
	return true;
}

static void chrt_show_limits(struct command_env *env)
{
	command_puts(env, "SCHED_OTHER min/max priority\t: 0/0\n"
			  "SCHED_FIFO min/max priority\t: 1/99\n"
			  "SCHED_RR min/max priority\t: 1/99\n");
}

static struct thread *chrt_find_thread(struct command_env *env, const char *text)
{
	struct thread *thread = NULL;
	uint64_t pid;

	if (!command_parse_u64(text, &pid) || pid > INT32_MAX) {
		command_error(env, "invalid PID argument: '%s'", text);
		return NULL;
	}
	if (pid)
		thread = thread_find((int32_t)pid);
	else
		thread_get(thread = current_thread());
	if (!thread)
		command_error(env, "failed to get pid %s's policy: %s", text,
			      command_strerror(ESRCH));
	return thread;
}

static int chrt_show_thread(struct command_env *env, const char *pid_text)
{
	struct thread *thread = chrt_find_thread(env, pid_text);

	if (!thread)
		return 1;
	command_printf(env, "pid %d's current scheduling policy: %s\n", thread->pid,
		       policy_names[thread->policy]);
	command_printf(env, "pid %d's current scheduling priority: %u\n", thread->pid,
		       thread->rt_priority);
	thread_put(thread);
	return 0;
}

static int chrt_set_policy(struct command_env *env, const struct request *request,
			   const char *prio_text, struct thread *thread)
{
	uint64_t priority;
	int err;

	if (!command_parse_u64(prio_text, &priority)) {
		command_error(env, "invalid priority argument: '%s'", prio_text);
		return 1;
	}
	err = priority > THREAD_RT_PRIO_MAX
		      ? -EINVAL
		      : thread_set_policy(thread, request->policy, (uint32_t)priority);
	if (err == -EINVAL)
		command_error(env,
			      "unsupported priority value for the policy: %lu: see --max for "
			      "valid range",
			      priority);
	else if (err)
		command_error(env, "failed to set pid %d's policy: %s", thread->pid,
			      command_strerror(-err));
	return err ? 1 : 0;
}

static int chrt_change_thread(struct command_env *env, const struct request *request, char **argv)
{
	struct thread *thread = chrt_find_thread(env, argv[1]);
	int status;

	if (!thread)
		return 1;
	status = chrt_set_policy(env, request, argv[0], thread);
	thread_put(thread);
	return status;
}

/* Run the other command in this thread, which takes its name: as exec does. */
static int chrt_become(struct command_env *env, int argc, char **argv)
{
	const struct command *command = command_find(argv[0]);

	if (!command || !command->run || (command->flags & COMMAND_BUILTIN)) {
		command_error(env, "failed to execute %s: %s", argv[0], command_strerror(ENOENT));
		return COMMAND_NOT_FOUND;
	}
	env->name = argv[0];
	thread_set_name(current_thread(), argv[0]);
	return command->run(env, argc, argv);
}

static int cmd_chrt(struct command_env *env, int argc, char **argv)
{
	struct request request = { .policy = THREAD_RR };
	int at = 1;

	for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
		if (strcmp(argv[at], "--max") == 0)
			request.shows_limits = true;
		else if (!chrt_take_letters(&request, argv[at] + 1))
			return COMMAND_USAGE;
	}
	argc -= at;
	argv += at;
	if (request.shows_limits) {
		chrt_show_limits(env);
		return 0;
	}
	if (request.about_pid && argc == 1 && !request.has_policy)
		return chrt_show_thread(env, argv[0]);
	if (argc < 2 || (request.about_pid && argc > 2))
		return COMMAND_USAGE;
	if (request.about_pid)
		return chrt_change_thread(env, &request, argv);
	if (chrt_set_policy(env, &request, argv[0], current_thread()))
		return 1;
	return chrt_become(env, argc - 1, argv + 1);
}

const struct command chrt_commands[] = {
	{ "chrt", "[-f|-r|-o] PRIORITY COMMAND... | [-f|-r|-o] -p [PRIORITY] PID | -m",
	  "run with, show or change a real-time priority", cmd_chrt, 0 },
	{ 0 },
};

/*
 * The command deadlock: two threads that take two mutexes in opposite order, and wait for each other
 * for ever. It gives tools that look for such threads something to find; only a reset ends them.
 */
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "shell/cmd/command_tables.h"

static struct mutex left, right;

/* Both threads hold their first mutex when they ask for the other one. */
static TRACE_NOINLINE void deadlock_take(struct mutex *first, struct mutex *second)
{
	mutex_lock(first);
	thread_sleep_ns(10 * NSEC_PER_MSEC);
	mutex_lock(second);
}

static int deadlock_left_first(void *unused)
{
	(void)unused;
	deadlock_take(&left, &right);
	return 0;
}

static int deadlock_right_first(void *unused)
{
	(void)unused;
	deadlock_take(&right, &left);
	return 0;
}

static int deadlock_run(struct command_env *env, int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return COMMAND_USAGE;
	if (!thread_create("left-first", deadlock_left_first, NULL, THREAD_DETACHED) ||
	    !thread_create("right-first", deadlock_right_first, NULL, THREAD_DETACHED)) {
		command_error(env, "out of memory");
		return 1;
	}
	return 0;
}

const struct command deadlock_commands[] = {
	{ "deadlock", "", "start two threads that wait for each other for ever", deadlock_run, 0 },
	{ 0 },
};

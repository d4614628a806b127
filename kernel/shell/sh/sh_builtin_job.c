/*
 * Commands about jobs: wait, jobs, kill.
 */
#include <kernel/string.h>
#include <kernel/thread.h>
#include "shell/cmd/command_tables.h"
#include "sh.h"

struct job_search {
	struct command_env *env;
	uint32_t number;
	int32_t pid;
};

static void builtin_match_number(uint32_t number, int32_t pid, bool is_done, const char *text,
				 void *arg)
{
	struct job_search *search = arg;

	(void)is_done;
	(void)text;
	if (number == search->number)
		search->pid = pid;
}

/* The pid that `123`, or `%1` for a job, means. 0 when it is neither, or there is no such job. */
static int32_t builtin_parse_pid(struct shell *sh, const char *text)
{
	struct job_search search = { 0 };
	bool is_job = text[0] == '%';
	uint64_t value;

	if (!command_parse_u64(text + is_job, &value) || value > INT32_MAX)
		return 0;
	if (!is_job)
		return (int32_t)value;
	search.number = (uint32_t)value;
	sh_each_job(sh, builtin_match_number, &search);
	return search.pid;
}

static int builtin_wait(struct command_env *env, int argc, char **argv)
{
	int status = 0;

	if (argc == 1)
		return sh_wait_background(env->shell, 0);
	for (int i = 1; i < argc; i++) {
		int32_t pid = builtin_parse_pid(env->shell, argv[i]);

		status = pid ? sh_wait_background(env->shell, pid) : COMMAND_NOT_FOUND;
	}
	return status;
}

static void builtin_print_job(uint32_t number, int32_t pid, bool is_done, const char *text,
			      void *arg)
{
	command_printf(arg, "[%u] %d %s\t%s\n", number, pid, is_done ? "Done" : "Running", text);
}

static int builtin_jobs(struct command_env *env, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	sh_each_job(env->shell, builtin_print_job, env);
	return 0;
}

/* There are no signals: kill tells a thread to end. `-9`, `-TERM` and the like are ignored. */
static int builtin_kill(struct command_env *env, int argc, char **argv)
{
	int first = argc > 1 && argv[1][0] == '-' ? 2 : 1;
	int status = 0;

	if (first >= argc)
		return COMMAND_USAGE;
	for (int i = first; i < argc; i++) {
		int32_t pid = builtin_parse_pid(env->shell, argv[i]);
		int err = pid ? thread_kill(pid) : -ESRCH;

		if (!err)
			continue;
		command_error(env, "can't kill pid %s: %s", argv[i], command_strerror(err));
		status = 1;
	}
	return status;
}

const struct command job_commands[] = {
	{ "jobs", "", "list the jobs in the background", builtin_jobs, COMMAND_BUILTIN },
	{ "kill", "[-SIGNAL] PID | %JOB ...", "end threads that the shell started", builtin_kill,
	  COMMAND_BUILTIN },
	{ "wait", "[PID | %JOB]...", "wait for jobs in the background", builtin_wait,
	  COMMAND_BUILTIN },
	{ 0 },
};

/*
 * The command perf stat: runs a command, and says how much CPU time it took and how often events have happened
 * meanwhile, in the words of Linux's perf stat. See docs/profiling.md.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "cmd_stat.h"
#include "command_tables.h"
#include "shell/sh/sh.h"

#define STAT_EVENTS    "/sys/kernel/tracing/events/"
#define STAT_NR_USUALS 4u

/* Events that perf has names for. */
struct stat_usual {
	const char *name, *short_name;
	const char *tracepoints[2];
	enum count_kind kind;
};
static const struct stat_usual stat_usuals[STAT_NR_USUALS] = {
	{ "task-clock", "cpu-clock", { "sched_stat_runtime" }, COUNT_RUN_TIME },
	{ "context-switches", "cs", { "sched_switch" }, COUNT_PASSED },
	{ "cpu-migrations", "migrations", { "sched_migrate_task" }, COUNT_MOVED },
	{ "page-faults", "faults", { "page_fault_user", "page_fault_kernel" }, COUNT_PASSED },
};
/* Counters of processors: no emulator has them, and so none is read. */
static const char *const stat_hardware[] = {
	"cycles",   "cpu-cycles",    "ref-cycles",	    "bus-cycles",   "instructions",
	"branches", "branch-misses", "branch-instructions", "cache-misses", "cache-references",
};

/* ---- Columns ---- */

static int stat_complain(struct stat *stat, const char *name, int err)
{
	command_perror(stat->env, name, err);
	return err;
}

static struct stat_row *stat_new_row(struct stat *stat, const char *name)
{
	struct stat_row *row = &stat->rows[stat->nr_rows];

	if (stat->nr_rows == COUNT_COLUMNS)
		return NULL;
	stat->nr_rows++;
	strlcpy(row->name, name, sizeof(row->name));
	return row;
}

static int stat_add_usual(struct stat *stat, const struct stat_usual *usual)
{
	struct stat_row *row = stat_new_row(stat, usual->name);
	int err = row ? 0 : -ENOSPC;

	for (uint32_t i = 0; i < 2 && usual->tracepoints[i] && !err; i++)
		err = count_add(stat->counts, stat->nr_rows - 1, usual->tracepoints[i],
				usual->kind);
	if (row)
		row->is_time = usual->kind == COUNT_RUN_TIME;
	return err;
}

static bool stat_has_event(const char *system, const char *event)
{
	char path[VFS_PATH_MAX];
	struct file *file;

	trace_snprintf(path, sizeof(path), STAT_EVENTS "%s/%s/id", system, event);
	if (vfs_open("/", path, VFS_READ, &file))
		return false;
	fput(file);
	return true;
}

/* SYSTEM:EVENT */
static int stat_add_event(struct stat *stat, const char *name, char *colon)
{
	struct stat_row *row = stat_new_row(stat, name);
	int err = row ? 0 : -ENOSPC;

	*colon = '\0';
	if (!err && !stat_has_event(name, colon + 1))
		err = -ENOENT;
	*colon = ':';
	if (!err && count_add(stat->counts, stat->nr_rows - 1, colon + 1, COUNT_PASSED))
		err = -EOPNOTSUPP;
	return err;
}

static int stat_add_hardware(struct stat *stat, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(stat_hardware); i++) {
		if (strcmp(name, stat_hardware[i]) == 0) {
			struct stat_row *row = stat_new_row(stat, name);

			if (row)
				row->is_lacking = true;
			return row ? 0 : -ENOSPC;
		}
	}
	return -ENOENT;
}

static int stat_add(struct stat *stat, char *name)
{
	char *colon = strchr(name, ':');

	if (colon)
		return stat_add_event(stat, name, colon);
	for (uint32_t i = 0; i < STAT_NR_USUALS; i++) {
		if (strcmp(name, stat_usuals[i].name) == 0 ||
		    strcmp(name, stat_usuals[i].short_name) == 0)
			return stat_add_usual(stat, &stat_usuals[i]);
	}
	return stat_add_hardware(stat, name);
}

/* Add each event of a list with commas, which is cut up. 0, or an error after a message. */
static int stat_add_list(struct stat *stat, char *list)
{
	for (char *name = list, *next; name; name = next) {
		int err;

		next = strchr(name, ',');
		if (next)
			*next++ = '\0';
		err = stat_add(stat, name);
		if (err == -EOPNOTSUPP)
			command_error(stat->env, "%s has no tracepoint: a histogram can count it",
				      name);
		else if (err == -ENOENT)
			command_error(stat->env, "no such event: %s", name);
		else if (err)
			stat_complain(stat, name, err);
		if (err)
			return err;
	}
	return 0;
}

/* ---- Runs ---- */

static uint64_t stat_sum(const struct stat *stat, uint32_t column)
{
	uint64_t sum = 0;

	for (uint32_t row = 0; row < COUNT_ROWS; row++)
		sum += count_value(stat->counts, column, row);
	return sum;
}

/* The exit status of the command; -ENOMEM, -ENOENT. */
static int stat_run_once(struct stat *stat, struct shell *sh)
{
	struct command_env *env = stat->env;
	const struct sh_io io = { .fd = { env->in, env->out, env->err } };
	struct sh_task task = { .name = stat->words[0],
				.argc = stat->nr_words,
				.argv = stat->words };
	struct sh_job *job;

	task.command = command_find(task.name);
	if (!task.command || !task.command->run)
		task.command = sh_find_program(sh, task.name);
	if (!task.command)
		return -ENOENT;
	count_children(stat->counts);
	job = sh_start(sh, &task, &io);
	count_children(NULL);
	return job ? sh_wait(job) : -ENOMEM;
}

static void stat_take(struct stat *stat, uint32_t run, uint64_t began_ns)
{
	stat->elapsed.runs[run] = ktime_get_ns() - began_ns;
	for (uint32_t i = 0; i < stat->nr_rows; i++) {
		uint64_t sum = stat_sum(stat, i);

		stat->rows[i].runs[run] = sum - stat->rows[i].total;
		stat->rows[i].total = sum;
	}
}

static int stat_run(struct stat *stat)
{
	uint32_t nr_wanted = stat->nr_runs;
	struct shell *sh = sh_clone(stat->env->shell);
	int status = sh ? count_start(stat->counts) : -ENOMEM;

	for (stat->nr_runs = 0; status >= 0 && stat->nr_runs < nr_wanted;) {
		uint64_t began_ns = ktime_get_ns();

		status = stat_run_once(stat, sh);
		stat_take(stat, stat->nr_runs, began_ns);
		stat->nr_runs += status >= 0;
		if (command_stopped(stat->env))
			break;
	}
	if (sh) {
		count_stop(stat->counts);
		sh_destroy(sh);
	}
	return status;
}

/* ---- The command ---- */

/* Options that come before the columns are made. False: it is none. */
static bool stat_flag(struct stat *stat, const char *option)
{
	if (strcmp(option, "-a") == 0)
		stat->flags |= COUNT_ALL;
	else if (strcmp(option, "--per-thread") == 0)
		stat->flags |= COUNT_BY_THREAD;
	else if (strcmp(option, "-A") != 0)
		return false;
	stat->has_lines |= strcmp(option, "-a") != 0;
	return true;
}

/* The option -r or -e, and its value; `lists` gets that of -e. False: wrong. */
static bool stat_option(struct stat *stat, char **option, char **lists, uint32_t *nr_lists)
{
	uint64_t nr;

	if (strcmp(option[0], "-e") == 0 && *nr_lists < COUNT_COLUMNS) {
		lists[(*nr_lists)++] = option[1];
		return true;
	}
	if (strcmp(option[0], "-r") != 0 || !command_parse_u64(option[1], &nr) || !nr ||
	    nr > STAT_RUNS_MAX)
		return false;
	stat->nr_runs = (uint32_t)nr;
	return true;
}

/* Fill `stat` from the words behind `perf`. The number of lists of events; -1: they are wrong. */
static int stat_parse(struct stat *stat, int argc, char **argv, char **lists)
{
	uint32_t nr_lists = 0;
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
		if (stat_flag(stat, argv[i]))
			continue;
		if (i + 1 == argc || !stat_option(stat, &argv[i], lists, &nr_lists))
			return -1;
		i++;
	}
	i += i < argc && strcmp(argv[i], "--") == 0;
	stat->nr_words = argc - i;
	stat->words = argv + i;
	if (i >= argc || (stat->flags & COUNT_ALL && stat->flags & COUNT_BY_THREAD))
		return -1;
	return (int)nr_lists;
}

static int stat_add_all(struct stat *stat, char **lists, int nr_lists)
{
	int err = 0;

	for (int i = 0; i < nr_lists && !err; i++)
		err = stat_add_list(stat, lists[i]);
	for (uint32_t i = 0; !nr_lists && i < STAT_NR_USUALS && !err; i++)
		err = stat_add_usual(stat, &stat_usuals[i]);
	return err;
}

static int stat_main(struct stat *stat, char **lists, int nr_lists)
{
	int status = count_open(stat->flags, &stat->counts);

	if (status) {
		stat_complain(stat, "counts", status);
		return 1;
	}
	status = stat_add_all(stat, lists, nr_lists);
	if (!status) {
		status = stat_run(stat);
		if (status < 0)
			stat_complain(stat, stat->words[0], status);
		command_flush(stat->env);
		if (stat->nr_runs)
			stat_show(stat);
	}
	count_close(stat->counts);
	return status == -ENOENT && !stat->nr_runs ? COMMAND_NOT_FOUND : status < 0 ? 1 : status;
}

static int cmd_stat(struct command_env *env, int argc, char **argv)
{
	struct stat *stat = kzalloc(sizeof(*stat));
	char *lists[COUNT_COLUMNS];
	int status;

	if (!stat) {
		command_perror(env, "stat", ENOMEM);
		return 1;
	}
	stat->env = env;
	stat->nr_runs = 1;
	stat->elapsed.is_time = true;
	status = stat_parse(stat, argc, argv, lists);
	status = status < 0 ? COMMAND_USAGE : stat_main(stat, lists, status);
	kfree(stat);
	return status;
}

/* Of perf's commands this one alone. */
static int cmd_perf_stat(struct command_env *env, int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "stat") != 0)
		return COMMAND_USAGE;
	return cmd_stat(env, argc - 1, argv + 1);
}

const struct command stat_commands[] = {
	{ "perf",
	  "stat [-a] [-A|--per-thread] [-e EVENT[,EVENT]...] [-r TIMES] [--] COMMAND [ARG]...",
	  "run a command, and say what CPU time it took, and how often events happened",
	  cmd_perf_stat, COMMAND_ONE_WORD },
	{ 0 },
};

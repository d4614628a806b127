/*
 * Commands about time and the terminal: sleep, uptime, poll, clear, resize.
 */
#include <arch/smp.h>
#include <kernel/console.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/vfs.h>
#include "command_tables.h"
#include "shell/line/terminal.h"

static int cmd_sleep(struct command_env *env, int argc, char **argv)
{
	uint64_t total_ns = 0;

	if (argc < 2)
		return COMMAND_USAGE;
	for (int i = 1; i < argc; i++) {
		uint64_t ns;

		if (str_to_duration(argv[i], &ns)) {
			command_error(env, "invalid number '%s'", argv[i]);
			return 1;
		}
		total_ns = total_ns + ns < ns ? UINT64_MAX : total_ns + ns;
	}
	return thread_sleep_ns(total_ns) ? COMMAND_SIGINT : 0;
}

#define POLL_STEP_NS (10 * NSEC_PER_MSEC)

static int cmd_wait_event(struct file *file, uint32_t event, uint64_t limit_ns)
{
	uint64_t end = ktime_after(limit_ns);

	while (!file_events(file, event)) {
		if (ktime_get_ns() >= end)
			return 1;
		if (thread_sleep_ns(POLL_STEP_NS))
			return COMMAND_SIGINT;
	}
	return 0;
}

static int cmd_poll(struct command_env *env, int argc, char **argv)
{
	bool is_news = argc > 1 && strcmp(argv[1], "-P") == 0;
	struct file *file;
	uint64_t ns;
	int status;

	argc -= is_news;
	argv += is_news;
	if (argc != 3 || str_to_duration(argv[2], &ns))
		return COMMAND_USAGE;
	status = vfs_open(command_cwd(env), argv[1], VFS_READ, &file);
	if (status) {
		command_perror(env, argv[1], status);
		return 1;
	}
	status = cmd_wait_event(file, is_news ? FILE_PRI : FILE_IN, ns);
	fput(file);
	return status;
}

static void cmd_count_thread(struct thread *thread, void *arg)
{
	uint32_t *nr = arg;

	*nr += thread->pid != 0;
}

static int cmd_uptime(struct command_env *env, int argc, char **argv)
{
	uint64_t ms = ktime_get_ns() / NSEC_PER_MSEC;
	uint32_t nr_threads = 0, nr_running = 0;
	struct sched_cpu_stats stats;

	(void)argc;
	(void)argv;
	thread_reap();
	thread_each(cmd_count_thread, &nr_threads);
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (!smp_cpu_online(cpu))
			continue;
		sched_cpu_stats_get(cpu, &stats);
		nr_running += stats.nr_running;
	}
	command_printf(env, "up %lu:%02lu:%02lu.%03lu, %u CPUs, %u threads, %u running\n",
		       ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000, smp_nr_online(),
		       nr_threads, nr_running);
	return 0;
}

static int cmd_clear(struct command_env *env, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	command_puts(env, "\x1b[H\x1b[2J");
	return 0;
}

static int cmd_resize(struct command_env *env, int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return COMMAND_USAGE;
	terminal_ask_again();
	if (!console_is_foreground() || !terminal_ask())
		command_error(env, "the terminal does not say");
	command_printf(env, "COLUMNS=%u;\nLINES=%u;\n", terminal_columns(), terminal_rows());
	return 0;
}

const struct command time_commands[] = {
	{ "clear", "", "clear the screen", cmd_clear, 0 },
	{ "poll", "[-P] FILE SECONDS",
	  "wait until FILE is worth reading, or (-P) has news; status 1: not in that time",
	  cmd_poll, 0 },
	{ "resize", "", "ask the terminal for its size", cmd_resize, 0 },
	{ "sleep", "SECONDS[smh]...", "wait", cmd_sleep, 0 },
	{ "uptime", "", "say how long the machine has been up", cmd_uptime, 0 },
	{ 0 },
};

/*
 * A program that can be traced from its standard input: lines are typed there as into a shell whose
 * directory is tracefs, while the threads of the program work.
 *
 *   echo function > current_tracer
 *   work 1
 *   cat trace
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/defaults.h>
#include <trace/fs.h>
#include <trace/kprobe.h>
#include <trace/kretprobe.h>
#include <trace/platform.h>
#include <unistd.h>
#include "process.h"
#include "work.h"

#define NR_WORKERS 2
#define NR_SEEDS   16
#define FOR_EVER   UINT64_MAX
#define NS_PER_MS  1000000u
#define LINE_BYTES 256

/* ---- The threads that work ---- */

static double expected[NR_SEEDS]; /* results of work() before anything was traced */

static struct worker {
	int cpu;
	uint64_t rounds;      /* still to do */
	uint64_t done, right; /* rounds, and those with the expected result */
} workers[NR_WORKERS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `workers` and has_ended */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool has_ended;

/* Wait until there is a round to do. False at the end of the program. */
static bool next_round(struct worker *worker)
{
	bool goes_on;

	pthread_mutex_lock(&lock);
	while (!worker->rounds && !has_ended)
		pthread_cond_wait(&changed, &lock);
	goes_on = !has_ended;
	pthread_mutex_unlock(&lock);
	return goes_on;
}

static void finish_round(struct worker *worker, bool is_right)
{
	pthread_mutex_lock(&lock);
	worker->done++;
	worker->right += is_right;
	if (worker->rounds && worker->rounds != FOR_EVER && !--worker->rounds)
		pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void run_worker(void *arg)
{
	struct worker *worker = arg;

	while (next_round(worker)) {
		uint32_t seed = (uint32_t)worker->done % NR_SEEDS;

		finish_round(worker, work(seed) == expected[seed]);
	}
}

static void start_workers(void)
{
	for (uint32_t seed = 0; seed < NR_SEEDS; seed++)
		expected[seed] = work(seed);
	for (int i = 0; i < NR_WORKERS; i++) {
		char name[] = "worker-0";

		name[sizeof(name) - 2] = (char)('1' + i);
		workers[i].cpu = cpu_start(name, run_worker, &workers[i]);
		if (workers[i].cpu < 0)
			die("no thread");
	}
}

static void end_workers(void)
{
	pthread_mutex_lock(&lock);
	has_ended = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < NR_WORKERS; i++)
		cpu_join(workers[i].cpu);
}

/* ---- Commands of its own ---- */

static void set_rounds(uint64_t rounds)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < NR_WORKERS; i++)
		workers[i].rounds = rounds;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* `work N`: let each thread work N rounds, and wait for all. */
static void do_work(const char *arg)
{
	set_rounds(strtoull(arg, NULL, 10));
	pthread_mutex_lock(&lock);
	for (int i = 0; i < NR_WORKERS; i++) {
		while (workers[i].rounds)
			pthread_cond_wait(&changed, &lock);
	}
	pthread_mutex_unlock(&lock);
}

static void do_start(const char *arg)
{
	(void)arg;
	set_rounds(FOR_EVER);
}

static void do_stop(const char *arg)
{
	(void)arg;
	set_rounds(0);
}

static void do_signal(const char *arg)
{
	(void)arg;
	raise(SIGUSR1);
}

/* `sleep MS`: do only what was put off until then. */
static void do_sleep(const char *arg)
{
	uint64_t ms = strtoull(arg, NULL, 10);

	for (; ms; ms--) {
		trace_plat_pause(NS_PER_MS, false);
		trace_run_later();
	}
}

/* As /sys/kernel/debug/kprobes/list. */
static void do_kprobes(const char *arg)
{
	char line[LINE_BYTES];
	uint64_t cursor = 0;
	size_t len;

	(void)arg;
	while ((len = kprobes_list_next(&cursor, line, sizeof(line))))
		fwrite(line, 1, len, stdout);
	cursor = 0;
	while ((len = kretprobes_list_next(&cursor, line, sizeof(line))))
		fwrite(line, 1, len, stdout);
}

static void do_status(const char *arg)
{
	uint64_t done = 0, right = 0;

	(void)arg;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < NR_WORKERS; i++) {
		done += workers[i].done;
		right += workers[i].right;
	}
	pthread_mutex_unlock(&lock);
	printf("%u threads, %lu rounds, %lu right, %u signals\n", cpus_online(),
	       (unsigned long)done, (unsigned long)right, work_nr_signals());
}

static const struct command {
	const char *name;
	void (*run)(const char *arg);
} commands[] = {
	{ "work", do_work },	   { "start", do_start },   { "stop", do_stop },
	{ "signal", do_signal },   { "status", do_status }, { "sleep", do_sleep },
	{ "kprobes", do_kprobes },
};

/* ---- Lines ---- */

static const struct command *find_command(const char *line, size_t len)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strlen(commands[i].name) == len && !memcmp(commands[i].name, line, len))
			return &commands[i];
	}
	return NULL;
}

static void print(void *arg, const char *text, size_t len)
{
	(void)arg;
	fwrite(text, 1, len, stdout);
}

static void do_line(const char *line)
{
	size_t len = strcspn(line, " \n"), pos;
	const struct command *command = find_command(line, len);
	int err = 0;

	if (command)
		command->run(line + len);
	else
		err = trace_fs_command(line, print, NULL, &pos);
	if (err)
		printf("error: %s: %s", strerror(-err), line + pos);
	fflush(stdout);
	trace_run_later();
}

int main(void)
{
	char line[TRACE_FS_LINE_MAX];

	if (!process_start()) {
		puts("this kernel has no core-sync barrier");
		return EXIT_FAILURE;
	}
	cpu_on_signal(SIGUSR1, work_note_signal);
	start_workers();
	while (fgets(line, sizeof(line), stdin))
		do_line(line);
	end_workers();
	return 0;
}

/*
 * Commands about threads: ps, stack.
 */
#include <arch/smp.h>
#include <arch/unwind.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "command_tables.h"

#define ROWS_MAX   1024
#define FRAMES_MAX 32

struct ps_row {
	int32_t pid;
	uint32_t cpu;
	const char *state;
	uint8_t policy;
	uint8_t rt_priority;
	uint64_t runtime_ns;
	char name[THREAD_NAME_LEN];
};

struct ps_table {
	uint32_t nr;
	struct ps_row *rows; /* ROWS_MAX */
};

/*
 * For thread_each(), which holds the lock of the list: copies the fields that ps prints afterwards.
 */
static void cmd_copy_thread(struct thread *thread, void *arg)
{
	struct ps_table *table = arg;
	struct ps_row *row = &table->rows[table->nr];

	if (table->nr == ROWS_MAX)
		return;
	row->pid = thread->pid;
	row->cpu = thread->cpu;
	row->state = thread_state_name(thread);
	row->policy = thread->policy;
	row->rt_priority = thread->rt_priority;
	row->runtime_ns = thread->runtime_ns;
	memcpy(row->name, thread->name, THREAD_NAME_LEN);
	table->nr++;
}

/* As Linux's ps prints it: `-` for threads without a real-time priority. */
static const char *cmd_priority_text(uint8_t rt_priority, char out_text[4])
{
	if (rt_priority)
		trace_snprintf(out_text, 4, "%u", rt_priority);
	return rt_priority ? out_text : "-";
}

static int cmd_ps(struct command_env *env, int argc, char **argv)
{
	static const char *const class_names[] = { "TS", "FF", "RR" };
	struct ps_table table = { 0 };
	char priority[4];

	(void)argc;
	(void)argv;
	table.rows = vmalloc(ROWS_MAX * sizeof(*table.rows));
	if (!table.rows) {
		command_error(env, "%s", command_strerror(ENOMEM));
		return 1;
	}
	thread_reap();
	thread_each(cmd_copy_thread, &table);
	command_puts(env, "  PID CPU S CLS PRI     TIME COMMAND\n");
	for (uint32_t i = 0; i < table.nr && !command_stopped(env); i++) {
		const struct ps_row *row = &table.rows[i];
		uint64_t ms = row->runtime_ns / NSEC_PER_MSEC;

		command_printf(env, "%5d %3u %s %3s %3s %4lu.%03lu %.*s\n", row->pid, row->cpu,
			       row->state, class_names[row->policy],
			       cmd_priority_text(row->rt_priority, priority), ms / 1000, ms % 1000,
			       THREAD_NAME_LEN, row->name);
	}
	vfree(table.rows);
	return 0;
}

struct stack_request {
	struct thread *thread;
	size_t nr;
	bool is_done;
	uintptr_t frames[FRAMES_MAX];
};

/* Runs in an interrupt on the CPU where the thread ran a moment ago. */
static void cmd_sample_running(void *arg)
{
	struct stack_request *request = arg;

	if (current_thread() != request->thread)
		return;
	request->nr = arch_backtrace_here(request->frames, FRAMES_MAX);
	request->is_done = true;
}

/*
 * Take the backtrace of a thread that may start and stop running meanwhile: on its CPU while it
 * runs, from its saved registers while it does not. A backtrace that may have changed on the way is
 * thrown away.
 */
static void cmd_sample(struct stack_request *request)
{
	struct thread *thread = request->thread;

	for (int tries = 0; tries < 100 && !request->is_done; tries++) {
		if (thread == current_thread()) {
			request->nr = arch_backtrace_here(request->frames, FRAMES_MAX);
			request->is_done = true;
		} else if (thread->on_cpu) {
			smp_call_function_single(thread->cpu, cmd_sample_running, request);
		} else {
			uint64_t switches = thread->nr_voluntary + thread->nr_involuntary;

			request->nr = arch_backtrace_context(&thread->context, request->frames,
							     FRAMES_MAX);
			request->is_done =
				!thread->on_cpu &&
				switches == thread->nr_voluntary + thread->nr_involuntary;
		}
	}
}

static int cmd_print_stack(struct command_env *env, struct thread *thread)
{
	struct stack_request request = { .thread = thread };

	cmd_sample(&request);
	if (!request.is_done) {
		command_error(env, "the thread does not hold still");
		return 1;
	}
	for (size_t i = 0; i < request.nr; i++)
		command_printf(env, "[<0>] %pB\n", (void *)request.frames[i]);
	return 0;
}

static int cmd_stack(struct command_env *env, int argc, char **argv)
{
	struct thread *thread = NULL;
	uint64_t pid;
	int status;

	if (argc != 2 || !command_parse_u64(argv[1], &pid) || pid > INT32_MAX)
		return COMMAND_USAGE;
	if (pid)
		thread = thread_find((int32_t)pid);
	if (!thread) {
		command_error(env, "%s: %s", argv[1], command_strerror(ESRCH));
		return 1;
	}
	status = cmd_print_stack(env, thread);
	thread_put(thread);
	return status;
}

const struct command thread_commands[] = {
	{ "ps", "", "list the threads", cmd_ps, 0 },
	{ "stack", "PID", "show where a thread is", cmd_stack, 0 },
	{ 0 },
};

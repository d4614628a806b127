/*
 * Counts of events, see <kernel/count.h>. A thread has the number of the count that it belongs to, and
 * numbers are never used again: a thread that outlives its count belongs to none.
 *
 * No call sites, because most functions here are probes.
 */
#include <kernel/count.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/host_tracepoints.h>
#include <trace/platform.h>

/* A tracepoint and its column: the data of a probe. */
struct count_event {
	uint64_t *column; /* in the first row */
	uint32_t only;	  /* the number of the count; 0: every thread counts */
	bool by_thread;	  /* rows are threads */
};

struct counts {
	uint32_t number, flags;
	uint32_t nr_events;
	struct count_event events[COUNT_COLUMNS];
	struct tracepoint_change changes[COUNT_COLUMNS]; /* that register the probe of each event */
	uint64_t rows[COUNT_ROWS][COUNT_COLUMNS] __attribute__((aligned(64)));
};

static _Atomic uint32_t count_numbers; /* given out so far */

/* The threads of the count that has rows by thread. A row is changed by its thread and at its birth. */
static struct {
	_Atomic uint32_t number; /* of that count; 0: there is none */
	_Atomic uint32_t nr;	 /* threads, also those beyond the last row */
	struct {
		int32_t pid;
		char name[THREAD_NAME_LEN];
	} rows[COUNT_ROWS];
} count_threads;

/* ---- Probes ---- */

static TRACE_ALWAYS_INLINE void count_to(const struct count_event *event,
					 const struct thread *thread, uint64_t nr)
{
	size_t row;

	if (event->only && thread->counted != event->only)
		return;
	row = event->by_thread ? thread->counted_row : trace_plat_cpu_id();
	trace_plat_local_add(event->column + row * COUNT_COLUMNS, nr);
}

/* For tracepoints of all types: this does not look at their arguments. */
static void count_passed(void *data)
{
	count_to(data, current_thread(), 1);
}

static void count_run_time(void *data, const struct trace_sched_thread *info, uint64_t runtime,
			   uint64_t vruntime)
{
	const struct thread *thread = container_of(info->thread, struct thread, trace);
	const struct count_event *event = data;

	(void)vruntime;
	count_to(event, thread, runtime);
	if (event->by_thread && thread->counted == event->only)
		strlcpy(count_threads.rows[thread->counted_row].name, info->comm, THREAD_NAME_LEN);
}

/* The thread does not run: no other CPU counts for it now. */
static void count_moved(void *data, const struct trace_sched_thread *info, uint32_t orig_cpu)
{
	(void)orig_cpu;
	count_to(data, container_of(info->thread, struct thread, trace), 1);
}

static const tracepoint_probe_fn count_probes[] = {
	[COUNT_PASSED] = (tracepoint_probe_fn)count_passed,
	[COUNT_RUN_TIME] = (tracepoint_probe_fn)count_run_time,
	[COUNT_MOVED] = (tracepoint_probe_fn)count_moved,
};

/* ---- Threads ---- */

void count_inherit(struct thread *child, const struct thread *parent)
{
	uint32_t row;

	child->counted = parent->counted;
	if (!child->counted || child->counted != atomic_load(&count_threads.number))
		return;
	row = atomic_fetch_add(&count_threads.nr, 1);
	row = row < COUNT_ROWS ? row : COUNT_ROWS - 1;
	child->counted_row = row;
	count_threads.rows[row].pid = child->pid;
	strlcpy(count_threads.rows[row].name, child->name, THREAD_NAME_LEN);
}

void count_children(const struct counts *counts)
{
	current_thread()->counted = counts && !(counts->flags & COUNT_ALL) ? counts->number : 0;
}

int32_t count_thread(uint32_t row, char *out_name)
{
	if (row >= atomic_load(&count_threads.nr))
		return 0;
	strlcpy(out_name, count_threads.rows[row].name, THREAD_NAME_LEN);
	return count_threads.rows[row].pid;
}

/* ---- Columns ---- */

int count_open(uint32_t flags, struct counts **out_counts)
{
	struct counts *counts = kzalloc(sizeof(*counts));
	uint32_t none = 0;

	if (!counts)
		return -ENOMEM;
	counts->flags = flags;
	counts->number = atomic_fetch_add(&count_numbers, 1) + 1;
	if (flags & COUNT_BY_THREAD) {
		if (!atomic_compare_exchange_strong(&count_threads.number, &none, counts->number)) {
			kfree(counts);
			return -EBUSY;
		}
		atomic_store(&count_threads.nr, 0);
	}
	*out_counts = counts;
	return 0;
}

void count_close(struct counts *counts)
{
	if (counts->flags & COUNT_BY_THREAD)
		atomic_store(&count_threads.number, 0);
	kfree(counts);
}

struct count_search {
	const char *name;
	struct tracepoint *found;
};

static void count_look(struct tracepoint *tp, void *arg)
{
	struct count_search *search = arg;

	if (strcmp(tp->name, search->name) == 0)
		search->found = tp;
}

int count_add(struct counts *counts, uint32_t column, const char *tracepoint, enum count_kind kind)
{
	struct count_search search = { .name = tracepoint };
	struct count_event *event = &counts->events[counts->nr_events];

	if (counts->nr_events == COUNT_COLUMNS)
		return -ENOSPC;
	for_each_kernel_tracepoint(count_look, &search);
	if (!search.found)
		return -ENOENT;
	*event = (struct count_event){
		.column = &counts->rows[0][column],
		.only = counts->flags & COUNT_ALL ? 0 : counts->number,
		.by_thread = counts->flags & COUNT_BY_THREAD,
	};
	counts->changes[counts->nr_events++] = (struct tracepoint_change){
		.tp = search.found,
		.func = count_probes[kind],
		.data = event,
		.prio = TRACEPOINT_DEFAULT_PRIO,
	};
	return 0;
}

static int count_change(struct counts *counts, bool is_add)
{
	for (uint32_t i = 0; i < counts->nr_events; i++)
		counts->changes[i].is_add = is_add;
	return tracepoint_change_probes(counts->changes, counts->nr_events);
}

int count_start(struct counts *counts)
{
	int err = count_change(counts, true);

	if (err)
		count_stop(counts);
	return err;
}

void count_stop(struct counts *counts)
{
	(void)count_change(counts, false); /* those that never were registered say so */
	tracepoint_synchronize_unregister();
}

uint64_t count_value(const struct counts *counts, uint32_t column, uint32_t row)
{
	return counts->rows[row][column];
}

/*
 * The function profiler: it hooks returns as function_graph does, and counts instead of writing
 * events. See profile.h and fgraph_private.h.
 *
 * As in Linux, a call counts as a hit of the CPU that it began on, and its time belongs to the CPU
 * where it ended, if that one has seen the function begin too. Functions are those of
 * set_ftrace_filter of the global instance, from whose options sleep-time and graph-time are taken.
 * Any of the two that is off makes frames measure the time to be subtracted, and sets
 * FGRAPH_USER_SPECIAL: the long way.
 *
 * No guard against recursion: nothing that is called here is traced.
 *
 * Locking: `lock` guards the tables against readers; probes use them while the profiler is on.
 */
#include "graph/fgraph_private.h"
#include "graph_tracer.h"
#include "instance/array.h"
#include "ops/ftrace_private.h"
#include "profile.h"

#define ALL_TIME (TRACE_GRAPH_SLEEP_TIME | TRACE_GRAPH_GRAPH_TIME)
#define NO_CPU	 UINT32_MAX

static void profile_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			  struct ftrace_regs *fregs);
static void profile_exit(struct fgraph_frame *frame, struct trace_thread *thread,
			 struct fgraph_user *user);

static struct {
	struct trace_plat_lock lock;
	bool is_on;
	bool measures_sleep;
	_Atomic uint32_t options;      /* the set ones among ALL_TIME */
	struct profile_table **tables; /* one per CPU, made at the first use and kept */
	struct fgraph_user user;
	struct ftrace_ops ops;
	/* In frames that measure: the record must be searched at the exit. */
	struct profile_rec nobodys;
} profiler = {
	.options = ALL_TIME,
	.user = { .exit = profile_exit },
	.ops = { .func = profile_entry },
	.nobodys = { .cpu = NO_CPU },
};

static TRACE_ALWAYS_INLINE struct profile_table *this_table(void)
{
	return profiler.tables[trace_plat_cpu_id()];
}

/* ---- The slow way ---- */

/*
 * Preemption is off. A call that finds the table full gets no frame, so its return is not hooked.
 */
static TRACE_NOINLINE void entry_slow(uintptr_t ip, struct ftrace_regs *fregs)
{
	struct trace_thread *thread = trace_plat_current();
	struct fgraph_frame *frame;
	struct profile_rec *rec;

	if (atomic_load_explicit(&profiler.user.flags, memory_order_relaxed) & FGRAPH_USER_DEAD)
		goto enable;
	frame = fgraph_room(thread);
	if (!frame)
		goto enable;
	rec = trace_profile_table_claim(this_table(), trace_plat_ip_pack(ip));
	if (!rec)
		goto enable;
	trace_plat_local_add(&rec->hits, 1);
	fgraph_push(thread, frame, profiler.user.index, ip, ftrace_regs_return_slot(fregs));
	frame->child_ns = 0;
	frame->data = (uintptr_t)&profiler.nobodys;
	fgraph_begin(thread, frame);
	fgraph_hook(ftrace_regs_return_slot(fregs));
enable:
	trace_plat_preempt_enable();
}

static bool is_measured(const struct fgraph_frame *frame)
{
	return frame->data == (uintptr_t)&profiler.nobodys;
}

/*
 * The time of a call that counts, of the `ns` that it took: without the time the thread slept, if
 * sleep-time is cleared, and without the calls inside, if graph-time is; these are added to the
 * child_ns of the call around it.
 */
static uint64_t own_time(struct trace_thread *thread, struct fgraph_frame *frame, uint64_t ns)
{
	uint32_t options = atomic_load_explicit(&profiler.options, memory_order_relaxed);
	struct fgraph_frame *parent;

	if (!(options & TRACE_GRAPH_SLEEP_TIME)) {
		uint64_t sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed);

		sleep_ns -= frame->sleep_ns;
		ns -= sleep_ns < ns ? sleep_ns : ns;
	}
	if (options & TRACE_GRAPH_GRAPH_TIME)
		return ns;
	parent = fgraph_last(thread, frame - 1, profiler.user.index);
	if (parent && is_measured(parent))
		parent->child_ns += ns;
	return frame->child_ns < ns ? ns - frame->child_ns : 0;
}

/* The options were not the default at the entry, or the call has moved to another CPU. */
static TRACE_NOINLINE void profile_exit_slow(struct fgraph_frame *frame,
					     struct trace_thread *thread)
{
	struct profile_rec *rec = trace_profile_table_find(this_table(), frame->func);
	uint64_t ns = trace_plat_clock_ns() - frame->calltime;

	if (is_measured(frame))
		ns = own_time(thread, frame, ns);
	if (rec && (int64_t)ns >= 0) /* negative: the other CPU's clock is ahead */
		profile_rec_add(rec, ns);
	fgraph_pop(thread, frame);
}

/* ---- The fast way: default options, no change of the CPU ---- */

static void profile_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			  struct ftrace_regs *fregs)
{
	struct trace_thread *thread;
	struct fgraph_frame *frame;
	struct profile_rec *rec;

	(void)parent_ip;
	(void)ops;
	trace_plat_preempt_disable();
	rec = profile_table_slot(this_table(), trace_plat_ip_pack(ip));
	thread = trace_plat_current();
	frame = fgraph_top(thread);
	if (TRACE_UNLIKELY(!fgraph_has_room(frame)) ||
	    TRACE_UNLIKELY(atomic_load_explicit(&rec->ip, memory_order_relaxed) !=
			   trace_plat_ip_pack(ip)) ||
	    TRACE_UNLIKELY(atomic_load_explicit(&profiler.user.flags, memory_order_relaxed)))
		goto slow;
	trace_plat_local_add(&rec->hits, 1);
	fgraph_push(thread, frame, profiler.user.index, ip, ftrace_regs_return_slot(fregs));
	frame->data = (uintptr_t)rec;
	frame->calltime = trace_plat_clock_ns();
	fgraph_hook(ftrace_regs_return_slot(fregs));
	trace_plat_preempt_enable();
	return;
slow:
	entry_slow(ip, fregs);
}

static void profile_exit(struct fgraph_frame *frame, struct trace_thread *thread,
			 struct fgraph_user *user)
{
	struct profile_rec *rec = (void *)(uintptr_t)frame->data;

	(void)user;
	if (TRACE_UNLIKELY(rec->cpu != trace_plat_cpu_id())) {
		profile_exit_slow(frame, thread);
		return;
	}
	profile_rec_add(rec, trace_plat_clock_ns() - frame->calltime);
	fgraph_pop(thread, frame);
}

/* ---- Switching. The static functions are called with `lock` held. ---- */

static int profile_measure_sleep(bool on)
{
	int err = 0;

	if (on == profiler.measures_sleep)
		return 0;
	if (on)
		err = ftrace_graph_sleep_get();
	else
		ftrace_graph_sleep_put();
	if (!err)
		profiler.measures_sleep = on;
	return err;
}

static int obey_options(void)
{
	int err = profile_measure_sleep(profiler.is_on &&
					!(profiler.options & TRACE_GRAPH_SLEEP_TIME));

	if (profiler.options != ALL_TIME)
		atomic_fetch_or(&profiler.user.flags, FGRAPH_USER_SPECIAL);
	else
		atomic_fetch_and(&profiler.user.flags, ~(uint32_t)FGRAPH_USER_SPECIAL);
	return err;
}

int trace_profile_set_option(uint32_t bit, bool on)
{
	uint32_t old;
	int err;

	trace_plat_lock(&profiler.lock);
	old = profiler.options;
	if (on)
		profiler.options |= bit & ALL_TIME;
	else
		profiler.options &= ~(bit & ALL_TIME);
	err = obey_options();
	if (err) {
		profiler.options = old;
		obey_options();
	}
	trace_plat_unlock(&profiler.lock);
	return err;
}

bool trace_profile_enabled(void)
{
	return profiler.is_on;
}

static int create_tables(void)
{
	uint32_t nr = trace_plat_nr_cpus();

	if (!profiler.tables)
		profiler.tables = trace_plat_alloc(nr * sizeof(struct profile_table *));
	if (!profiler.tables)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < nr; cpu++) {
		struct profile_table **table = &profiler.tables[cpu];

		if (*table)
			trace_profile_table_reset(*table);
		else
			*table = trace_profile_table_create(cpu, ftrace_nr_records());
		if (!*table)
			return -ENOMEM;
	}
	return 0;
}

static void end_sites(void)
{
	ftrace_unregister(&profiler.ops);
	ftrace_ops_unfollow(&ftrace_global_ops);
}

static int begin_sites(void)
{
	int err = ftrace_ops_follow(&ftrace_global_ops, &profiler.ops);

	if (err)
		return err;
	err = register_ftrace_function(&profiler.ops);
	if (err)
		end_sites();
	return err;
}

static int profile_start(void)
{
	int err = create_tables();

	if (!err)
		err = fgraph_user_add(&profiler.user);
	if (err)
		return err;
	err = begin_sites();
	if (err)
		fgraph_user_remove(&profiler.user);
	return err;
}

static void profile_stop(void)
{
	end_sites();
	fgraph_user_remove(&profiler.user);
}

int trace_profile_enable(bool on)
{
	int err = 0;

	trace_plat_lock(&profiler.lock);
	if (on != profiler.is_on) {
		if (on)
			err = profile_start();
		else
			profile_stop();
		profiler.is_on = on && !err;
		if (!err)
			err = obey_options();
		if (err && profiler.is_on) {
			profile_stop();
			profiler.is_on = false;
		}
	}
	trace_plat_unlock(&profiler.lock);
	return err;
}

int trace_profile_read(struct profile_stats *stats, uint32_t cpu)
{
	int err;

	trace_plat_lock(&profiler.lock);
	err = trace_profile_stats_create(stats, profiler.tables ? profiler.tables[cpu] : NULL);
	trace_plat_unlock(&profiler.lock);
	return err;
}

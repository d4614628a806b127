/* Functions, threads and CPUs that can be seen, for `why`. See instance/why.h. */
#include <trace/fmt.h>
#include <trace/thread.h>
#include "ops/ftrace_private.h"
#include "text/str.h"
#include "why.h"

/* Does the tracer live of calls of functions? */
static bool has_calls(const struct trace_why *why)
{
	return why->tr->ops && why->tr->ops->flags & FTRACE_OPS_FL_ENABLED;
}

void trace_why_patching(struct trace_why *why)
{
	if (!has_calls(why) || ftrace_master_on())
		return;
	trace_why_say(why,
		      "No function calls %s: /proc/sys/kernel/ftrace_enabled is 0; echo 1 > "
		      "/proc/sys/kernel/ftrace_enabled.",
		      trace_why_tracer(why)->name);
}

/* Count the functions of the filter that are left, and note one of them. Preemption is off. */
static uint32_t count_wanted(const struct ftrace_ops_hash *want, uintptr_t *out_ip)
{
	const struct ftrace_hash *filter = want->filter_hash, *notrace = want->notrace_hash;
	uint32_t nr = 0;

	for (uint32_t i = 0; filter && i <= filter->mask; i++) {
		if (!filter->slot[i] || (notrace && ftrace_hash_has(notrace, filter->slot[i])))
			continue;
		*out_ip = trace_plat_ip_unpack(filter->slot[i]);
		nr++;
	}
	return nr;
}

struct why_wanted {
	uint32_t nr_filter, nr_notrace; /* 0: there is no such set */
	uint32_t nr;			/* functions of the filter that notrace leaves */
	uintptr_t ip;			/* one of these */
};

static void find_wanted(const struct ftrace_ops *ops, struct why_wanted *out)
{
	const struct ftrace_ops_hash *want;

	*out = (struct why_wanted){ 0 };
	trace_plat_preempt_disable(); /* sets are freed after a grace period */
	want = atomic_load_explicit(&ops->func_hash, memory_order_acquire);
	if (want) {
		out->nr_filter = want->filter_hash ? want->filter_hash->nr : 0;
		out->nr_notrace = want->notrace_hash ? want->notrace_hash->nr : 0;
		out->nr = count_wanted(want, &out->ip);
	}
	trace_plat_preempt_enable();
}

void trace_why_filter(struct trace_why *why)
{
	const char *tracer = trace_why_tracer(why)->name;
	struct why_wanted wanted;

	if (!has_calls(why))
		return;
	find_wanted(why->tr->ops, &wanted);
	if (wanted.nr_filter && !wanted.nr)
		trace_why_say(why,
			      "%s sees no function: all %s of set_ftrace_filter are in "
			      "set_ftrace_notrace, too; echo > set_ftrace_notrace.",
			      tracer, trace_why_number(wanted.nr_filter).text);
	else if (!wanted.nr_filter && wanted.nr_notrace >= ftrace_nr_records())
		trace_why_say(why,
			      "%s sees no function: set_ftrace_notrace names all %s there are; "
			      "echo > set_ftrace_notrace.",
			      tracer, trace_why_number(wanted.nr_notrace).text);
	else if (wanted.nr_filter && !why->all.glance.committed)
		trace_why_say(why,
			      "Of the %s function%s of set_ftrace_filter (%s%s) none has been "
			      "called yet; echo > set_ftrace_filter for all.",
			      trace_why_number(wanted.nr).text, trace_why_s(wanted.nr),
			      trace_why_function(wanted.ip).text, wanted.nr > 1 ? ", ..." : "");
}

/* ---- Threads ---- */

struct threads {
	uint64_t mask;
	uint32_t nr, nr_traced;
	int32_t pid; /* of one that is traced */
};

static void count_thread(int32_t pid, struct trace_thread *thread, void *arg)
{
	struct threads *threads = arg;

	threads->nr++;
	if (__atomic_load_n(&thread->ignored_by, __ATOMIC_RELAXED) & threads->mask)
		return;
	threads->nr_traced++;
	threads->pid = pid;
}

/* A filter of threads whose bit is `mask`. The host's list of threads is never held for long. */
static void look_at_threads(struct trace_why *why, uint64_t mask, const char *what,
			    const char *file)
{
	struct threads threads = { .mask = mask };

	if (!mask)
		return;
	trace_plat_each_thread(count_thread, &threads);
	if (!threads.nr_traced)
		trace_why_say(why,
			      "%s of no thread are recorded: set_%s_pid and "
			      "set_%s_notrace_pid leave none of the %u that live; echo > "
			      "set_%s_pid.",
			      what, file, file, threads.nr, file);
	else if (threads.nr_traced < threads.nr && !why->all.nr_last_second)
		trace_why_say(why,
			      "%s of %u of %u threads are recorded (%s%s): set_%s_pid and "
			      "set_%s_notrace_pid leave no more.",
			      what, threads.nr_traced, threads.nr,
			      trace_why_thread(threads.pid, NULL).text,
			      threads.nr_traced > 1 ? ", ..." : "", file, file);
}

void trace_why_threads(struct trace_why *why)
{
	if (has_calls(why))
		look_at_threads(why, why->tr->pid_mask, "Calls", "ftrace");
	if (why->nr_events)
		look_at_threads(why, why->tr->event_pid_mask, "Events", "event");
}

/* ---- CPUs ---- */

/* The text of tracing_cpumask for all CPUs: groups of 8 digits. */
static void all_cpus(uint32_t nr_cpus, char *out_mask, size_t size)
{
	uint32_t digits = (nr_cpus + 3) / 4;
	size_t at = 0;

	for (uint32_t i = digits; i-- > 0 && at + 2 < size;) {
		out_mask[at++] = i == digits - 1 && nr_cpus % 4 ? "?137"[nr_cpus % 4] : 'f';
		if (i && i % 8 == 0)
			out_mask[at++] = ',';
	}
	out_mask[at] = '\0';
}

static void say_no_buffer(struct trace_why *why)
{
	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		if (why->tr->cpus[cpu].is_there && !why->cpus[cpu].glance.is_there)
			trace_why_say(why,
				      "The buffer of CPU %u is being changed at this moment, or "
				      "there was no memory for it.",
				      cpu);
	}
}

void trace_why_cpus(struct trace_why *why)
{
	char list[64], mask[300];
	uint32_t nr = 0;
	size_t at = 0;

	say_no_buffer(why);
	list[0] = '\0';
	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		if (!why->tr->cpus[cpu].is_masked)
			continue;
		at += trace_scnprintf(list + at, sizeof(list) - at, "%s%u", nr ? ", " : "", cpu);
		nr++;
	}
	if (!nr)
		return;
	all_cpus(why->nr_cpus, mask, sizeof(mask));
	trace_why_say(why,
		      "tracing_cpumask leaves out %u of %u CPUs: %s%s; echo %s > tracing_cpumask.",
		      nr, why->nr_cpus, list, at + 1 >= sizeof(list) ? "..." : "", mask);
}

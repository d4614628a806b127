/* Default: deferred work waits until the host calls trace_run_later(). */
#include <stdatomic.h>
#include <trace/defaults.h>
#include <trace/platform.h>

struct later {
	_Atomic bool is_asked;
	struct later *_Atomic next;
	bool is_listed; /* guarded by `lock` */
	void (*fn)(void);
	uint64_t due_ns;
};
_Static_assert(sizeof(struct later) <= sizeof(struct trace_plat_later), "later has room");

static struct trace_plat_lock lock; /* guards changes of the list, which only grows */
static struct later *_Atomic laters;

TRACE_DEFAULT void trace_plat_call_later(struct trace_plat_later *opaque, void (*fn)(void),
					 uint64_t delay_ns)
{
	struct later *later = (struct later *)(void *)opaque;

	trace_plat_lock(&lock);
	if (!atomic_load(&later->is_asked)) {
		later->fn = fn;
		later->due_ns = trace_plat_clock_mono_ns() + delay_ns;
		atomic_store(&later->is_asked, true);
	}
	if (!later->is_listed) {
		later->is_listed = true;
		later->next = laters;
		laters = later;
	}
	trace_plat_unlock(&lock);
}

static void run_if_due(struct later *later)
{
	bool is_due;

	trace_plat_lock(&lock);
	is_due = atomic_load(&later->is_asked) && trace_plat_clock_mono_ns() >= later->due_ns;
	if (is_due)
		atomic_store(&later->is_asked, false);
	trace_plat_unlock(&lock);
	if (is_due)
		later->fn();
}

/* ---- Work deferred by probes ---- */

static struct trace_plat_deferred *_Atomic deferreds; /* the newest first */

TRACE_DEFAULT void trace_plat_defer(struct trace_plat_deferred *deferred)
{
	struct trace_plat_deferred *first = atomic_load(&deferreds);

	do
		deferred->next = first;
	while (!atomic_compare_exchange_weak(&deferreds, &first, deferred));
}

static void run_deferreds(void)
{
	struct trace_plat_deferred *deferred = atomic_exchange(&deferreds, NULL), *next;

	for (; deferred; deferred = next) {
		next = deferred->next; /* read before fn begins: then it may be deferred again */
		deferred->fn(deferred);
	}
}

void trace_run_later(void)
{
	run_deferreds();
	for (struct later *later = laters; later; later = later->next)
		run_if_due(later);
}

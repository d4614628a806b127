/*
 * Data of threads that hit probes in programs, and waiting until they have left handlers: see uprobe_private.h.
 */
#include <trace/errno.h>
#include "feature/feature.h"
#include "uprobe_private.h"

#define PAUSE_NS 100000u

_Atomic uint64_t uprobe_epoch = 1;
_Atomic uint64_t uprobe_phase_now;

void uprobe_maps_changed(void)
{
	if (uprobe_table_nr())
		atomic_fetch_add(&uprobe_epoch, 1);
}

/* ---- Phases ---- */

struct uprobe_wait {
	uint64_t phase;
	bool is_anyone_in;
};

static void uprobe_phase_look(int32_t pid, struct trace_thread *thread, void *arg)
{
	uint64_t phase = atomic_load_explicit(&thread->uprobe_phase, memory_order_acquire);
	struct uprobe_wait *wait = arg;

	(void)pid;
	if (phase && phase < wait->phase)
		wait->is_anyone_in = true;
}

void uprobe_phase_wait(void)
{
	struct uprobe_wait wait = { .phase = atomic_fetch_add(&uprobe_phase_now, 2) + 2 };

	trace_plat_synchronize_preempt();
	for (;;) {
		wait.is_anyone_in = false;
		trace_plat_each_thread(uprobe_phase_look, &wait);
		if (!wait.is_anyone_in)
			return;
		(void)trace_plat_pause(PAUSE_NS, false);
	}
}

/* ---- Data ---- */

struct uprobe_thread *uprobe_thread_create(struct trace_thread *thread)
{
	thread->uprobe = trace_plat_alloc(sizeof(*thread->uprobe));
	return thread->uprobe;
}

void uprobe_thread_execed(void)
{
	struct uprobe_thread *data = trace_plat_current()->uprobe;

	if (!data)
		return;
	uprobe_return_drop(data, 0);
	__builtin_memset(data->cache, 0, sizeof(data->cache));
	data->nr_again = 0;
	__builtin_memset(data->again, 0, sizeof(data->again));
	data->trampoline = 0;
}

static void uprobe_thread_exited(int32_t pid, struct trace_thread *thread)
{
	struct uprobe_thread *data = thread->uprobe;

	(void)pid;
	if (!data)
		return;
	thread->uprobe = NULL;
	uprobe_return_drop(data, 0);
	if (data->frames)
		trace_plat_free(data->frames, UPROBE_FRAMES_MAX * sizeof(data->frames[0]));
	trace_plat_free(data, sizeof(*data));
}

int uprobe_thread_forked(struct trace_thread *child)
{
	const struct uprobe_thread *from = trace_plat_current()->uprobe;
	struct uprobe_thread *to;

	if (!from || !from->nr_frames)
		return 0;
	to = uprobe_thread_get(child);
	if (to && !to->frames)
		to->frames = trace_plat_alloc(UPROBE_FRAMES_MAX * sizeof(to->frames[0]));
	if (!to || !to->frames)
		return -ENOMEM; /* its end frees what it has */
	to->trampoline = from->trampoline;
	to->nr_frames = from->nr_frames;
	__builtin_memcpy(to->frames, from->frames, from->nr_frames * sizeof(from->frames[0]));
	for (uint32_t i = 0; i < to->nr_frames; i++)
		atomic_fetch_add(&to->frames[i].uprobe->refs, 1);
	return 0;
}

const struct trace_feature trace_feature_uprobes = {
	.name = "uprobes",
	.thread_exited = uprobe_thread_exited,
};

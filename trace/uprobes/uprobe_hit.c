/*
 * A program has come to a breakpoint: finding the place, calling its handlers. See uprobe_private.h.
 */
#include "uprobe_private.h"

static uint32_t uprobe_cache_of(uintptr_t addr)
{
	return (uint32_t)(addr ^ addr >> 3 ^ addr >> 9) % UPROBE_CACHE;
}

/* The place at an address that the thread does not remember. In a phase; sleeps. */
static TRACE_NOINLINE struct uprobe *uprobe_hit_locate(struct uprobe_thread *data, uintptr_t addr)
{
	uint64_t epoch = atomic_load(&uprobe_epoch), file, offset;
	uint32_t at = uprobe_cache_of(addr);
	struct uprobe *uprobe;

	if (!trace_plat_uprobes()->locate(addr, &file, &offset))
		return NULL;
	uprobe = uprobe_table_find(file, offset);
	if (uprobe && data) {
		data->cache[at].addr = addr;
		data->cache[at].uprobe = uprobe;
		data->cache[at].epoch = epoch;
		data->cache[at].step = 0;
	}
	return uprobe;
}

/* The memory of it ends with the epoch; in this phase it is still there. */
static struct uprobe *uprobe_hit_remembered(const struct uprobe_thread *data, uintptr_t addr)
{
	uint32_t at = uprobe_cache_of(addr);

	if (!data || data->cache[at].addr != addr ||
	    data->cache[at].epoch != atomic_load_explicit(&uprobe_epoch, memory_order_acquire))
		return NULL;
	return data->cache[at].uprobe;
}

/* Has the breakpoint been taken away since it was hit? A page that is not there will fault again. */
static bool uprobe_hit_is_gone(uintptr_t addr)
{
	const struct trace_uprobe_host *host = trace_plat_uprobes();
	uint8_t byte;

	return !host->read(&byte, addr, sizeof(byte)) || byte != host->breakpoint;
}

static void uprobe_hit_handle(struct uprobe *uprobe, struct uprobe_thread *data,
			      struct ftrace_regs *regs)
{
	struct uprobe_consumer *consumer;

	for (consumer = atomic_load_explicit(&uprobe->first, memory_order_acquire); consumer;
	     consumer = atomic_load_explicit(&consumer->next, memory_order_acquire)) {
		if (consumer->handler)
			consumer->handler(consumer, regs);
	}
	if (atomic_load_explicit(&uprobe->nr_returns, memory_order_relaxed))
		uprobe_return_hook(uprobe, data, regs);
}

void uprobe_hit_again(uintptr_t addr, uintptr_t sp)
{
	struct uprobe_thread *data = trace_plat_current()->uprobe;
	uint32_t at;

	if (!data)
		return;
	at = data->nr_again++ % UPROBE_AGAIN;
	data->again[at].addr = addr;
	data->again[at].sp = sp;
}

/* Was this hit seen already? */
static bool uprobe_hit_is_again(struct uprobe_thread *data, uintptr_t addr,
				const struct ftrace_regs *regs)
{
	if (TRACE_LIKELY(!data || !data->nr_again))
		return false;
	for (uint32_t i = 0; i < UPROBE_AGAIN; i++) {
		if (data->again[i].addr != addr ||
		    data->again[i].sp != ftrace_regs_get_saved_stack_pointer(regs))
			continue;
		data->again[i].addr = 0;
		return true;
	}
	return false;
}

static void uprobe_hit_run(struct uprobe *uprobe, struct uprobe_thread *data,
			   struct ftrace_regs *regs)
{
	uintptr_t addr = ftrace_regs_get_instruction_pointer(regs), none = 0, *step = &none;

	if (!uprobe_hit_is_again(data, addr, regs))
		uprobe_hit_handle(uprobe, data, regs);
	if (ftrace_regs_get_instruction_pointer(regs) != addr)
		return;
	if (data && data->cache[uprobe_cache_of(addr)].addr == addr)
		step = &data->cache[uprobe_cache_of(addr)].step;
	trace_plat_uprobes()->step(&uprobe->insn, regs, step);
}

bool uprobe_hit(struct ftrace_regs *regs)
{
	uintptr_t addr = ftrace_regs_get_instruction_pointer(regs);
	struct trace_thread *thread = trace_plat_current();
	struct uprobe_thread *data;
	struct uprobe *uprobe;

	if (!uprobe_table_nr())
		return uprobe_hit_is_gone(addr);
	data = uprobe_thread_get(thread);
	uprobe_phase_begin(thread);
	uprobe = uprobe_hit_remembered(data, addr);
	trace_plat_preempt_enable();
	if (!uprobe)
		uprobe = uprobe_hit_locate(data, addr);
	if (uprobe)
		uprobe_hit_run(uprobe, data, regs);
	uprobe_phase_end(thread);
	return uprobe || uprobe_hit_is_gone(addr);
}

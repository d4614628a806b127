/*
 * A program has come to a breakpoint: finding the place, calling its handlers. See uprobe_private.h.
 */
#include "uprobe_private.h"

static struct uprobe_memory *uprobe_memory_of(struct uprobe_thread *data, uintptr_t addr)
{
	return &data->cache[(uint32_t)(addr ^ addr >> 3 ^ addr >> 9) % UPROBE_CACHE];
}

/* The place at an address that the thread does not remember. In a phase; sleeps. */
static TRACE_NOINLINE struct uprobe *uprobe_hit_locate(struct uprobe_memory *memory, uintptr_t addr)
{
	uint64_t epoch = atomic_load(&uprobe_epoch), file, offset;
	struct uprobe *uprobe;

	if (!trace_plat_uprobes()->locate(addr, &file, &offset))
		return NULL;
	uprobe = uprobe_table_find(file, offset);
	if (uprobe)
		*memory = (struct uprobe_memory){ .addr = addr, .uprobe = uprobe, .epoch = epoch };
	return uprobe;
}

/* The memory of it ends with the epoch; in this phase it is still there. */
static TRACE_ALWAYS_INLINE struct uprobe *uprobe_hit_remembered(const struct uprobe_memory *memory,
								uintptr_t addr)
{
	if (memory->addr != addr ||
	    memory->epoch != atomic_load_explicit(&uprobe_epoch, memory_order_acquire))
		return NULL;
	return memory->uprobe;
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

static TRACE_ALWAYS_INLINE void uprobe_hit_run(struct uprobe *uprobe, struct uprobe_thread *data,
					       struct ftrace_regs *regs, uintptr_t *step)
{
	uintptr_t addr = ftrace_regs_get_instruction_pointer(regs);

	if (!uprobe_hit_is_again(data, addr, regs))
		uprobe_hit_handle(uprobe, data, regs);
	if (ftrace_regs_get_instruction_pointer(regs) == addr)
		trace_plat_uprobes()->step(&uprobe->insn, regs, step);
}

bool uprobe_hit(struct ftrace_regs *regs)
{
	uintptr_t addr = ftrace_regs_get_instruction_pointer(regs);
	struct trace_thread *thread = trace_plat_current();
	struct uprobe_memory none = { 0 }, *memory;
	struct uprobe_thread *data;
	struct uprobe *uprobe;

	if (!uprobe_table_nr())
		return uprobe_hit_is_gone(addr);
	data = uprobe_thread_get(thread);
	memory = TRACE_LIKELY(data) ? uprobe_memory_of(data, addr) : &none;
	uprobe_phase_begin(thread);
	uprobe = uprobe_hit_remembered(memory, addr);
	trace_plat_preempt_enable();
	if (TRACE_UNLIKELY(!uprobe))
		uprobe = uprobe_hit_locate(memory, addr);
	if (uprobe)
		uprobe_hit_run(uprobe, data, regs, &memory->step);
	uprobe_phase_end(thread);
	return uprobe || uprobe_hit_is_gone(addr);
}

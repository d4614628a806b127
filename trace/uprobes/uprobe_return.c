/*
 * Returns of functions in programs: a shadow stack for each thread, of calls whose return address was replaced by
 * that of the trampoline. See uprobe_private.h.
 *
 *   slot of the stack   frame           at the return
 *   0x7ffc10 tramp.     f, ret 0x401234 handlers of f, on to 0x401234
 *   0x7ffbe0 tramp.     g, ret 0x401777 handlers of h, then of g, on to 0x401777
 *        "              h, chained      (g has jumped to h)
 *
 * A frame is found by its slot, from the top. Those above it belong to calls that never return, because a
 * longjmp() has left them. A thread may change stacks, so such frames are dropped only then, or when there is no room.
 */
#include "uprobe_private.h"

void uprobe_return_drop(struct uprobe_thread *data, uint32_t from)
{
	while (data->nr_frames > from)
		uprobe_put(data->frames[--data->nr_frames].uprobe);
}

static bool uprobe_return_read(uintptr_t *to, uintptr_t slot)
{
	return trace_plat_uprobes()->read(to, slot, sizeof(*to));
}

static bool uprobe_return_write(const struct uprobe_thread *data, uintptr_t slot)
{
	return trace_plat_uprobes()->write(slot, &data->trampoline, sizeof(data->trampoline));
}

/* Has a later call its return address where the frame has it? */
static bool uprobe_return_is_replaced(const struct uprobe_thread *data, uint32_t at)
{
	for (uint32_t i = at + 1; i < data->nr_frames; i++) {
		if (data->frames[i].slot == data->frames[at].slot && !data->frames[i].is_chained)
			return true;
	}
	return false;
}

/* Will the call of that frame never return, as its slot holds something else, or lies below the stack of a new call? */
static bool uprobe_return_is_dead(const struct uprobe_thread *data, uint32_t at, uintptr_t sp)
{
	const uintptr_t stack_bytes = 1ul << 20;
	uintptr_t slot = data->frames[at].slot, ret;

	return (slot < sp && sp - slot < stack_bytes) || !uprobe_return_read(&ret, slot) ||
	       ret != data->trampoline || uprobe_return_is_replaced(data, at);
}

static void uprobe_return_clean(struct uprobe_thread *data, uintptr_t sp)
{
	uint32_t nr = 0;
	uint64_t dead = 0;

	for (uint32_t i = 0; i < data->nr_frames; i++)
		dead |= (uint64_t)uprobe_return_is_dead(data, i, sp) << i;
	for (uint32_t i = 0; i < data->nr_frames; i++) {
		if (dead >> i & 1)
			uprobe_put(data->frames[i].uprobe);
		else
			data->frames[nr++] = data->frames[i];
	}
	data->nr_frames = nr;
}
_Static_assert(UPROBE_FRAMES_MAX <= 64, "a bit for each");

/* The number of the frame with that slot, and 1; 0: there is none. */
static uint32_t uprobe_return_find(const struct uprobe_thread *data, uintptr_t slot)
{
	uint32_t nr = data->nr_frames;

	while (nr && data->frames[nr - 1].slot != slot)
		nr--;
	return nr;
}

/* Room for one more frame, of a call whose stack begins at `sp`. */
static bool uprobe_return_has_room(struct uprobe_thread *data, uintptr_t sp)
{
	if (!data->frames)
		data->frames = trace_plat_alloc(UPROBE_FRAMES_MAX * sizeof(data->frames[0]));
	if (data->nr_frames == UPROBE_FRAMES_MAX)
		uprobe_return_clean(data, sp);
	return data->frames && data->nr_frames < UPROBE_FRAMES_MAX;
}

static bool uprobe_return_has_trampoline(struct uprobe_thread *data)
{
	return data->trampoline || trace_plat_uprobes()->trampoline(&data->trampoline);
}

static bool uprobe_return_push(struct uprobe *uprobe, struct uprobe_thread *data,
			       const struct ftrace_regs *regs)
{
	uintptr_t slot = ftrace_regs_get_saved_stack_pointer(regs), ret;
	bool is_chained;

	if (!data || !uprobe_return_has_trampoline(data) || !uprobe_return_has_room(data, slot) ||
	    !uprobe_return_read(&ret, slot))
		return false;
	is_chained = ret == data->trampoline;
	if (is_chained && !uprobe_return_find(data, slot))
		return false;
	if (!is_chained && !uprobe_return_write(data, slot))
		return false;
	atomic_fetch_add_explicit(&uprobe->refs, 1, memory_order_relaxed);
	data->frames[data->nr_frames++] = (struct uprobe_frame){
		.slot = slot,
		.ret = ret,
		.func = ftrace_regs_get_instruction_pointer(regs),
		.uprobe = uprobe,
		.is_chained = is_chained,
	};
	return true;
}

void uprobe_return_hook(struct uprobe *uprobe, struct uprobe_thread *data,
			const struct ftrace_regs *regs)
{
	struct uprobe_consumer *consumer;

	if (uprobe_return_push(uprobe, data, regs))
		return;
	for (consumer = uprobe->first; consumer; consumer = consumer->next) {
		if (consumer->ret_handler)
			atomic_fetch_add_explicit(&consumer->nmissed, 1, memory_order_relaxed);
	}
}

static void uprobe_return_handle(const struct uprobe_frame *frame, struct ftrace_regs *regs)
{
	struct uprobe_consumer *consumer;

	for (consumer = atomic_load_explicit(&frame->uprobe->first, memory_order_acquire); consumer;
	     consumer = atomic_load_explicit(&consumer->next, memory_order_acquire)) {
		if (consumer->ret_handler)
			consumer->ret_handler(consumer, frame->func, regs);
	}
}

/* The frame that has the address to which the one at the top returns. Chained ones have one below them. */
static uint32_t uprobe_return_last(const struct uprobe_thread *data)
{
	uint32_t at = data->nr_frames - 1;

	while (at && data->frames[at].is_chained)
		at--;
	return at;
}

bool uprobe_return(struct ftrace_regs *regs)
{
	uintptr_t slot = ftrace_regs_get_saved_stack_pointer(regs) - sizeof(uintptr_t);
	struct trace_thread *thread = trace_plat_current();
	struct uprobe_thread *data = thread->uprobe;
	uint32_t nr = data ? uprobe_return_find(data, slot) : 0, last;

	if (!nr)
		return false;
	uprobe_return_drop(data, nr);
	last = uprobe_return_last(data);
	ftrace_regs_set_instruction_pointer(regs, data->frames[last].ret);
	uprobe_phase_begin(thread);
	trace_plat_preempt_enable();
	while (nr > last)
		uprobe_return_handle(&data->frames[--nr], regs);
	uprobe_phase_end(thread);
	uprobe_return_drop(data, last);
	return true;
}

uintptr_t uprobe_return_address(const struct trace_thread *thread, uintptr_t ret, uintptr_t slot)
{
	const struct uprobe_thread *data = thread->uprobe;
	uint32_t nr;

	if (!data || ret != data->trampoline)
		return ret;
	nr = uprobe_return_find(data, slot);
	while (nr > 1 && data->frames[nr - 1].is_chained)
		nr--;
	return nr ? data->frames[nr - 1].ret : ret;
}

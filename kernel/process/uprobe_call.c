/*
 * Calls of programs in place of 10-byte NOPs that have probes: see uprobe.h, and <trace/arch_uprobe.h> for the code.
 *
 *   NOP with a breakpoint --first hit--> call --removal--> breakpoint --> NOP
 *                                         '--> [uprobes-trampoline], a page near it --> uprobe_call()
 *
 * No trap is taken then. A program gets a page when it has none within 2 GiB of the NOP; without room, memory, or all of
 * the NOP in one page, the breakpoint stays.
 */
#include <arch/paging.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/upcall.h>
#include <trace/arch_host.h>
#include <trace/arch_uprobe.h>
#include "process.h"
#include "uprobe.h"

#define CALL_REACH 0x70000000ul /* bytes to the trampoline */

/* ---- Pages ---- */

/* Is the page of number `i` still the trampoline, and near enough? */
static bool uprobe_call_reaches(struct mm *mm, size_t i, uintptr_t addr)
{
	uintptr_t page = mm->uprobe_calls[i];
	const struct vma *vma = find_vma(mm, page);

	return addr - page + CALL_REACH < 2 * CALL_REACH && vma && vma->start <= page &&
	       vma->flags & VM_UPROBE_CALLS;
}

/* 0: no memory, or no room. */
static uintptr_t uprobe_call_new_page(struct mm *mm, uintptr_t addr)
{
	struct vma range = { .start = uprobe_find_room(mm, addr, PAGE_SIZE),
			     .flags = VM_READ | VM_EXEC | VM_UPROBE_CALLS };
	uint8_t *page;
	void *old;

	range.end = range.start + PAGE_SIZE;
	if (!range.start || vma_add(mm, &range))
		return 0;
	page = mm_own_page(mm, range.start, &old);
	if (!page) {
		vma_remove_range(mm, range.start, range.end);
		return 0;
	}
	memcpy(page, trace_uprobe_trampoline, TRACE_UPROBE_TRAMPOLINE);
	return range.start;
}

static uintptr_t uprobe_call_page(struct mm *mm, uintptr_t addr)
{
	size_t i = 0;

	while (i < MM_UPROBE_CALLS && mm->uprobe_calls[i] && !uprobe_call_reaches(mm, i, addr))
		i++;
	if (i == MM_UPROBE_CALLS)
		return 0;
	if (!mm->uprobe_calls[i])
		mm->uprobe_calls[i] = uprobe_call_new_page(mm, addr);
	return mm->uprobe_calls[i];
}

/* ---- Code ---- */

/* The NOP, in a page that no other program has; NULL: it is in two pages, or there is no memory. */
static uint8_t *uprobe_call_code(struct mm *mm, uintptr_t addr)
{
	const struct vma *vma = find_vma(mm, addr);
	uint8_t *page;
	void *old;

	if (addr % PAGE_SIZE > PAGE_SIZE - TRACE_UPROBE_CALL || !vma || vma->start > addr ||
	    vma->flags & VM_SHARED)
		return NULL;
	page = mm_own_page(mm, ALIGN_DOWN(addr, PAGE_SIZE), &old);
	if (old) {
		uprobe_flush();
		put_page(old);
	}
	return page ? page + addr % PAGE_SIZE : NULL;
}

void uprobe_call_make(struct mm *mm, uintptr_t addr)
{
	uintptr_t trampoline;
	uint8_t *code;

	mutex_lock(&mm->lock);
	code = uprobe_call_code(mm, addr);
	trampoline = code ? uprobe_call_page(mm, addr) : 0;
	if (trampoline && trace_uprobe_call_begin(code, addr, trampoline)) {
		uprobe_flush();
		trace_uprobe_call_finish(code);
	}
	mutex_unlock(&mm->lock);
}

/* The call in the place of an edit; NULL: there is none. */
static uint8_t *uprobe_call_at(const struct trace_uprobe_edit *edit, uint8_t *copy)
{
	size_t at = edit->offset % PAGE_SIZE;

	if (edit->delta || edit->from != TRACE_UPROBE_INT3 || at > PAGE_SIZE - TRACE_UPROBE_CALL)
		return NULL;
	return trace_uprobe_call_is(copy + at) ? copy + at : NULL;
}

void uprobe_call_stop(const struct trace_uprobe_edit *edit, uint8_t *copy)
{
	uint8_t *code = uprobe_call_at(edit, copy);

	if (code)
		trace_uprobe_call_stop(code);
}

void uprobe_call_restore(const struct trace_uprobe_edit *edit, uint8_t *copy)
{
	uint8_t *code = uprobe_call_at(edit, copy);

	if (code)
		trace_uprobe_call_restore(code);
}

/* Have fn do something to all calls in a page, wherever they are. Returns how many there are. */
static size_t uprobe_call_each(uint8_t *page, void (*fn)(uint8_t *code))
{
	size_t nr = 0;

	for (size_t at = 0; at <= PAGE_SIZE - TRACE_UPROBE_CALL; at++) {
		if (!trace_uprobe_call_is(page + at))
			continue;
		fn(page + at);
		nr++;
	}
	return nr;
}

static int uprobe_call_end_page(struct mm *mm, uintptr_t addr)
{
	bool is_writable;
	uint64_t phys;
	uint8_t *page;
	void *old;

	if (!arch_user_lookup(mm->root, addr, &phys, &is_writable))
		return 0;
	page = mm_own_page(mm, addr, &old);
	if (page && uprobe_call_each(page, trace_uprobe_call_stop)) {
		uprobe_flush();
		uprobe_call_each(page, trace_uprobe_call_restore);
	}
	if (old) {
		uprobe_flush();
		put_page(old);
	}
	return page ? 0 : -ENOMEM;
}

int uprobe_calls_end(struct mm *mm, uintptr_t start, uintptr_t end)
{
	const struct vma *vma = find_vma(mm, start);
	int err = 0;

	if (!mm->uprobe_calls[0] || !vma || !vma->file || vma->flags & VM_SHARED)
		return 0;
	for (; start < end && !err; start += PAGE_SIZE)
		err = uprobe_call_end_page(mm, start);
	return err;
}

/* ---- Threads ---- */

/* With a step behind each instruction there is no way back: the probe is hit here. */
void uprobe_call_leave(struct trap_frame *frame)
{
	const struct mm *mm = current_task()->mm;
	enum trace_uprobe_place place = TRACE_UPROBE_ELSEWHERE;
	struct ftrace_regs regs;

	trace_arch_frame_load(frame, &regs);
	regs.rip = frame->rip;
	for (size_t i = 0; i < MM_UPROBE_CALLS && mm->uprobe_calls[i] && !place; i++)
		place = trace_uprobe_call_leave(&regs, mm->uprobe_calls[i]);
	if (!place)
		return;
	trace_arch_frame_store(frame, &regs);
	if (frame->vector == TRAP_SYSCALL)
		frame->error = UINT64_MAX; /* its rax is no result of a call */
	if (place == TRACE_UPROBE_BEHIND || frame->vector != TRAP_DEBUG)
		return;
	frame->rip++;
	upcall_user_breakpoint(frame);
}

/* Is the address that behind the system call in a trampoline? */
static bool uprobe_call_is_from(const struct mm *mm, uintptr_t ip)
{
	size_t i = 0;

	while (i < MM_UPROBE_CALLS && mm->uprobe_calls[i] != ip - TRACE_UPROBE_TRAMPOLINE_CALLED)
		i++;
	return i < MM_UPROBE_CALLS;
}

/* Registers as behind the breakpoint that was there; `top` are the words on the stack. */
static void uprobe_call_enter(struct trap_frame *frame, const uint64_t *top)
{
	frame->rax = top[0];
	frame->r11 = top[1];
	frame->rcx = top[2];
	frame->rip = top[3] - TRACE_UPROBE_CALL + 1;
	frame->rsp += TRACE_UPROBE_CALL_WORDS * sizeof(*top) + TRACE_UPROBE_RED_ZONE;
}

/* Handlers have changed nothing that the trampoline restores: it may go on. */
static bool uprobe_call_may_return(const struct trap_frame *frame, const uint64_t *top,
				   uintptr_t sp)
{
	return frame->rax == top[0] && frame->r11 == top[1] && frame->rcx == top[2] &&
	       frame->rip == top[3] &&
	       frame->rsp == sp + TRACE_UPROBE_CALL_WORDS * sizeof(*top) + TRACE_UPROBE_RED_ZONE;
}

/*
 * Meanwhile the frame tells all that look at it of the NOP. The place may have gone: then there is nothing to do, either, but
 * to go on behind it.
 */
long uprobe_call(struct trap_frame *frame)
{
	uintptr_t back = frame->rip, sp = frame->rsp;
	uint64_t top[TRACE_UPROBE_CALL_WORDS];

	if (!uprobe_call_is_from(current_task()->mm, back))
		return -ENXIO;
	if (copy_from_user(top, (const void *)sp, sizeof(top))) {
		force_sig(SIGILL);
		return 0;
	}
	uprobe_call_enter(frame, top);
	upcall_user_breakpoint(frame);
	if (frame->rip - (top[3] - TRACE_UPROBE_CALL) < 2)
		frame->rip = top[3];
	if (!uprobe_call_may_return(frame, top, sp)) {
		frame->error = UINT64_MAX;
		return (long)frame->rax;
	}
	frame->rip = frame->rcx = back;
	frame->r11 = frame->rflags;
	frame->rsp = sp;
	return 0;
}

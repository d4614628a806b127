/*
 * Probes in programs, on this kernel's side: see <trace/platform_uprobes.h>.
 *
 *   uprobe_edit.c   changes of mappings, in all address spaces
 *   uprobe_area.c   [uprobes]: memory of a program for copies of instructions, and the trampoline of returns
 *   uprobe_call.c   [uprobes-trampoline]: calls in place of NOPs, and the system call that they lead to
 *   uprobe_host.c   the table for the library, and breakpoints
 *
 * An area has UPROBE_SLOTS slots of <trace/arch_uprobe.h>, and lies near the code that they are for. A slot belongs to
 * the address of an instruction as long as its mm exists, whether a probe is there or not: so a thread may be in it at any
 * time. Threads that are about to get a signal are taken out of slots first.
 *
 * Context:   thread.
 * Locking:   mm->lock guards changes of an mm's areas; mm_list_lock the list of all, and comes before mm->lock.
 * Ownership: areas belong to their mm.
 */
#ifndef KERNEL_PROCESS_UPROBE_H
#define KERNEL_PROCESS_UPROBE_H

#include <trace/platform_uprobes.h>
#include "mm.h"

struct trap_frame;

/* uprobe_edit.c. No CPU has entries of programs in its TLB that the page tables have not. */
void uprobe_flush(void);
/* As trace_uprobe_host.edit(). */
int uprobe_edit_all(uint64_t file, const struct trace_uprobe_edit *edits, size_t nr, uint64_t seq,
		    uint64_t base);
static inline uint64_t uprobe_file_number(const struct file *file)
{
	return (uintptr_t)file->object; /* the node, which the file holds */
}
/* Is the range one in which probes can be: a private mapping of the file? */
static inline bool uprobe_is_mapping(const struct vma *vma, uint64_t file)
{
	return vma->file && !(vma->flags & VM_SHARED) && uprobe_file_number(vma->file) == file;
}

/* uprobe_area.c, for the running program. The slot of the instruction at `addr`; 0: no memory, or no room near it. */
uintptr_t uprobe_slot_get(struct mm *mm, const struct trace_uprobe_insn *insn, uintptr_t addr);
/* The address of the trampoline; 0: no memory. */
uintptr_t uprobe_trampoline_get(struct mm *mm);
static inline bool uprobe_is_trampoline(const struct mm *mm, uintptr_t addr)
{
	return addr == mm->uprobe_trampoline;
}
/*
 * `ip` is in a slot: the address of the original, and whether it is done already; then the address is
 * that behind it. False: it is in none. Without locks, because areas only come, and slots only fill; probe context.
 */
bool uprobe_slot_origin(struct mm *mm, uintptr_t ip, uintptr_t *out_addr, bool *out_is_done);

/*
 * Where so many bytes fit, below the code at `near`, next to it. 0: there is no room. The lock is held.
 */
uintptr_t uprobe_find_room(struct mm *mm, uintptr_t near, size_t bytes);

/* ---- uprobe_call.c ---- */

/*
 * The instruction of the running program at `addr` is a 10-byte NOP with a breakpoint: make it a call, if there is memory, and
 * room near it.
 */
void uprobe_call_make(struct mm *mm, uintptr_t addr);
/*
 * The breakpoint of the edit is about to go: put one in front of the call that is in its place, in a copy of its page; and the NOP
 * behind it, when all CPUs have seen that. Without effect at other instructions. mm->lock is held.
 */
void uprobe_call_stop(const struct trace_uprobe_edit *edit, uint8_t *copy);
void uprobe_call_restore(const struct trace_uprobe_edit *edit, uint8_t *copy);
/* A signal comes: uprobe_leave_slot() for such calls. */
void uprobe_call_leave(struct trap_frame *frame);

#endif

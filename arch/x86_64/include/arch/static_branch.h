/*
 * Branches that cost one NOP while they are not taken: this host's half of <trace/static_key.h>.
 * The NOP is changed to a jmp, and back, by the same code that changes call sites.
 *
 *   site:  nop  (5 bytes)              static_branch_update()              jmp on
 *          ...the usual way                                                ...
 *   on:    the other way, out of line
 *
 * Every use leaves an entry in the section that linker.ld gathers between static_branches_start
 * and static_branches_end; tools/sites checks that each entry is a NOP in the kernel's text.
 *
 * Context:   static_branch() - any, NMI included. update - thread, interrupts on.
 * Locking:   update: the caller holds the text lock (text_mutex of kernel/).
 * Ownership: keys are static.
 */
#ifndef ARCH_STATIC_BRANCH_H
#define ARCH_STATIC_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

struct trace_poke;
struct trace_static_key;

/* True while `key` is on. `key` is the address of a static object. */
static TRACE_ALWAYS_INLINE bool static_branch(struct trace_static_key *key)
{
	__asm__ goto("1:\n\t"
		     ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"
		     ".pushsection .static_branches, \"aw\"\n\t"
		     ".balign 8\n\t"
		     ".quad 1b, %l[on], %c0\n\t"
		     ".popsection"
		     :
		     : "i"(key)
		     :
		     : on);
	return false;
on:
	return true;
}

/*
 * Change every site that does not agree with its key, in batches. When a batch fails, it and those
 * after it are not made: -EBUSY if a foreign breakpoint is in the way, -EINVAL if text is damaged.
 */
int static_branch_update(void);
/*
 * List the changes that static_branch_update() would make, ascending: at most `room`, to `pokes`.
 * Returns the number of all. The same context and lock.
 */
size_t static_branch_list(struct trace_poke *pokes, size_t room);

/* Is one of the sites in these bytes, or does one lead there, but for the first? Any context. */
bool static_branch_overlaps(uintptr_t addr, size_t len);

#endif

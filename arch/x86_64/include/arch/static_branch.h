/*
 * Branches that cost one NOP while they are not taken. The NOP is a site of its own: text_poke.h
 * makes it a jmp to the other way, and back.
 *
 *   site:  nop  (5 bytes)          static_branch_set(), static_branch_update()          jmp on
 *          ...the usual way                                                             ...
 *   on:    the other way, out of line
 *
 * Every use leaves an entry in the section that linker.ld gathers between static_branches_start
 * and static_branches_end; tools/sites checks that each entry is a NOP in the kernel's text.
 *
 * Context:   static_branch() - any, NMI included. set, update - thread, interrupts on.
 * Locking:   set and update: the host's text lock.
 * Ownership: keys are static.
 */
#ifndef ARCH_STATIC_BRANCH_H
#define ARCH_STATIC_BRANCH_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

struct static_key {
	bool is_on;
};

/* True while `key` is on. `key` is the address of a static object. */
static TRACE_ALWAYS_INLINE bool static_branch(struct static_key *key)
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

/* What `key` is to be; text follows at static_branch_update(). */
void static_branch_set(struct static_key *key, bool is_on);
/* Change every site whose key says something else, in batches. 0, or -EINVAL: text is damaged. */
int static_branch_update(void);

#endif

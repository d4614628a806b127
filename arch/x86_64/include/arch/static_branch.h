/*
 * Branches that cost one NOP while they are not taken, the host's half of <trace/static_key.h>. The
 * NOP is a site of its own: the engine that changes call sites makes it a jmp to the other way, and
 * back.
 *
 *   site:  nop  (5 bytes)              static_branch_update()              jmp on
 *          ...the usual way                                                ...
 *   on:    the other way, out of line
 *
 * Every use leaves an entry in the section that linker.ld gathers between static_branches_start
 * and static_branches_end; tools/sites checks that each entry is a NOP in the kernel's text.
 *
 * Context:   static_branch() - any, NMI included. update - thread, interrupts on.
 * Locking:   update: the host's text lock.
 * Ownership: keys are static.
 */
#ifndef ARCH_STATIC_BRANCH_H
#define ARCH_STATIC_BRANCH_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

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

/* Change every site whose key says something else, in batches. 0, or -EINVAL: text is damaged. */
int static_branch_update(void);

#endif

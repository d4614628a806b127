/*
 * Stacks of programs without frame pointers. A program's map has the .eh_frame tables of the files that it runs code of,
 * and rules of places that were walked before. See cfi.h for the rules.
 *
 *   a mapping of code comes --> unwind_changed(): the map is old
 *   a walk that may sleep   --> the map is made anew, pages of tables come
 *   a walk in a probe       --> with an old map, or a page that is not there: cut, and asks for one that may sleep
 *
 * Files whose functions keep frame pointers are known by a few of their entries. When all of a program's are such, nothing of
 * this is used: following frame pointers is much faster.
 *
 * Context:   as stated. Probes read the map without locks.
 * Locking:   `seq` of the map is odd while it is changed, by one thread at a time: mm->lock.
 * Ownership: the map belongs to its mm, and stays as long as that. It has no reference to files.
 */
#ifndef KERNEL_PROCESS_UNWIND_H
#define KERNEL_PROCESS_UNWIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "cfi.h"

struct mm;
struct unwind_map;

struct unwind_mm {
	_Atomic uint32_t changes;  /* of mappings of code; mm->lock */
	_Atomic uint32_t known;	   /* `changes` when the rest was found out */
	_Atomic bool has_tables;   /* that are needed: some code keeps no frame pointers */
	_Atomic bool has_pointers; /* all is known, and there are none: frame pointers are enough */
	struct unwind_map *_Atomic map;
};

/* In a fork's child all is as in its parent; without memory it is found out again. The locks are held. */
void unwind_copy(struct unwind_mm *to, struct unwind_mm *from);
void unwind_free(struct unwind_mm *unwind);
/* Code was mapped. The lock is held. */
static inline void unwind_changed(struct unwind_mm *unwind)
{
	atomic_store(&unwind->has_pointers, false);
	atomic_fetch_add(&unwind->changes, 1);
}
/* unwind_map.c: look at the files of the running program again. Thread context, no lock held: it reads files. */
void unwind_look(struct mm *mm);

/*
 * unwind.c: the callers of the running program's code at `start`, at most `max`, with return addresses that probes have
 * replaced told as they were. Returns how many. *out_is_cut: there are more, which a thread with interrupts and preemption
 * on would find. Any context but NMI. Not traced.
 */
uint32_t unwind_user(struct mm *mm, const struct cfi_frame *start, uint64_t *out_callers,
		     uint32_t max, bool *out_is_cut);

#endif

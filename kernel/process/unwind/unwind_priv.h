/* The map of unwind.h. */
#ifndef KERNEL_PROCESS_UNWIND_PRIV_H
#define KERNEL_PROCESS_UNWIND_PRIV_H

#include "unwind.h"

#define UNWIND_FILES 60	 /* with code in one program; that of more is followed by frame pointers */
#define UNWIND_RULES 256 /* a power of two */
#define UNWIND_INDEX 32768u /* entries of a static program; more are not found */

struct unwind_file {
	uint64_t start, end; /* of its code */
	struct cfi_table table;
};

/*
 * A rule that was found before. Two words of two CPUs may be mixed here: `key` is the address and the map's `seq` in its
 * upper 16 bits, all bits changed by those of the rule; so mixed ones are no rule of any address.
 */
struct unwind_known {
	_Atomic uint64_t key, rule;
};

struct unwind_map {
	_Atomic uint32_t seq;
	uint32_t nr;
	struct cfi_pair *
		index; /* of a program that was linked statically, as long as the map is there; or NULL */
	uint32_t nr_index;
	struct unwind_file files[UNWIND_FILES];
	struct unwind_known rules[UNWIND_RULES];
};

#endif

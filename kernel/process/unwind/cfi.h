/*
 * Frames of code without frame pointers, by the table that its file has: .eh_frame_hdr, sorted by address, and .eh_frame.
 * Compilers make both for exceptions, and Debian strips neither.
 *
 *   higher |  frame of the caller  |  <- CFA, the caller's stack pointer
 *          |  return address       |     CFA - 8
 *          |  frame of this code   |     somewhere here: the caller's rbp
 *   lower  |                       |  <- rsp
 *
 * The rule of an instruction says where the CFA is, from rsp or rbp, and where rbp was saved. Nothing in the tables is
 * trusted: they are the program's, which may have made up or changed them. A bad one gives a rule that ends the walk, or
 * a wrong one; it costs CFI_BYTES_MAX bytes of reading at most.
 *
 * Context:   any. No locks, no memory but the stack's. Not traced.
 */
#ifndef KERNEL_PROCESS_UNWIND_CFI_H
#define KERNEL_PROCESS_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_BYTES_MAX                                                                              \
	16384u /* instructions of an entry; those of libc, bash and python3 have a few hundred bytes */

enum cfi_kind {
	CFI_NONE,  /* no entry for this code: it may have frame pointers */
	CFI_SP,	   /* CFA is rsp + cfa */
	CFI_FP,	   /* CFA is rbp + cfa */
	CFI_FP_AT, /* CFA is what lies at rbp + cfa: a function that has aligned its stack */
	CFI_PLT, /* CFA is rsp + 8, or 16 from byte `cfa` of a 16-byte entry of the linker's table on */
	CFI_SIGNAL,  /* the kernel has begun a handler here: all registers lie in its frame */
	CFI_END,     /* the first function of a thread */
	CFI_UNKNOWN, /* another rule, or a damaged one */
};

enum cfi_saved {
	CFI_FP_SAME,  /* rbp is still the caller's */
	CFI_FP_SAVED, /* it lies at CFA + fp */
	CFI_FP_OWN,   /* it lies at rbp */
	CFI_FP_LOST,
};

struct cfi_rule {
	int32_t cfa;
	int16_t fp;
	uint8_t kind;  /* enum cfi_kind */
	uint8_t saved; /* enum cfi_saved */
};

/* An entry of .eh_frame: where its code begins and where it lies, both from the table's start. */
struct cfi_pair {
	int32_t loc, entry;
};

/*
 * An .eh_frame_hdr in the program. Files that are linked statically have none: then it is .eh_frame itself, and `index`
 * are its `nr` entries by address, made by cfi_index() and owned by the caller.
 */
struct cfi_table {
	uint64_t start, bytes;
	const struct cfi_pair *index;
	uint32_t nr;
};

/* A thread in its code. */
struct cfi_frame {
	uint64_t ip, sp, fp;
	bool is_exact; /* `ip` is the next instruction; false: a return address, behind its call */
};

/* The host's: copy from the program; false: not all of it is there. */
bool cfi_read(void *to, uint64_t from, size_t bytes);

/* The rule of the instruction at `ip`. False: the table could not be read. */
bool cfi_find(const struct cfi_table *table, uint64_t ip, struct cfi_rule *out);

/*
 * Write the entries of an .eh_frame, at most `max`, in the order of their code. Returns how many; those behind a damaged one
 * are left out. Thread context: it is read as a whole.
 */
uint32_t cfi_index(const struct cfi_table *section, struct cfi_pair *out, uint32_t max);

/* Do functions of this table keep frame pointers? By some of them, at their middle. False, too, for what cannot be read. */
bool cfi_has_pointers(const struct cfi_table *table);

/*
 * Step to the caller by the rule of the instruction that the frame is at. *out_slot: where its return address lies. False,
 * and the frame as it was: there is no caller, or its frame would not lie above this one.
 */
bool cfi_step(struct cfi_frame *frame, const struct cfi_rule *rule, uint64_t *out_slot);

#endif

/*
 * Parts of the reader of .eh_frame, see cfi.h:
 *
 *   cfi_cursor.c   bytes and numbers of the program's tables
 *   cfi_run.c      instructions of an entry, which make a row of rules
 *   cfi_entry.c    entries, and the numbers at their heads
 *   cfi.c          finds the entry, and steps by a rule
 */
#ifndef KERNEL_PROCESS_UNWIND_CFI_PRIV_H
#define KERNEL_PROCESS_UNWIND_CFI_PRIV_H

#include "cfi.h"

#define CFI_REG_FP     6
#define CFI_REG_SP     7
#define CFI_REG_IP     16
#define CFI_SAVED_ROWS 4 /* DW_CFA_remember_state within each other; compilers make one */

/* Takes bytes of the program one after the other; behind the end, and where nothing is, they are 0. */
struct cfi_cursor {
	uint64_t at, end;
	uint64_t base; /* of the bytes in `window` */
	uint32_t nr;
	bool is_missing; /* a page was not there */
	bool is_bad;	 /* it went behind the end, or has found nonsense */
	uint8_t window[64];
};

/* A row of the table that an entry's instructions make. */
struct cfi_row {
	uint8_t kind, saved, ip_saved; /* ip_saved: the return address, by enum cfi_saved */
	uint64_t cfa_reg;
	int64_t cfa, fp, ip;
	bool is_end; /* the return address is undefined */
};

struct cfi_entry {
	struct cfi_cursor cursor;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
	bool has_size;	/* of the augmentation, before the instructions */
	bool is_signal; /* a frame that the kernel has made */
	uint64_t loc, ip;
	struct cfi_row row, initial, rows[CFI_SAVED_ROWS];
	uint32_t nr_rows;
};

/* cfi_cursor.c. Begin with the bytes at `at`. */
void cfi_cursor_set(struct cfi_cursor *cursor, uint64_t at, uint64_t bytes);
uint8_t cfi_byte(struct cfi_cursor *cursor);
uint64_t cfi_number(struct cfi_cursor *cursor, uint32_t bytes);
/* LEB128 without and with a sign. */
uint64_t cfi_unsigned(struct cfi_cursor *cursor);
int64_t cfi_signed(struct cfi_cursor *cursor);
/* Go on behind `bytes` bytes from `start` on, some of which may have been taken. */
void cfi_skip_to(struct cfi_cursor *cursor, uint64_t start, uint64_t bytes);

/* cfi_run.c. Run the cursor's instructions until the row of the code at `ip` is there, the last one at or before it. */
void cfi_run(struct cfi_entry *entry);

/*
 * cfi_entry.c. Run the entry at `at` up to `entry->ip`; *out_is_other: it is not of that code. False: it is damaged, or a page was
 * not there.
 */
bool cfi_read_entry(struct cfi_entry *entry, uint64_t at, bool *out_is_other);

#endif

/*
 * The kernel's own symbols: functions by address and by name, and its variables.
 *
 * The table is made from the linked kernel by tools/ksyms and linked in by a second link; until
 * then (and in the first link) it is empty and every question is answered "unknown".
 *
 * Context:   any, panic and NMI included: constant data, no lock, nothing is allocated. Not traced.
 * Locking:   none.
 * Ownership: the caller's buffers; they must have room for KSYM_NAME_LEN bytes.
 */
#ifndef KERNEL_SYMBOLS_H
#define KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <kernel/symbols_format.h>

/*
 * The place of symbols_next_at() in the table: it only moves to higher addresses. All zero at
 * first.
 */
struct symbols_cursor {
	const struct symbols_place *place; /* NULL before the first use */
	const uint8_t *name;		   /* the tokens of the name of the symbol at `place` */
};

/*
 * Name the function that `addr` lies in. False, with nothing written, when it lies in none: in
 * padding, behind the end of the last function, or anywhere outside the kernel's text.
 * `out_start` and `out_size` may be NULL.
 */
bool symbols_lookup(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size);

/* The lowest address of a symbol of that name; 0 when there is none. */
uintptr_t symbols_find(const char *name);
/* Returns the number of symbols of that name, and the addresses of the first `max`, ascending. */
size_t symbols_find_all(const char *name, uintptr_t *out_addrs, size_t max);

/*
 * Name the function that `addr` lies in, for callers that ask in ascending order: a call costs a
 * few instructions per symbol passed over and per token of the name, no search. Writes the name
 * with its NUL to `out_name` and returns its length; 0, with nothing written, when `addr` lies in
 * no function. An address below that of the last call also gives 0.
 */
size_t symbols_next_at(struct symbols_cursor *cursor, uintptr_t addr, char *out_name);

/*
 * Number of symbols; and the name and address of symbol `index`, 0 <= index < symbols_count().
 * symbols_get() returns the length of the name.
 */
uint32_t symbols_count(void);
size_t symbols_get(uint32_t index, char *out_name, uintptr_t *out_addr);

/* A variable, or a constant, which cannot be written. */
struct symbols_variable {
	uintptr_t addr;
	size_t bytes;
	bool is_constant;
};
/* Returns the number of variables of that name, and the one at the lowest address. */
uint32_t symbols_find_variable(const char *name, struct symbols_variable *out);
/* Number `index` of them, by address; 0: there are no more. Returns the length of the name. */
size_t symbols_get_variable(uint32_t index, char *out_name, struct symbols_variable *out);
/* The variable that `addr` lies in. False: none; *out may have changed. */
bool symbols_variable_at(uintptr_t addr, char *out_name, struct symbols_variable *out);

#endif

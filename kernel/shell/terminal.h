/*
 * The terminal at the other end of the console: its size, and what it sends.
 *
 * The size is asked by moving the cursor as far as it goes and asking where it is; the answer comes
 * among the keys. Nobody need be there who answers (a pipe, a test): after a fifth of a second of
 * silence the size stays what it was, 80 by 24 at first, and after two such silences nobody is
 * asked any more, until terminal_ask_again(). Nothing is ever sent unasked: only programs that move
 * the cursor ask, and only after a key.
 *
 * Context:   thread.
 * Locking:   one reader at a time: the console's owner sees to that. No lock inside.
 * Ownership: static.
 */
#ifndef KERNEL_TERMINAL_H
#define KERNEL_TERMINAL_H

#include <kernel/base.h>

#define TERMINAL_COLUMNS_MIN 20u
#define TERMINAL_ROWS_MIN    4u

uint32_t terminal_columns(void);
uint32_t terminal_rows(void);

/*
 * Ask for the size and wait for the answer. Keys that come before it are kept for
 * terminal_getc_timeout(). True when there was one. The cursor is where it was, though on a
 * terminal that waits behind the last column it may not wait any more.
 */
bool terminal_ask(void);
/* Forget that nobody answered. */
void terminal_ask_again(void);
/* An answer that came late, among the keys; what is none is let pass. */
void terminal_answered(uint32_t rows, uint32_t columns);

/* As console_getc_timeout(), kept keys first. */
int terminal_getc_timeout(uint64_t timeout_ns);
/* Is there a key, or does one come in that time? It is kept. */
bool terminal_wait_key(uint64_t timeout_ns);
/* Drop kept keys: the line that they belonged to is void. */
void terminal_drop_keys(void);

#endif

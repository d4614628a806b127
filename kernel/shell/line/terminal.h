/*
 * The terminal at the other end of the console: its size, and its keys.
 *
 * To learn the size, the cursor is moved as far as it goes, and the terminal is asked where it is;
 * the answer comes among the keys. A pipe or a test at the other end does not answer: after a fifth
 * of a second without an answer the size stays what it was, 80 by 24 at first. After two questions
 * without an answer there are no more of them, until terminal_ask_again(). Output that does not
 * need the size has no question in it: only programs that move the cursor ask, after a key.
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

/* The size as it is known, in characters. */
uint32_t terminal_columns(void);
uint32_t terminal_rows(void);

/*
 * Ask for the size and wait for the answer. Keys that come before it are kept for
 * terminal_getc_timeout(). True when there was an answer. The cursor is where it was. But when the
 * last column had been written, the terminal may have forgotten that the next character begins a
 * new row.
 */
bool terminal_ask(void);
/* Let terminal_ask() ask again, although no answer has come so far. */
void terminal_ask_again(void);
/*
 * Take an answer that came late, among the keys. Ignored without a question, or when it is too
 * small.
 */
void terminal_answered(uint32_t rows, uint32_t columns);

/* As console_getc_timeout(), but gives kept keys first. */
int terminal_getc_timeout(uint64_t timeout_ns);
/* Wait until a key is there. True when there is one; it is kept. False after `timeout_ns`. */
bool terminal_wait_key(uint64_t timeout_ns);
/* Drop kept keys, after Ctrl-C: the line that they belong to is thrown away. */
void terminal_drop_keys(void);

#endif

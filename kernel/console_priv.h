/*
 * Functions that the three files of the console, console.c, console_input.c and console_panic.c,
 * call in each other.
 */
#ifndef KERNEL_CONSOLE_PRIV_H
#define KERNEL_CONSOLE_PRIV_H

#include <kernel/base.h>

/* console_input.c. Called by the UART, interrupts off: a byte of COM1 came in. */
void console_rx(unsigned int port, uint8_t byte);
/* In SOFTIRQ_CONSOLE, after console_rx(): interrupt after Ctrl-C, wake the reader. */
void console_input_arrived(void);

/* console_panic.c: polled, without locks, after console_panic_begin(). */
void console_panic_messages(void);
/*
 * Of the messages from number `seq` on, pass over those that are less urgent than `level`, and show
 * the others. console_panic_messages() shows all that come later.
 */
void console_panic_skip_to(uint64_t seq, enum log_level level);

#endif

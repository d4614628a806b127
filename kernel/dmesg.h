/*
 * The write side of the message ring; <kernel/printk.h> has the read side.
 *
 * Context: any, NMI included.
 */
#ifndef KERNEL_DMESG_H
#define KERNEL_DMESG_H

#include <kernel/printk.h>

/* Add one line, without newline. */
void dmesg_write(enum log_level level, const char *text, size_t len);
/* The number that the next slot gets: a message that comes after this call has none below it. */
uint64_t dmesg_end(void);

#endif

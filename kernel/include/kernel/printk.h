/*
 * The message ring behind printk().
 *
 * Context:   printk: any, NMI included. Reading: any.
 * Locking:   none: writers claim records with one atomic addition, readers check sequence numbers.
 */
#ifndef KERNEL_PRINTK_H
#define KERNEL_PRINTK_H

#include <kernel/base.h>

#define PRINTK_LINE_MAX 400 /* longest message; more is cut */

void vprintk(enum log_level level, const char *fmt, va_list args);

/* Console shows messages up to this level: LOG_INFO while booting, LOG_WARN from the prompt on. */
void printk_set_console_level(enum log_level level);

struct dmesg_line {
	uint64_t seq;
	uint64_t time_ns;
	enum log_level level;
	uint16_t len;
	char text[PRINTK_LINE_MAX]; /* without newline, NUL at the end */
};

/*
 * Copy the first message with a number >= *seq and set *seq to the next. False when there is none.
 * Start with 0; messages that were overwritten are passed over.
 */
bool dmesg_read(uint64_t *seq, struct dmesg_line *out);
/* The line as `dmesg` shows it: "[    0.123456] text", cut to `size` with its NUL. */
size_t dmesg_format(const struct dmesg_line *line, char *buf, size_t size);
/* Forget what is there (dmesg -c). */
void dmesg_clear(void);

#endif

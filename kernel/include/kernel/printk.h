/*
 * The message ring behind printk().
 *
 * Context:   printk: any, NMI included. Reading: any.
 * Locking:   none: a writer claims its slots with one atomic addition, readers check their numbers.
 */
#ifndef KERNEL_PRINTK_H
#define KERNEL_PRINTK_H

#include <kernel/base.h>

#define PRINTK_LINE_MAX 400 /* bytes of the longest message, NUL included; more is cut */

/*
 * The console shows messages of this level and of more urgent ones: LOG_INFO while booting, then
 * LOG_WARN, or what the boot parameter `loglevel` says.
 */
void printk_set_console_level(enum log_level level);

/*
 * A message of level LOG_WARN, `len` bytes without newline, from code that may have interrupted any
 * other: takes no lock, wakes no thread, and leaves it to a softirq to show the message on the
 * console. Any context, preemption off.
 */
void printk_from_probe(const char *line, size_t len);

struct dmesg_line {
	uint64_t seq;	  /* its number; a long message takes several numbers, this is the first */
	uint64_t time_ns; /* since boot, by the clock of the CPU that wrote it */
	enum log_level level;
	uint16_t len;		    /* of the text, without the NUL */
	char text[PRINTK_LINE_MAX]; /* without newline, NUL at the end */
};

/*
 * Copy the oldest message whose number is *seq or higher, and set *seq to the number behind it.
 * False when there is none. Begin with *seq = 0; messages that were overwritten are passed over.
 */
bool dmesg_read(uint64_t *seq, struct dmesg_line *out);
/* The line as `dmesg` shows it: "[    0.123456] text", cut to `size` with its NUL. Its length. */
size_t dmesg_format(const struct dmesg_line *line, char *buf, size_t size);
/* Forget the messages there are, as far as reading goes (dmesg -c). */
void dmesg_clear(void);

#endif

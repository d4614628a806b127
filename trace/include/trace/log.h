/*
 * trace_printk() for a host that uses the ring buffer and nothing else of the library: one buffer,
 * and its events as lines of text. It is in the profile "ring". A host with instances uses
 * trace_init() instead; the two do not link together.
 *
 *	trace_log_init(64 * 1024);
 *	trace_printk("took %d us\n", us);
 *	while (trace_log_read(line, sizeof(line)))
 *		puts(line);
 *
 * The lines are those of the file `trace` with option irq-info off.
 *
 * Context:   trace_printk() and its kin - any, NMI included. The rest - thread.
 * Locking:   one reader at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include <stddef.h>
#include <trace/compiler.h>
#include <trace/trace_printk.h>

TRACE_BEGIN_DECLS

struct ring_buffer;

#define TRACE_LOG_LINE 1024 /* bytes that are enough for most lines */

/* Make the buffer, `bytes` for each CPU. 0; -ENOMEM: trace_printk() then does nothing. */
int trace_log_init(size_t bytes);
/* The buffer, for ring_buffer_record_off() and the like; NULL when there is none. */
struct ring_buffer *trace_log_buffer(void);
/*
 * Take the oldest event of all CPUs and write it as text to the `size` bytes at `text`, with
 * newline and NUL; if events were lost before it, a line that says so comes first. Returns the
 * length without the NUL; 0 when there is no event.
 */
size_t trace_log_read(char *text, size_t size);

TRACE_END_DECLS

#endif

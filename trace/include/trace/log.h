/*
 * trace_printk() for a host that has the ring buffer and nothing else of the library: one buffer,
 * and its events as lines of text. The profile "ring" has it; with instances trace_init() takes its
 * place, and the two do not link together.
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
 */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include <stddef.h>
#include <trace/compiler.h>
#include <trace/trace_printk.h>

TRACE_BEGIN_DECLS

struct ring_buffer;

#define TRACE_LOG_LINE 1024 /* a line of this size is seldom cut */

/* Make the buffer, `bytes` for each CPU. -ENOMEM: trace_printk() stays without effect. */
int trace_log_init(size_t bytes);
/* It, for ring_buffer_record_off() and the like. NULL: there is none. */
struct ring_buffer *trace_log_buffer(void);
/*
 * Take the oldest event of all CPUs as text, newline and NUL included, with a line about lost
 * events before it. Returns its length without the NUL; 0: there is none.
 */
size_t trace_log_read(char *text, size_t size);

TRACE_END_DECLS

#endif

/*
 * Writing text into the trace: trace_printk() and what trace_marker writes. See <trace/trace.h>,
 * printk.h. The events are made by printk_event.h.
 */
#include <trace/trace.h>
#include "array.h"
#include "entry.h"
#include "printk.h"
#include "printk_event.h"
#include "stacktrace.h"
#include "text/str.h"

/*
 * The buffer that trace_printk() writes to, NULL for none. To be asked once for each event, because
 * a snapshot may exchange the buffers at any moment.
 */
static struct ring_buffer *printk_buffer(void)
{
	struct trace_array *tr = &trace_global;

	if (!(tr->options & TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK)))
		return NULL;
	return tr->buffer;
}

/* For the option stacktrace. `frame` is that of the function that was called to print. */
static TRACE_ALWAYS_INLINE void print_stack(struct ring_buffer *buffer, uintptr_t frame)
{
	if (TRACE_UNLIKELY(trace_stacktrace_wanted(trace_global_array())))
		trace_stacktrace_code(buffer, frame, 0);
}

void trace_bprintk(uintptr_t ip, const char *fmt, ...)
{
	struct ring_buffer *buffer = printk_buffer();
	va_list ap;

	if (!buffer)
		return;
	va_start(ap, fmt);
	trace_printk_format(buffer, ip, fmt, ap);
	va_end(ap);
	print_stack(buffer, (uintptr_t)__builtin_frame_address(0));
}

/* Not inlined, to keep the common case of trace_bprintk_integer() short. */
static TRACE_NOINLINE void write_integer_and_stack(uintptr_t ip, const char *fmt, uint64_t value,
						   uint32_t bytes, uintptr_t frame)
{
	struct ring_buffer *buffer = printk_buffer();

	if (!buffer)
		return;
	trace_printk_integer(buffer, ip, fmt, value, bytes);
	print_stack(buffer, frame);
}

#define PRINTK_OPTIONS (TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK) | TRACE_OPT_BIT(TRACE_OPT_STACKTRACE))

void trace_bprintk_integer(uintptr_t ip, const char *fmt, uint64_t value, uint32_t bytes)
{
	struct ring_buffer *buffer;

	if (TRACE_UNLIKELY((trace_global.options & PRINTK_OPTIONS) !=
			   TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK))) {
		write_integer_and_stack(ip, fmt, value, bytes,
					(uintptr_t)__builtin_frame_address(0));
		return;
	}
	buffer = trace_global.buffer;
	if (buffer)
		trace_printk_integer(buffer, ip, fmt, value, bytes);
}

void trace_array_printk_at(struct trace_array *tr, uintptr_t ip, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	trace_printk_format(tr->buffer, ip, fmt, ap);
	va_end(ap);
	if (TRACE_UNLIKELY(trace_stacktrace_wanted(tr)))
		trace_stacktrace_code(tr->buffer, (uintptr_t)__builtin_frame_address(0), 0);
}

void trace_bputs(uintptr_t ip, const char *text)
{
	struct ring_buffer *buffer = printk_buffer();

	if (!buffer)
		return;
	trace_printk_literal(buffer, ip, text);
	print_stack(buffer, (uintptr_t)__builtin_frame_address(0));
}

int trace_write_text(struct trace_array *tr, uintptr_t ip, const char *text, size_t len)
{
	return trace_printk_text(tr->buffer, ip, text, len);
}

void trace_puts_at(uintptr_t ip, const char *text)
{
	struct ring_buffer *buffer = printk_buffer();
	size_t max = RING_MAX_PAYLOAD - sizeof(struct trace_print_entry) - 2;

	if (!buffer)
		return;
	(void)trace_printk_text(buffer, ip, text, trace_strnlen(text, max));
	print_stack(buffer, (uintptr_t)__builtin_frame_address(0));
}

int trace_write_raw(struct trace_array *tr, uint32_t id, const void *data, size_t len)
{
	struct ring_buffer *buffer = tr->buffer;
	struct trace_raw_data_entry *entry;
	size_t padded = (len + 3) & ~(size_t)3;

	entry = ring_buffer_lock_reserve(buffer, sizeof(*entry) + padded);
	if (!entry)
		return -EBADF;
	trace_entry_init(&entry->ent, TRACE_TYPE_RAW_DATA, TRACE_PRINTK_DEPTH);
	entry->id = id;
	memset(entry->data + len, 0, padded - len);
	memcpy(entry->data, data, len);
	ring_buffer_unlock_commit(buffer, entry);
	return 0;
}

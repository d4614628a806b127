/*
 * Writing text into the trace, for trace_printk() and trace_marker. See <trace/trace.h>, printk.h.
 * The events are made by printk_event.h.
 */
#include <trace/trace.h>
#include "array.h"
#include "entry.h"
#include "printk.h"
#include "printk_event.h"
#include "stacktrace.h"
#include "text/str.h"

/*
 * The instance with the option trace_printk_dest. Set with the config lock held. Most calls look at
 * the option of the global instance only.
 */
static struct trace_array *_Atomic printk_dest = &trace_global;

/* Options of the global instance that trace_printk() needs to write there. */
#define PRINTK_GLOBAL (TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK) | TRACE_OPT_BIT(TRACE_OPT_PRINTK_DEST))

static TRACE_NOINLINE struct trace_array *begin_elsewhere(void)
{
	struct trace_array *tr;

	/* The instance's removal waits for this section, then for the count. */
	trace_plat_preempt_disable();
	tr = printk_dest;
	if (!trace_array_is_global(tr))
		tr->nr_printing++;
	trace_plat_preempt_enable();
	return tr;
}

struct trace_array *trace_printk_begin(void)
{
	struct trace_array *tr = &trace_global;

	if (TRACE_UNLIKELY(!(tr->options & TRACE_OPT_BIT(TRACE_OPT_PRINTK_DEST))))
		tr = begin_elsewhere();
	return tr->buffer ? tr : NULL;
}

void trace_printk_end(struct trace_array *tr)
{
	if (TRACE_UNLIKELY(tr != &trace_global))
		tr->nr_printing--;
}

void trace_printk_redirect(struct trace_array *tr)
{
	struct trace_array *before = printk_dest;

	printk_dest = tr; /* first: a caller that misses the option looks here */
	before->options &= ~TRACE_OPT_BIT(TRACE_OPT_PRINTK_DEST);
	tr->options |= TRACE_OPT_BIT(TRACE_OPT_PRINTK_DEST);
}

/* Begin to print into an instance; NULL when it does not take texts of trace_printk(). */
static struct trace_array *printk_begin(void)
{
	struct trace_array *tr = trace_printk_begin();

	if (!tr || tr->options & TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK))
		return tr;
	trace_printk_end(tr);
	return NULL;
}

/* `frame` is that of the function that was called to print. */
static TRACE_ALWAYS_INLINE void printk_end(struct trace_array *tr, uintptr_t frame)
{
	if (TRACE_UNLIKELY(trace_stacktrace_wanted(tr)))
		trace_stacktrace_code(tr->buffer, frame, 0);
	trace_printk_end(tr);
}

void trace_bprintk(uintptr_t ip, const char *fmt, ...)
{
	struct trace_array *tr = printk_begin();
	va_list ap;

	if (!tr)
		return;
	va_start(ap, fmt);
	trace_printk_format(tr->buffer, ip, fmt, ap);
	va_end(ap);
	printk_end(tr, (uintptr_t)__builtin_frame_address(0));
}

/* Not inlined, to keep the common case of trace_bprintk_integer() short. */
static TRACE_NOINLINE void write_integer_and_stack(uintptr_t ip, const char *fmt, uint64_t value,
						   uint32_t bytes, uintptr_t frame)
{
	struct trace_array *tr = printk_begin();

	if (!tr)
		return;
	trace_printk_integer(tr->buffer, ip, fmt, value, bytes);
	printk_end(tr, frame);
}

#define PRINTK_OPTIONS (PRINTK_GLOBAL | TRACE_OPT_BIT(TRACE_OPT_STACKTRACE))

void trace_bprintk_integer(uintptr_t ip, const char *fmt, uint64_t value, uint32_t bytes)
{
	struct ring_buffer *buffer;

	if (TRACE_UNLIKELY((trace_global.options & PRINTK_OPTIONS) != PRINTK_GLOBAL)) {
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
	struct trace_array *tr = printk_begin();

	if (!tr)
		return;
	trace_printk_literal(tr->buffer, ip, text);
	printk_end(tr, (uintptr_t)__builtin_frame_address(0));
}

int trace_write_text(struct trace_array *tr, uintptr_t ip, const char *text, size_t len)
{
	return trace_printk_text(tr->buffer, ip, text, len);
}

void trace_puts_at(uintptr_t ip, const char *text)
{
	size_t max = RING_MAX_PAYLOAD - sizeof(struct trace_print_entry) - 2;
	struct trace_array *tr = printk_begin();

	if (!tr)
		return;
	(void)trace_printk_text(tr->buffer, ip, text, trace_strnlen(text, max));
	printk_end(tr, (uintptr_t)__builtin_frame_address(0));
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

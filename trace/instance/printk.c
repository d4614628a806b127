/*
 * Writing text into the trace: trace_printk() and what trace_marker writes. See <trace/trace.h>,
 * printk.h.
 */
#include <trace/fmt.h>
#include <trace/trace.h>
#include "array.h"
#include "entry.h"
#include "printk.h"
#include "stacktrace.h"
#include "text/str.h"

#define PACK_BYTES 256u /* arguments of nearly every call */
#define OWN_DEPTH  1u	/* the ring keeps preemption off from reserve to commit */

/*
 * Where trace_printk() writes to; NULL: nowhere. Each event asks once: a snapshot may exchange the
 * buffers at any moment.
 */
static struct ring_buffer *printk_buffer(void)
{
	struct trace_array *tr = &trace_global;

	if (!(tr->options & TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK)))
		return NULL;
	return tr->buffer;
}

/* Option stacktrace: `frame` is that of the function that somebody called to print. */
static TRACE_ALWAYS_INLINE void print_stack(struct ring_buffer *buffer, uintptr_t frame)
{
	if (TRACE_UNLIKELY(trace_stacktrace_wanted(trace_global_array())))
		trace_stacktrace_code(buffer, frame, 0);
}

static TRACE_ALWAYS_INLINE struct trace_bprint_entry *
reserve_bprint(struct ring_buffer *buffer, uintptr_t ip, const char *fmt, size_t args_bytes)
{
	struct trace_bprint_entry *entry;

	entry = ring_buffer_lock_reserve(buffer, sizeof(*entry) + args_bytes);
	if (!entry)
		return NULL;
	trace_entry_init(&entry->ent, TRACE_TYPE_BPRINT, OWN_DEPTH);
	entry->ip = trace_plat_ip_pack(ip);
	entry->args_bytes = (uint16_t)args_bytes;
	entry->unused = 0;
	entry->fmt = fmt;
	return entry;
}

/* More arguments than are kept on the stack: pack them a second time, in place. */
static void write_long(struct ring_buffer *buffer, uintptr_t ip, const char *fmt, size_t bytes,
		       va_list ap)
{
	struct trace_bprint_entry *entry;

	if (bytes > RING_MAX_PAYLOAD - sizeof(*entry))
		return; /* no ring takes it */
	entry = reserve_bprint(buffer, ip, fmt, bytes);
	if (!entry)
		return;
	/* A string that grew meanwhile does not fit: then there is nothing sensible to print. */
	if (trace_bin_pack(entry->args, bytes, fmt, ap) > bytes)
		ring_buffer_discard_commit(buffer, entry, sizeof(*entry) + bytes);
	else
		ring_buffer_unlock_commit(buffer, entry);
}

static TRACE_PRINTF(3, 0) void vbprintk(struct ring_buffer *buffer, uintptr_t ip, const char *fmt,
					va_list ap)
{
	struct trace_bprint_entry *entry;
	uint8_t args[PACK_BYTES];
	size_t bytes = trace_bin_pack(args, sizeof(args), fmt, ap);

	if (bytes > sizeof(args)) {
		write_long(buffer, ip, fmt, bytes, ap);
		return;
	}
	entry = reserve_bprint(buffer, ip, fmt, bytes);
	if (!entry)
		return;
	memcpy(entry->args, args, bytes);
	ring_buffer_unlock_commit(buffer, entry);
}

void trace_bprintk(uintptr_t ip, const char *fmt, ...)
{
	struct ring_buffer *buffer = printk_buffer();
	va_list ap;

	if (!buffer)
		return;
	va_start(ap, fmt);
	vbprintk(buffer, ip, fmt, ap);
	va_end(ap);
	print_stack(buffer, (uintptr_t)__builtin_frame_address(0));
}

static TRACE_ALWAYS_INLINE void write_integer(struct ring_buffer *buffer, uintptr_t ip,
					      const char *fmt, uint64_t value, uint32_t bytes)
{
	struct trace_bprint_entry *entry = reserve_bprint(buffer, ip, fmt, bytes);

	if (!entry)
		return;
	if (bytes == sizeof(uint32_t))
		*(uint32_t *)(void *)entry->args = (uint32_t)value;
	else
		__builtin_memcpy(entry->args, &value, sizeof(value));
	ring_buffer_unlock_commit(buffer, entry);
}

/* Out of the way of the common case. */
static TRACE_NOINLINE void write_integer_and_stack(uintptr_t ip, const char *fmt, uint64_t value,
						   uint32_t bytes, uintptr_t frame)
{
	struct ring_buffer *buffer = printk_buffer();

	if (!buffer)
		return;
	write_integer(buffer, ip, fmt, value, bytes);
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
		write_integer(buffer, ip, fmt, value, bytes);
}

void trace_array_printk_at(struct trace_array *tr, uintptr_t ip, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vbprintk(tr->buffer, ip, fmt, ap);
	va_end(ap);
	if (TRACE_UNLIKELY(trace_stacktrace_wanted(tr)))
		trace_stacktrace_code(tr->buffer, (uintptr_t)__builtin_frame_address(0), 0);
}

void trace_bputs(uintptr_t ip, const char *text)
{
	struct ring_buffer *buffer = printk_buffer();
	struct trace_bputs_entry *entry;

	if (!buffer)
		return;
	entry = ring_buffer_lock_reserve(buffer, sizeof(*entry));
	if (!entry)
		return;
	trace_entry_init(&entry->ent, TRACE_TYPE_BPUTS, OWN_DEPTH);
	entry->ip = trace_plat_ip_pack(ip);
	entry->unused = 0;
	entry->text = text;
	ring_buffer_unlock_commit(buffer, entry);
	print_stack(buffer, (uintptr_t)__builtin_frame_address(0));
}

static int write_text(struct ring_buffer *buffer, uintptr_t ip, const char *text, size_t len)
{
	bool needs_newline = len && text[len - 1] != '\n';
	struct trace_print_entry *entry;

	entry = ring_buffer_lock_reserve(buffer, sizeof(*entry) + len + needs_newline + 1);
	if (!entry)
		return -EBADF;
	trace_entry_init(&entry->ent, TRACE_TYPE_PRINT, OWN_DEPTH);
	entry->ip = trace_plat_ip_pack(ip);
	memcpy(entry->text, text, len);
	if (needs_newline)
		entry->text[len++] = '\n';
	entry->text[len] = '\0';
	ring_buffer_unlock_commit(buffer, entry);
	return 0;
}

int trace_write_text(struct trace_array *tr, uintptr_t ip, const char *text, size_t len)
{
	return write_text(tr->buffer, ip, text, len);
}

void trace_puts_at(uintptr_t ip, const char *text)
{
	struct ring_buffer *buffer = printk_buffer();
	size_t max = RING_MAX_PAYLOAD - sizeof(struct trace_print_entry) - 2;

	if (!buffer)
		return;
	(void)write_text(buffer, ip, text, trace_strnlen(text, max));
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
	trace_entry_init(&entry->ent, TRACE_TYPE_RAW_DATA, OWN_DEPTH);
	entry->id = id;
	memset(entry->data + len, 0, padded - len);
	memcpy(entry->data, data, len);
	ring_buffer_unlock_commit(buffer, entry);
	return 0;
}

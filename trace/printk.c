/*
 * Writing text into the trace: trace_printk() and what trace_marker writes. See <trace/trace.h>,
 * printk.h.
 */
#include <trace/fmt.h>
#include <trace/trace.h>
#include "array.h"
#include "entry.h"
#include "printk.h"
#include "print/str.h"

#define PACK_BYTES 256u /* arguments of nearly every call */
#define OWN_DEPTH  1u	/* the ring keeps preemption off from reserve to commit */

static struct trace_array *printk_array(void)
{
	struct trace_array *tr = trace_global_array();

	if (!tr || !(tr->options & TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK)))
		return NULL;
	return tr;
}

static struct trace_bprint_entry *reserve_bprint(struct trace_array *tr, uintptr_t ip,
						 const char *fmt, size_t args_bytes)
{
	struct trace_bprint_entry *entry;

	entry = ring_buffer_lock_reserve(tr->buffer, sizeof(*entry) + args_bytes);
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
static void write_long(struct trace_array *tr, uintptr_t ip, const char *fmt, size_t bytes,
		       va_list ap)
{
	struct trace_bprint_entry *entry;

	if (bytes > RING_MAX_PAYLOAD - sizeof(*entry))
		return; /* no ring takes it */
	entry = reserve_bprint(tr, ip, fmt, bytes);
	if (!entry)
		return;
	/* A string that grew meanwhile does not fit: then there is nothing sensible to print. */
	if (trace_bin_pack(entry->args, bytes, fmt, ap) > bytes)
		ring_buffer_discard_commit(tr->buffer, entry, sizeof(*entry) + bytes);
	else
		ring_buffer_unlock_commit(tr->buffer, entry);
}

static TRACE_PRINTF(3, 0) void vbprintk(struct trace_array *tr, uintptr_t ip, const char *fmt,
					va_list ap)
{
	struct trace_bprint_entry *entry;
	uint8_t args[PACK_BYTES];
	size_t bytes = trace_bin_pack(args, sizeof(args), fmt, ap);

	if (bytes > sizeof(args)) {
		write_long(tr, ip, fmt, bytes, ap);
		return;
	}
	entry = reserve_bprint(tr, ip, fmt, bytes);
	if (!entry)
		return;
	memcpy(entry->args, args, bytes);
	ring_buffer_unlock_commit(tr->buffer, entry);
}

void trace_bprintk(uintptr_t ip, const char *fmt, ...)
{
	struct trace_array *tr = printk_array();
	va_list ap;

	if (!tr)
		return;
	va_start(ap, fmt);
	vbprintk(tr, ip, fmt, ap);
	va_end(ap);
}

void trace_bputs(uintptr_t ip, const char *text)
{
	struct trace_array *tr = printk_array();
	struct trace_bputs_entry *entry;

	if (!tr)
		return;
	entry = ring_buffer_lock_reserve(tr->buffer, sizeof(*entry));
	if (!entry)
		return;
	trace_entry_init(&entry->ent, TRACE_TYPE_BPUTS, OWN_DEPTH);
	entry->ip = trace_plat_ip_pack(ip);
	entry->unused = 0;
	entry->text = text;
	ring_buffer_unlock_commit(tr->buffer, entry);
}

int trace_write_text(struct trace_array *tr, uintptr_t ip, const char *text, size_t len)
{
	bool needs_newline = len && text[len - 1] != '\n';
	struct trace_print_entry *entry;

	entry = ring_buffer_lock_reserve(tr->buffer, sizeof(*entry) + len + needs_newline + 1);
	if (!entry)
		return -EBADF;
	trace_entry_init(&entry->ent, TRACE_TYPE_PRINT, OWN_DEPTH);
	entry->ip = trace_plat_ip_pack(ip);
	memcpy(entry->text, text, len);
	if (needs_newline)
		entry->text[len++] = '\n';
	entry->text[len] = '\0';
	ring_buffer_unlock_commit(tr->buffer, entry);
	return 0;
}

void trace_puts_at(uintptr_t ip, const char *text)
{
	struct trace_array *tr = printk_array();
	size_t max = RING_MAX_PAYLOAD - sizeof(struct trace_print_entry) - 2;

	if (tr)
		(void)trace_write_text(tr, ip, text, trace_strnlen(text, max));
}

int trace_write_raw(struct trace_array *tr, uint32_t id, const void *data, size_t len)
{
	struct trace_raw_data_entry *entry;
	size_t padded = (len + 3) & ~(size_t)3;

	entry = ring_buffer_lock_reserve(tr->buffer, sizeof(*entry) + padded);
	if (!entry)
		return -EBADF;
	trace_entry_init(&entry->ent, TRACE_TYPE_RAW_DATA, OWN_DEPTH);
	entry->id = id;
	memset(entry->data + len, 0, padded - len);
	memcpy(entry->data, data, len);
	ring_buffer_unlock_commit(tr->buffer, entry);
	return 0;
}

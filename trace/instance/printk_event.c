/*
 * See printk_event.h.
 */
#include "printk_event.h"
#include <trace/fmt.h>
#include "text/str.h"

#define PACK_BYTES 256u /* packed on the stack first; enough for nearly every call */

/* For more arguments than fit on the stack: pack them a second time, into the event itself. */
static void printk_event_write_long(struct ring_buffer *buffer, uintptr_t ip, const char *fmt,
				    size_t bytes, va_list ap)
{
	struct trace_bprint_entry *entry;

	if (bytes > RING_MAX_PAYLOAD - sizeof(*entry))
		return; /* no ring takes it */
	entry = trace_printk_reserve(buffer, ip, fmt, bytes);
	if (!entry)
		return;
	/*
	 * A string argument may have grown since it was measured; the packed arguments are then
	 * useless.
	 */
	if (trace_bin_pack(entry->args, bytes, fmt, ap) > bytes)
		ring_buffer_discard_commit(buffer, entry, sizeof(*entry) + bytes);
	else
		ring_buffer_unlock_commit(buffer, entry);
}

void trace_printk_format(struct ring_buffer *buffer, uintptr_t ip, const char *fmt, va_list ap)
{
	struct trace_bprint_entry *entry;
	uint8_t args[PACK_BYTES];
	size_t bytes = trace_bin_pack(args, sizeof(args), fmt, ap);

	if (bytes > sizeof(args)) {
		printk_event_write_long(buffer, ip, fmt, bytes, ap);
		return;
	}
	entry = trace_printk_reserve(buffer, ip, fmt, bytes);
	if (!entry)
		return;
	memcpy(entry->args, args, bytes);
	ring_buffer_unlock_commit(buffer, entry);
}

int trace_printk_text(struct ring_buffer *buffer, uintptr_t ip, const char *text, size_t len)
{
	bool needs_newline = len && text[len - 1] != '\n';
	struct trace_print_entry *entry;

	entry = ring_buffer_lock_reserve(buffer, sizeof(*entry) + len + needs_newline + 1);
	if (!entry)
		return -EBADF;
	trace_entry_init(&entry->ent, TRACE_TYPE_PRINT, TRACE_PRINTK_DEPTH);
	entry->ip = trace_plat_ip_pack(ip);
	memcpy(entry->text, text, len);
	if (needs_newline)
		entry->text[len++] = '\n';
	entry->text[len] = '\0';
	ring_buffer_unlock_commit(buffer, entry);
	return 0;
}

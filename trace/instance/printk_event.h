/*
 * Writing the events of trace_printk() and the like into a buffer. Used by printk.c for instances,
 * and by log/log.c for hosts without instances, which have one buffer. An event that is not
 * recorded is dropped silently, unless a result is stated.
 *
 * Context: any, NMI included.
 */
#ifndef TRACE_PRINTK_EVENT_H
#define TRACE_PRINTK_EVENT_H

#include <stdarg.h>
#include <trace/ring_buffer.h>
#include "entry.h"

#define TRACE_PRINTK_DEPTH 1u /* the ring keeps preemption off from reserve to commit */

/* The address of a format, which has to stay, with its arguments, packed. */
void trace_printk_format(struct ring_buffer *buffer, uintptr_t ip, const char *fmt, va_list ap)
	TRACE_PRINTF(3, 0);
/* A copy of `text`, with a newline added if it has none. 0, or -EBADF when it is not recorded. */
int trace_printk_text(struct ring_buffer *buffer, uintptr_t ip, const char *text, size_t len);

static TRACE_ALWAYS_INLINE struct trace_bprint_entry *
trace_printk_reserve(struct ring_buffer *buffer, uintptr_t ip, const char *fmt, size_t args_bytes)
{
	struct trace_bprint_entry *entry;

	entry = ring_buffer_lock_reserve(buffer, sizeof(*entry) + args_bytes);
	if (!entry)
		return NULL;
	trace_entry_init(&entry->ent, TRACE_TYPE_BPRINT, TRACE_PRINTK_DEPTH);
	entry->ip = trace_plat_ip_pack(ip);
	entry->args_bytes = (uint16_t)args_bytes;
	entry->fmt = fmt;
	return entry;
}

/* The address of a format, and one integer of `bytes` bytes, 4 or 8. */
static TRACE_ALWAYS_INLINE void trace_printk_integer(struct ring_buffer *buffer, uintptr_t ip,
						     const char *fmt, uint64_t value,
						     uint32_t bytes)
{
	struct trace_bprint_entry *entry = trace_printk_reserve(buffer, ip, fmt, bytes);

	if (!entry)
		return;
	if (bytes == sizeof(uint32_t))
		*(uint32_t *)(void *)entry->args = (uint32_t)value;
	else
		__builtin_memcpy(entry->args, &value, sizeof(value));
	ring_buffer_unlock_commit(buffer, entry);
}

/* The address of a text that is never freed. */
static TRACE_ALWAYS_INLINE void trace_printk_literal(struct ring_buffer *buffer, uintptr_t ip,
						     const char *text)
{
	struct trace_bputs_entry *entry = ring_buffer_lock_reserve(buffer, sizeof(*entry));

	if (!entry)
		return;
	trace_entry_init(&entry->ent, TRACE_TYPE_BPUTS, TRACE_PRINTK_DEPTH);
	entry->ip = trace_plat_ip_pack(ip);
	entry->text = text;
	ring_buffer_unlock_commit(buffer, entry);
}

#endif

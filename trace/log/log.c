/*
 * trace_printk() into one buffer, and its events as lines of text. See <trace/log.h>.
 */
#include <trace/log.h>
#include <trace/ring_buffer.h>
#include <trace/trace_seq.h>
#include "instance/printk_event.h"
#include "text/str.h"

#define NS_PER_US 1000u
#define US_PER_S  1000000u

static struct ring_buffer *buffer; /* set once */

int trace_log_init(size_t bytes)
{
	buffer = ring_buffer_alloc(bytes, RING_BUFFER_OVERWRITE);
	return buffer ? 0 : -ENOMEM;
}

struct ring_buffer *trace_log_buffer(void)
{
	return buffer;
}

/* ---- Writing ---- */

void trace_bprintk(uintptr_t ip, const char *fmt, ...)
{
	va_list ap;

	if (!buffer)
		return;
	va_start(ap, fmt);
	trace_printk_format(buffer, ip, fmt, ap);
	va_end(ap);
}

void trace_bprintk_integer(uintptr_t ip, const char *fmt, uint64_t value, uint32_t bytes)
{
	if (buffer)
		trace_printk_integer(buffer, ip, fmt, value, bytes);
}

void trace_bputs(uintptr_t ip, const char *text)
{
	if (buffer)
		trace_printk_literal(buffer, ip, text);
}

void trace_puts_at(uintptr_t ip, const char *text)
{
	size_t max = RING_MAX_PAYLOAD - sizeof(struct trace_print_entry) - 2;

	if (buffer)
		(void)trace_printk_text(buffer, ip, text, trace_strnlen(text, max));
}

/* ---- Reading ---- */

static bool log_find_oldest(uint32_t *out_cpu)
{
	uint64_t oldest = UINT64_MAX;
	struct ring_event event;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		if (!ring_buffer_peek(buffer, cpu, &event) || event.ts >= oldest)
			continue;
		oldest = event.ts;
		*out_cpu = cpu;
	}
	return oldest != UINT64_MAX;
}

static void print_context(struct trace_seq *seq, const struct ring_event *event, uint32_t ip)
{
	const struct trace_entry *entry = event->data;
	uint64_t us = (event->ts + NS_PER_US / 2) / NS_PER_US;
	char comm[TRACE_COMM_LEN];

	if (!trace_plat_thread_comm(entry->pid, true, comm))
		trace_strcpy(comm, entry->pid ? "<...>" : "<idle>", sizeof(comm));
	trace_seq_printf(seq, "%16s-%-7d [%03u] %5llu.%06llu: %ps: ", comm, entry->pid, event->cpu,
			 (unsigned long long)(us / US_PER_S), (unsigned long long)(us % US_PER_S),
			 (void *)trace_plat_ip_unpack(ip));
}

/* The events of printk_event.h; a host that writes others into this buffer reads them itself. */
static void log_print_event(struct trace_seq *seq, const struct ring_event *event)
{
	const struct trace_bprint_entry *bprint = event->data;
	const struct trace_bputs_entry *bputs = event->data;
	const struct trace_print_entry *print = event->data;

	switch (bprint->ent.type) {
	case TRACE_TYPE_BPRINT:
		print_context(seq, event, bprint->ip);
		trace_seq_bprintf(seq, bprint->fmt, bprint->args, bprint->args_bytes);
		break;
	case TRACE_TYPE_BPUTS:
		print_context(seq, event, bputs->ip);
		trace_seq_puts(seq, bputs->text);
		break;
	case TRACE_TYPE_PRINT:
		print_context(seq, event, print->ip);
		trace_seq_puts(seq, print->text);
		break;
	default:
		trace_seq_printf(seq, "Unknown type %d\n", bprint->ent.type);
	}
}

size_t trace_log_read(char *text, size_t size)
{
	struct ring_event event;
	struct trace_seq seq;
	uint32_t cpu;

	if (!buffer || size < 2 || !log_find_oldest(&cpu) ||
	    !ring_buffer_consume(buffer, cpu, &event))
		return 0;
	trace_seq_init(&seq, text, size - 1);
	if (event.lost)
		trace_seq_printf(&seq, "CPU:%u [LOST %llu EVENTS]\n", event.cpu,
				 (unsigned long long)event.lost);
	log_print_event(&seq, &event);
	if (seq.overflowed)
		text[seq.len - 1] = '\n';
	text[seq.len] = '\0';
	return seq.len;
}

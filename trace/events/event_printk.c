/* Trace events in the host's log. See event_printk.h. */
#include <stdatomic.h>
#include <trace/platform.h>
#include <trace/recursion.h>
#include <trace/trace.h>
#include "event_file.h"
#include "event_printk.h"
#include "print/output.h"
#include "text/str.h"

#define TEXT_BYTES 1024u
#define NR_MORE	   3u /* printers beside one for each CPU: for interrupts during printing */

/* A printer: the memory that makes one event a text. */
struct printer {
	_Atomic bool is_busy;
	struct trace_iter iter;
	struct trace_iter_symbol symbols[TRACE_ITER_SYMBOLS];
	char text[TEXT_BYTES];
};

static bool is_wanted, stops_on_boot;

static struct {
	struct printer *all; /* NULL when the system was booted without tp_printk */
	uint32_t nr;
	int value; /* the setting's number; config lock */
	_Atomic uint64_t nr_missed;
} printers;

/* ---- On and off ---- */

void trace_event_printk_want(const char *value)
{
	is_wanted = !trace_streq(value, "0") && !trace_streq(value, "off");
}

void trace_event_printk_want_stop(const char *value)
{
	(void)value;
	stops_on_boot = true;
}

bool trace_event_printk_is_on(void)
{
	return printers.value;
}

static void set_value(int value)
{
	struct trace_array *tr = NULL;
	struct trace_event_file *file;

	printers.value = value;
	while ((tr = trace_array_next(tr))) {
		for (file = trace_events_of(tr)->files; file; file = file->next_of_array)
			trace_event_flag(file, TRACE_EVENT_PRINTS, value);
	}
}

void trace_event_printk_start(void)
{
	if (!is_wanted)
		return;
	printers.nr = trace_plat_nr_cpus() + NR_MORE;
	printers.all = trace_plat_alloc(printers.nr * sizeof(*printers.all));
	if (printers.all)
		set_value(1);
	else
		trace_plat_log("trace: tp_printk: no memory");
}

void trace_event_printk_boot_finish(void)
{
	if (stops_on_boot)
		(void)trace_set_tracepoint_printk(0);
}

int trace_tracepoint_printk(void)
{
	int value;

	trace_plat_lock(&trace_config_lock);
	value = printers.value;
	trace_plat_unlock(&trace_config_lock);
	return value;
}

int trace_set_tracepoint_printk(int value)
{
	trace_plat_lock(&trace_config_lock);
	if (printers.all)
		set_value(value);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

uint64_t trace_tracepoint_printk_missed(void)
{
	return atomic_load(&printers.nr_missed);
}

/* ---- Printing. Any context, preemption off. ---- */

/* Take a free printer, or NULL. Each CPU first tries one of its own. */
static struct printer *take_printer(void)
{
	uint32_t first = trace_plat_cpu_id();

	for (uint32_t i = 0; i < printers.nr; i++) {
		struct printer *printer = &printers.all[(first + i) % printers.nr];

		/* Acquire: with the release of its last user. */
		if (!atomic_exchange_explicit(&printer->is_busy, true, memory_order_acquire))
			return printer;
	}
	return NULL;
}

static void format(struct printer *printer, const struct trace_event_file *file,
		   const struct ring_event *event, struct trace_seq *seq)
{
	struct trace_iter *iter = &printer->iter;

	iter->tr = file->tr;
	iter->type = &file->call->event;
	iter->event = *event;
	iter->symbols = printer->symbols;
	iter->is_dump = true;
	/* Threads may have changed their names. */
	memset(iter->comms, 0, sizeof(iter->comms));
	trace_seq_init(seq, printer->text, TEXT_BYTES);
	iter->type->funcs->trace(iter, seq);
}

/* Log each line of the text as a line of the log. */
static void event_printk_log_lines(const struct trace_seq *seq)
{
	size_t begin = 0;

	for (size_t at = 0; at <= seq->len; at++) {
		if (at < seq->len && seq->buf[at] != '\n')
			continue;
		if (at > begin)
			trace_plat_log_event(seq->buf + begin, at - begin);
		begin = at + 1;
	}
}

static bool print(const struct trace_event_file *file, const void *entry, uint32_t bytes)
{
	const struct ring_event event = {
		.ts = trace_plat_clock_ns(), .data = entry, .len = bytes, .cpu = trace_plat_cpu_id()
	};
	struct printer *printer = take_printer();
	struct trace_seq seq;

	if (!printer)
		return false; /* nested interrupts have taken all printers */
	format(printer, file, &event, &seq);
	event_printk_log_lines(&seq);
	atomic_store_explicit(&printer->is_busy, false, memory_order_release);
	return true;
}

static void event_printk_count_missed(void)
{
	atomic_fetch_add_explicit(&printers.nr_missed, 1, memory_order_relaxed);
}

void trace_event_print(const struct trace_event_file *file, const void *entry, uint32_t bytes)
{
	int bit = trace_recursion_enter(TRACE_RECURSION_INTERNAL);

	/*
	 * A negative bit means that printing has caused this event. All trace events have a text.
	 */
	if (bit < 0 || !file->call->event.funcs->trace || !print(file, entry, bytes))
		event_printk_count_missed();
	if (bit >= 0)
		trace_recursion_exit(bit);
}

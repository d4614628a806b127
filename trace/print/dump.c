/*
 * See dump.h. After a crash neither the stack nor the allocator can be relied on, so all memory is
 * static or allocated at start.
 */
#include <stdatomic.h>
#include <trace/trace.h>
#include "dump.h"
#include "instance/array.h"
#include "iter.h"
#include "output.h"
#include "text/str.h"

/* Bytes of the text of one event: enough for a stack trace of TRACE_STACK_MAX lines. */
#define LINE_BYTES 12288u

/* The numbers of Linux. Another number, which a sysctl may set, counts as DUMP_ALL. */
enum dump_mode {
	DUMP_NONE = 0,
	DUMP_ALL = 1,
	DUMP_ORIG = 2,
};
static _Atomic int mode;

static struct {
	_Atomic bool is_busy;
	struct trace_iter iter;
	struct trace_iter_cpu *cpus;
	struct trace_iter_symbol *symbols;
	uint8_t copy[LINE_BYTES]; /* of an event, or as much as a line takes */
	char line[LINE_BYTES];
} dump;

static const struct trace_off_from off_from = { .by = TRACE_OFF_BY_DUMP };

int trace_dump_init(void)
{
	dump.cpus = trace_plat_alloc(trace_plat_nr_cpus() * sizeof(*dump.cpus));
	if (dump.cpus)
		dump.symbols = trace_plat_alloc(TRACE_ITER_SYMBOLS * sizeof(*dump.symbols));
	return dump.symbols ? 0 : -ENOMEM;
}

void trace_dump_set_mode(const char *value)
{
	if (trace_streq(value, "orig_cpu") || trace_streq(value, "2"))
		mode = DUMP_ORIG;
	else if (trace_streq(value, "") || trace_streq(value, "1"))
		mode = DUMP_ALL;
	else if (trace_streq(value, "0"))
		mode = DUMP_NONE;
	else
		trace_plat_log("trace: ftrace_dump_on_oops=%s is none of 0, 1, 2, orig_cpu", value);
}

int trace_dump_on_oops_mode(void)
{
	return mode;
}

int trace_set_dump_on_oops_mode(int value)
{
	mode = value;
	return 0;
}

static void dump_start(struct trace_array *tr, int cpu)
{
	memset(&dump.iter, 0, sizeof(dump.iter));
	dump.iter.cpus = dump.cpus;
	dump.iter.symbols = dump.symbols;
	dump.iter.copy = dump.copy;
	dump.iter.copy_bytes = sizeof(dump.copy);
	trace_iter_dump(&dump.iter, tr, cpu);
}

/* A text may hold several lines; the log takes one at a time. */
static void dump_log_lines(struct trace_seq *seq)
{
	size_t begin = 0;

	for (size_t at = 0; at < seq->len; at++) {
		if (seq->buf[at] != '\n')
			continue;
		trace_plat_alert("%.*s", (int)(at - begin), seq->buf + begin);
		begin = at + 1;
	}
	if (begin < seq->len)
		trace_plat_alert("%.*s", (int)(seq->len - begin), seq->buf + begin);
}

/* Go to the end and count the lines of the events that are passed. */
static uint64_t count_lines(struct trace_iter *iter)
{
	uint64_t nr = 0;

	while (trace_iter_next(iter))
		nr += trace_event_lines(iter);
	return nr;
}

/*
 * Print the last TRACE_DUMP_LINES of the `nr` lines that the walk has, and how many were left out.
 */
static void print_newest(struct trace_iter *iter, uint64_t nr, char *line)
{
	uint64_t nr_left_out = 0;
	struct trace_seq seq;

	if (!nr)
		trace_plat_alert("   (ftrace buffer empty)");
	while (trace_iter_next(iter)) {
		bool is_old = nr > TRACE_DUMP_LINES;

		nr -= trace_event_lines(iter);
		nr_left_out += is_old;
		if (is_old)
			continue;
		if (nr_left_out)
			trace_plat_alert("(%llu older events left out)",
					 (unsigned long long)nr_left_out);
		nr_left_out = 0;
		trace_seq_init(&seq, line, LINE_BYTES);
		trace_print_line(iter, &seq);
		dump_log_lines(&seq);
	}
}

static void print_rule(void)
{
	trace_plat_alert("---------------------------------");
}

void trace_dump(uint32_t cpu)
{
	struct trace_array *tr = trace_global_array();
	int which = cpu == TRACE_ALL_CPUS ? RING_BUFFER_ALL_CPUS : (int)cpu;
	uint64_t nr;

	if (!tr || !dump.symbols || atomic_exchange(&dump.is_busy, true))
		return;
	trace_array_off(tr, &off_from);
	trace_plat_alert("Dumping ftrace buffer:");
	print_rule();
	dump_start(tr, which);
	nr = count_lines(&dump.iter);
	dump_start(tr, which);
	print_newest(&dump.iter, nr, dump.line);
	print_rule();
	atomic_store(&dump.is_busy, false);
}

void trace_dump_on_oops(uint32_t cpu)
{
	if (mode != DUMP_NONE)
		trace_dump(mode == DUMP_ORIG ? cpu : TRACE_ALL_CPUS);
}

/*
 * ---- Dumps that a probe asks for: the probe may be in any context, so a thread prints them ----
 */

static void print_later(struct trace_plat_deferred *deferred);

static struct {
	struct trace_plat_deferred deferred;
	_Atomic bool is_busy;
	struct trace_array *tr; /* NULL: it was removed; config lock, once is_busy is set */
	int cpu;
} request = { .deferred = { .fn = print_later } };

void trace_dump_later(struct trace_array *tr, int cpu)
{
	trace_array_off(tr, &off_from);
	if (atomic_exchange(&request.is_busy, true))
		return;
	request.tr = tr;
	request.cpu = cpu;
	trace_plat_defer(&request.deferred);
}

void trace_dump_forget(struct trace_array *tr)
{
	if (request.tr == tr)
		request.tr = NULL;
}

/* Config lock held. */
static void dump_print_array(struct trace_array *tr, int cpu)
{
	struct trace_iter *iter = trace_iter_open(tr, cpu, TRACE_ITER_PEEKING);
	char *line = trace_plat_alloc(LINE_BYTES);
	uint64_t nr;

	if (!iter || !line) {
		trace_plat_alert("No memory to dump the ftrace buffer");
		goto free;
	}
	if (trace_array_is_global(tr))
		trace_plat_alert("Dumping ftrace buffer:");
	else
		trace_plat_alert("Dumping ftrace instance %s buffer:", tr->name);
	print_rule();
	iter->is_latency = true;
	nr = count_lines(iter);
	trace_iter_rewind(iter);
	print_newest(iter, nr, line);
	print_rule();
free:
	if (line)
		trace_plat_free(line, LINE_BYTES);
	if (iter)
		trace_iter_close(iter);
}

static void print_later(struct trace_plat_deferred *deferred)
{
	(void)deferred;
	trace_plat_lock(&trace_config_lock);
	if (request.tr)
		dump_print_array(request.tr, request.cpu);
	request.tr = NULL;
	atomic_store(&request.is_busy, false);
	trace_plat_unlock(&trace_config_lock);
}

/*
 * See dump.h. Everything is static: the stack and the allocator may be what has failed.
 */
#include <stdatomic.h>
#include <trace/trace.h>
#include "array.h"
#include "dump.h"
#include "print/iter.h"
#include "print/output.h"
#include "print/str.h"

#define LINE_BYTES 1024u

/* Linux's numbers; what is none of them counts as "all". */
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
	uint8_t copy[RING_SUBBUF_BYTES];
	char line[LINE_BYTES];
} dump;

int trace_dump_init(void)
{
	dump.cpus = trace_plat_alloc(trace_plat_nr_cpus() * sizeof(*dump.cpus));
	dump.symbols = trace_plat_alloc(TRACE_ITER_SYMBOLS * sizeof(*dump.symbols));
	return dump.cpus && dump.symbols ? 0 : -ENOMEM;
}

void trace_dump_set_mode(const char *value)
{
	if (trace_streq(value, "orig_cpu") || trace_streq(value, "2"))
		mode = DUMP_ORIG;
	else if (trace_streq(value, "") || trace_streq(value, "1"))
		mode = DUMP_ALL;
	else
		mode = DUMP_NONE;
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

static void start(struct trace_array *tr, int cpu)
{
	memset(&dump.iter, 0, sizeof(dump.iter));
	dump.iter.cpus = dump.cpus;
	dump.iter.symbols = dump.symbols;
	dump.iter.copy = dump.copy;
	trace_iter_dump(&dump.iter, tr, cpu);
}

static uint64_t count_events(struct trace_array *tr, int cpu)
{
	start(tr, cpu);
	while (trace_iter_next(&dump.iter))
		;
	return dump.iter.nr_seen;
}

/* A text may hold several lines; the log takes one at a time. */
static void log_lines(struct trace_seq *seq)
{
	size_t begin = 0;

	for (size_t at = 0; at < seq->len; at++) {
		if (seq->buf[at] != '\n')
			continue;
		trace_plat_log("%.*s", (int)(at - begin), seq->buf + begin);
		begin = at + 1;
	}
	if (begin < seq->len)
		trace_plat_log("%.*s", (int)(seq->len - begin), seq->buf + begin);
}

static void print_newest(struct trace_array *tr, int cpu)
{
	uint64_t nr = count_events(tr, cpu);
	uint64_t skip = nr > TRACE_DUMP_LINES ? nr - TRACE_DUMP_LINES : 0;
	struct trace_seq seq;

	if (!nr) {
		trace_plat_log("   (ftrace buffer empty)");
		return;
	}
	if (skip)
		trace_plat_log("(%llu older events left out)", (unsigned long long)skip);
	start(tr, cpu);
	while (trace_iter_next(&dump.iter)) {
		if (dump.iter.index < skip)
			continue;
		trace_seq_init(&seq, dump.line, sizeof(dump.line));
		trace_print_line(&dump.iter, &seq);
		log_lines(&seq);
	}
}

void trace_dump(uint32_t cpu)
{
	struct trace_array *tr = trace_global_array();

	if (!tr || atomic_exchange(&dump.is_busy, true))
		return;
	tracing_off();
	trace_plat_log("Dumping ftrace buffer:");
	trace_plat_log("---------------------------------");
	print_newest(tr, cpu == TRACE_ALL_CPUS ? RING_BUFFER_ALL_CPUS : (int)cpu);
	trace_plat_log("---------------------------------");
	atomic_store(&dump.is_busy, false);
}

void trace_dump_on_oops(uint32_t cpu)
{
	if (mode != DUMP_NONE)
		trace_dump(mode == DUMP_ORIG ? cpu : TRACE_ALL_CPUS);
}

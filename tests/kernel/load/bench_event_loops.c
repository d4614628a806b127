/* The events of the benchmark, and the loops that hit their tracepoints. Nothing here has a call site. */
#include <kernel/string.h>
#include "bench.h"

#define CREATE_TRACE_POINTS
#include "bench_trace.h"

/* Keep the compiler from merging or dropping rounds. */
static TRACE_ALWAYS_INLINE void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

void bench_loop_event_int(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		trace_bench_int((int)i);
		barrier();
	}
}

void bench_loop_event_three(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		trace_bench_three((int)i, 7, "sixteen letters");
		barrier();
	}
}

void bench_loop_event_few(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		trace_bench_three((int)(i & 7), (int)(i & 3), "sixteen letters");
		barrier();
	}
}

void bench_loop_event_pair(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		trace_bench_begin((int)(i & 7));
		trace_bench_end((int)(i & 7));
		barrier();
	}
}

void bench_loop_event_label(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		trace_bench_label("a label of one hundred and twenty-eight bytes, the last of "
				  "which is the NUL that ends it, so that the longest text is "
				  "compared.");
		barrier();
	}
}

/* Aligned, so that it is at the end of no page in any build: such texts are copied by other code. */
static const char text[] __attribute__((aligned(256))) = "a text of 25 characters..";

void bench_loop_event_text(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		trace_bench_text(text);
		barrier();
	}
}

static void empty_probe(void *data, int value)
{
	(void)data;
	(void)value;
}

int bench_event_probe(bool on)
{
	return on ? register_trace_bench_int(empty_probe, NULL)
		  : unregister_trace_bench_int(empty_probe, NULL);
}

/*
 * The function tracer's callback, compiled as in the kernel: an interrupt before every single one
 * of its instructions, with a ring that records, is full, is switched off, or has a clock of its
 * own. Each call is recorded once, whole, or counted as dropped; a call from within is neither.
 *
 * links: trace/tracers/function_calls.c trace/ring/ring_*.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include "fast.h"
#include "instance/array.h"
#include <trace/fgraph.h>
#include "tracers/function_entry.h"
#include "tracers/function_tracer.h"
#include "ring/ring_private.h"

#define SIZE	     4096u
#define MAX_CALLS    8192u
#define MAX_INSNS    2048u
#define HARDIRQ	     0x00010000u
#define SOFTIRQ	     0x00000100u
#define NMI	     0x00110000u
#define CALLER	     0x200000u
#define TRUE_CALLER  0x300000u
#define NEED_RESCHED (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED)

static struct trace_array array;
static struct ring_buffer *ring;
static struct ftrace_ops ops = { .func = trace_function_call, .private = &array };
static uint64_t nr_calls, nr_seen;
static bool seen[MAX_CALLS];

/* ---- The functions that it is linked against ---- */

const char return_to_handler[1];

void trace_plat_lost(void)
{
	abort();
}

uintptr_t ftrace_graph_ret_addr(const struct trace_thread *thread, uintptr_t ret,
				const uintptr_t *slot)
{
	(void)thread;
	(void)ret;
	(void)slot;
	return TRUE_CALLER;
}

/* ---- Calls and reads ---- */

/* Counted by one instruction: interrupts call, too. */
static void call(void)
{
	trace_function_call(__atomic_fetch_add(&nr_calls, 1, __ATOMIC_RELAXED), CALLER, &ops, NULL);
}

static void check_event(const struct ring_event *event)
{
	const struct trace_func_entry *entry = event->data;

	assert_int_equal(event->len, sizeof(*entry));
	assert_true(entry->ip < nr_calls);
	assert_false(seen[entry->ip]);
	assert_int_equal(entry->parent_ip, CALLER);
	assert_int_equal(entry->ent.type, TRACE_TYPE_FN);
	assert_int_equal(entry->ent.pid, 77);
	seen[entry->ip] = true;
	nr_seen++;
}

static void read_all(void)
{
	struct ring_event event;

	while (ring_buffer_consume(ring, 0, &event))
		check_event(&event);
}

/* ---- How the ring stands ---- */

static uint64_t other_clock(void)
{
	return trace_plat_clock_ns() / 2;
}

static void start(bool overwrite)
{
	memset(seen, 0, sizeof(seen));
	nr_calls = nr_seen = 0;
	ring = ring_buffer_alloc(2ul * SIZE, overwrite ? RING_BUFFER_OVERWRITE : 0);
	array.buffer = ring;
	call();
}

static void fill_to_end(void)
{
	while ((-(uint32_t)ring->cpu[0]->tail.lo & (SIZE - 1)) >= 20)
		call();
}

static void scene_middle(void)
{
	start(true);
}

static void scene_cross(void)
{
	start(true);
	fill_to_end();
}

static void scene_clock(void)
{
	start(true);
	read_all();
	ring_buffer_set_clock(ring, other_clock);
	nr_seen = 0;
	nr_calls = 0;
	memset(seen, 0, sizeof(seen));
	call();
}

static void scene_clock_cross(void)
{
	scene_clock();
	fill_to_end();
}

static void scene_filling(void)
{
	start(false);
	fill_to_end();
	call();
	fill_to_end();
}

static void scene_full(void)
{
	scene_filling();
	call();
	call();
}

static void scene_full_clock(void)
{
	scene_full();
	read_all();
	ring_buffer_set_clock(ring, other_clock);
	memset(seen, 0, sizeof(seen));
	nr_seen = nr_calls = 0;
	for (int i = 0; i < 500; i++)
		call();
}

static void op_call(void *arg)
{
	(void)arg;
	call();
}

/* ---- Interrupts ---- */

static void irq_call(void)
{
	fast_cpu.preempt_count += HARDIRQ;
	call();
	fast_cpu.preempt_count -= HARDIRQ;
}

static void irq_page(void)
{
	for (uint32_t i = 0; i < SIZE / 20; i++)
		irq_call();
}

static void irq_read(void)
{
	read_all();
}

static void irq_read_call(void)
{
	read_all();
	irq_call();
}

static void irq_call_read_call(void)
{
	irq_call();
	read_all();
	irq_call();
}

static void (*const scenes[])(void) = {
	scene_middle,  scene_cross, scene_clock,      scene_clock_cross,
	scene_filling, scene_full,  scene_full_clock,
};
static void (*const irqs[])(void) = { irq_call, irq_page, irq_read, irq_read_call,
				      irq_call_read_call };
#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void finish(void)
{
	struct ring_stats stats;
	uint64_t dropped;

	ring_buffer_stats_cpu(ring, 0, &stats);
	dropped = stats.dropped + stats.commit_overrun;
	assert_int_equal(stats.entries + stats.overrun + stats.read + dropped, nr_calls);
	read_all();
	assert_int_equal(nr_seen + stats.overrun + dropped, nr_calls);
	/* There is room now. */
	call();
	read_all();
	assert_int_equal(nr_seen + stats.overrun + dropped, nr_calls);
	assert_int_equal(fast_cpu.preempt_count, PREEMPT_INITIAL);
	assert_int_equal(fast_cpu.trace_recursion, 0);
	ring_buffer_free(ring);
	assert_int_equal(fast_alloc_out, 0);
	assert_int_equal(fast_nr_bugs, 0);
}

static void test_interrupt_everywhere(void **state)
{
	static uint8_t *insns[MAX_INSNS];
	size_t nr, nr_runs = 0;

	(void)state;
	for (size_t s = 0; s < NR(scenes); s++) {
		scenes[s]();
		fast_trace(op_call, NULL, insns, MAX_INSNS, &nr);
		finish();
		for (size_t i = 0; i < nr; i++) {
			for (size_t q = 0; q < NR(irqs); q++, nr_runs++) {
				const struct fast_point point = { insns[i], irqs[q] };

				scenes[s]();
				if (!fast_run_at(op_call, NULL, &point, 1))
					irqs[q]();
				finish();
			}
		}
	}
	print_message("%zu runs\n", nr_runs);
}

/* ---- An event's text, and the calls that have one ---- */

static void expect_event(uint32_t preempt_word, uint32_t recursion, uint8_t flags, uint8_t depth)
{
	const struct trace_func_entry *entry;
	struct ring_event event;

	fast_cpu.preempt_count = preempt_word;
	fast_cpu.trace_recursion = recursion;
	call();
	assert_int_equal(fast_cpu.preempt_count, preempt_word);
	assert_int_equal(fast_cpu.trace_recursion, recursion);
	fast_cpu.preempt_count = PREEMPT_INITIAL;
	fast_cpu.trace_recursion = 0;
	assert_true(ring_buffer_consume(ring, 0, &event));
	check_event(&event);
	entry = event.data;
	assert_int_equal(entry->ent.flags, flags);
	assert_int_equal(entry->ent.preempt_count, depth);
	assert_false(ring_buffer_consume(ring, 0, &event));
}

/* In each context, with and without a list function before us, in either way to write. */
static void test_contexts(void **state)
{
	const uint32_t list = 1u << TRACE_RECURSION_LIST;

	(void)state;
	for (int clock = 0; clock < 2; clock++) {
		(clock ? scene_clock : scene_middle)();
		read_all();
		for (uint32_t depth = 0; depth < 20; depth++) {
			uint8_t told = (uint8_t)(depth < 15 ? depth : 15);

			expect_event(PREEMPT_NO_RESCHED | depth, 0, 0, told);
			expect_event(PREEMPT_NO_RESCHED | (depth + 1), list, 0, told);
			expect_event(depth + 1, 0, NEED_RESCHED,
				     (uint8_t)(depth < 14 ? depth + 1 : 15));
			expect_event(depth + 1, list, NEED_RESCHED, told);
			expect_event(PREEMPT_NO_RESCHED | HARDIRQ | depth, 1, TRACE_FLAG_HARDIRQ,
				     told);
			expect_event(PREEMPT_NO_RESCHED | SOFTIRQ | depth, 1, TRACE_FLAG_SOFTIRQ,
				     told);
		}
		expect_event(PREEMPT_NO_RESCHED | NMI, 7, TRACE_FLAG_NMI | TRACE_FLAG_HARDIRQ, 0);
		finish();
	}
}

/* A call from within a callback leaves no trace, and neither does one while recording is off. */
static void test_no_trace(void **state)
{
	static const struct {
		uint32_t preempt_word, recursion;
	} inside[] = {
		{ PREEMPT_NO_RESCHED | 1, 1 },		 { 1, 1 },
		{ PREEMPT_NO_RESCHED | SOFTIRQ | 1, 2 }, { PREEMPT_NO_RESCHED | HARDIRQ | 1, 4 },
		{ PREEMPT_NO_RESCHED | NMI | 1, 8 },
	};

	(void)state;
	for (size_t s = 0; s < NR(scenes); s++) {
		for (size_t i = 0; i < NR(inside); i++) {
			scenes[s]();
			fast_cpu.preempt_count = inside[i].preempt_word;
			fast_cpu.trace_recursion = inside[i].recursion;
			trace_function_call(MAX_CALLS, CALLER, &ops, NULL);
			assert_int_equal(fast_cpu.preempt_count, inside[i].preempt_word);
			assert_int_equal(fast_cpu.trace_recursion, inside[i].recursion);
			fast_cpu.preempt_count = PREEMPT_INITIAL;
			fast_cpu.trace_recursion = 0;
			ring_buffer_record_off(ring);
			trace_function_call(MAX_CALLS, CALLER, &ops, NULL);
			ring_buffer_record_on(ring);
			ring_buffer_record_disable_cpu(ring, 0);
			trace_function_call(MAX_CALLS, CALLER, &ops, NULL);
			ring_buffer_record_enable_cpu(ring, 0);
			finish();
		}
	}
}

/* A function that was jumped to from one whose return is hooked, whatever the ring is like. */
static void test_true_parent(void **state)
{
	struct ftrace_regs fregs = { 0 };
	struct ring_event event;

	(void)state;
	for (int clock = 0; clock < 2; clock++) {
		(clock ? scene_clock : scene_middle)();
		read_all();
		trace_function_call(5, trace_plat_return_hook(), &ops, &fregs);
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_int_equal(((const struct trace_func_entry *)event.data)->ip, 5);
		assert_int_equal(((const struct trace_func_entry *)event.data)->parent_ip,
				 TRUE_CALLER);
		nr_calls++;
		nr_seen++;
		finish();
	}
}

/* How long the ways through the callback are, from its first instruction to its return. */
static uint64_t steps(void (*scene)(void), bool off)
{
	uint64_t nr;
	uint8_t *insn;
	size_t unused;

	scene();
	if (off)
		ring_buffer_record_off(ring);
	nr = fast_trace(op_call, NULL, &insn, 1, &unused);
	if (off) {
		nr_calls--;
		ring_buffer_record_on(ring);
	}
	finish();
	return nr;
}

static void test_instruction_count(void **state)
{
	uint64_t event = steps(scene_middle, false), full = steps(scene_full, false);
	uint64_t off = steps(scene_middle, true), clock = steps(scene_clock, false);

	(void)state;
	print_message("recorded %lu, off %lu, full %lu, other clock %lu\n", event, off, full,
		      clock);
	assert_true(off < full && full < event && event < clock);
	assert_in_range(event, 40, 100);
	assert_in_range(full, 20, 60);
	assert_in_range(off, 10, 35);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_no_trace),
		cmocka_unit_test(test_true_parent),
		cmocka_unit_test(test_instruction_count),
		cmocka_unit_test(test_interrupt_everywhere),
	};

	fast_init();
	fast_cpu.current_pid = 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Hooked returns: an interrupt before every single instruction of entering and returning, compiled
 * as in the kernel. Whatever users the interrupt has: each call returns to its caller, each entry
 * has the return of the same user, with what the entry left in the frame.
 *
 * links: trace/graph/fgraph.c trace/graph/fgraph_stack.c trace/ops/host_tracepoints.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include "fast.h"
#include "graph/fgraph_private.h"
#include <trace/tracepoint.h>

#define NR_USERS   3u
#define MAX_INSNS  4096u
#define HARDIRQ	   0x00010000u
#define FUNC(n)	   (0x100000u + 16 * (n))
#define CALLER	   0x200000u
#define NR_FRAMES  8u /* in use at once, at most */
#define MAX_NESTED 2u /* interrupts, one in the other */

struct user {
	struct fgraph_ops gops;
	uint32_t entries, returns;
	uint32_t open; /* calls that have been entered and have not returned */
};

static struct user users[NR_USERS];
static struct trace_thread thread;
static uint32_t nr_wrong;

/* ---- The functions that it is linked against ---- */

const char return_to_handler[1];

void trace_plat_lost(void)
{
	abort();
}

bool ftrace_is_dead(void)
{
	return false;
}

int register_ftrace_function(struct ftrace_ops *ops)
{
	return ops->func ? 0 : -EINVAL;
}

int unregister_ftrace_function(struct ftrace_ops *ops)
{
	return ops->func ? 0 : -EBUSY;
}

void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg)
{
	fn(1, &thread, arg);
}

int tracepoint_probe_register(struct tracepoint *tp, tracepoint_probe_fn func, void *data, int prio)
{
	(void)data;
	(void)prio;
	return tp && func ? 0 : -EINVAL;
}

int tracepoint_probe_unregister(struct tracepoint *tp, tracepoint_probe_fn func, void *data)
{
	(void)data;
	return tp && func ? 0 : -ENOENT;
}

void tracepoint_synchronize_unregister(void)
{
}

/* ---- Users ---- */

static bool note_entry(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	struct user *user = gops->private;

	/* Calls around us that are interrupted in their entry, or return, are not counted here. */
	if (ent->depth != user->open)
		nr_wrong += ent->depth - user->open > MAX_NESTED;
	else if (ent->parent_data)
		nr_wrong += (*ent->parent_data & 0xff) + 1 != ent->depth;
	*ent->data = ent->func << 8 | ent->depth;
	user->entries++;
	user->open++;
	return true;
}

static void note_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	struct user *user = gops->private;

	nr_wrong += *ret->data != (ret->func << 8 | ret->depth);
	user->returns++;
	user->open--;
}

/* ---- Calls ---- */

static void enter(struct ftrace_regs *regs, uintptr_t func, uint32_t mask)
{
	regs->parent = CALLER;
	for (uint32_t i = 0; i < NR_USERS; i++) {
		struct ftrace_ops *ops = &users[i].gops.ops;

		if (mask >> i & 1)
			ops->func(func, CALLER, ops, regs);
	}
}

static void leave(struct ftrace_regs *regs)
{
	while (regs->parent == (uintptr_t)return_to_handler)
		trace_graph_return(&regs->parent);
	nr_wrong += regs->parent != CALLER;
}

static void call(uintptr_t func, uint32_t mask)
{
	struct ftrace_regs regs;

	enter(&regs, func, mask);
	leave(&regs);
}

/* Two users outside, one of them and a third one inside. */
static void op_calls(void *arg)
{
	struct ftrace_regs outer, inner;

	(void)arg;
	enter(&outer, FUNC(0), 3);
	enter(&inner, FUNC(1), 6);
	leave(&inner);
	leave(&outer);
}

static void interrupt(uint32_t mask)
{
	fast_cpu.preempt_count += HARDIRQ;
	call(FUNC(7), mask);
	fast_cpu.preempt_count -= HARDIRQ;
}

static void irq_first(void)
{
	interrupt(1);
}

static void irq_second(void)
{
	interrupt(2);
}

static void irq_third(void)
{
	interrupt(4);
}

static void irq_all(void)
{
	interrupt(7);
}

static void (*const irqs[])(void) = { irq_first, irq_second, irq_third, irq_all };

#define NR_IRQS (sizeof(irqs) / sizeof(irqs[0]))

/* ---- Runs ---- */

static uint64_t nr_runs;

/* Frames that are not in use have no owner; their other words do not matter. */
static void leave_garbage(void)
{
	for (uint32_t i = 0; i < NR_FRAMES; i++) {
		assert_int_equal(thread.graph_top[i].head & FGRAPH_USER_MASK, FGRAPH_NOBODY);
		memset(&thread.graph_top[i], 0x5a, sizeof(struct fgraph_frame));
		thread.graph_top[i].head = 0x5a5a5a00u | FGRAPH_NOBODY;
	}
}

static void run(const struct fast_point *points, size_t nr)
{
	leave_garbage();
	for (uint32_t i = 0; i < NR_USERS; i++)
		users[i].entries = users[i].returns = 0;
	fast_run_at(op_calls, NULL, points, nr);
	for (uint32_t i = 0; i < NR_USERS; i++) {
		uint32_t user = users[i].gops.user.index;

		assert_int_equal(users[i].entries, users[i].returns);
		assert_int_equal(fgraph_next(&thread, user), user);
	}
	assert_true(users[0].entries >= 1 && users[1].entries >= 2 && users[2].entries >= 1);
	assert_int_equal(nr_wrong, 0);
	assert_ptr_equal(thread.graph_top, thread.graph_base + 1);
	assert_int_equal(fast_cpu.preempt_count, PREEMPT_INITIAL);
	assert_int_equal(fast_cpu.trace_recursion, 0);
	assert_int_equal(fast_nr_bugs, 0);
	nr_runs++;
}

static uint8_t *insns[MAX_INSNS];

static size_t insns_of_calls(void)
{
	size_t nr;

	fast_trace(op_calls, NULL, insns, MAX_INSNS, &nr);
	assert_in_range(nr, 100, MAX_INSNS - 1);
	return nr;
}

static void test_interrupt_everywhere(void **state)
{
	size_t nr = insns_of_calls();

	(void)state;
	for (size_t i = 0; i < nr; i++)
		for (size_t q = 0; q < NR_IRQS; q++)
			run(&(struct fast_point){ insns[i], irqs[q] }, 1);
	print_message("%lu runs\n", nr_runs);
}

static void test_two_interrupts(void **state)
{
	size_t nr = insns_of_calls();

	(void)state;
	for (size_t i = 0; i < nr; i++) {
		for (size_t j = i + 1 + i % 3; j < nr; j += 3) {
			const struct fast_point points[] = {
				{ insns[i], irqs[(i + j) % NR_IRQS] },
				{ insns[j], irqs[(i + j / 3) % NR_IRQS] },
			};

			run(points, 2);
		}
	}
	print_message("%lu runs\n", nr_runs);
}

static int setup(void **state)
{
	(void)state;
	fast_cpu.trace_thread = &thread;
	for (uint32_t i = 0; i < NR_USERS; i++) {
		users[i].gops = (struct fgraph_ops){ .entryfunc = note_entry,
						     .retfunc = note_return,
						     .private = &users[i] };
		if (register_ftrace_graph(&users[i].gops))
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NR_USERS; i++)
		unregister_ftrace_graph(&users[i].gops);
	return fast_alloc_out != 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupt_everywhere),
		cmocka_unit_test(test_two_interrupts),
	};

	fast_init();
	return cmocka_run_group_tests(tests, setup, teardown);
}

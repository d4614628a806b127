/*
 * Probes of functions on the fake machine: handlers that count, fill and check data, and the state that each test begins and
 * ends with. Included by one test file.
 */
#ifndef FPROBE_FIXTURE_H
#define FPROBE_FIXTURE_H

#include "unit.h"
#include "child.h"
#include <trace/kretprobe.h>
#include <trace/fgraph.h>
#include <trace/recursion.h>
#include "tracefs.h"
#include "trace/graph/call_tree.h"

#define NR_THREADS 3
#define FIRST_PID  100
#define MANY	   1000u

static struct {
	uint64_t entries, exits;
	uintptr_t ip, ret;    /* of the last */
	uint64_t value;	      /* returned */
	uint64_t change_to;   /* what the exit makes of that; 0: nothing */
	size_t data_bytes;    /* written at the entry, checked at the exit */
	uint32_t declines;    /* every so many-th entry */
	size_t calls;	      /* a function that handlers call; NR_FUNCS: none */
	const char *order[8]; /* of exits */
	uint32_t nr_order;
} seen;

static inline void fill(void *data, size_t bytes, uintptr_t ip, uintptr_t ret)
{
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)data)[i] = (uint8_t)(ip + ret + i);
}

static inline void check_data(const void *data, size_t bytes, uintptr_t ip, uintptr_t ret)
{
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(((const uint8_t *)data)[i], (uint8_t)(ip + ret + i));
}

static inline bool is_declined(void)
{
	return seen.declines && seen.entries % seen.declines == 0;
}

static inline void call_more(void)
{
	if (seen.calls < NR_FUNCS)
		fake_call(seen.calls, PARENT);
}

static inline int on_entry(struct fprobe *fp, uintptr_t ip, uintptr_t ret, struct ftrace_regs *regs,
			   void *data)
{
	assert_non_null(regs);
	assert_int_not_equal(ret, FAKE_RETURN_HOOK);
	assert_int_equal(regs->is_full, fp->flags & FPROBE_FL_REGS ? 1 : 0);
	assert_int_equal(data != NULL, fp->exit_handler != NULL);
	assert_int_not_equal(trace_plat_preempt_count() & 0xff, 0);
	seen.entries++;
	seen.ip = ip;
	seen.ret = ret;
	if (data)
		fill(data, fp->entry_data_size, ip, ret);
	call_more();
	return is_declined();
}

static inline void on_exit_of(struct fprobe *fp, uintptr_t ip, uintptr_t ret,
			      struct ftrace_regs *regs, void *data)
{
	assert_int_not_equal(ret, FAKE_RETURN_HOOK);
	seen.exits++;
	seen.ip = ip;
	seen.ret = ret;
	seen.value = ftrace_regs_get_return_value(regs);
	if (fp->entry_handler)
		check_data(data, fp->entry_data_size, ip, ret);
	if (seen.change_to)
		ftrace_regs_set_return_value(regs, seen.change_to);
	call_more();
}

static inline int on_call(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	assert_non_null(regs);
	assert_int_not_equal(ri->ret_addr, FAKE_RETURN_HOOK);
	seen.entries++;
	fill(ri->data, ri->rp->data_size, ri->rp->kp.addr, ri->ret_addr);
	return is_declined();
}

static inline int on_return(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	assert_int_not_equal(ri->ret_addr, FAKE_RETURN_HOOK);
	seen.exits++;
	seen.ip = ri->rp->kp.addr;
	seen.ret = ri->ret_addr;
	seen.value = ftrace_regs_get_return_value(regs);
	if (ri->rp->entry_handler)
		check_data(ri->data, ri->rp->data_size, ri->rp->kp.addr, ri->ret_addr);
	if (seen.nr_order < 8)
		seen.order[seen.nr_order++] = (const char *)ri->rp;
	if (seen.change_to)
		ftrace_regs_set_return_value(regs, seen.change_to);
	call_more();
	return 0;
}

/* A whole machine state before and after: nothing is allocated, no site calls. */
static inline void nothing_left(void)
{
	struct ftrace_totals totals;

	ftrace_totals(&totals);
	assert_int_equal(totals.enabled, 0);
	for (int i = 0; i < NR_THREADS; i++)
		assert_null(fake_thread_of(FIRST_PID + i)->graph_base);
	assert_int_equal(fake_alloc_out, memory_out);
	assert_int_equal(fake_this->recursion, 0);
}

static inline void interrupt(void)
{
	atomic_fetch_add(&fake_this->preempt_count, 0x00010000u);
	fake_call(KFREE, PARENT);
	atomic_fetch_sub(&fake_this->preempt_count, 0x00010000u);
}

static inline int setup(void **state)
{
	static char texts[MANY][16];
	static const char *names[MANY] = { "schedule", "yield", "do_work", "kfree" };

	(void)state;
	for (uint32_t i = NR_FUNCS; i < MANY; i++) {
		snprintf(texts[i], sizeof(texts[i]), "func_%u", i);
		names[i] = texts[i];
	}
	fake_reset();
	fake_set_nr_cpus(2);
	fake_bind(0);
	fake_clock_step = 0;
	fake_text_build(names, MANY);
	for (int i = 0; i < NR_THREADS; i++)
		fake_thread_add(FIRST_PID + i, "worker");
	ftrace_init();
	return trace_init();
}

static inline int reset(void **state)
{
	memset(&seen, 0, sizeof(seen));
	seen.calls = NR_FUNCS;
	fake_run(-1);
	return tracefs_reset(state);
}

static inline int check(void **state)
{
	fake_run(-1);
	assert_int_equal(fake_this->stack_used, 0);
	return tracefs_check(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, check)

#endif

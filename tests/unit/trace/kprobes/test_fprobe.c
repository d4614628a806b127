/*
 * Probes of functions on the fake machine: which calls have handlers, with which data, what is missed
 * and counted, and what is left when probes come and go.
 */
#include "unit.h"
#include "child.h"
#include <trace/kretprobe.h>
#include <trace/fgraph.h>
#include <trace/recursion.h>
#include "tracefs.h"

#define NR_THREADS 3
#define FIRST_PID  100
#define CALLER(n)  (fake_func(YIELD) + 1 + (n) % 8)

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

static void fill(void *data, size_t bytes, uintptr_t ip, uintptr_t ret)
{
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)data)[i] = (uint8_t)(ip + ret + i);
}

static void check_data(const void *data, size_t bytes, uintptr_t ip, uintptr_t ret)
{
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(((const uint8_t *)data)[i], (uint8_t)(ip + ret + i));
}

static bool is_declined(void)
{
	return seen.declines && seen.entries % seen.declines == 0;
}

static void call_more(void)
{
	if (seen.calls < NR_FUNCS)
		fake_call(seen.calls, PARENT);
}

static int on_entry(struct fprobe *fp, uintptr_t ip, uintptr_t ret, struct ftrace_regs *regs,
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

static void on_exit_of(struct fprobe *fp, uintptr_t ip, uintptr_t ret, struct ftrace_regs *regs,
		       void *data)
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

static int on_call(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	assert_non_null(regs);
	assert_int_not_equal(ri->ret_addr, FAKE_RETURN_HOOK);
	seen.entries++;
	fill(ri->data, ri->rp->data_size, ri->rp->kp.addr, ri->ret_addr);
	return is_declined();
}

static int on_return(struct kretprobe_instance *ri, struct ftrace_regs *regs)
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
static void nothing_left(void)
{
	struct ftrace_totals totals;

	ftrace_totals(&totals);
	assert_int_equal(totals.enabled, 0);
	for (int i = 0; i < NR_THREADS; i++)
		assert_null(fake_thread_of(FIRST_PID + i)->graph_base);
	assert_int_equal(fake_alloc_out, memory_out);
	assert_int_equal(fake_this->recursion, 0);
}

/* ---- fprobe ---- */

static void entry_only(void **state)
{
	struct fprobe fp = { .entry_handler = on_entry };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "*e*", "kfree"), 0); /* schedule, yield */
	assert_int_equal(register_fprobe(&fp, "*", NULL), -EBUSY);
	fake_call(SCHEDULE, PARENT);
	assert_int_equal(seen.ip, fake_func(SCHEDULE));
	assert_int_equal(seen.ret, PARENT);
	fake_call(YIELD, CALLER(3));
	assert_int_equal(seen.ret, CALLER(3));
	fake_call(KFREE, PARENT);
	fake_call(DO_WORK, PARENT);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(ftrace_graph_nr_stacks(), 0);
	assert_int_equal(unregister_fprobe(&fp), 0);
	assert_int_equal(unregister_fprobe(&fp), -EINVAL);
	fake_call(SCHEDULE, PARENT);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(fp.nmissed, 0);
	nothing_left();
}

static void all_registers(void **state)
{
	struct fprobe fp = { .entry_handler = on_entry, .flags = FPROBE_FL_REGS };
	struct fprobe both = { .entry_handler = on_entry,
			       .exit_handler = on_exit_of,
			       .flags = FPROBE_FL_REGS };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "schedule", NULL), 0);
	fake_call(SCHEDULE, PARENT);
	assert_int_equal(unregister_fprobe(&fp), 0);
	assert_int_equal(register_fprobe(&both, "schedule", NULL), 0);
	fake_call(SCHEDULE, PARENT);
	assert_int_equal(unregister_fprobe(&both), 0);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(seen.exits, 1);
	nothing_left();
}

/* Calls inside calls, jumps out of some of them. */
static void call_tree(uint32_t levels, uint32_t *seed)
{
	for (uint32_t i = 0; i < 3; i++) {
		uintptr_t parent = CALLER(++*seed);

		fake_enter(*seed % NR_FUNCS, parent);
		if (levels)
			call_tree(levels - 1, seed);
		if (*seed % 5 == 0)
			fake_tail((*seed + 1) % NR_FUNCS);
		assert_int_equal(fake_leave(*seed), parent);
	}
}

/* Data of every size, in the frame and in memory, for calls inside each other. */
static void entry_and_exit(void **state)
{
	static const size_t sizes[] = { 0, 1, 8, 23, 24, 25, 64, 120, FPROBE_MAX_DATA_SIZE };
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct fprobe fp = { .entry_handler = on_entry,
				     .exit_handler = on_exit_of,
				     .entry_data_size = sizes[i] };

		memset(&seen, 0, sizeof(seen));
		seen.calls = NR_FUNCS;
		fake_run(FIRST_PID);
		assert_int_equal(register_fprobe(&fp, "*", NULL), 0);
		call_tree(2, &seed);
		assert_true(seen.entries >= 39);
		assert_int_equal(seen.entries, seen.exits);
		assert_int_equal(fp.nmissed, 0);
		assert_int_equal(unregister_fprobe(&fp), 0);
		nothing_left();
	}
}

static void exit_only(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_enter(KFREE, CALLER(2));
	assert_int_equal(fake_leave(77), CALLER(2));
	assert_int_equal(seen.exits, 1);
	assert_int_equal(seen.value, 77);
	assert_int_equal(seen.ip, fake_func(KFREE));
	assert_int_equal(seen.ret, CALLER(2));
	seen.change_to = 5;
	fake_enter(KFREE, CALLER(2));
	fake_leave(77);
	assert_int_equal(fake_this->last_returned, 5);
	assert_int_equal(unregister_fprobe(&fp), 0);
	nothing_left();
}

static void declined(void **state)
{
	static const size_t sizes[] = { 8, 100 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fprobe fp = { .entry_handler = on_entry,
				     .exit_handler = on_exit_of,
				     .entry_data_size = sizes[i],
				     .nr_maxactive = 1 };

		memset(&seen, 0, sizeof(seen));
		seen.calls = NR_FUNCS;
		seen.declines = 2;
		fake_run(FIRST_PID);
		assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
		for (int n = 0; n < 10; n++) {
			assert_int_equal(*fake_enter(KFREE, PARENT),
					 n % 2 ? PARENT : FAKE_RETURN_HOOK);
			assert_int_equal(fake_leave(0), PARENT);
		}
		assert_int_equal(seen.entries, 10);
		assert_int_equal(seen.exits, 5);
		assert_int_equal(fp.nmissed, 0);
		assert_int_equal(unregister_fprobe(&fp), 0);
		nothing_left();
	}
}

/* A handler calls a probed function: its call is missed, by both kinds, and counted. */
static void recursion_is_counted(void **state)
{
	struct fprobe entry = { .entry_handler = on_entry };
	struct fprobe both = { .entry_handler = on_entry, .exit_handler = on_exit_of };
	struct kretprobe ret = { .kp = { .addr = fake_func(KFREE) }, .handler = on_return };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&entry, "kfree", NULL), 0);
	assert_int_equal(register_fprobe(&both, "kfree", NULL), 0);
	assert_int_equal(register_kretprobe(&ret), 0);
	seen.calls = KFREE;
	fake_call(KFREE, PARENT);
	/* Handlers: two entries and two exits; each calls kfree() once. */
	assert_int_equal(seen.entries, 2);
	assert_int_equal(seen.exits, 2);
	assert_int_equal(entry.nmissed, 4);
	assert_int_equal(both.nmissed, 4);
	assert_int_equal(ret.nmissed, 4);
	assert_int_equal(unregister_fprobe(&entry), 0);
	assert_int_equal(unregister_fprobe(&both), 0);
	unregister_kretprobe(&ret);
	nothing_left();
}

/* The guard is held while a hooked call returns: the exit is missed, the call returns. */
static void missed_exit_is_counted(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of,
			     .entry_data_size = 100,
			     .nr_maxactive = 1 };
	struct kretprobe rp = { .kp = { .addr = fake_func(KFREE) },
				.handler = on_return,
				.data_size = 100,
				.maxactive = 1 };
	int bit;

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	assert_int_equal(register_kretprobe(&rp), 0);
	for (int i = 0; i < 3; i++) { /* the only piece of memory is given back each time */
		fake_enter(KFREE, PARENT);
		bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);
		assert_int_equal(fake_leave(0), PARENT);
		trace_recursion_exit(bit);
	}
	assert_int_equal(seen.exits, 0);
	assert_int_equal(fp.nmissed, 3);
	assert_int_equal(rp.nmissed, 3);
	assert_int_equal(unregister_fprobe(&fp), 0);
	unregister_kretprobe(&rp);
	nothing_left();
}

/* No stack, a full one, no memory for data: counted. */
static void no_room_is_counted(void **state)
{
	struct fprobe fp = { .entry_handler = on_entry, .exit_handler = on_exit_of };
	struct fprobe pooled = { .entry_handler = on_entry,
				 .exit_handler = on_exit_of,
				 .entry_data_size = 32,
				 .nr_maxactive = 5 };

	(void)state;
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_run(FIRST_PID);
	for (int i = 0; i < 100; i++)
		fake_enter(KFREE, CALLER(i));
	assert_int_equal(seen.entries + fp.nmissed, 100);
	assert_in_range(fp.nmissed, 1, 50);
	for (int i = 99; i >= 0; i--)
		assert_int_equal(fake_leave(0), CALLER(i));
	assert_int_equal(seen.entries, seen.exits);
	fake_thread_of(FIRST_PID)->graph_overrun = 0;
	fp.nmissed = 0;
	fake_run(-1); /* a thread without a stack */
	fake_call(KFREE, PARENT);
	assert_int_equal(fp.nmissed, 1);
	assert_int_equal(unregister_fprobe(&fp), 0);

	memset(&seen, 0, sizeof(seen));
	seen.calls = NR_FUNCS;
	assert_int_equal(register_fprobe(&pooled, "kfree", NULL), 0);
	fake_run(FIRST_PID);
	for (int i = 0; i < 9; i++)
		fake_enter(KFREE, CALLER(i));
	for (int i = 8; i >= 0; i--)
		assert_int_equal(fake_leave(0), CALLER(i));
	assert_int_equal(seen.exits, 5);
	assert_int_equal(pooled.nmissed, 4);
	assert_int_equal(unregister_fprobe(&pooled), 0);
	nothing_left();
}

static void interrupt(void)
{
	atomic_fetch_add(&fake_this->preempt_count, 0x00010000u);
	fake_call(KFREE, PARENT);
	atomic_fetch_sub(&fake_this->preempt_count, 0x00010000u);
}

static int interrupted_entry(struct fprobe *fp, uintptr_t ip, uintptr_t ret,
			     struct ftrace_regs *regs, void *data)
{
	int declines = on_entry(fp, ip, ret, regs, data);

	if (!(trace_plat_preempt_count() & TRACE_NOT_THREAD_MASK))
		interrupt();
	return declines;
}

/* An interrupt in a handler is another context: its calls have theirs. */
static void interrupts_have_handlers(void **state)
{
	struct fprobe entry = { .entry_handler = interrupted_entry };
	struct fprobe both = { .entry_handler = interrupted_entry,
			       .exit_handler = on_exit_of,
			       .entry_data_size = 24 };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&both, "kfree", NULL), 0);
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(seen.exits, 2);
	assert_int_equal(register_fprobe(&entry, "kfree", NULL), 0);
	fake_call(KFREE, PARENT);
	/* two probes, an interrupt in each, two each there */
	assert_int_equal(seen.entries, 2 + 6);
	assert_int_equal(seen.exits, 2 + 3);
	assert_int_equal(entry.nmissed + both.nmissed, 0);
	assert_int_equal(unregister_fprobe(&both), 0);
	assert_int_equal(unregister_fprobe(&entry), 0);
	nothing_left();
}

static void by_addresses_and_names(void **state)
{
	const uintptr_t addrs[] = { fake_func(SCHEDULE), fake_func(KFREE) };
	const char *const syms[] = { "yield", "kfree" };
	const char *const unknown[] = { "yield", "yiel" };
	const uintptr_t inside[] = { fake_func(SCHEDULE) + 3 };
	struct fprobe fp = { .entry_handler = on_entry };
	struct fprobe empty = { .entry_handler = NULL };
	struct fprobe large = { .entry_handler = on_entry,
				.entry_data_size = FPROBE_MAX_DATA_SIZE + 1 };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe_ips(&fp, addrs, 2), 0);
	for (size_t i = 0; i < NR_FUNCS; i++)
		fake_call(i, PARENT);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(unregister_fprobe(&fp), 0);
	assert_int_equal(register_fprobe_syms(&fp, syms, 2), 0);
	for (size_t i = 0; i < NR_FUNCS; i++)
		fake_call(i, PARENT);
	assert_int_equal(seen.entries, 4);
	assert_int_equal(register_fprobe_syms(&fp, syms, 2), -EBUSY);
	assert_int_equal(unregister_fprobe(&fp), 0);
	assert_int_equal(register_fprobe_syms(&fp, unknown, 2), -ENOENT);
	assert_int_equal(register_fprobe_syms(&fp, syms, 0), -EINVAL);
	assert_int_equal(register_fprobe_ips(&fp, inside, 1), -EINVAL);
	assert_int_equal(register_fprobe_ips(&fp, addrs, 0), -EINVAL);
	assert_int_equal(register_fprobe(&fp, "nothing*", NULL), -EINVAL);
	assert_int_equal(register_fprobe(&fp, "kfree", "nothing*"), -EINVAL);
	assert_int_equal(register_fprobe(&empty, "kfree", NULL), -EINVAL);
	assert_int_equal(register_fprobe(&large, "kfree", NULL), -EINVAL);
	nothing_left();
}

static void on_and_off(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of,
			     .entry_data_size = 100,
			     .nr_maxactive = 2,
			     .flags = FPROBE_FL_DISABLED };

	(void)state;
	assert_int_equal(enable_fprobe(&fp), -EINVAL);
	assert_int_equal(disable_fprobe(&fp), -EINVAL);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_run(FIRST_PID);
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.exits, 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(enable_fprobe(&fp), 0);
		assert_int_equal(enable_fprobe(&fp), 0);
		fake_call(KFREE, PARENT);
		fake_enter(KFREE, CALLER(1)); /* is open when the probe goes off */
		assert_int_equal(disable_fprobe(&fp), 0);
		assert_int_equal(disable_fprobe(&fp), 0);
		assert_int_equal(enable_fprobe(&fp), 0);
		assert_int_equal(fake_leave(0), CALLER(1));
		assert_int_equal(seen.exits, i + 1);
		assert_int_equal(disable_fprobe(&fp), 0);
	}
	assert_int_equal(fp.nmissed, 0);
	assert_int_equal(unregister_fprobe(&fp), 0);
	nothing_left();
}

/* Open calls of one that goes are not those of another that gets its place. */
static void goes_while_inside(void **state)
{
	struct fprobe first = { .exit_handler = on_exit_of };
	struct fprobe second = { .exit_handler = on_exit_of };
	struct fprobe stays = { .exit_handler = on_exit_of };

	(void)state;
	fake_run(FIRST_PID);
	for (int with_other = 0; with_other < 2; with_other++) {
		seen.exits = 0;
		if (with_other)
			assert_int_equal(register_fprobe(&stays, "yield", NULL), 0);
		assert_int_equal(register_fprobe(&first, "kfree", NULL), 0);
		fake_enter(KFREE, CALLER(1));
		fake_enter(KFREE, CALLER(2));
		assert_int_equal(unregister_fprobe(&first), 0);
		assert_int_equal(register_fprobe(&second, "kfree", NULL), 0);
		assert_int_equal(fake_leave(0), CALLER(2));
		assert_int_equal(fake_leave(0), CALLER(1));
		assert_int_equal(seen.exits, 0);
		fake_call(KFREE, PARENT);
		assert_int_equal(seen.exits, 1);
		assert_int_equal(unregister_fprobe(&second), 0);
		if (with_other)
			assert_int_equal(unregister_fprobe(&stays), 0);
	}
	nothing_left();
}

/* A thread was between the site and the entry when the probe went: the call has no probe. */
static void goes_on_the_way(void **state)
{
	struct fprobe first = { .exit_handler = on_exit_of };
	struct fprobe stays = { .exit_handler = on_exit_of };
	struct ftrace_regs regs = { .parent = CALLER(1) };

	(void)state;
	memset(&seen, 0, sizeof(seen));
	seen.calls = NR_FUNCS;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&first, "kfree", NULL), 0);
	assert_int_equal(register_fprobe(&stays, "yield", NULL), 0);
	assert_int_equal(disable_fprobe(&first), 0);
	regs.slot = fake_enter(KFREE, CALLER(1)); /* the site calls no more */
	assert_int_equal(*regs.slot, CALLER(1));
	first.ops.func(fake_func(KFREE), CALLER(1), &first.ops, &regs);
	assert_int_equal(fake_leave(0), CALLER(1));
	assert_int_equal(seen.exits, 0);
	assert_int_equal(unregister_fprobe(&first), 0);
	assert_int_equal(unregister_fprobe(&stays), 0);
	nothing_left();
}

/* A thread ends in the function: memory for data is free again. */
static void thread_ends_inside(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of, .entry_data_size = 40, .nr_maxactive = 1 };

	(void)state;
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_run(FIRST_PID + 2);
	fake_enter(KFREE, PARENT);
	fake_run(FIRST_PID);
	fake_call(KFREE, PARENT);
	assert_int_equal(fp.nmissed, 1);
	fake_run(FIRST_PID + 2);
	ftrace_graph_thread_exited(fake_thread_of(FIRST_PID + 2));
	fake_this->stack_used = 0;
	fake_run(FIRST_PID);
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.exits, 1);
	assert_int_equal(fp.nmissed, 1);
	ftrace_graph_thread_created(fake_thread_of(FIRST_PID + 2));
	assert_int_equal(unregister_fprobe(&fp), 0);
	nothing_left();
}

/* The same when the probe has gone meanwhile, and its memory with it. */
static void thread_ends_behind(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of, .entry_data_size = 40, .nr_maxactive = 1 };
	struct fprobe stays = { .exit_handler = on_exit_of };

	(void)state;
	assert_int_equal(register_fprobe(&stays, "yield", NULL), 0);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_run(FIRST_PID + 2);
	fake_enter(KFREE, PARENT);
	fake_run(FIRST_PID);
	assert_int_equal(unregister_fprobe(&fp), 0);
	fake_run(FIRST_PID + 2);
	ftrace_graph_thread_exited(fake_thread_of(FIRST_PID + 2));
	fake_this->stack_used = 0;
	fake_run(FIRST_PID);
	ftrace_graph_thread_created(fake_thread_of(FIRST_PID + 2));
	assert_int_equal(unregister_fprobe(&stays), 0);
	nothing_left();
}

/* ---- Waits ---- */

static uint32_t nr_looks, nr_syncs_between;
static const struct return_probe *going;

/* The thread that is on its way into the handler has left when stacks are looked at once more. */
static void leave_late(void)
{
	if (++nr_looks == 8)
		fake_thread_stack(FIRST_PID + 1, NULL, 0);
}

/* Its handle is still there, for entries that have found it. */
static void note_sync(void)
{
	nr_syncs_between += atomic_load(&going->handle) != 0;
}

/* Whoever is on the way into the handler is waited for. */
static void waits_when_it_goes(void **state)
{
	struct fprobe fp = { .entry_handler = on_entry };
	uintptr_t inside;

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	inside = fp.ops.trampoline.addr + 1;
	fake_thread_stack(FIRST_PID + 1, &inside, 1);
	nr_looks = 0;
	fake_on_each_stack = leave_late;
	assert_int_equal(unregister_fprobe(&fp), 0);
	fake_on_each_stack = NULL;
	assert_true(nr_looks >= 8);
	nothing_left();
}

/* One that cannot be switched on after all was found by entries of its site meanwhile. */
static void waits_when_it_fails(void **state)
{
	struct kretprobe first = { .kp = { .addr = fake_func(KFREE) }, .handler = on_return };
	struct kretprobe second = { .kp = { .addr = fake_func(YIELD),
					    .flags = KRETPROBE_FLAG_DISABLED },
				    .handler = on_return };
	int err;

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_kretprobe(&first), 0);
	assert_int_equal(register_kretprobe(&second), 0);
	going = &second.ret;
	nr_syncs_between = 0;
	for (long budget = 0;; budget++) {
		fake_on_sync = note_sync;
		fake_alloc_budget = budget;
		fake_alloc_fails_once = true;
		err = enable_kretprobe(&second);
		fake_alloc_budget = -1;
		fake_on_sync = NULL;
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(atomic_load(&second.ret.handle), 0);
		assert_int_not_equal(nr_syncs_between, 0);
	}
	assert_int_not_equal(nr_syncs_between, 0);
	unregister_kretprobe(&second);
	unregister_kretprobe(&first);
	nothing_left();
}

/* ---- Memory ---- */

/* Each allocation fails once: nothing is registered, nothing lost. */
static void no_memory(void **state)
{
	const char *const syms[] = { "yield", "kfree" };
	long budget = 0;
	int err;

	(void)state;
	do {
		struct fprobe fp = { .exit_handler = on_exit_of, .entry_data_size = 100 };

		fake_alloc_budget = budget++;
		fake_alloc_fails_once = true;
		err = register_fprobe_syms(&fp, syms, 2);
		fake_alloc_budget = -1;
		assert_true(!err || err == -ENOMEM);
		assert_int_equal(fp.is_registered, !err);
		if (!err)
			assert_int_equal(unregister_fprobe(&fp), 0);
		nothing_left();
	} while (err);
	assert_true(budget > 5);
}

/* Together with a user of the graph, before and behind it. */
static bool graph_entry(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	++*(uint64_t *)gops->private;
	return ent->func != 0;
}

static void graph_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	--*(uint64_t *)gops->private;
	assert_int_not_equal(ret->func, 0);
}

static void together_with_graph(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int first = 0; first < 2; first++) {
		uint64_t open = 0;
		struct fgraph_ops gops = { .entryfunc = graph_entry,
					   .retfunc = graph_return,
					   .private = &open };
		struct fprobe fp = { .entry_handler = on_entry,
				     .exit_handler = on_exit_of,
				     .entry_data_size = 24 };

		if (first)
			assert_int_equal(register_ftrace_graph(&gops), 0);
		assert_int_equal(register_fprobe(&fp, "*", NULL), 0);
		if (!first)
			assert_int_equal(register_ftrace_graph(&gops), 0);
		fake_run(FIRST_PID);
		call_tree(2, &seed);
		assert_int_equal(open, 0);
		assert_int_equal(seen.entries, seen.exits);
		fake_enter(KFREE, PARENT); /* is open when one of them goes */
		assert_int_equal(open, 1);
		assert_int_equal(unregister_ftrace_graph(&gops), 0);
		assert_int_equal(fake_leave(0), PARENT);
		assert_int_equal(seen.entries, seen.exits);
		ftrace_free_filter(&gops.ops);
		assert_int_equal(unregister_fprobe(&fp), 0);
		nothing_left();
	}
	assert_true(seen.entries > 80);
}

static void stopped_graph(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of };
	struct kretprobe rp = { .kp = { .symbol_name = "kfree" }, .handler = on_return };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	assert_int_equal(register_kretprobe(&rp), 0);
	ftrace_graph_stop();
	assert_int_equal(*fake_enter(KFREE, PARENT), PARENT);
	fake_leave(0);
	assert_int_equal(fp.nmissed, 1);
	assert_int_equal(rp.nmissed, 1);
	assert_int_equal(unregister_fprobe(&fp), 0);
	unregister_kretprobe(&rp);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), -ENODEV);
	assert_int_equal(register_kretprobe(&rp), -ENODEV);
	nothing_left();
}

/* ---- kretprobe ---- */

static void returns(void **state)
{
	struct kretprobe rp = { .kp = { .symbol_name = "kfree" }, .handler = on_return };

	(void)state;
	fake_run(FIRST_PID);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(register_kretprobe(&rp), 0);
		assert_int_equal(register_kretprobe(&rp), -EBUSY);
		assert_int_equal(rp.kp.addr, fake_func(KFREE));
		fake_enter(KFREE, CALLER(4));
		assert_int_equal(fake_leave(9), CALLER(4));
		assert_int_equal(seen.value, 9);
		assert_int_equal(seen.ret, CALLER(4));
		fake_call(YIELD, PARENT);
		assert_int_equal(seen.exits, i + 1);
		unregister_kretprobe(&rp);
		unregister_kretprobe(&rp);
		fake_call(KFREE, PARENT);
		assert_int_equal(seen.exits, i + 1);
	}
	seen.change_to = 3;
	assert_int_equal(register_kretprobe(&rp), 0);
	fake_call(KFREE, PARENT);
	assert_int_equal(fake_this->last_returned, 3);
	unregister_kretprobe(&rp);
	assert_int_equal(rp.nmissed, 0);
	nothing_left();
}

/* The first return is interrupted in its handler, by a call that returns as well. */
static int on_return_interrupted(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	on_return(ri, regs);
	if (seen.exits != 1)
		return 0;
	atomic_fetch_add(&fake_this->preempt_count, 1u << 16); /* a hard interrupt */
	fake_enter(KFREE, CALLER(5));
	assert_int_equal(fake_leave(0), CALLER(5));
	atomic_fetch_sub(&fake_this->preempt_count, 1u << 16);
	return 0;
}

/* Handlers of an interrupt are others than those that it interrupts: none is missed. */
static void returns_in_interrupts(void **state)
{
	(void)state;
	fake_run(FIRST_PID);
	for (int has_entry = 0; has_entry < 2; has_entry++) {
		struct kretprobe rp = { .kp = { .addr = fake_func(KFREE) },
					.handler = on_return_interrupted,
					.entry_handler = has_entry ? on_call : NULL };

		memset(&seen, 0, sizeof(seen));
		seen.calls = NR_FUNCS;
		assert_int_equal(register_kretprobe(&rp), 0);
		fake_enter(KFREE, CALLER(4));
		assert_int_equal(fake_leave(0), CALLER(4));
		assert_int_equal(seen.exits, 2);
		assert_int_equal(rp.nmissed, 0);
		unregister_kretprobe(&rp);
		nothing_left();
	}
}

static void entries_and_data(void **state)
{
	static const size_t sizes[] = { 0, 24, 25, 1000 };

	(void)state;
	fake_run(FIRST_PID);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct kretprobe rp = { .kp = { .addr = fake_func(KFREE) },
					.handler = on_return,
					.entry_handler = on_call,
					.data_size = sizes[i],
					.maxactive = 3 };

		memset(&seen, 0, sizeof(seen));
		seen.calls = NR_FUNCS;
		seen.declines = 3;
		assert_int_equal(register_kretprobe(&rp), 0);
		for (int n = 0; n < 8; n++)
			fake_enter(KFREE, CALLER(n));
		for (int n = 7; n >= 0; n--)
			assert_int_equal(fake_leave(0), CALLER(n));
		if (sizes[i] <= 24) {
			assert_int_equal(seen.entries, 8);
			assert_int_equal(seen.exits, 6);
			assert_int_equal(rp.nmissed, 0);
		} else { /* the third gives its memory back, the fifth and so on find none */
			assert_int_equal(seen.entries, 4);
			assert_int_equal(seen.exits, 3);
			assert_int_equal(rp.nmissed, 4);
		}
		unregister_kretprobe(&rp);
		nothing_left();
	}
}

/* All of the list of those at returns, which ends for good. */
static const char *list(void)
{
	static char text[500];
	uint64_t cursor = 0;
	size_t len = 0, nr;

	while ((nr = kretprobes_list_next(&cursor, text + len, sizeof(text) - len)))
		len += nr;
	assert_int_equal(kretprobes_list_next(&cursor, text + len, sizeof(text) - len), 0);
	text[len] = '\0';
	return text;
}

/* By address, armed or not, while they come and go; as Linux prints them. */
static void listed(void **state)
{
	struct kretprobe rp[4];
	struct kretprobe *all[4];

	(void)state;
	assert_string_equal(list(), "");
	for (int i = 0; i < 4; i++) {
		rp[i] = (struct kretprobe){ .kp = { .addr = fake_func(i % 2 ? YIELD : KFREE) },
					    .handler = on_return };
		all[i] = &rp[i];
	}
	rp[2].kp.flags = KRETPROBE_FLAG_DISABLED;
	assert_int_equal(register_kretprobes(all, 4), 0);
	assert_string_equal(list(), "ffffffff81000010  r  yield+0x0    [FTRACE]\n"
				    "ffffffff81000010  r  yield+0x0    [FTRACE]\n"
				    "ffffffff81000030  r  kfree+0x0    [FTRACE]\n"
				    "ffffffff81000030  r  kfree+0x0    [DISABLED][FTRACE]\n");
	unregister_kretprobes(all + 1, 2);
	assert_string_equal(list(), "ffffffff81000010  r  yield+0x0    [FTRACE]\n"
				    "ffffffff81000030  r  kfree+0x0    [FTRACE]\n");
	unregister_kretprobe(&rp[3]);
	assert_int_equal(register_kretprobe(&rp[2]), 0);
	assert_string_equal(list(), "ffffffff81000030  r  kfree+0x0    [FTRACE]\n"
				    "ffffffff81000030  r  kfree+0x0    [DISABLED][FTRACE]\n");
	unregister_kretprobe(&rp[0]);
	unregister_kretprobe(&rp[2]);
	assert_string_equal(list(), "");
}

/* Several at a function come in order of registration, and their returns the other way round. */
static void several_at_one(void **state)
{
	struct kretprobe rp[4];

	(void)state;
	fake_run(FIRST_PID);
	for (int i = 0; i < 4; i++) {
		rp[i] = (struct kretprobe){ .kp = { .addr = fake_func(KFREE) },
					    .handler = on_return };
		assert_int_equal(register_kretprobe(&rp[i]), 0);
	}
	fake_enter(KFREE, PARENT);
	assert_int_equal(fake_leave(1), PARENT);
	assert_int_equal(seen.nr_order, 4);
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(seen.order[i], &rp[3 - i]);
	unregister_kretprobe(&rp[0]);
	unregister_kretprobe(&rp[2]);
	seen.nr_order = 0;
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.nr_order, 2);
	assert_ptr_equal(seen.order[0], &rp[3]);
	assert_ptr_equal(seen.order[1], &rp[1]);
	unregister_kretprobe(&rp[3]);
	seen.nr_order = 0;
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.nr_order, 1);
	unregister_kretprobe(&rp[1]);
	nothing_left();
}

static void wrong_places(void **state)
{
	struct kretprobe none = { .handler = on_return };
	struct kretprobe two = { .kp = { .addr = fake_func(KFREE), .symbol_name = "kfree" },
				 .handler = on_return };
	struct kretprobe offset = { .kp = { .symbol_name = "kfree", .offset = 4 },
				    .handler = on_return };
	struct kretprobe inside = { .kp = { .addr = fake_func(KFREE) + 2 }, .handler = on_return };
	struct kretprobe unknown = { .kp = { .symbol_name = "kfre" }, .handler = on_return };
	struct kretprobe silent = { .kp = { .symbol_name = "kfree" } };
	struct kretprobe large = { .kp = { .symbol_name = "kfree" },
				   .handler = on_return,
				   .data_size = FPROBE_MAX_DATA_SIZE + 1 };
	struct kretprobe good = { .kp = { .symbol_name = "yield" }, .handler = on_return };
	struct kretprobe *batch[] = { &good, &unknown };

	(void)state;
	assert_int_equal(register_kretprobe(&none), -EINVAL);
	assert_int_equal(register_kretprobe(&two), -EINVAL);
	assert_int_equal(register_kretprobe(&offset), -EINVAL);
	assert_int_equal(register_kretprobe(&inside), -EINVAL);
	assert_int_equal(register_kretprobe(&unknown), -ENOENT);
	assert_int_equal(register_kretprobe(&silent), -EINVAL);
	assert_int_equal(register_kretprobe(&large), -EINVAL);
	assert_int_equal(register_kretprobes(batch, 2), -ENOENT); /* none of them */
	assert_false(good.is_registered);
	assert_int_equal(enable_kretprobe(&good), -EINVAL);
	assert_int_equal(disable_kretprobe(&good), -EINVAL);
	nothing_left();
}

/* ---- Many ---- */

#define MANY 1000u

static struct kretprobe many[MANY], *all[MANY];

static void set_up_many(void)
{
	for (uint32_t i = 0; i < MANY; i++) {
		many[i] =
			(struct kretprobe){ .kp = { .addr = fake_func(i) }, .handler = on_return };
		all[i] = &many[i];
	}
}

static uint64_t call_many(void)
{
	uint64_t before = seen.exits;

	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t now = seen.exits;

		fake_call(i, PARENT);
		assert_true(seen.exits == now || seen.ip == fake_func(i));
	}
	return seen.exits - before;
}

/* Any number is one batch of changes of text. */
static void many_at_once(void **state)
{
	uint64_t batches;

	(void)state;
	set_up_many();
	fake_run(FIRST_PID);
	batches = fake_nr_batches;
	assert_int_equal(register_kretprobes(all, MANY), 0);
	assert_int_equal(fake_nr_batches - batches, 1);
	assert_int_equal(call_many(), MANY);
	assert_int_equal(disable_kretprobes(all, MANY / 2), 0);
	assert_int_equal(fake_nr_batches - batches, 2);
	assert_int_equal(call_many(), MANY / 2);
	assert_int_equal(enable_kretprobes(all, MANY), 0);
	assert_int_equal(fake_nr_batches - batches, 3);
	assert_int_equal(call_many(), MANY);
	unregister_kretprobes(all + 1, MANY - 1);
	assert_int_equal(fake_nr_batches - batches, 4);
	assert_int_equal(call_many(), 1);
	unregister_kretprobes(all, MANY);
	assert_int_equal(fake_nr_batches - batches, 5);
	assert_int_equal(call_many(), 0);
	nothing_left();
}

/* One after the other, in another order than they go. */
static void many_one_by_one(void **state)
{
	(void)state;
	set_up_many();
	fake_run(FIRST_PID);
	for (uint32_t i = 0; i < MANY / 4; i++)
		assert_int_equal(register_kretprobe(all[i]), 0);
	assert_int_equal(call_many(), MANY / 4);
	for (uint32_t i = 0; i < MANY / 4; i++)
		unregister_kretprobe(all[i * 7 % (MANY / 4)]);
	nothing_left();
}

/* A failure leaves those that were on, on; going needs no memory. */
static void many_without_memory(void **state)
{
	long budget = 0;
	int err;

	(void)state;
	set_up_many();
	fake_run(FIRST_PID);
	for (uint32_t i = 0;; i++) {
		fake_alloc_budget = i;
		fake_alloc_fails_once = true;
		err = register_kretprobes(all, MANY);
		fake_alloc_budget = -1;
		if (!err)
			break;
		nothing_left();
	}
	unregister_kretprobes(all, MANY);
	nothing_left();
	assert_int_equal(register_kretprobes(all, 10), 0);
	for (uint32_t i = 10; i < MANY; i++)
		many[i].kp.flags = KRETPROBE_FLAG_DISABLED;
	assert_int_equal(register_kretprobes(all + 10, MANY - 10), 0);
	do {
		fake_alloc_budget = budget++;
		fake_alloc_fails_once = true;
		err = enable_kretprobes(all, MANY);
		fake_alloc_budget = -1;
		assert_true(!err || err == -ENOMEM);
		assert_int_equal(call_many(), err ? 10 : MANY);
	} while (err);
	assert_true(budget > 2);
	fake_alloc_budget = 0;
	fake_alloc_fails_once = false;
	unregister_kretprobes(all + 1, MANY - 1);
	assert_int_equal(call_many(), 1);
	fake_alloc_budget = -1;
	unregister_kretprobes(all, 1);
	nothing_left();
}

/* Damaged text is not changed. What cannot be switched on leaves no handle of the probe, which may be freed. */
static void site_is_damaged(void)
{
	struct fprobe fp = { .exit_handler = on_exit_of, .flags = FPROBE_FL_DISABLED };

	EXPECT(register_fprobe(&fp, "kfree", NULL) == 0);
	fake_text_at(fake_func(KFREE))[2] ^= 0xff;
	EXPECT(enable_fprobe(&fp) < 0);
	EXPECT(atomic_load(&fp.ret.handle) == 0);
	EXPECT(unregister_fprobe(&fp) == 0);
}

static void damaged_site(void **state)
{
	(void)state;
	in_child(site_is_damaged);
}

static int setup(void **state)
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

static int reset(void **state)
{
	memset(&seen, 0, sizeof(seen));
	seen.calls = NR_FUNCS;
	fake_run(-1);
	return tracefs_reset(state);
}

static int check(void **state)
{
	fake_run(-1);
	assert_int_equal(fake_this->stack_used, 0);
	return tracefs_check(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(entry_only),
		TEST(all_registers),
		TEST(entry_and_exit),
		TEST(exit_only),
		TEST(declined),
		TEST(recursion_is_counted),
		TEST(missed_exit_is_counted),
		TEST(no_room_is_counted),
		TEST(interrupts_have_handlers),
		TEST(by_addresses_and_names),
		TEST(on_and_off),
		TEST(goes_while_inside),
		TEST(goes_on_the_way),
		TEST(thread_ends_inside),
		TEST(thread_ends_behind),
		TEST(waits_when_it_goes),
		TEST(waits_when_it_fails),
		TEST(no_memory),
		TEST(together_with_graph),
		TEST(returns),
		TEST(returns_in_interrupts),
		TEST(entries_and_data),
		TEST(several_at_one),
		TEST(listed),
		TEST(wrong_places),
		TEST(many_at_once),
		TEST(many_one_by_one),
		TEST(many_without_memory),
		TEST(damaged_site),
		TEST(stopped_graph), /* last */
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

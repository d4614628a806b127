/*
 * Ops that do more than look: registers, changed return addresses, direct calls, jumps, the master
 * switch. What each call goes through and where it goes on, alone and beside other ops.
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <stdlib.h>
#include <trace/ftrace_files.h>

#define NR_FUNCS 40u
#include "many_funcs.h"
#include "ops/ftrace_grace.h"

#define SITE	 3u /* of most tests */
#define NEW_FUNC fake_func(30)
#define DIRECT	 (fake_func(31) + 8)
#define DIRECT2	 (fake_func(32) + 8)

static uint64_t nr_calls[4]; /* by the number in `private` */
static uint64_t nr_full;     /* of them, with all registers */

static void count(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	assert_int_equal(parent_ip, PARENT);
	assert_int_equal(ftrace_regs_get_argument(fregs, 2), 102);
	/* One that came before may have changed it. */
	if (ftrace_regs_get_instruction_pointer(fregs) != NEW_FUNC)
		assert_int_equal(fregs->rip, ip + TRACE_INSN_SIZE);
	assert_int_equal(*ftrace_regs_return_slot(fregs), PARENT);
	assert_true(!(ops->flags & FTRACE_OPS_FL_SAVE_REGS) || fregs->is_full);
	assert_ptr_equal(ftrace_get_regs(fregs, ops),
			 ops->flags & FTRACE_OPS_FL_SAVE_REGS ? fregs : NULL);
	nr_full += fregs->is_full;
	nr_calls[(uintptr_t)ops->private]++;
}

static void redirect(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	count(ip, parent_ip, ops, fregs);
	ftrace_regs_set_instruction_pointer(fregs, NEW_FUNC);
}

static struct ftrace_ops plain = { .func = count, .private = (void *)0 };
static struct ftrace_ops regs = { .func = count, .private = (void *)1 };
static struct ftrace_ops modify = { .func = redirect, .private = (void *)2 };
static struct ftrace_ops direct;
static struct ftrace_ops *const all[] = { &plain, &regs, &modify, &direct };

static void filter(struct ftrace_ops *ops, uint32_t func)
{
	assert_int_equal(ftrace_set_filter_ip(ops, fake_func(func), false, true), 0);
}

static int setup(void **state)
{
	(void)state;
	funcs_begin();
	plain.flags = 0;
	regs.flags = FTRACE_OPS_FL_SAVE_REGS;
	modify.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY;
	direct.flags = 0;
	for (uint32_t i = 0; i < 4; i++)
		filter(all[i], SITE);
	memset(nr_calls, 0, sizeof(nr_calls));
	nr_full = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_on_batch = NULL;
	fake_on_sync = NULL;
	for (uint32_t i = 0; i < 4; i++) {
		if (!(all[i]->flags & FTRACE_OPS_FL_ENABLED))
			;
		else if (all[i]->flags & FTRACE_OPS_FL_DIRECT)
			unregister_ftrace_direct(all[i], all[i]->direct_call, false);
		else
			unregister_ftrace_function(all[i]);
		ftrace_free_filter(all[i]);
	}
	funcs_end();
	assert_null(ftrace_ops_list);
	for (uint32_t i = 0; i < NR_FUNCS; i++)
		assert_int_equal(ftrace_record_find(fake_func(i))->flags & ~(uint32_t)FTRACE_PAST,
				 0);
	return 0;
}

static struct ftrace_regs last; /* as the last call left them */

static uintptr_t call_via(uint32_t func, enum fake_via expected)
{
	enum fake_via via;
	uintptr_t to;

	last = (struct ftrace_regs){ .parent = PARENT };
	for (uint32_t i = 0; i < FAKE_NR_ARGS; i++)
		last.arg[i] = 100 + i;
	last.saved[1] = 77;
	to = fake_call_regs(func, &last, &via);
	assert_int_equal(via, expected);
	return to;
}

static uintptr_t behind(uint32_t func)
{
	return fake_func(func) + TRACE_INSN_SIZE;
}

static void check_enabled(const char *expected)
{
	char line[FTRACE_LINE_LEN], text[4 * FTRACE_LINE_LEN] = "";
	struct ftrace_iter iter;

	ftrace_iter_start(&iter, FTRACE_LIST_ENABLED, NULL);
	while (ftrace_iter_next(&iter, line))
		strcat(text, line);
	if (!strstr(text, expected))
		print_error("%s\n", text);
	assert_non_null(strstr(text, expected));
}

static void change_regs(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	count(ip, parent_ip, ops, fregs);
	assert_int_equal(fregs->saved[1], 77);
	fregs->saved[1] = 78;
	fregs->arg[0] = 5;
	ftrace_regs_set_return_value(fregs, 9);
}

static void test_registers_are_read_and_written(void **state)
{
	(void)state;
	regs.func = change_regs;
	assert_int_equal(register_ftrace_function(&regs), 0);
	check_enabled("func_3 (1) R       \ttramp: 0x");
	for (uint32_t round = 0; round < 2; round++) { /* its own trampoline; the shared one */
		assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), behind(SITE));
		assert_int_equal(last.saved[1], 78);
		assert_int_equal(last.arg[0], 5);
		assert_int_equal(ftrace_regs_get_return_value(&last), 9);
		if (round == 0)
			assert_int_equal(register_ftrace_function(&plain), 0);
	}
	check_enabled("func_3 (2) R        ->");
	assert_int_equal(nr_calls[0], 1);
	assert_int_equal(nr_calls[1], 2);
	regs.func = count;
}

/* The site loses registers when no ops wants them any more, and only then. */
static void test_sites_switch_live_between_plain_and_registers(void **state)
{
	(void)state;
	assert_int_equal(register_ftrace_function(&plain), 0);
	call_via(SITE, FAKE_VIA_TRAMPOLINE);
	assert_int_equal(nr_full, 0);
	assert_int_equal(register_ftrace_function(&regs), 0);
	call_via(SITE, FAKE_VIA_TRAMPOLINE);
	assert_int_equal(nr_full, 2);
	assert_int_equal(register_ftrace_function(&modify), 0);
	assert_int_equal(unregister_ftrace_function(&regs), 0);
	call_via(SITE, FAKE_VIA_TRAMPOLINE);
	assert_int_equal(nr_full, 4); /* for `modify` */
	assert_int_equal(unregister_ftrace_function(&modify), 0);
	call_via(SITE, FAKE_VIA_TRAMPOLINE);
	assert_int_equal(nr_full, 4);
	assert_int_equal(nr_calls[0], 4);
	check_enabled("func_3 (1)       M \ttramp: 0x");
}

static void test_if_supported_is_supported(void **state)
{
	(void)state;
	plain.flags = FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED;
	assert_int_equal(register_ftrace_function(&plain), 0);
	assert_true(plain.flags & FTRACE_OPS_FL_SAVE_REGS);
	call_via(SITE, FAKE_VIA_TRAMPOLINE);
	assert_int_equal(nr_full, 1);
}

/* While it is in the list, and a site still calls the trampoline without registers. */
static void call_plain_list(const struct trace_poke *pokes, size_t nr)
{
	(void)pokes;
	(void)nr;
	call_via(SITE, FAKE_VIA_TRAMPOLINE);
}

static void test_nobody_gets_half_the_registers(void **state)
{
	(void)state;
	filter(&plain, SITE);
	fake_trampoline_budget = 0; /* so that the site calls the list from the start */
	assert_int_equal(register_ftrace_function(&plain), 0);
	fake_on_batch = call_plain_list;
	assert_int_equal(register_ftrace_function(&regs), 0);
	assert_int_equal(nr_calls[0], 1);
	assert_int_equal(nr_calls[1], 0); /* count() asserts that it has them all */
	assert_int_equal(unregister_ftrace_function(&regs), 0);
}

static void test_ipmodify_sends_calls_elsewhere(void **state)
{
	(void)state;
	assert_int_equal(register_ftrace_function(&modify), 0);
	check_enabled("func_3 (1) R I   M \ttramp: 0x");
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), NEW_FUNC);
	assert_int_equal(register_ftrace_function(&plain), 0);
	check_enabled("func_3 (2) R I   M  ->");
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), NEW_FUNC);
	assert_int_equal(nr_calls[0], 1);
	assert_int_equal(nr_calls[2], 2);
	assert_int_equal(unregister_ftrace_function(&modify), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), behind(SITE));
}

static void test_ipmodify_needs(void **state)
{
	struct ftrace_ops second = { .func = redirect, .private = (void *)3 };

	(void)state;
	modify.flags = FTRACE_OPS_FL_IPMODIFY;
	assert_int_equal(register_ftrace_function(&modify), -EINVAL); /* registers */
	assert_int_equal(modify.flags & FTRACE_OPS_FL_ENABLED, 0);
	second.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS;
	assert_int_equal(register_ftrace_function(&second), -EINVAL); /* a filter */
	modify.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS;
	assert_int_equal(register_ftrace_function(&modify), 0);
	assert_int_equal(ftrace_set_filter(&modify, NULL, 0, true), -EINVAL);
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), NEW_FUNC);
	/* One per site: neither by registering nor by a filter, and then none of its sites. */
	assert_int_equal(ftrace_set_filter_ip(&second, fake_func(5), false, true), 0);
	assert_int_equal(ftrace_set_filter_ip(&second, fake_func(SITE), false, false), 0);
	assert_int_equal(register_ftrace_function(&second), -EBUSY);
	assert_int_equal(call_via(5, FAKE_VIA_NOTHING), behind(5));
	assert_int_equal(ftrace_set_filter_ip(&second, fake_func(5), false, true), 0);
	assert_int_equal(register_ftrace_function(&second), 0);
	assert_int_equal(ftrace_set_filter_ip(&second, fake_func(SITE), false, false), -EBUSY);
	assert_int_equal(ftrace_set_filter_ip(&second, fake_func(6), false, false), 0);
	assert_int_equal(call_via(6, FAKE_VIA_TRAMPOLINE), NEW_FUNC);
	assert_int_equal(nr_calls[2], 2 - 1);
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), NEW_FUNC);
	assert_int_equal(nr_calls[2], 2);
	/* The site is free again when the first has left. */
	assert_int_equal(unregister_ftrace_function(&modify), 0);
	assert_int_equal(ftrace_set_filter_ip(&second, fake_func(SITE), false, false), 0);
	assert_int_equal(unregister_ftrace_function(&second), 0);
	ftrace_free_filter(&second);
}

static uint64_t nr_new;

static void count_new(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		      struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	nr_new++;
}

static uint64_t nr_in_sync;

static void call_in_sync(void)
{
	nr_in_sync++;
	call_via(SITE, FAKE_VIA_TRAMPOLINE);
}

/* Each call sees one of the two; none the old one when it is done; the sites are left alone. */
static void change_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	uint64_t nr_pokes = fake_nr_pokes, nr_old, nr_before = nr_calls[0] + nr_new;

	nr_in_sync = 0;
	fake_on_sync = call_in_sync;
	assert_int_equal(ftrace_ops_set_func(ops, func), 0);
	fake_on_sync = NULL;
	assert_true(nr_in_sync > 0);
	assert_int_equal(nr_calls[0] + nr_new, nr_before + nr_in_sync);
	nr_old = func == count ? nr_new : nr_calls[0];
	call_via(SITE, FAKE_VIA_TRAMPOLINE);
	assert_int_equal(func == count ? nr_new : nr_calls[0], nr_old);
	assert_int_equal(nr_calls[0] + nr_new, nr_before + nr_in_sync + 1);
	assert_int_equal(fake_nr_pokes, nr_pokes);
}

/*
 * A thread that was preempted before its trampoline called: until it has gone on, nothing is over.
 */
static void change_func_under_thread(ftrace_func_t func)
{
	uintptr_t inside = plain.trampoline.addr + 3;
	uint64_t mark = ftrace_grace_mark();

	fake_thread_stack(7, &inside, 1);
	change_func(&plain, func);
	fake_interrupted = true;
	assert_int_equal(ftrace_grace_wait(mark, true), plain.trampoline.addr ? -EINTR : 0);
	fake_interrupted = false;
	fake_thread_stack(7, NULL, 0);
	assert_int_equal(ftrace_grace_wait(mark, true), 0);
}

static void test_func_changes_live(void **state)
{
	uint64_t mark;

	(void)state;
	fake_thread_add(7, "preempted");
	for (uint32_t assisted = 0; assisted < 2; assisted++) {
		plain.flags = assisted ? FTRACE_OPS_FL_RECURSION : 0;
		assert_int_equal(register_ftrace_function(&plain), 0);
		change_func_under_thread(count_new);
		mark = ftrace_grace_mark();
		assert_int_equal(ftrace_ops_set_func(&plain, count_new), 0);
		assert_int_equal(ftrace_grace_mark(), mark); /* nothing changes: no wait */
		/* Beside another: the list. */
		assert_int_equal(register_ftrace_function(&regs), 0);
		change_func(&plain, count);
		assert_int_equal(unregister_ftrace_function(&regs), 0);
		call_via(SITE, FAKE_VIA_TRAMPOLINE);
		assert_int_equal(unregister_ftrace_function(&plain), 0);
	}
	fake_trampoline_budget = 0; /* without one of its own */
	plain.flags = 0;
	assert_int_equal(ftrace_ops_set_func(&plain, count_new), 0); /* not registered */
	assert_int_equal(register_ftrace_function(&plain), 0);
	change_func_under_thread(count);
}

/* An ops that cannot do without registers is never called without, whatever its func. */
static void test_func_with_registers_changes(void **state)
{
	(void)state;
	fake_trampoline_budget = 0;
	assert_int_equal(register_ftrace_function(&plain), 0);
	assert_int_equal(ftrace_ops_set_func(&regs, redirect), 0);
	fake_on_batch = call_plain_list;
	assert_int_equal(register_ftrace_function(&regs), 0);
	fake_on_batch = NULL;
	assert_int_equal(ftrace_ops_set_func(&regs, count), 0);
	fake_on_batch = call_plain_list; /* on its way out the same */
	assert_int_equal(unregister_ftrace_function(&regs), 0);
	assert_int_equal(nr_calls[1], 0);
	assert_int_equal(nr_calls[0], 2);
}

static void test_override_returns_at_once(void **state)
{
	struct ftrace_regs fregs = { .rip = 1 };

	(void)state;
	ftrace_override_function_with_return(&fregs);
	assert_int_equal(fregs.rip, FAKE_RETURN);
}

static void test_direct_alone_and_beside_others(void **state)
{
	(void)state;
	assert_int_equal(register_ftrace_direct(&direct, DIRECT), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_DIRECT), DIRECT);
	check_enabled("func_3 (1) R   D M \ttramp: ");
	check_enabled("\n\tdirect-->func_31+0x8/0x10\n");
	assert_int_equal(register_ftrace_function(&plain), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), DIRECT);
	check_enabled("func_3 (2) R   D M  ->");
	check_enabled("\n\tdirect-->func_31+0x8/0x10\n");
	assert_int_equal(nr_calls[0], 1);
	assert_int_equal(modify_ftrace_direct(&direct, DIRECT2), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), DIRECT2);
	assert_int_equal(unregister_ftrace_function(&plain), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_DIRECT), DIRECT2);
	assert_int_equal(modify_ftrace_direct(&direct, DIRECT), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_DIRECT), DIRECT);
	assert_int_equal(register_ftrace_function(&plain), 0);
	assert_int_equal(unregister_ftrace_direct(&direct, DIRECT, true), 0);
	assert_null(direct.func);
	assert_null(direct.func_hash);
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), behind(SITE));
	check_enabled("func_3 (1)       M \ttramp: 0x");
}

static void test_direct_refusals(void **state)
{
	struct ftrace_ops second = { 0 };

	(void)state;
	assert_int_equal(register_ftrace_direct(&second, DIRECT), -EINVAL); /* no filter */
	assert_int_equal(register_ftrace_direct(&plain, DIRECT), -EINVAL);  /* has a func */
	assert_int_equal(register_ftrace_direct(&direct, 0), -EINVAL);
	direct.flags = FTRACE_OPS_FL_IPMODIFY;
	assert_int_equal(register_ftrace_direct(&direct, DIRECT), -EINVAL);
	direct.flags = 0;
	assert_int_equal(modify_ftrace_direct(&direct, DIRECT), -EINVAL); /* not registered */
	assert_int_equal(unregister_ftrace_direct(&direct, DIRECT, true), -EINVAL);
	assert_int_equal(register_ftrace_direct(&direct, DIRECT), 0);
	assert_int_equal(register_ftrace_direct(&direct, DIRECT), -EINVAL);
	assert_int_equal(register_ftrace_function(&direct), -EINVAL);
	assert_int_equal(unregister_ftrace_function(&direct), -EINVAL);
	assert_int_equal(unregister_ftrace_direct(&direct, DIRECT2, true), -EINVAL);
	assert_int_equal(modify_ftrace_direct(&direct, 0), -EINVAL);
	/* Neither a second nor a change of the return address. */
	assert_int_equal(ftrace_set_filter_ip(&second, fake_func(SITE), false, true), 0);
	assert_int_equal(register_ftrace_direct(&second, DIRECT2), -EBUSY);
	assert_null(second.func);
	assert_int_equal(second.flags & (FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_ENABLED), 0);
	assert_int_equal(register_ftrace_function(&modify), -EBUSY);
	assert_int_equal(call_via(SITE, FAKE_VIA_DIRECT), DIRECT);
	assert_int_equal(unregister_ftrace_direct(&direct, DIRECT, false), 0);
	assert_int_equal(register_ftrace_function(&modify), 0);
	assert_int_equal(register_ftrace_direct(&direct, DIRECT), -EBUSY);
	ftrace_free_filter(&second);
}

static void test_jump_while_alone(void **state)
{
	(void)state;
	assert_int_equal(ftrace_set_site_jump(&modify, NEW_FUNC), 0);
	assert_int_equal(register_ftrace_function(&modify), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_JUMP), NEW_FUNC);
	check_enabled("func_3 (1) R I   M \tjump-->func_30+0x0/0x10");
	assert_int_equal(register_ftrace_function(&plain), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), NEW_FUNC);
	assert_int_equal(nr_calls[2], 1);
	assert_int_equal(unregister_ftrace_function(&plain), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_JUMP), NEW_FUNC);
	assert_int_equal(ftrace_set_site_jump(&modify, fake_func(31)), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_JUMP), fake_func(31));
	assert_int_equal(ftrace_set_site_jump(&modify, 0), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_TRAMPOLINE), NEW_FUNC);
	assert_int_equal(nr_calls[2], 2);
	assert_int_equal(ftrace_set_site_jump(&modify, NEW_FUNC), 0);
	assert_int_equal(call_via(SITE, FAKE_VIA_JUMP), NEW_FUNC);
}

static void test_jump_refusals(void **state)
{
	(void)state;
	assert_int_equal(ftrace_set_site_jump(&regs, NEW_FUNC), -EINVAL); /* no IPMODIFY */
	assert_int_equal(ftrace_set_filter_ip(&modify, fake_func(4), false, false), 0);
	assert_int_equal(ftrace_set_site_jump(&modify, NEW_FUNC), -EINVAL); /* two functions */
	filter(&modify, SITE);
	assert_int_equal(ftrace_set_site_jump(&modify, NEW_FUNC), 0);
	assert_int_equal(ftrace_set_filter_ip(&modify, fake_func(4), false, true), -EBUSY);
	assert_int_equal(ftrace_set_site_jump(&modify, 0), 0);
	assert_int_equal(ftrace_set_filter_ip(&modify, fake_func(4), false, true), 0);
}

static void test_flags_of_one_that_goes_away(void **state)
{
	(void)state;
	plain.flags = FTRACE_OPS_FL_DELETED;
	assert_int_equal(register_ftrace_function(&plain), -EINVAL);
	assert_int_equal(ftrace_set_filter(&plain, "func_1", 6, true), -ENODEV);
	assert_int_equal(ftrace_set_filter_ip(&plain, fake_func(1), false, true), -ENODEV);
}

static uintptr_t stands_at; /* of thread 7 */
static size_t trampolines_then;

/* After a while it goes on; until then, everything has to stay. */
static void leave_after_three(void)
{
	assert_int_equal(fake_nr_trampolines, trampolines_then);
	if (fake_nr_pauses == 3)
		fake_thread_stack(7, NULL, 0);
}

static void stand_at(uintptr_t address)
{
	fake_thread_add(7, "preempted");
	stands_at = address;
	fake_thread_stack(7, &stands_at, 1);
	trampolines_then = fake_nr_trampolines;
	fake_nr_pauses = 0;
	fake_on_pause = leave_after_three;
}

/* Memory of an ops is its user's when unregistering returns: no thread is on its way to it. */
static void test_unregister_waits_for_threads(void **state)
{
	size_t trampolines = fake_nr_trampolines;

	(void)state;
	for (uint32_t dynamic = 0; dynamic < 2; dynamic++) {
		plain.flags = dynamic ? FTRACE_OPS_FL_DYNAMIC : 0;
		assert_int_equal(register_ftrace_function(&plain), 0);
		stand_at(plain.trampoline.addr + plain.trampoline.bytes - 1);
		assert_int_equal(unregister_ftrace_function(&plain), 0);
		assert_int_equal(fake_nr_pauses, 3);
		assert_int_equal(fake_nr_trampolines, trampolines);
	}
	fake_trampoline_budget = 0; /* the list alone: no thread is preempted there */
	assert_int_equal(register_ftrace_function(&plain), 0);
	stand_at(0);
	assert_int_equal(unregister_ftrace_function(&plain), 0);
	assert_int_equal(fake_nr_pauses, 0);
}

/* Waits for threads, and for sections without preemption, since the last time that it was asked. */
static void check_waits(uint64_t pauses, uint64_t preempt)
{
	static uint64_t had_preempt;

	assert_int_equal(fake_nr_pauses, pauses);
	assert_int_equal(fake_nr_sync_preempt - had_preempt, preempt);
	had_preempt = fake_nr_sync_preempt;
}

/*
 * Memory that may still be looked at is waited for, even where no trampoline is: the ops and its
 * sets by the list function, the function that a site called by threads that were preempted on their way.
 */
static void test_who_is_waited_for(void **state)
{
	(void)state;
	fake_nr_sync_preempt = 0;
	fake_symbol_add(FAKE_SHARED_REGS, 16, "ftrace_regs_caller");
	stand_at(0);
	check_waits(0, 0);
	fake_trampoline_budget = 0;
	assert_int_equal(register_ftrace_function(&plain), 0);
	check_waits(0, 0);
	filter(&plain, 5);
	check_waits(0, 1);
	assert_int_equal(unregister_ftrace_function(&plain), 0);
	check_waits(0, 1);

	assert_int_equal(register_ftrace_direct(&direct, DIRECT), 0);
	check_waits(0, 0);
	stand_at(DIRECT);
	assert_int_equal(modify_ftrace_direct(&direct, DIRECT2), 0);
	check_waits(3, 1);
	stand_at(DIRECT); /* they had left it: not asked any more */
	assert_int_equal(modify_ftrace_direct(&direct, DIRECT), 0);
	check_waits(0, 1);
	stand_at(FAKE_SHARED_REGS); /* on its way */
	assert_int_equal(unregister_ftrace_direct(&direct, DIRECT, false), 0);
	check_waits(3, 1);

	stand_at(NEW_FUNC);
	assert_int_equal(register_ftrace_function(&modify), 0);
	assert_int_equal(ftrace_set_site_jump(&modify, NEW_FUNC), 0);
	check_waits(0, 1);
	assert_int_equal(unregister_ftrace_function(&modify), 0);
	check_waits(0, 1);
}

static void test_master_switch(void **state)
{
	(void)state;
	assert_int_equal(ftrace_set_filter(&plain, NULL, 0, true), 0);
	assert_int_equal(register_ftrace_function(&plain), 0);
	assert_int_equal(register_ftrace_function(&regs), 0);
	filter(&direct, 4);
	assert_true(ftrace_is_enabled());
	assert_int_equal(ftrace_set_enabled(false), 0);
	assert_false(ftrace_is_enabled());
	assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
	assert_int_equal(ftrace_nr_enabled(), 0);
	/* Registrations and filters go on without text. */
	assert_int_equal(unregister_ftrace_function(&regs), 0);
	filter(&plain, 5);
	assert_int_equal(register_ftrace_direct(&direct, DIRECT), 0);
	assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
	call_via(5, FAKE_VIA_NOTHING);
	assert_int_equal(ftrace_set_enabled(true), 0);
	assert_int_equal(call_via(5, FAKE_VIA_TRAMPOLINE), behind(5));
	assert_int_equal(call_via(4, FAKE_VIA_DIRECT), DIRECT);
	call_via(SITE, FAKE_VIA_NOTHING);
	assert_int_equal(nr_calls[0], 1);
	assert_int_equal(ftrace_nr_enabled(), 2);
}

static void test_permanent_keeps_it_on(void **state)
{
	(void)state;
	plain.flags = FTRACE_OPS_FL_PERMANENT;
	assert_int_equal(register_ftrace_function(&plain), 0);
	assert_int_equal(ftrace_set_enabled(false), -EBUSY);
	call_via(SITE, FAKE_VIA_TRAMPOLINE);
	assert_int_equal(unregister_ftrace_function(&plain), 0);
	assert_int_equal(ftrace_set_enabled(false), 0);
	assert_int_equal(register_ftrace_function(&plain), -EBUSY);
	assert_int_equal(ftrace_set_enabled(true), 0);
}

/* Random users of a few sites; after each step every site does what its users want. */
static void check_site(uint32_t func)
{
	bool has[4], off = !ftrace_is_enabled();
	uint32_t nr = 0;
	uint64_t before[4];
	uintptr_t to = behind(func);
	enum fake_via via = FAKE_VIA_NOTHING;

	for (uint32_t i = 0; i < 4; i++) {
		has[i] = (all[i]->flags & FTRACE_OPS_FL_ENABLED) &&
			 ftrace_hashes_want(all[i]->func_hash, trace_plat_ip_pack(fake_func(func)));
		nr += has[i];
	}
	if (nr && !off) {
		via = FAKE_VIA_TRAMPOLINE;
		if (has[2])
			to = NEW_FUNC;
		if (has[3])
			to = direct.direct_call;
		if (nr == 1 && has[3])
			via = FAKE_VIA_DIRECT;
		if (nr == 1 && has[2] && modify.site_jump)
			via = FAKE_VIA_JUMP;
	}
	memcpy(before, nr_calls, sizeof(before));
	assert_int_equal(call_via(func, via), to);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(nr_calls[i] - before[i], has[i] && via == FAKE_VIA_TRAMPOLINE);
}

static void toggle(uint32_t i)
{
	struct ftrace_ops *ops = all[i];
	int err;

	if (!(ops->flags & FTRACE_OPS_FL_ENABLED)) {
		err = i == 3 ? register_ftrace_direct(ops, DIRECT) : register_ftrace_function(ops);
		assert_true(err == 0 || (err == -EBUSY && i >= 2));
	} else if (i == 3) {
		assert_int_equal(unregister_ftrace_direct(ops, ops->direct_call, false), 0);
	} else {
		assert_int_equal(unregister_ftrace_function(ops), 0);
	}
}

static void random_step(void)
{
	uint32_t i = (uint32_t)rand() % 4;
	int err;

	switch (rand() % 6) {
	case 0:
		err = ftrace_set_filter_ip(all[i], fake_func((uint32_t)rand() % 5), false,
					   rand() % 2);
		assert_true(err == 0 || (err == -EBUSY && i >= 2));
		break;
	case 1:
		err = ftrace_set_site_jump(&modify, rand() % 3 ? NEW_FUNC : 0);
		assert_true(err == 0 || err == -EINVAL);
		break;
	case 2:
		if (direct.flags & FTRACE_OPS_FL_ENABLED)
			assert_int_equal(
				modify_ftrace_direct(&direct, rand() % 2 ? DIRECT : DIRECT2), 0);
		break;
	case 3:
		if (rand() % 4 == 0)
			assert_int_equal(ftrace_set_enabled(!ftrace_is_enabled()), 0);
		break;
	default:
		toggle(i);
	}
}

static void test_random(void **state)
{
	(void)state;
	srand(11);
	for (uint32_t round = 0; round < 20000; round++) {
		if (round % 100 == 0)
			fake_trampoline_budget = rand() % 60;
		random_step();
		for (uint32_t func = 0; func < 6; func++)
			check_site(func);
	}
	assert_int_equal(ftrace_set_enabled(true), 0);
	assert_false(ftrace_is_dead());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_registers_are_read_and_written),
		TEST(test_sites_switch_live_between_plain_and_registers),
		TEST(test_if_supported_is_supported),
		TEST(test_nobody_gets_half_the_registers),
		TEST(test_ipmodify_sends_calls_elsewhere),
		TEST(test_ipmodify_needs),
		TEST(test_func_changes_live),
		TEST(test_func_with_registers_changes),
		TEST(test_override_returns_at_once),
		TEST(test_direct_alone_and_beside_others),
		TEST(test_direct_refusals),
		TEST(test_jump_while_alone),
		TEST(test_jump_refusals),
		TEST(test_flags_of_one_that_goes_away),
		TEST(test_unregister_waits_for_threads),
		TEST(test_who_is_waited_for),
		TEST(test_master_switch),
		TEST(test_permanent_keeps_it_on),
		TEST(test_random),
	};

	return cmocka_run_group_tests(tests, funcs_make, NULL);
}

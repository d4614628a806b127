/*
 * Waiting until threads have left code that goes: who is waited for, who is not, in which order
 * things are freed, who says what in the log, and what happens without memory.
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <string.h>
#include "fake/fake.h"
#include "graph/fgraph_private.h"
#include "ops/ftrace_grace.h"
#include "ops/ftrace_tramp.h"

#define CODE	 0xffffffffa0010000ul
#define CODE_LEN 0x40ul
#define NR_WAITS 40u

static struct ftrace_wait waits[NR_WAITS];
static struct ftrace_wait *done[NR_WAITS];
static size_t nr_done;
static long out_before;

static void note_done(struct ftrace_wait *wait)
{
	done[nr_done++] = wait;
}

static uintptr_t start_of(size_t i)
{
	return CODE + i * CODE_LEN;
}

static void begin(size_t i)
{
	waits[i].code[0] = (struct ftrace_code){ start_of(i), start_of(i) + CODE_LEN - 1 };
	ftrace_wait_begin(&waits[i], note_done);
}

/* Thread `pid` stands at `address`; 0: nowhere of interest. */
static void stand(int32_t pid, uintptr_t address)
{
	uintptr_t words[] = { 1, address, 2 };

	fake_thread_stack(pid, words, 3);
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_clock_step = 0;
	memset(waits, 0, sizeof(waits));
	nr_done = 0;
	out_before = fake_alloc_out;
	for (int32_t pid = 1; pid <= 3; pid++) {
		char comm[] = { 't', (char)('0' + pid), 0 };

		fake_thread_add(pid, comm);
		stand(pid, 0);
	}
	fake_run(1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int32_t pid = 1; pid <= 3; pid++) {
		if (fake_thread_of(pid))
			stand(pid, 0);
	}
	while (fake_run_later())
		;
	return fake_alloc_out != out_before;
}

static void test_nobody_inside_is_over_at_once(void **state)
{
	uint64_t mark = ftrace_grace_mark();

	(void)state;
	begin(0);
	assert_int_equal(nr_done, 0); /* the caller holds a lock */
	assert_int_equal(ftrace_grace_wait(mark, true), 0);
	assert_int_equal(nr_done, 1);
	assert_int_equal(fake_nr_looks, 1);
	assert_int_equal(fake_nr_pauses, 0);
	assert_false(fake_run_later()); /* there are no more looks */
	assert_int_equal(ftrace_grace_wait(ftrace_grace_mark(), true), 0);
	assert_int_equal(fake_nr_looks, 1); /* nothing has begun: no look */
}

/* The first and the last byte belong to it, their neighbours do not. */
static void test_bounds(void **state)
{
	const uintptr_t inside[] = { start_of(1), start_of(1) + 7, start_of(2) - 1 };
	const uintptr_t outside[] = { start_of(1) - 1, start_of(2) };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		stand(2, inside[i]);
		begin(1);
		ftrace_grace_look();
		assert_int_equal(nr_done, i);
		stand(2, 0);
		ftrace_grace_look();
		assert_int_equal(nr_done, i + 1);
	}
	for (size_t i = 0; i < 2; i++) {
		stand(2, outside[i]);
		begin(1);
		ftrace_grace_look();
		assert_int_equal(nr_done, i + 4);
	}
	assert_false(ftrace_code_has((struct ftrace_code){ 0, 0 }, 0)); /* no code at all */
}

static void test_both_pieces_of_code_count(void **state)
{
	(void)state;
	waits[0].code[1] = (struct ftrace_code){ start_of(5), start_of(6) - 1 };
	stand(2, start_of(5));
	begin(0);
	ftrace_grace_look();
	assert_int_equal(nr_done, 0);
	stand(2, start_of(0));
	ftrace_grace_look();
	assert_int_equal(nr_done, 0);
	stand(2, 0);
	ftrace_grace_look();
	assert_int_equal(nr_done, 1);
}

/* Each thread has to be seen outside once; afterwards it cannot get in, so it is not asked. */
static void test_once_is_enough(void **state)
{
	(void)state;
	stand(2, start_of(0));
	begin(0);
	ftrace_grace_look();
	stand(2, 0);
	stand(3, start_of(0)); /* what earlier calls left: it was outside before */
	ftrace_grace_look();
	assert_int_equal(nr_done, 1);
}

/* A thread that is being switched at the moment of the look is not seen: it may be inside. */
static void test_missed_thread_is_waited_for(void **state)
{
	(void)state;
	fake_thread_missed(3, true);
	begin(0);
	ftrace_grace_look();
	ftrace_grace_look();
	assert_int_equal(nr_done, 0);
	fake_thread_missed(3, false);
	stand(3, start_of(0));
	ftrace_grace_look();
	assert_int_equal(nr_done, 0);
	stand(3, 0);
	ftrace_grace_look();
	assert_int_equal(nr_done, 1);
}

static void test_threads_that_come_and_go(void **state)
{
	(void)state;
	stand(2, start_of(0));
	begin(0);
	ftrace_grace_look();
	fake_thread_add(9, "new"); /* it cannot get in */
	fake_thread_missed(9, true);
	fake_thread_exit(2); /* nor come out */
	ftrace_grace_look();
	assert_int_equal(nr_done, 1);
	fake_thread_missed(9, false);
	fake_thread_exit(9);
}

/* The return address into the code is on the shadow stack of function_graph. */
static void test_shadow_stack(void **state)
{
	struct fgraph_frame frames[3] = { { .ret = trace_plat_ip_pack(start_of(0)) },
					  { .ret = trace_plat_ip_pack(start_of(0) + 9) },
					  { .ret = trace_plat_ip_pack(start_of(0)) } };
	struct trace_thread *thread = fake_thread_of(2);

	(void)state;
	thread->graph_base = frames; /* the sentinel, one frame, and one given back */
	thread->graph_top = frames + 2;
	begin(0);
	ftrace_grace_look();
	assert_int_equal(nr_done, 0);
	thread->graph_top = frames + 1;
	ftrace_grace_look();
	assert_int_equal(nr_done, 1);
	thread->graph_base = NULL;
	thread->graph_top = NULL;
}

/* A wait of a thread that stays inside holds up no other thread, and the worker goes on looking. */
static void test_waits_are_independent(void **state)
{
	(void)state;
	stand(2, start_of(0));
	begin(0);
	ftrace_grace_look();
	for (size_t i = 1; i < 20; i++) {
		begin(i);
		ftrace_grace_look();
		assert_int_equal(nr_done, i);
		assert_ptr_equal(done[i - 1], &waits[i]);
	}
	assert_true(fake_run_later());
	assert_int_equal(nr_done, 19);
	stand(2, 0);
	assert_true(fake_run_later());
	assert_int_equal(nr_done, 20);
	assert_false(fake_run_later());
}

/* More that do not end than there are bits: the last bit is for all others, in their order. */
static void test_more_than_slots(void **state)
{
	uintptr_t inside[3] = { start_of(0), start_of(31), start_of(NR_WAITS - 1) };

	(void)state;
	fake_thread_stack(2, inside, 3);
	for (size_t i = 0; i < NR_WAITS; i++)
		begin(i);
	ftrace_grace_look();
	assert_int_equal(nr_done, 30); /* all with a bit of their own but the first */
	fake_thread_stack(2, inside, 2);
	ftrace_grace_look();
	assert_int_equal(nr_done, 30);
	stand(2, 0);
	ftrace_grace_look();
	assert_int_equal(nr_done, NR_WAITS);
	assert_ptr_equal(done[30], &waits[0]);
	for (size_t i = 31; i < NR_WAITS; i++)
		assert_ptr_equal(done[i], &waits[i]);
}

/* With no bit left, what begins waits for one. */
static void test_no_slot_left(void **state)
{
	uintptr_t inside = start_of(0);

	(void)state;
	fake_thread_stack(2, &inside, 1);
	for (size_t i = 0; i < NR_WAITS; i++) {
		begin(i);
		waits[i].code[0] = waits[0].code[0];
	}
	ftrace_grace_look();
	begin(0); /* in a slot; again */
	stand(2, 0);
	ftrace_grace_look();
	assert_int_equal(nr_done, NR_WAITS - 1);
	ftrace_grace_look();
	assert_int_equal(nr_done, NR_WAITS);
	assert_ptr_equal(done[NR_WAITS - 1], &waits[0]);
}

/*
 * A wait that begins again while it is pending needs every thread outside from then on; one call of done.
 */
static void test_begun_again(void **state)
{
	(void)state;
	stand(2, start_of(0));
	begin(0);
	begin(0); /* queued still: all the same */
	ftrace_grace_look();
	begin(0);
	stand(2, 0);
	stand(3, start_of(0)); /* the first time it was outside */
	assert_true(fake_run_later());
	assert_int_equal(nr_done, 0);
	assert_true(fake_run_later()); /* it goes on, though nothing was in a slot */
	assert_int_equal(nr_done, 0);
	stand(3, 0);
	ftrace_grace_look();
	assert_int_equal(nr_done, 1);
	assert_false(waits[0].state);
}

static void leave_at_five(void)
{
	if (fake_nr_pauses == 5)
		stand(2, 0);
}

/* A thread waits for what it has begun itself, since its mark, and for nothing else. */
static void test_who_waits_for_what(void **state)
{
	uint64_t mark;

	(void)state;
	stand(2, start_of(0));
	fake_run(3);
	begin(0); /* of another thread */
	fake_run(1);
	stand(3, start_of(1));
	begin(1); /* one that was given up */
	stand(3, 0);
	mark = ftrace_grace_mark();
	begin(2);
	assert_int_equal(ftrace_grace_wait(mark, true), 0);
	assert_int_equal(fake_nr_pauses, 0);
	assert_ptr_equal(done[0], &waits[1]); /* by the same look */
	assert_ptr_equal(done[1], &waits[2]);
	mark = ftrace_grace_mark();
	begin(3);
	waits[3].code[0] = waits[0].code[0];
	fake_on_pause = leave_at_five;
	assert_int_equal(ftrace_grace_wait(mark, true), 0);
	assert_int_equal(fake_nr_pauses, 5);
	assert_int_equal(nr_done, 4);
}

/* A wait that two threads began is waited for by both. */
static void test_begun_by_two(void **state)
{
	uint64_t mark = ftrace_grace_mark();

	(void)state;
	stand(2, start_of(0));
	begin(0);
	fake_run(3);
	begin(0);
	fake_run(1);
	fake_on_pause = leave_at_five;
	assert_int_equal(ftrace_grace_wait(mark, true), 0);
	assert_int_equal(fake_nr_pauses, 5);
	assert_int_equal(nr_done, 1);
}

/* Ctrl-C ends the wait, frees nothing, and leaves the rest to the worker. */
static void test_interrupted(void **state)
{
	uint64_t mark = ftrace_grace_mark();

	(void)state;
	stand(2, start_of(0));
	begin(0);
	fake_interrupted = true;
	assert_int_equal(ftrace_grace_wait(mark, true), -EINTR);
	assert_int_equal(nr_done, 0);
	fake_on_pause = leave_at_five; /* who may not be interrupted goes on */
	assert_int_equal(ftrace_grace_wait(mark, false), 0);
	assert_int_equal(nr_done, 1);
	begin(1);
	mark = ftrace_grace_mark() - 1;
	stand(2, start_of(1));
	assert_int_equal(ftrace_grace_wait(mark, true), -EINTR);
	stand(2, 0);
	assert_true(fake_run_later());
	assert_int_equal(nr_done, 2);
}

/* After 10 s, once, and all that matter. */
static void test_late_threads_are_named(void **state)
{
	(void)state;
	stand(2, start_of(0));
	begin(0);
	ftrace_grace_look();
	fake_clock += 9999999999ull;
	ftrace_grace_look();
	assert_string_equal(fake_log(), "");
	stand(3, start_of(0)); /* outside already */
	fake_clock += 1;
	ftrace_grace_look();
	assert_string_equal(fake_log(),
			    "ftrace: t2-2 has been inside code that is to go for 10 s\n");
	fake_clock += 20000000000ull;
	ftrace_grace_look();
	assert_string_equal(fake_log(),
			    "ftrace: t2-2 has been inside code that is to go for 10 s\n");
	stand(2, 0);
	stand(3, 0);
	ftrace_grace_look();
	assert_int_equal(nr_done, 1);
}

static void test_many_late_threads(void **state)
{
	(void)state;
	for (int32_t pid = 10; pid < 16; pid++) {
		fake_thread_add(pid, "many");
		stand(pid, start_of(0));
	}
	begin(0);
	ftrace_grace_look();
	fake_clock += 10000000000ull;
	ftrace_grace_look();
	assert_non_null(strstr(fake_log(), "many-13 has"));
	assert_null(strstr(fake_log(), "many-14 has"));
	assert_non_null(strstr(fake_log(), "ftrace: and 2 other threads\n"));
	for (int32_t pid = 10; pid < 16; pid++)
		fake_thread_exit(pid);
	ftrace_grace_look();
	assert_int_equal(nr_done, 1);
}

static struct ftrace_after afters[3];
static size_t nr_after;

static void note_after(struct ftrace_after *after)
{
	assert_ptr_equal(after, &afters[nr_after++]);
}

/* Memory that callbacks use goes after the code that leads there, and not with later code. */
static void test_after(void **state)
{
	(void)state;
	nr_after = 0;
	for (size_t i = 0; i < 3; i++)
		afters[i].fn = note_after;
	ftrace_call_after(&afters[0]); /* nothing is pending */
	assert_int_equal(nr_after, 1);
	stand(2, start_of(0));
	stand(3, start_of(1));
	begin(0);
	ftrace_call_after(&afters[1]);
	begin(1);
	ftrace_call_after(&afters[2]);
	assert_int_equal(nr_after, 1);
	stand(2, 0);
	assert_true(fake_run_later());
	assert_int_equal(nr_done, 1);
	assert_int_equal(nr_after, 2);
	stand(3, 0);
	assert_true(fake_run_later());
	assert_int_equal(nr_after, 3);
}

/* ---- Trampolines ---- */

static void callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
}

static struct ftrace_ops ops;
static struct ftrace_tramp *tramps[120];

static void create(size_t nr)
{
	const struct trace_trampoline_call call = { .ops = &ops, .func = (uintptr_t)callback };

	trace_plat_lock(&ftrace_lock);
	for (size_t i = 0; i < nr; i++)
		tramps[i] = ftrace_tramp_create(&call, 1, false);
	trace_plat_unlock(&ftrace_lock);
}

static void release(size_t first, size_t last)
{
	trace_plat_lock(&ftrace_lock);
	for (size_t i = first; i < last; i++)
		ftrace_tramp_release(tramps[i]);
	trace_plat_unlock(&ftrace_lock);
}

/* They stay while a thread is inside; their list is freed with the last. */
static void test_trampolines_go(void **state)
{
	size_t before = fake_nr_trampolines;

	(void)state;
	create(120);
	assert_int_equal(fake_nr_trampolines, before + 120);
	assert_true(fake_alloc_out - out_before <= 4);
	stand(2, tramps[60]->code.addr);
	release(60, 61);
	ftrace_grace_look();
	release(0, 60);
	release(61, 120);
	ftrace_grace_look();
	assert_int_equal(fake_nr_trampolines, before + 1);
	assert_int_equal(fake_alloc_out, out_before + 1);
	stand(2, 0);
	ftrace_grace_look();
	assert_int_equal(fake_nr_trampolines, before);
	assert_int_equal(fake_alloc_out, out_before);
}

/* A change of the function is waited for; a trampoline that goes meanwhile goes once. */
static void test_trampoline_changes_and_goes(void **state)
{
	size_t before = fake_nr_trampolines;
	uint64_t mark = ftrace_grace_mark();

	(void)state;
	create(1);
	stand(2, tramps[0]->code.addr + tramps[0]->code.bytes - 1);
	ftrace_tramp_wait(tramps[0]);
	ftrace_grace_look();
	release(0, 1);
	stand(2, 0);
	ftrace_grace_look();
	assert_int_equal(fake_nr_trampolines, before + 1); /* threads may have come in since */
	assert_int_equal(ftrace_grace_wait(mark, true), 0);
	assert_int_equal(fake_nr_trampolines, before);
}

/* No memory for what keeps it, or for itself: there is none, and nothing is lost. */
static void test_no_memory_for_trampolines(void **state)
{
	(void)state;
	fake_alloc_budget = 0;
	create(1);
	assert_null(tramps[0]);
	fake_alloc_budget = -1;
	fake_trampoline_budget = 0;
	create(1);
	assert_null(tramps[0]);
	assert_int_equal(fake_alloc_out, out_before);
	fake_trampoline_budget = -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nobody_inside_is_over_at_once),
		TEST(test_bounds),
		TEST(test_both_pieces_of_code_count),
		TEST(test_once_is_enough),
		TEST(test_missed_thread_is_waited_for),
		TEST(test_threads_that_come_and_go),
		TEST(test_shadow_stack),
		TEST(test_waits_are_independent),
		TEST(test_more_than_slots),
		TEST(test_no_slot_left),
		TEST(test_begun_again),
		TEST(test_who_waits_for_what),
		TEST(test_begun_by_two),
		TEST(test_interrupted),
		TEST(test_late_threads_are_named),
		TEST(test_many_late_threads),
		TEST(test_after),
		TEST(test_trampolines_go),
		TEST(test_trampoline_changes_and_goes),
		TEST(test_no_memory_for_trampolines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

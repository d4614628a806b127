/* Probes in programs, on a fake host with programs: registering, hits, returns, counters, mistakes, no memory. */
#include "unit.h"
#include "tracefs.h"
#include "programs.h"
#include <trace/errno.h>
#include <trace/thread.h>

#define FIRST_PID 100
#define FIRST	  0x10
#define SECOND	  0x1020
#define CALLER	  0x400555ul

struct seen {
	int hits;
	int returns;
	uintptr_t ip;
	uintptr_t func;
	uint64_t value;
};
static struct seen seen;
static struct uprobe_file *file;

static void on_hit(struct uprobe_consumer *self, struct ftrace_regs *regs)
{
	(void)self;
	seen.hits++;
	seen.ip = ftrace_regs_get_instruction_pointer(regs);
}

static void on_return(struct uprobe_consumer *self, uintptr_t func, struct ftrace_regs *regs)
{
	(void)self;
	seen.returns++;
	seen.func = func;
	seen.ip = ftrace_regs_get_instruction_pointer(regs);
	seen.value = ftrace_regs_get_return_value(regs);
}

static void thread_exit(int32_t pid)
{
	fake_run(pid);
	trace_thread_exited(pid, "prog");
	fake_thread_exit(pid);
}

static int setup(void **state)
{
	(void)state;
	fake_thread_add(FIRST_PID, "prog");
	memset(&seen, 0, sizeof(seen));
	fake_programs_start();
	assert_int_equal(uprobe_file_get(FAKE_PROGRAM_PATH, &file), 0);
	fake_run(FIRST_PID);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	uprobe_file_put(file);
	thread_exit(FIRST_PID);
	assert_int_equal(fake_file_refs, 0);
	fake_uprobes = NULL;
	return 0;
}

static void step(uint64_t offset)
{
	struct ftrace_regs regs = { 0 };

	assert_true(fake_program_step(offset, &regs));
	assert_int_equal(regs.rip, FAKE_PROGRAM_BASE + offset + 1);
}

static uint8_t byte(int program, uint64_t offset)
{
	const uint8_t *at = fake_program_byte(program, offset);

	return at ? *at : 0;
}

static void hits(void **state)
{
	struct uprobe_consumer c = { .file = file, .offset = FIRST, .handler = on_hit };

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(register_uprobe(&c), 0);
		assert_int_equal(register_uprobe(&c), -EINVAL);
		step(FIRST);
		assert_int_equal(seen.hits, 2 * i + 1);
		assert_int_equal(seen.ip, FAKE_PROGRAM_BASE + FIRST);
		step(FIRST + 1);
		step(FIRST);
		assert_int_equal(seen.hits, 2 * i + 2);
		unregister_uprobe(&c);
		unregister_uprobe(&c);
		step(FIRST);
		assert_int_equal(seen.hits, 2 * i + 2);
	}
	assert_int_equal(fake_nr_steps, 4);
}

/* A thread that hits a place again does not look for it, until mappings have changed. */
static void remembers_places(void **state)
{
	struct uprobe_consumer c = { .file = file, .offset = FIRST, .handler = on_hit };

	(void)state;
	assert_int_equal(register_uprobe(&c), 0);
	for (int i = 0; i < 3; i++)
		step(FIRST);
	assert_int_equal(fake_nr_locates, 1);
	uprobe_maps_changed();
	step(FIRST);
	assert_int_equal(fake_nr_locates, 2);
	assert_int_equal(seen.hits, 4);
	unregister_uprobe(&c);
}

/* A signal takes a thread back to a breakpoint: that is no second hit, but one with another stack is. */
static void hit_again(void **state)
{
	struct uprobe_consumer c = {
		.file = file, .offset = FIRST, .handler = on_hit, .ret_handler = on_return
	};

	(void)state;
	assert_int_equal(register_uprobe(&c), 0);
	fake_program_call(FIRST, 30, CALLER);
	uprobe_hit_again(FAKE_PROGRAM_BASE + FIRST, FAKE_PROGRAM_STACK + 30 * sizeof(uintptr_t));
	fake_program_call(FIRST, 20, CALLER);
	assert_int_equal(seen.hits, 2);
	assert_int_equal(fake_program_return(20, 0), CALLER);
	fake_program_call(FIRST, 30, 0);
	assert_int_equal(seen.hits, 2);
	assert_int_equal(fake_program_return(30, 0), CALLER);
	assert_int_equal(seen.returns, 2);
	fake_program_call(FIRST, 30, CALLER);
	assert_int_equal(seen.hits, 3);
	assert_int_equal(fake_program_return(30, 0), CALLER);
	unregister_uprobe(&c);
}

/* Programs that have the page, get it later, or are copies. */
static void every_program(void **state)
{
	struct uprobe_consumer c = { .file = file, .offset = FIRST, .handler = on_hit };

	(void)state;
	fake_program_touch(0);
	assert_int_equal(register_uprobe(&c), 0);
	assert_int_equal(byte(0, FIRST), 0xcc);
	assert_int_equal(byte(1, FIRST), 0);
	fake_program = 1;
	fake_program_touch(0);
	assert_int_equal(byte(1, FIRST), 0xcc);
	fake_program_fork(2);
	unregister_uprobe(&c);
	for (int i = 0; i < 3; i++)
		assert_int_equal(byte(i, FIRST), 0x90);
	assert_int_equal(fake_program_file[FIRST], 0x90);
}

#define NR 300

/* Several by one walk, some at the same place. */
static void many_by_one_walk(void **state)
{
	static struct uprobe_consumer c[NR + 1];
	struct uprobe_consumer *all[NR + 1];

	(void)state;
	for (unsigned int i = 0; i < NR; i++) {
		c[i] = (struct uprobe_consumer){ .file = file,
						 .offset = (NR - i) * 50,
						 .handler = on_hit };
		all[i] = &c[i];
	}
	c[NR] = (struct uprobe_consumer){ .file = file, .offset = 50, .handler = on_hit };
	all[NR] = &c[NR];
	for (unsigned int page = 0; page < FAKE_PROGRAM_PAGES; page++)
		fake_program_touch(page);
	assert_int_equal(register_uprobes(all, NR + 1), 0);
	assert_int_equal(fake_nr_edits, 1);
	for (unsigned int i = 1; i <= NR; i++)
		step(i * 50);
	assert_int_equal(seen.hits, NR + 1);
	unregister_uprobes(all, NR);
	step(50);
	assert_int_equal(seen.hits, NR + 2);
	unregister_uprobes(all, NR + 1);
	assert_int_equal(fake_nr_edits, 3);
	step(50);
	assert_int_equal(seen.hits, NR + 2);
}

/* However few they are, the host gets them by offset. */
static void few_by_one_walk(void **state)
{
	struct uprobe_consumer c[8];
	struct uprobe_consumer *all[8];

	(void)state;
	for (unsigned int nr = 2; nr <= 8; nr++) {
		seen.hits = 0;
		for (unsigned int i = 0; i < nr; i++) {
			c[i] = (struct uprobe_consumer){ .file = file,
							 .offset = (nr - i) * 50,
							 .handler = on_hit };
			all[i] = &c[i];
		}
		assert_int_equal(register_uprobes(all, nr), 0);
		for (unsigned int i = 1; i <= nr; i++)
			step(i * 50);
		assert_int_equal(seen.hits, nr);
		unregister_uprobes(all, nr);
	}
}

/* The machine and the file say no; all or none. */
static void refuses(void **state)
{
	struct uprobe_consumer good = { .file = file, .offset = FIRST, .handler = on_hit };
	struct uprobe_consumer bad = { .file = file, .offset = 8, .handler = on_hit };
	struct uprobe_consumer *both[] = { &good, &bad };
	struct uprobe_file *other;
	char why[64];

	(void)state;
	assert_int_equal(uprobe_file_get("/none", &other), -ENOENT);
	assert_int_equal(uprobe_file_get("/bin", &other), -EINVAL);
	fake_program_file[8] = 0xbb;
	assert_int_equal(uprobe_refusal(file, 8, why, sizeof(why)), -EOPNOTSUPP);
	assert_string_equal(why, "the instruction is there to trap");
	fake_program_touch(0);
	assert_int_equal(register_uprobes(both, 2), -EOPNOTSUPP);
	assert_int_equal(byte(0, FIRST), 0x90);
	fake_program_file[8] = 0xdd;
	assert_int_equal(uprobe_refusal(file, 8, why, sizeof(why)), -EILSEQ);
	assert_string_equal(why, "no instruction begins there");
	bad.offset = sizeof(fake_program_file);
	assert_int_equal(register_uprobe(&bad), -EINVAL);
	bad.offset = FIRST;
	bad.ref_ctr_offset = 3;
	assert_int_equal(register_uprobe(&bad), -EINVAL);
	bad.ref_ctr_offset = sizeof(fake_program_file);
	assert_int_equal(register_uprobe(&bad), -EINVAL);
	assert_int_equal(uprobe_refusal(file, FIRST, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	fake_uprobes = NULL;
	assert_int_equal(register_uprobe(&good), -ENODEV);
	assert_int_equal(uprobe_file_get(FAKE_PROGRAM_PATH, &other), -ENODEV);
	fake_programs_start();
	fake_file_refs = 1;
}

/* Breakpoints of a program's own, and one that went while a thread was on its way to the handler. */
static void breakpoints_of_others(void **state)
{
	struct uprobe_consumer c = { .file = file, .offset = FIRST, .handler = on_hit };
	struct ftrace_regs regs = { .rip = FAKE_PROGRAM_BASE + FIRST };

	(void)state;
	assert_int_equal(register_uprobe(&c), 0);
	fake_program_file[8] = 0xcc;
	fake_program_touch(0);
	assert_false(fake_program_step(8, &regs));
	unregister_uprobe(&c);
	regs.rip = FAKE_PROGRAM_BASE + FIRST;
	assert_true(uprobe_hit(&regs));
	assert_int_equal(regs.rip, FAKE_PROGRAM_BASE + FIRST);
	assert_int_equal(seen.hits, 0);
}

/* Without memory in the middle of the programs nothing has changed anywhere, counters least of all. */
static void no_memory_for_programs(void **state)
{
	struct uprobe_consumer c = {
		.file = file, .offset = FIRST, .ref_ctr_offset = SECOND, .handler = on_hit
	};

	(void)state;
	for (fake_program = 0; fake_program < FAKE_PROGRAMS; fake_program++) {
		fake_program_touch(0);
		fake_program_touch(1);
	}
	for (int budget = 0; budget < FAKE_PROGRAMS; budget++) {
		fake_edit_budget = budget;
		assert_int_equal(register_uprobe(&c), -ENOMEM);
		for (int i = 0; i < FAKE_PROGRAMS; i++) {
			assert_int_equal(byte(i, FIRST), 0x90);
			assert_int_equal(byte(i, SECOND), 0x90);
		}
	}
	fake_edit_budget = -1;
	assert_int_equal(register_uprobe(&c), 0);
	for (int i = 0; i < FAKE_PROGRAMS; i++)
		assert_int_equal(byte(i, SECOND), 0x91);
	unregister_uprobe(&c);
	assert_int_equal(byte(3, SECOND), 0x90);
}

/* Counters are right in pages that come and go, in copies, and with two users. */
static void counters(void **state)
{
	struct uprobe_consumer a = {
		.file = file, .offset = FIRST, .ref_ctr_offset = SECOND, .handler = on_hit
	};
	struct uprobe_consumer b = {
		.file = file, .offset = 9, .ref_ctr_offset = SECOND, .handler = on_hit
	};
	struct uprobe_consumer other = { .file = file, .offset = FIRST, .handler = on_hit };

	(void)state;
	fake_program_touch(1);
	assert_int_equal(register_uprobe(&a), 0);
	assert_int_equal(byte(0, SECOND), 0x91);
	assert_int_equal(register_uprobe(&b), 0);
	assert_int_equal(byte(0, SECOND), 0x92);
	assert_int_equal(register_uprobe(&other), -EINVAL);
	fake_program_drop(1);
	fake_program_touch(1);
	assert_int_equal(byte(0, SECOND), 0x92);
	fake_program_fork(1);
	unregister_uprobe(&a);
	assert_int_equal(byte(0, SECOND), 0x91);
	assert_int_equal(byte(1, SECOND), 0x91);
	unregister_uprobe(&b);
	assert_int_equal(byte(1, SECOND), 0x90);
	assert_int_equal(byte(0, SECOND), 0x90);
}

static void returns(void **state)
{
	struct uprobe_consumer c = {
		.file = file, .offset = FIRST, .handler = on_hit, .ret_handler = on_return
	};

	(void)state;
	assert_int_equal(register_uprobe(&c), 0);
	fake_program_call(FIRST, 8, CALLER);
	assert_int_equal(*fake_program_word(8), FAKE_TRAMPOLINE);
	assert_int_equal(uprobe_return_address(fake_thread_of(FIRST_PID), FAKE_TRAMPOLINE,
					       FAKE_PROGRAM_STACK + 8 * sizeof(uintptr_t)),
			 CALLER);
	assert_int_equal(fake_program_return(8, 42), CALLER);
	assert_int_equal(seen.returns, 1);
	assert_int_equal(seen.func, FAKE_PROGRAM_BASE + FIRST);
	assert_int_equal(seen.ip, CALLER);
	assert_int_equal(seen.value, 42);
	/* The probe goes while a call is on its way. */
	fake_program_call(FIRST, 8, CALLER);
	unregister_uprobe(&c);
	assert_int_equal(fake_program_return(8, 42), CALLER);
	assert_int_equal(seen.returns, 1);
}

/* Deep in recursion, out of the middle of it by a longjmp, and by tail calls. */
static void returns_out_of_order(void **state)
{
	struct uprobe_consumer a = { .file = file, .offset = FIRST, .ret_handler = on_return };
	struct uprobe_consumer b = { .file = file, .offset = SECOND, .ret_handler = on_return };

	(void)state;
	assert_int_equal(register_uprobe(&a), 0);
	assert_int_equal(register_uprobe(&b), 0);
	for (uint32_t word = 20; word > 10; word--)
		fake_program_call(FIRST, word, CALLER + word);
	for (uint32_t word = 11; word < 16; word++)
		assert_int_equal(fake_program_return(word, 0), CALLER + word);
	assert_int_equal(seen.returns, 5);
	/* longjmp() to the caller of the one with word 18, which returns. */
	assert_int_equal(fake_program_return(18, 0), CALLER + 18);
	assert_int_equal(seen.returns, 6);
	/* The function jumps to the other one. */
	fake_program_call(FIRST, 17, CALLER);
	fake_program_call(SECOND, 17, 0);
	assert_int_equal(fake_program_return(17, 0), CALLER);
	assert_int_equal(seen.returns, 8);
	assert_int_equal(seen.func, FAKE_PROGRAM_BASE + FIRST);
	assert_int_equal(fake_program_return(19, 0), CALLER + 19);
	assert_int_equal(fake_program_return(20, 0), CALLER + 20);
	assert_int_equal(seen.returns, 10);
	unregister_uprobe(&a);
	unregister_uprobe(&b);
	assert_int_equal(a.nmissed + b.nmissed, 0);
}

/* Calls that are left by longjmp() for ever fill no shadow stack. */
static void left_calls_make_room(void **state)
{
	struct uprobe_consumer c = { .file = file, .offset = FIRST, .ret_handler = on_return };

	(void)state;
	assert_int_equal(register_uprobe(&c), 0);
	for (int i = 0; i < 500; i++) {
		fake_program_call(FIRST, 30, CALLER);
		fake_program_call(FIRST, 20, CALLER + 1);
		assert_int_equal(fake_program_return(30, 0), CALLER);
		fake_program_call(FIRST, 20 + (uint32_t)i % 7, CALLER + 1);
	}
	assert_int_equal(seen.returns, 500);
	assert_int_equal(c.nmissed, 0);
	fake_no_trampoline = true;
	uprobe_thread_execed();
	fake_program_call(FIRST, 30, CALLER);
	assert_int_equal(fake_program_return(30, 0), CALLER);
	assert_int_equal(c.nmissed, 1);
	uprobe_thread_execed();
	unregister_uprobe(&c);
}

/* A child returns from what its parent has called. */
static void returns_in_a_child(void **state)
{
	struct uprobe_consumer c = { .file = file, .offset = FIRST, .ret_handler = on_return };

	(void)state;
	assert_int_equal(register_uprobe(&c), 0);
	fake_program_call(FIRST, 30, CALLER);
	fake_thread_add(FIRST_PID + 9, "child");
	assert_int_equal(uprobe_thread_forked(fake_thread_of(FIRST_PID + 9)), 0);
	fake_program_fork(1);
	fake_program = 1;
	fake_run(FIRST_PID + 9);
	assert_int_equal(fake_program_return(30, 0), CALLER);
	thread_exit(FIRST_PID + 9);
	fake_program = 0;
	fake_run(FIRST_PID);
	assert_int_equal(fake_program_return(30, 0), CALLER);
	assert_int_equal(seen.returns, 2);
	unregister_uprobe(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hits, setup, teardown),
		cmocka_unit_test_setup_teardown(remembers_places, setup, teardown),
		cmocka_unit_test_setup_teardown(hit_again, setup, teardown),
		cmocka_unit_test_setup_teardown(every_program, setup, teardown),
		cmocka_unit_test_setup_teardown(many_by_one_walk, setup, teardown),
		cmocka_unit_test_setup_teardown(few_by_one_walk, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses, setup, teardown),
		cmocka_unit_test_setup_teardown(breakpoints_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(no_memory_for_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(counters, setup, teardown),
		cmocka_unit_test_setup_teardown(returns, setup, teardown),
		cmocka_unit_test_setup_teardown(returns_out_of_order, setup, teardown),
		cmocka_unit_test_setup_teardown(left_calls_make_room, setup, teardown),
		cmocka_unit_test_setup_teardown(returns_in_a_child, setup, teardown),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}

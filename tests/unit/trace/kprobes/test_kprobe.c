/*
 * Probes at instructions, on the fake machine: who is called, what is written in how many batches,
 * what is refused, what comes back when memory runs out at any point.
 */
#include "unit.h"
#include <stdio.h>
#include <trace/kprobe_hit.h>
#include <trace/recursion.h>

#define NR_FUNCS 300u
#define MAX	 256u
#include "kprobe_help.h"
#include "kprobe_list.h"

static char order[MAX];
static uintptr_t seen_ip, seen_post_ip;

static char letter_of(const struct kprobe *p)
{
	return (char)('a' + (p - probes));
}

static void note(char letter)
{
	size_t len = strlen(order);

	order[len] = letter;
	order[len + 1] = '\0';
}

static int pre(struct kprobe *p, struct ftrace_regs *fregs)
{
	note(letter_of(p));
	seen_ip = ftrace_regs_get_instruction_pointer(fregs);
	assert_int_equal(seen_ip, p->addr);
	assert_true(trace_plat_preempt_count());
	assert_true(p->flags & KPROBE_FLAG_ARGS || fregs->is_full);
	assert_int_equal(*(uintptr_t *)kprobe_regs_stack(p, fregs), PARENT);
	return 0;
}

static void post(struct kprobe *p, struct ftrace_regs *fregs, uint64_t flags)
{
	assert_int_equal(flags, 0);
	note((char)(letter_of(p) - 'a' + 'A'));
	seen_post_ip = ftrace_regs_get_instruction_pointer(fregs);
}

static int elsewhere(struct kprobe *p, struct ftrace_regs *fregs)
{
	note(letter_of(p));
	ftrace_regs_set_instruction_pointer(fregs, fake_func(9));
	return 1;
}

/* A CPU comes to `addr`. */
static uintptr_t hit(uintptr_t addr)
{
	order[0] = '\0';
	seen_ip = 0;
	seen_post_ip = 0;
	return kprobe_come_to(addr);
}

static const char *order_at(uintptr_t addr)
{
	hit(addr);
	return order;
}

/* At a call site, and behind it. */
static uintptr_t site(size_t func)
{
	return fake_func(func);
}

static uintptr_t inside(size_t func)
{
	return fake_func(func) + TRACE_INSN_SIZE + 3;
}

static struct kprobe *probe_at(size_t i, uintptr_t addr)
{
	return kprobe_make(i, addr, pre, 0);
}

/* ---- Hits ---- */

static void one_by_one(uintptr_t addr)
{
	struct kprobe *a = probe_at(0, addr), *b = probe_at(1, addr), *c = probe_at(2, addr);

	b->post_handler = post;
	assert_int_equal(register_kprobe(a), 0);
	assert_string_equal(order_at(addr), "a");
	assert_int_equal(register_kprobe(a), -EINVAL);
	assert_int_equal(register_kprobe(b), 0);
	assert_int_equal(register_kprobe(c), 0);
	assert_string_equal(order_at(addr), "abcB");
	assert_int_equal(seen_post_ip, addr + (addr == site(3) ? TRACE_INSN_SIZE : 1));
	assert_int_equal(disable_kprobe(a), 0);
	assert_string_equal(order_at(addr), "bcB");
	assert_int_equal(disable_kprobe(a), 0);
	unregister_kprobe(b);
	assert_string_equal(order_at(addr), "c");
	assert_int_equal(disable_kprobe(c), 0);
	assert_string_equal(order_at(addr), "");
	assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
	assert_int_equal(enable_kprobe(a), 0);
	assert_string_equal(order_at(addr), "a");
	c->pre_handler = elsewhere;
	assert_int_equal(enable_kprobe(c), 0);
	b->flags = KPROBE_FLAG_DISABLED;
	assert_int_equal(register_kprobe(b), 0);
	assert_string_equal(order_at(addr), "ac");
	assert_int_equal(enable_kprobe(b), 0);
	assert_string_equal(order_at(addr), "ac"); /* those behind it are not called */
	assert_int_equal(hit(addr), fake_func(9));
	unregister_kprobes(pointers, 3);
	assert_string_equal(order_at(addr), "");
	unregister_kprobes(pointers, 3);
}

static void several(void **state)
{
	(void)state;
	one_by_one(inside(3));
	one_by_one(site(3));
}

/* One that wants arguments only is called at once when it is alone again, by the machine's own half. */
static void alone_again(void **state)
{
	struct kprobe *a = probe_at(0, inside(3)), *b = probe_at(1, inside(3));
	struct trace_plat_probe *plat;

	(void)state;
	a->flags = KPROBE_FLAG_ARGS;
	b->post_handler = post;
	assert_int_equal(register_kprobe(a), 0);
	plat = kprobe_hit_find(inside(3));
	assert_ptr_equal(plat->only, a);
	assert_int_equal(register_kprobe(b), 0);
	assert_null(plat->only);
	unregister_kprobe(b);
	assert_ptr_equal(plat->only, a);
	unregister_kprobe(a);
}

/* At a breakpoint, whose handler asks whether the instruction is to be executed. */
static void moved_at_breakpoint(void **state)
{
	struct ftrace_regs fregs = { .rip = inside(3), .is_full = true };
	struct kprobe *a = probe_at(0, inside(3)), *b = probe_at(1, inside(3));
	uintptr_t stack = PARENT;

	(void)state;
	fregs.slot = &stack;
	assert_int_equal(register_kprobe(a), 0);
	order[0] = '\0';
	assert_false(kprobe_hit_run(kprobe_hit_find(inside(3)), &fregs));
	assert_string_equal(order, "a");
	b->pre_handler = elsewhere;
	assert_int_equal(register_kprobe(b), 0);
	order[0] = '\0';
	assert_true(kprobe_hit_run(kprobe_hit_find(inside(3)), &fregs));
	assert_string_equal(order, "ab");
	assert_int_equal(fregs.rip, fake_func(9));
	unregister_kprobes(pointers, 2);
}

/* With arguments only the site calls the plain trampoline; with another one, that with all. */
static void registers(void **state)
{
	struct kprobe *a = probe_at(0, site(4)), *b = probe_at(1, site(4));

	(void)state;
	a->flags = KPROBE_FLAG_ARGS;
	assert_int_equal(register_kprobe(a), 0);
	assert_string_equal(order_at(site(4)), "a");
	assert_true(a->flags & KPROBE_FLAG_FTRACE);
	assert_int_equal(register_kprobe(b), 0);
	assert_string_equal(order_at(site(4)), "ab");
	unregister_kprobe(b);
	assert_string_equal(order_at(site(4)), "a");
	assert_true(kprobe_regs_stack(a, &(struct ftrace_regs){ 0 }));
	unregister_kprobe(a);
	assert_false(a->flags & KPROBE_FLAG_FTRACE);
}

/* ---- Hits in handlers ---- */

static uintptr_t inner;

static int come_to_inner(struct kprobe *p, struct ftrace_regs *fregs)
{
	(void)fregs;
	hit(inner);
	assert_string_equal(order, "");
	order[0] = letter_of(p);
	order[1] = '\0';
	return 0;
}

static void all_missed(uint32_t flags)
{
	uintptr_t addrs[] = { inside(5), site(5), inside(6), site(6) };

	for (size_t outer = 0; outer < 4; outer++) {
		for (size_t i = 0; i < 4; i++)
			kprobe_make(i, addrs[i], pre, flags);
		probes[outer].pre_handler = come_to_inner;
		assert_int_equal(register_kprobes(pointers, 4), 0);
		for (size_t i = 0; i < 4; i++) {
			inner = addrs[i];
			assert_int_equal(order_at(addrs[outer])[0], letter_of(&probes[outer]));
			assert_int_equal(probes[i].nmissed, 1);
			assert_int_equal(trace_plat_preempt_count(), 0);
		}
		assert_string_equal(order_at(addrs[(outer + 1) % 4])[0] ? order : "", order);
		unregister_kprobes(pointers, 4);
	}
}

/* Sites are reached by the function for all ops, and by that for probes alone. */
static void missed(void **state)
{
	(void)state;
	all_missed(0);
	all_missed(KPROBE_FLAG_ARGS);
	fake_has_site_funcs = true;
	all_missed(KPROBE_FLAG_ARGS);
}

/* ---- Many ---- */

static size_t probe_many(size_t nr, bool at_sites)
{
	for (size_t i = 0; i < nr; i++) {
		size_t func = (i * 77) % NR_FUNCS; /* in no order */

		probe_at(i, at_sites ? site(func) : inside(func));
	}
	return nr;
}

static void batches(void **state)
{
	(void)state;
	for (int at_sites = 0; at_sites < 2; at_sites++) {
		size_t nr = probe_many(200, at_sites);
		uint64_t before = fake_nr_batches;

		assert_int_equal(register_kprobes(pointers, nr), 0);
		assert_int_equal(fake_nr_batches, before + 1);
		for (size_t i = 0; i < nr; i++)
			assert_int_equal(order_at(probes[i].addr)[0], letter_of(&probes[i]));
		assert_int_equal(disable_kprobes(pointers, nr), 0);
		assert_int_equal(fake_nr_batches, before + 2);
		assert_int_equal(enable_kprobes(pointers, nr), 0);
		assert_int_equal(kprobes_set_enabled(false), 0);
		assert_int_equal(fake_nr_batches, before + 4);
		assert_false(kprobes_are_enabled());
		assert_string_equal(order_at(probes[7].addr), "");
		assert_int_equal(kprobes_set_enabled(true), 0);
		assert_int_equal(order_at(probes[7].addr)[0], 'h');
		unregister_kprobes(pointers, nr);
		assert_int_equal(fake_nr_batches, before + 6);
	}
}

/* While the switch is off none is armed, however it came. */
static void switched_off(void **state)
{
	struct kprobe *p = probe_at(0, inside(8));

	(void)state;
	assert_int_equal(kprobes_set_enabled(false), 0);
	assert_int_equal(register_kprobe(p), 0);
	assert_string_equal(order_at(p->addr), "");
	assert_int_equal(disable_kprobe(p), 0);
	assert_int_equal(enable_kprobe(p), 0);
	assert_string_equal(order_at(p->addr), "");
	assert_int_equal(kprobes_set_enabled(true), 0);
	assert_string_equal(order_at(p->addr), "a");
	unregister_kprobe(p);
}

/* ---- Failures ---- */

static void refused_at(uintptr_t addr, int err, const char *sentence)
{
	struct kprobe *p = probe_at(0, addr);
	char why[128];

	assert_int_equal(register_kprobe(p), err);
	assert_null(p->place);
	assert_int_equal(kprobe_refusal(addr, why, sizeof(why)), err);
	assert_string_equal(why, sentence);
}

static void refused(void **state)
{
	struct kprobe *p = probe_at(0, 0);
	char why[] = "x";

	(void)state;
	assert_int_equal(register_kprobe(p), -EINVAL);
	p->symbol_name = "func_300";
	assert_int_equal(register_kprobe(p), -ENOENT);
	p->symbol_name = "func_4";
	p->addr = site(4);
	assert_int_equal(register_kprobe(p), -EINVAL);
	p->addr = 0;
	p->offset = FAKE_FUNC_BYTES;
	assert_int_equal(register_kprobe(p), -EINVAL);
	p->offset = 7;
	assert_int_equal(register_kprobe(p), 0);
	assert_int_equal(p->addr, fake_func(4) + 7);
	unregister_kprobe(p);
	assert_int_equal(p->addr, 0);
	assert_int_equal(register_kprobe(p), 0);
	unregister_kprobe(p);

	refused_at(fake_func(4) + 2, -EILSEQ,
		   "func_4+0x2: it is inside the instruction at "
		   "func_4+0x0");
	fake_bad_insn = inside(4);
	refused_at(inside(4), -EINVAL, "func_4+0x8: it is bad");
	fake_refused = inside(5);
	refused_at(inside(5), -EINVAL, "func_5+0x8: the host has reasons");
	refused_at(0x1234, -EINVAL, "0x1234: there is no function");
	assert_int_equal(kprobe_refusal(inside(6), why, sizeof(why)), 0);
	assert_string_equal(why, "");

	assert_int_equal(enable_kprobe(probe_at(0, inside(4))), -EINVAL);
	assert_int_equal(disable_kprobe(&probes[0]), -EINVAL);
}

/* One of several that is refused, anywhere among them: none is registered. */
static void all_or_none(void **state)
{
	(void)state;
	for (size_t bad = 0; bad < 40; bad += 13) {
		size_t nr = probe_many(40, false);

		probes[bad].addr = fake_func(1) + 1;
		assert_int_equal(register_kprobes(pointers, nr), -EILSEQ);
		for (size_t i = 0; i < nr; i++) {
			assert_null(probes[i].place);
			assert_true(i == bad || !*order_at(probes[i].addr));
		}
		pointers[bad] = pointers[(bad + 1) % nr]; /* twice the same */
		assert_int_equal(register_kprobes(pointers, nr), -EINVAL);
		assert_null(pointers[bad]->place);
	}
}

/* Sites and others at once, of both kinds of registers. */
static size_t probe_mixed(void)
{
	for (size_t i = 0; i < 60; i++) {
		probe_at(i, i % 3 ? inside(i) : site(i));
		if (i % 2)
			probes[i].flags = KPROBE_FLAG_ARGS;
		if (i % 5 == 0)
			probes[i].post_handler = post;
	}
	return 60;
}

static void no_memory(void **state)
{
	long budget = 0;
	size_t nr;
	int err;

	(void)state;
	do {
		nr = probe_mixed();
		fake_alloc_budget = budget++;
		err = register_kprobes(pointers, nr);
		if (!err) {
			for (size_t i = 0; i < nr; i++)
				assert_int_equal(order_at(probes[i].addr)[0],
						 letter_of(&probes[i]));
			assert_int_equal(disable_kprobes(pointers, nr), 0);
		}
		fake_alloc_budget = -1;
		assert_true(!err || err == -ENOMEM);
		unregister_kprobes(pointers, nr);
		assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
		assert_int_equal(fake_nr_probes, 0);
		assert_int_equal(fake_alloc_out, out_before);
	} while (err);
	assert_true(budget > 60);
	for (budget = 0; budget < 40; budget++) {
		nr = probe_mixed();
		fake_probe_budget = budget;
		assert_int_equal(register_kprobes(pointers, nr), -ENOMEM);
		assert_int_equal(fake_nr_probes, 0);
	}
}

/* The list of what is to be written: without memory for one, several small batches. */
static void no_memory_for_lists(void **state)
{
	size_t nr = probe_many(200, false);
	uint64_t before = fake_nr_batches;

	(void)state;
	for (size_t i = 0; i < nr; i++)
		probes[i].flags = KPROBE_FLAG_DISABLED;
	assert_int_equal(register_kprobes(pointers, nr), 0);
	fake_alloc_budget = 0;
	assert_int_equal(enable_kprobes(pointers, nr), 0);
	assert_int_equal(fake_nr_batches, before + 7);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(order_at(probes[i].addr)[0], letter_of(&probes[i]));
	unregister_kprobes(pointers, nr);
	assert_int_equal(fake_nr_batches, before + 14);
	fake_alloc_budget = -1;
}

/* An unknown breakpoint at the place of one: all are as before, and tracing lives. */
static void busy(void **state)
{
	struct kprobe *p = probe_at(0, inside(20)), *q = probe_at(1, inside(21));

	(void)state;
	p->flags = KPROBE_FLAG_DISABLED;
	q->flags = KPROBE_FLAG_DISABLED;
	assert_int_equal(register_kprobes(pointers, 2), 0);
	*fake_text_at(p->addr) ^= 1;
	fake_breakpoint = p->addr;
	assert_int_equal(enable_kprobes(pointers, 2), -EBUSY);
	assert_true(p->flags & KPROBE_FLAG_DISABLED && q->flags & KPROBE_FLAG_DISABLED);
	*fake_text_at(p->addr) ^= 1;
	fake_breakpoint = 0;
	assert_string_equal(order_at(q->addr), "");
	assert_int_equal(enable_kprobes(pointers, 2), 0);
	assert_string_equal(order_at(q->addr), "b");
	unregister_kprobes(pointers, 2);
}

/* A thread inside the copy of an instruction: its memory stays until the thread has left. */
static void thread_inside(void **state)
{
	struct kprobe *p = probe_at(0, inside(30));
	uintptr_t slot = 0xffffffffb0000000ul;

	(void)state;
	assert_int_equal(register_kprobe(p), 0);
	fake_thread_add(7, "inside");
	fake_thread_stack(7, &slot, 1);
	unregister_kprobe(p);
	assert_int_equal(fake_nr_probes, 1);
	assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
	assert_int_equal(register_kprobe(p), 0); /* at the same place, with a copy of its own */
	assert_int_equal(fake_nr_probes, 2);
	unregister_kprobe(p);
	fake_thread_stack(7, &slot, 0);
	while (fake_run_later())
		;
	assert_int_equal(fake_nr_probes, 0);
	fake_thread_exit(7);
}

/* ---- Jumps ---- */

#define JUMP_BYTES 6u

static void run_worker(void)
{
	while (fake_run_later())
		;
}

static uint8_t first_byte(uintptr_t addr)
{
	return *fake_text_at(addr);
}

static bool is_jump(const struct kprobe *p)
{
	assert_int_equal(first_byte(p->addr) == 0xe9, !!(p->flags & KPROBE_FLAG_OPTIMIZED));
	return p->flags & KPROBE_FLAG_OPTIMIZED;
}

/* One, and all that has to take the jump away again. */
static void jump(void **state)
{
	uintptr_t addr = fake_func(50) + TRACE_INSN_SIZE;
	struct kprobe *p = probe_at(0, addr), *q = probe_at(1, addr), *near = probe_at(2, addr + 4);

	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	q->post_handler = post;
	assert_int_equal(register_kprobe(p), 0);
	assert_false(is_jump(p));
	assert_int_equal(hit(addr), addr + 1);
	run_worker();
	assert_true(is_jump(p));
	assert_int_equal(hit(addr), addr + JUMP_BYTES);
	assert_string_equal(order, "a");

	assert_int_equal(register_kprobe(q), 0); /* a post handler */
	assert_false(is_jump(p));
	assert_int_equal(hit(addr), addr + 1);
	assert_string_equal(order, "abB");
	run_worker();
	assert_false(is_jump(p));
	unregister_kprobe(q);
	run_worker();
	assert_true(is_jump(p));

	assert_int_equal(register_kprobe(q), 0); /* and once more */
	assert_false(is_jump(p));
	assert_string_equal(order_at(addr), "abB");
	unregister_kprobe(q);
	run_worker();
	assert_true(is_jump(p));

	assert_int_equal(register_kprobe(near), 0); /* another probe among the copied ones */
	assert_false(is_jump(p));
	assert_int_equal(hit(addr), addr + 1);
	run_worker();
	assert_false(is_jump(p));
	assert_string_equal(order_at(near->addr), "c");
	unregister_kprobe(near);
	run_worker();
	assert_true(is_jump(p));

	assert_int_equal(disable_kprobe(p), 0);
	assert_false(is_jump(p));
	assert_int_equal(first_byte(addr), 0xc3);
	run_worker();
	assert_int_equal(enable_kprobe(p), 0);
	assert_false(is_jump(p));
	run_worker();
	assert_true(is_jump(p));

	assert_int_equal(kprobes_set_optimization(false), 0);
	assert_false(is_jump(p));
	assert_string_equal(order_at(addr), "a");
	run_worker();
	assert_false(is_jump(p));
	assert_int_equal(kprobes_set_optimization(true), 0);
	run_worker();
	assert_true(is_jump(p));
	q->post_handler = NULL;
	assert_int_equal(register_kprobe(q), 0);
	assert_true(is_jump(q));
	assert_string_equal(order_at(addr), "ab");
	unregister_kprobes(pointers, 2);
	assert_int_equal(first_byte(addr), 0xc3);
	run_worker();
}

/* Probes that are not registered in the end: jumps that were in their way come back. */
static void jump_comes_back(void **state)
{
	uintptr_t addr = fake_func(50) + TRACE_INSN_SIZE;
	struct kprobe *p = probe_at(0, addr);

	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	assert_int_equal(register_kprobe(p), 0);
	run_worker();
	assert_true(is_jump(p));
	probe_at(1, addr + 4);
	probe_at(2, 1);
	assert_int_equal(register_kprobes(pointers + 1, 2), -EINVAL);
	assert_false(is_jump(p));
	assert_string_equal(order_at(addr), "a");
	run_worker();
	assert_true(is_jump(p));
	unregister_kprobe(p);
	run_worker();
}

static bool saw_all_regs;

static int pre_regs(struct kprobe *p, struct ftrace_regs *fregs)
{
	saw_all_regs = fregs->is_full;
	return pre(p, fregs);
}

/* All registers are there by a jump unless the only enabled probe wants arguments. */
static void jump_registers(void **state)
{
	uintptr_t addr = fake_func(53) + TRACE_INSN_SIZE;
	struct kprobe *p = probe_at(0, addr), *q = probe_at(1, addr);

	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	p->flags = KPROBE_FLAG_ARGS;
	p->pre_handler = pre_regs;
	assert_int_equal(register_kprobe(p), 0);
	run_worker();
	assert_true(is_jump(p));
	assert_int_equal(hit(addr), addr + JUMP_BYTES);
	assert_string_equal(order, "a");
	assert_false(saw_all_regs);

	assert_int_equal(register_kprobe(q), 0); /* the jump stays, and has more to hand out */
	assert_true(is_jump(q));
	assert_string_equal(order_at(addr), "ab");
	assert_true(saw_all_regs);
	assert_int_equal(disable_kprobe(p), 0);
	assert_string_equal(order_at(addr), "b");
	assert_int_equal(enable_kprobe(p), 0);
	assert_int_equal(disable_kprobe(q), 0);
	assert_string_equal(order_at(addr), "a");
	assert_false(saw_all_regs);
	assert_int_equal(enable_kprobe(q), 0);
	assert_string_equal(order_at(addr), "ab");
	assert_true(saw_all_regs);
	unregister_kprobe(p);
	assert_string_equal(order_at(addr), "b");
	unregister_kprobe(q);
	run_worker();
}

/* Such a probe, too, is missed in a handler: that of a call site comes to the jump. */
static void jump_missed(void **state)
{
	uintptr_t addr = fake_func(54) + TRACE_INSN_SIZE;
	struct kprobe *p = probe_at(0, addr), *outer = probe_at(1, site(55));

	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	p->flags = KPROBE_FLAG_ARGS;
	outer->pre_handler = come_to_inner;
	inner = addr;
	assert_int_equal(register_kprobes(pointers, 2), 0);
	run_worker();
	assert_true(is_jump(p));
	assert_string_equal(order_at(site(55)), "b");
	assert_int_equal(p->nmissed, 1);
	unregister_kprobes(pointers, 2);
	run_worker();
}

/* A thread where the rest of the jump will be: not before it has left; and not if all changed. */
static void jump_waits(void **state)
{
	uintptr_t addr = fake_func(51) + TRACE_INSN_SIZE, inside_jump = addr + 3;
	struct kprobe *p = probe_at(0, addr);

	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	fake_thread_add(8, "inside");
	fake_thread_stack(8, &inside_jump, 1);
	assert_int_equal(register_kprobe(p), 0);
	for (int i = 0; i < 5; i++)
		assert_true(fake_run_later());
	assert_false(is_jump(p));
	assert_int_equal(hit(addr), addr + JUMP_BYTES); /* no thread comes to the rest any more */
	/* Disarmed and armed again, threads have to be looked at anew. */
	assert_int_equal(disable_kprobe(p), 0);
	assert_int_equal(enable_kprobe(p), 0);
	assert_int_equal(hit(addr), addr + 1);
	for (int i = 0; i < 5; i++)
		assert_true(fake_run_later());
	assert_false(is_jump(p));
	fake_thread_stack(8, &inside_jump, 0);
	run_worker();
	assert_true(is_jump(p));
	/* It goes while the next wait is pending. */
	fake_thread_stack(8, &inside_jump, 1);
	assert_int_equal(kprobes_set_optimization(false), 0);
	assert_int_equal(kprobes_set_optimization(true), 0);
	assert_true(fake_run_later());
	unregister_kprobe(p);
	assert_int_equal(fake_nr_probes, 1);
	fake_thread_stack(8, &inside_jump, 0);
	run_worker();
	fake_thread_exit(8);
}

/*
 * The thread is in the copy that has a post handler, which leads into the middle of the jump; that
 * copy was made after there had been a jump.
 */
static void jump_waits_for_post_handlers(void **state)
{
	uintptr_t addr = fake_func(51) + TRACE_INSN_SIZE, in_copy = FAKE_SLOTS + FAKE_POST_AT;
	struct kprobe *p = probe_at(0, addr), *q = probe_at(1, addr);

	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	q->post_handler = post;
	assert_int_equal(register_kprobe(p), 0);
	run_worker();
	assert_true(is_jump(p));
	assert_int_equal(register_kprobe(q), 0);
	fake_thread_add(8, "inside");
	fake_thread_stack(8, &in_copy, 1);
	unregister_kprobe(q);
	for (int i = 0; i < 5; i++)
		assert_true(fake_run_later());
	assert_false(is_jump(p));
	fake_thread_stack(8, &in_copy, 0);
	run_worker();
	assert_true(is_jump(p));
	unregister_kprobe(p);
	run_worker();
	fake_thread_exit(8);
}

/* The thread is in the copy of a probe that has gone, and leads into the middle of another one's jump. */
static void jump_waits_for_gone_probes(void **state)
{
	uintptr_t addr = fake_func(51) + TRACE_INSN_SIZE, in_copy = FAKE_SLOTS;
	struct kprobe *p = probe_at(0, addr + 2), *q = probe_at(1, addr);

	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	assert_int_equal(register_kprobe(p), 0);
	fake_thread_add(8, "inside");
	fake_thread_stack(8, &in_copy, 1);
	unregister_kprobe(p);
	assert_int_equal(register_kprobe(q), 0);
	for (int i = 0; i < 5; i++)
		assert_true(fake_run_later());
	assert_false(is_jump(q));
	fake_thread_stack(8, &in_copy, 0);
	run_worker();
	assert_true(is_jump(q));
	unregister_kprobe(q);
	run_worker();
	fake_thread_exit(8);
}

static bool has_synced, is_synced_late; /* after threads were looked at, or memory was freed */

static void note_sync(void)
{
	has_synced = true;
	is_synced_late |= fake_nr_probes != 1;
}

static void note_look(void)
{
	is_synced_late |= !has_synced;
}

/*
 * A handler may have read where it goes on, and not be there yet: it is waited for before a look
 * at threads, and before the probe is freed.
 */
static void handlers_are_waited_for(void **state)
{
	struct kprobe *p = probe_at(0, fake_func(52) + TRACE_INSN_SIZE);

	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	assert_int_equal(register_kprobe(p), 0);
	is_synced_late = has_synced = false;
	fake_on_sync = note_sync;
	fake_on_each_stack = note_look;
	run_worker();
	assert_true(is_jump(p));
	assert_true(has_synced);
	assert_int_equal(disable_kprobe(p), 0);
	has_synced = false;
	unregister_kprobe(p);
	assert_true(has_synced);
	assert_false(is_synced_late);
	fake_on_sync = NULL;
	fake_on_each_stack = NULL;
	run_worker();
}

/* Many at once: one batch. */
static void jumps(void **state)
{
	size_t nr = 100;
	uint64_t before;

	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	for (size_t i = 0; i < nr; i++)
		probe_at(i, fake_func(2 * i) + TRACE_INSN_SIZE);
	assert_int_equal(register_kprobes(pointers, nr), 0);
	before = fake_nr_batches;
	run_worker();
	assert_int_equal(fake_nr_batches, before + 1);
	for (size_t i = 0; i < nr; i++)
		assert_true(is_jump(&probes[i]));
	unregister_kprobes(pointers, nr);
	assert_int_equal(fake_nr_batches, before + 2);
	run_worker();
}

/* Damaged text ends tracing; probes can go nevertheless. The last test. */
static void damage(void **state)
{
	struct kprobe *p = probe_at(0, inside(40));
	uint8_t *text;

	(void)state;
	p->flags = KPROBE_FLAG_DISABLED;
	assert_int_equal(register_kprobe(p), 0);
	text = fake_text_at(p->addr);
	*text ^= 1;
	assert_int_equal(enable_kprobe(p), -ENODEV);
	*text ^= 1;
	assert_true(ftrace_is_dead());
	assert_non_null(strstr(fake_log(), "func_40+0x8"));
	assert_int_equal(enable_kprobe(p), -ENODEV);
	assert_int_equal(register_kprobe(probe_at(1, inside(41))), -ENODEV);
	unregister_kprobe(p);
}

/* Code goes with the probes in it: at a site, at a breakpoint, at a jump, and one that is off. */
static void code_goes(void **state)
{
	(void)state;
	fake_jump_bytes = JUMP_BYTES;
	probe_at(0, site(3));
	probe_at(1, inside(3));
	probe_at(2, inside(3));
	probe_at(3, inside(4))->flags = KPROBE_FLAG_DISABLED;
	probe_at(4, inside(5));
	assert_int_equal(register_kprobes(pointers, 5), 0);
	run_worker();
	assert_true(probes[1].flags & KPROBE_FLAG_OPTIMIZED);
	assert_int_equal(kprobes_code_goes(fake_func(3), fake_func(5)), 0);
	assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), 5 * FAKE_FUNC_BYTES);
	assert_string_equal(order_at(site(3)), "");
	assert_string_equal(order_at(inside(3)), "");
	assert_string_equal(order_at(inside(5)), "e");
	for (size_t i = 0; i < 4; i++) {
		assert_true(probes[i].flags & KPROBE_FLAG_GONE);
		assert_int_equal(enable_kprobe(&probes[i]), -EINVAL);
		assert_int_equal(disable_kprobe(&probes[i]), -EINVAL);
		assert_int_equal(register_kprobe(&probes[i]), -EINVAL);
	}
	assert_int_equal(kprobes_set_enabled(false), 0);
	assert_int_equal(kprobes_set_enabled(true), 0);
	assert_string_equal(order_at(inside(3)), "");
	/* Others may come to the same place, and leave it. */
	assert_int_equal(register_kprobe(probe_at(5, inside(3))), 0);
	assert_string_equal(order_at(inside(3)), "f");
	run_worker();
	assert_string_equal(kprobe_list_of(kprobes_list_next),
			    "ffffffff81000038  k  func_3+0x8    [OPTIMIZED]\n"
			    "ffffffff81000058  k  func_5+0x8    [OPTIMIZED]\n"
			    "ffffffff81000030  k  func_3+0x0    [GONE][FTRACE]\n"
			    "ffffffff81000038  k  func_3+0x8    [GONE]\n"
			    "ffffffff81000038  k  func_3+0x8    [GONE]\n"
			    "ffffffff81000048  k  func_4+0x8    [GONE][DISABLED]\n");
	unregister_kprobe(&probes[5]);
	unregister_kprobes(pointers, 4);
	assert_string_equal(kprobe_list_of(kprobes_list_next),
			    "ffffffff81000058  k  func_5+0x8    [OPTIMIZED]\n");
	for (size_t i = 0; i < 3; i++)
		assert_false(probes[i].flags & KPROBE_FLAG_GONE);
	assert_int_equal(register_kprobe(probe_at(1, inside(3))), 0);
	assert_string_equal(order_at(inside(3)), "b");
	unregister_kprobe(&probes[1]);
	unregister_kprobe(&probes[4]);
	run_worker();
	assert_int_equal(fake_nr_probes, 0);
}

static void send(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		 struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	ftrace_regs_set_instruction_pointer(fregs, fake_func(9));
}

/* Another ops sends the calls elsewhere, as a live patch does: they go there, probed or not. */
static void sent_elsewhere(void **state)
{
	struct ftrace_ops ops = { .func = send,
				  .flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY };

	(void)state;
	for (int round = 0; round < 8; round++) {
		bool probe_first = round & 1, is_several = round & 2;
		size_t nr = is_several ? 2 : 1;

		probe_at(0, site(3))->flags = round & 4 ? KPROBE_FLAG_ARGS : 0;
		if (is_several)
			probe_at(1, site(3))->post_handler = post;
		if (probe_first)
			assert_int_equal(register_kprobes(pointers, nr), 0);
		assert_int_equal(ftrace_set_filter_ip(&ops, site(3), false, true), 0);
		assert_int_equal(register_ftrace_function(&ops), 0);
		if (!probe_first)
			assert_int_equal(register_kprobes(pointers, nr), 0);
		assert_int_equal(hit(site(3)), fake_func(9));
		assert_string_equal(order, is_several ? "abB" : "a");
		assert_int_equal(unregister_ftrace_function(&ops), 0);
		ftrace_free_filter(&ops);
		assert_int_equal(hit(site(3)), site(3) + TRACE_INSN_SIZE);
		assert_string_equal(order, is_several ? "abB" : "a");
		unregister_kprobes(pointers, nr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(several, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(alone_again, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(moved_at_breakpoint, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(registers, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(missed, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(batches, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(switched_off, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(refused, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(code_goes, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(sent_elsewhere, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(all_or_none, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(no_memory, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(no_memory_for_lists, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(busy, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(thread_inside, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(jump, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(jump_comes_back, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(jump_registers, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(jump_missed, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(jump_waits, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(jump_waits_for_post_handlers, kprobe_begin,
						kprobe_end),
		cmocka_unit_test_setup_teardown(jump_waits_for_gone_probes, kprobe_begin,
						kprobe_end),
		cmocka_unit_test_setup_teardown(handlers_are_waited_for, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(jumps, kprobe_begin, kprobe_end),
		cmocka_unit_test_setup_teardown(damage, kprobe_begin, kprobe_end),
	};

	return cmocka_run_group_tests_name("kprobe", tests, funcs_make, NULL);
}

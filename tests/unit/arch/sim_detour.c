/*
 * Probes on made-up code, down to the bytes: detours and slots as they are written, taken and given
 * back, code as it reads without its probes, moved parts of functions, and answers to int3s.
 *
 * links: trace/arch/x86_64/probe.c trace/arch/x86_64/probe_int3.c trace/arch/x86_64/probe_jump.c
 * links: trace/arch/x86_64/probe_insn.c trace/arch/x86_64/probe_slot.c trace/arch/x86_64/decode*.c
 * links: trace/arch/x86_64/default_probes.c arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <sys/mman.h>
#include <kernel/base.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include <trace/kprobe_hit.h>
#include "probe_private.h"
#include "sim.h"
#include "sim_text.h"

#define UNITS 4u
#define EXEC  ((uint8_t *)SIM_EXEC_BASE)
#define INT3  0xccu

/* ---- Functions that the sources ask for ---- */

const char trace_probe_detour[1], trace_probe_detour_args[1];

static struct trace_breakpoint_consumer *first, *last;
static bool is_unit_used[UNITS];
static struct trace_plat_probe probes[2];
static uintptr_t probed[2]; /* places of the probes in the table; 0: none */

static struct symbol {
	char name[16];
	uintptr_t start;
	size_t bytes;
} symbols[4];

uintptr_t trace_exec_alloc(size_t bytes)
{
	assert_int_equal(bytes, TRACE_EXEC_UNIT);
	for (size_t i = 0; i < UNITS; i++) {
		if (!is_unit_used[i]) {
			is_unit_used[i] = true;
			return SIM_EXEC_BASE + i * TRACE_EXEC_UNIT;
		}
	}
	return 0;
}

void trace_exec_free(uintptr_t addr, size_t bytes)
{
	size_t unit = (addr - SIM_EXEC_BASE) / TRACE_EXEC_UNIT;

	assert_int_equal(bytes, TRACE_EXEC_UNIT);
	assert_true(unit < UNITS && is_unit_used[unit]);
	for (size_t i = 0; i < TRACE_EXEC_UNIT; i++)
		assert_int_equal(EXEC[unit * TRACE_EXEC_UNIT + i], INT3); /* for who strays there */
	is_unit_used[unit] = false;
}

bool trace_text_meant(uintptr_t addr, void *out_bytes, size_t len)
{
	memcpy(out_bytes, (const void *)addr, len);
	return true;
}

void trace_text_write(uintptr_t addr, const void *bytes, size_t len)
{
	memcpy((void *)addr, bytes, len);
}

bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		if (addr - symbols[i].start >= symbols[i].bytes)
			continue;
		strcpy(out_name, symbols[i].name);
		*out_start = symbols[i].start;
		*out_bytes = symbols[i].bytes;
		return true;
	}
	return false;
}

uintptr_t trace_plat_symbol_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		if (!strcmp(symbols[i].name, name))
			return symbols[i].start;
	}
	return 0;
}

const char *trace_plat_probe_refusal(uintptr_t addr, size_t len)
{
	(void)addr;
	(void)len;
	return NULL;
}

void trace_breakpoint_register(struct trace_breakpoint_consumer *its)
{
	if (its->priority == TRACE_BREAKPOINT_PRIORITY_PROBE)
		first = its;
	else if (its->priority < TRACE_BREAKPOINT_PRIORITY_HOST)
		last = its;
}

bool trace_arch_has_frames(void)
{
	return true;
}

void trace_arch_frame_load(const void *frame, struct ftrace_regs *out_regs)
{
	memcpy(out_regs, frame, sizeof(*out_regs));
}

void trace_arch_frame_store(void *frame, const struct ftrace_regs *regs)
{
	memcpy(frame, regs, sizeof(*regs));
}

bool trace_plat_read(void *dst, const void *src, size_t size)
{
	memcpy(dst, src, size);
	return true;
}

struct trace_plat_probe *kprobe_hit_find(uintptr_t addr)
{
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		if (addr && addr == probed[i])
			return &probes[i];
	}
	return NULL;
}

/* ---- Handlers ---- */

static struct {
	bool has_post, is_busy, sends_elsewhere;
	char calls[16];
	uintptr_t rip, post_rip, parent;
} handlers;

static void note_call(char c)
{
	strncat(handlers.calls, &c, 1);
}

bool kprobe_hit_begin(struct trace_plat_probe *probe)
{
	(void)probe;
	note_call(handlers.is_busy ? 'm' : 'b');
	return !handlers.is_busy;
}

void kprobe_hit_end(void)
{
	note_call('e');
}

bool kprobe_hit_pre(struct trace_plat_probe *probe, struct ftrace_regs *regs)
{
	(void)probe;
	note_call('<');
	handlers.rip = regs->rip;
	handlers.parent = regs->parent;
	if (handlers.sends_elsewhere)
		regs->rip = 0x7777;
	return handlers.sends_elsewhere;
}

void kprobe_hit_post(struct trace_plat_probe *probe, struct ftrace_regs *regs)
{
	(void)probe;
	note_call('>');
	handlers.post_rip = regs->rip;
}

bool kprobe_hit_run(struct trace_plat_probe *probe, struct ftrace_regs *regs)
{
	bool goes = false;

	if (kprobe_hit_begin(probe)) {
		goes = kprobe_hit_pre(probe, regs);
		kprobe_hit_end();
	}
	return goes;
}

bool kprobe_hit_has_post(const struct trace_plat_probe *probe)
{
	(void)probe;
	return handlers.has_post;
}

/* ---- Code ---- */

/* add rax, rdi | mov rsi, [rip + 0x100] | add rax, rsi | ret */
static uint8_t code[64] = { 0x48, 0x01, 0xf8, 0x48, 0x8b, 0x35, 0,    1,    0,	  0,
			    0x48, 0x01, 0xf0, 0xc3, 0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00 };
#define CODE   ((uintptr_t)code)
#define REGION 10u /* bytes of the first two, which a jump takes the place of */

static void begin(void)
{
	memset(EXEC, INT3, UNITS * TRACE_EXEC_UNIT);
	memset(probes, 0, sizeof(probes));
	memset(probed, 0, sizeof(probed));
	memset(symbols, 0, sizeof(symbols));
	memset(&handlers, 0, sizeof(handlers));
	trace_probe_become_consumer();
}

static void end(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++)
		trace_plat_probe_destroy(&probes[i]);
	for (size_t i = 0; i < UNITS; i++)
		assert_false(is_unit_used[i]);
}

static uintptr_t target_of(const uint8_t *insn, uint8_t opcode)
{
	int32_t distance;

	assert_int_equal(insn[0], opcode);
	memcpy(&distance, insn + 1, sizeof(distance));
	return (uintptr_t)insn + TRACE_INSN_SIZE + (uintptr_t)(intptr_t)distance;
}

/* ---- Detours ---- */

static void detour(void)
{
	uint32_t pushed;
	int32_t operand;

	begin();
	assert_int_equal(trace_plat_probe_create(&probes[0], CODE, false),
			 0); /* its slot: unit 0 */
	assert_int_equal(trace_plat_probe_jump_create(&probes[0], REGION), 0);
	uint8_t *unit = EXEC + TRACE_EXEC_UNIT, *copy = unit + 10;

	assert_int_equal(unit[0], 0x68);
	memcpy(&pushed, unit + 1, sizeof(pushed));
	assert_true(trace_plat_ip_unpack(pushed) == CODE);
	assert_true(target_of(unit + 5, 0xe8) == (uintptr_t)trace_probe_detour);
	assert_memory_equal(copy, code, 6);
	memcpy(&operand, copy + 6, sizeof(operand));
	assert_true((uintptr_t)copy + 10 + (uintptr_t)(intptr_t)operand == CODE + 10 + 0x100);
	assert_true(target_of(copy + REGION, 0xe9) == CODE + REGION);
	for (uint8_t *at = copy + REGION + 5; at < unit + DETOUR_NOTE_AT; at++)
		assert_int_equal(*at, INT3);
	/* Where a CPU in it is meant to be. */
	for (uintptr_t at = 0; at < TRACE_EXEC_UNIT; at++) {
		uintptr_t addr = (uintptr_t)unit + at, into = at < 10 ? 0 : at - 10;

		assert_true(trace_probe_is_detour(addr));
		assert_true(trace_probe_original(addr) == CODE + (into < REGION ? into : REGION));
		assert_int_equal(trace_probe_pushed(addr) != 0, at == 5);
		assert_false(trace_probe_is_detour(addr - TRACE_EXEC_UNIT));
		assert_false(trace_probe_is_detour(addr + TRACE_EXEC_UNIT));
		assert_int_equal(trace_probe_pushed(addr - TRACE_EXEC_UNIT), 0);
	}
	assert_false(trace_probe_is_detour(CODE) || trace_probe_is_detour(SIM_EXEC_BASE - 1));
	assert_true(trace_probe_original(CODE) == CODE);
	end();
}

/* For one handler that reads arguments only there is an entry that saves less. */
static void detour_for_arguments(void)
{
	static struct kprobe *const some = (struct kprobe *)(void *)code;

	begin();
	assert_int_equal(trace_plat_probe_create(&probes[0], CODE, false), 0);
	atomic_store(&probes[0].only, some);
	assert_int_equal(trace_plat_probe_jump_create(&probes[0], REGION), 0);
	assert_true(target_of(EXEC + TRACE_EXEC_UNIT + 5, 0xe8) ==
		    (uintptr_t)trace_probe_detour_args);
	end();
}

/* Nothing is kept when there is no room, or an operand is too far from its copy. */
static void no_detour(void)
{
	static uint8_t far[16] = { 0x48, 0x01, 0xf8, 0x48, 0x8b, 0x35, 0, 0, 0, 0x80, 0xc3 };

	begin();
	assert_int_equal(trace_plat_probe_create(&probes[1], (uintptr_t)far, false), 0);
	assert_int_equal(trace_plat_probe_jump_create(&probes[1], REGION), -ENOMEM);
	assert_true(is_unit_used[0] && !is_unit_used[1]);
	assert_int_equal(trace_plat_probe_create(&probes[0], CODE, false), 0);
	memset(is_unit_used, true, sizeof(is_unit_used));
	assert_int_equal(trace_plat_probe_jump_create(&probes[0], REGION), -ENOMEM);
	memset(is_unit_used + 1, false, sizeof(is_unit_used) - 1);
	end();
}

static void test_detours(void **state)
{
	(void)state;
	assert_true(mmap(EXEC, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == EXEC);
	sim_alone(detour);
	sim_alone(detour_for_arguments);
	sim_alone(no_detour);
}

/* ---- Slots ---- */

/* Two to a unit; the unit goes back with the last of them, and a free half is taken first. */
static void slots(void)
{
	static struct trace_plat_probe more;
	const struct slot_note *note;
	uintptr_t slot;

	begin();
	assert_int_equal(trace_plat_probe_create(&probes[0], CODE, true), 0);
	assert_memory_equal(EXEC, code, 3);
	assert_true(target_of(EXEC + 3, 0xe9) == CODE + 3);
	assert_memory_equal(EXEC + SLOT_BYTES, code, 3);
	assert_int_equal(EXEC[SLOT_BYTES + 3], INT3);
	for (uintptr_t at = 0; at < TRACE_EXEC_UNIT; at++) {
		note = trace_probe_slot_of(SIM_EXEC_BASE + at, &slot);
		assert_true(note && slot == SIM_EXEC_BASE + at / SLOT_BYTES * SLOT_BYTES);
		assert_true(note->is_post == (at >= SLOT_BYTES) && note->len == 3);
		assert_true(trace_probe_original(SIM_EXEC_BASE + at) ==
			    CODE + (at % SLOT_BYTES < 3 ? 0 : 3));
	}
	assert_int_equal(trace_plat_probe_create(&probes[1], CODE + 10, false), 0);
	assert_true(is_unit_used[1]);
	assert_int_equal(trace_plat_probe_create(&more, CODE + 3, false), 0);
	assert_false(is_unit_used[2]);
	trace_plat_probe_destroy(&probes[1]);
	assert_true(is_unit_used[1]); /* half of it is in use */
	assert_null(trace_probe_slot_of(SIM_EXEC_BASE + TRACE_EXEC_UNIT, &slot));
	assert_int_equal(EXEC[TRACE_EXEC_UNIT], INT3);
	assert_int_equal(EXEC[TRACE_EXEC_UNIT + SLOT_BYTES], 0x48);
	assert_int_equal(trace_plat_probe_create(&probes[1], CODE + 10, false), 0);
	assert_false(is_unit_used[2]);
	trace_plat_probe_destroy(&more);
	end();
}

/* Without a new unit any free half is found. */
static void last_slots(void)
{
	static struct trace_plat_probe all[2 * UNITS];

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		assert_int_equal(trace_plat_probe_create(&all[i], CODE + 10, false), 0);
	assert_int_equal(trace_plat_probe_create(&probes[0], CODE, false), -ENOMEM);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		trace_plat_probe_destroy(&all[i]);
		trace_plat_probe_destroy(&all[(i + 3) % ARRAY_SIZE(all)]);
		assert_int_equal(
			trace_plat_probe_create(&all[(i + 3) % ARRAY_SIZE(all)], CODE, false), 0);
		assert_int_equal(trace_plat_probe_create(&all[i], CODE, false), 0);
		assert_int_equal(trace_plat_probe_create(&probes[0], CODE, false), -ENOMEM);
	}
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		trace_plat_probe_destroy(&all[i]);
	end();
}

static void test_slots(void **state)
{
	(void)state;
	sim_alone(slots);
	sim_alone(last_slots);
}

/* ---- Code as it reads without its probes ---- */

static void restored(bool has_jump)
{
	uint8_t whole[8 + 24], bytes[8 + 24];
	size_t changed = has_jump ? TRACE_INSN_SIZE : 1;

	begin();
	probed[0] = CODE;
	assert_int_equal(trace_plat_probe_create(&probes[0], CODE, false), 0);
	if (has_jump)
		assert_int_equal(trace_plat_probe_jump_create(&probes[0], REGION), 0);
	for (uintptr_t from = 0; from < 16; from++) {
		for (size_t len = 1; from + len <= 16; len++) {
			memset(whole, 0xee, sizeof(whole));
			memcpy(bytes, whole, sizeof(bytes));
			for (size_t i = 0; i < changed; i++) {
				if (8 + i >= from && 8 + i < from + len)
					whole[8 + i] = code[i];
			}
			first->restore(first, CODE - 8 + from, bytes + from, len);
			assert_memory_equal(bytes, whole, sizeof(whole));
		}
	}
	end();
}

static void breakpoint_restored(void)
{
	restored(false);
}

static void jump_restored(void)
{
	restored(true);
}

static void test_restore(void **state)
{
	(void)state;
	sim_alone(breakpoint_restored);
	sim_alone(jump_restored);
}

/* ---- Parts of functions that were moved away ---- */

/* A function that jumps to its cold part, and the part, which jumps back. */
static uint8_t func[16], cold[16];

static void put_jump(uint8_t *at, uint8_t opcode, const uint8_t *to)
{
	int32_t distance = (int32_t)(to - (at + TRACE_INSN_SIZE));

	at[0] = opcode;
	memcpy(at + 1, &distance, sizeof(distance));
}

static size_t jump_bytes(const uint8_t *of, size_t bytes, const uint8_t *at)
{
	const struct trace_probe_place place = { .func = (uintptr_t)of,
						 .bytes = bytes,
						 .addr = (uintptr_t)at };

	return trace_plat_probe_jump_bytes(&place);
}

static void make_parts(void)
{
	static const uint8_t add[] = { 0x48, 0x01, 0xf8 };

	begin();
	for (size_t i = 0; i < 6; i += 3) {
		memcpy(func + i, add, 3);
		memcpy(cold + i, add, 3);
	}
	put_jump(func + 6, 0xe9, cold);
	func[11] = 0xc3;
	put_jump(cold + 6, 0xe9, func + 11);
	symbols[0] = (struct symbol){ "func", (uintptr_t)func, 12 };
	symbols[1] = (struct symbol){ "func.cold", (uintptr_t)cold, 11 };
}

static void moved_parts(void)
{
	make_parts();
	assert_int_equal(jump_bytes(func, 12, func), 6);
	assert_int_equal(jump_bytes(cold, 11, cold), 6);
	/* A branch of one leads into the region of the other. */
	put_jump(func + 6, 0xe9, cold + 3);
	assert_int_equal(jump_bytes(cold, 11, cold), 0);
	make_parts();
	put_jump(cold + 6, 0xe9, func + 3);
	assert_int_equal(jump_bytes(func, 12, func), 0);
	/* Its own does. */
	make_parts();
	put_jump(cold + 6, 0xe9, cold + 3);
	assert_int_equal(jump_bytes(cold, 11, cold), 0);
	make_parts();
	put_jump(func + 6, 0xe9, func + 3);
	assert_int_equal(jump_bytes(func, 12, func), 0);
	assert_int_equal(jump_bytes(cold, 11, cold), 0); /* nothing leads there */
	end();
}

/* Whose part it is has to be sure. */
static void parts_of_others(void)
{
	make_parts();
	symbols[0].start = 0;
	assert_int_equal(jump_bytes(cold, 11, cold), 0);
	make_parts();
	strcpy(symbols[0].name, "other");
	assert_int_equal(jump_bytes(cold, 11, cold), 0);
	/* Another function of that name, with a part of its own. */
	make_parts();
	symbols[2] = (struct symbol){ "func.cold", CODE, 11 };
	put_jump(func + 6, 0xe9, code);
	assert_int_equal(jump_bytes(cold, 11, cold), 0);
	end();
}

static void test_moved_parts(void **state)
{
	(void)state;
	sim_alone(moved_parts);
	sim_alone(parts_of_others);
}

/* ---- Answers ---- */

static struct ftrace_regs regs;
static uintptr_t stack[4] = { 0, 0, 0x5678, 0 };

static bool hit(struct trace_breakpoint_consumer *consumer, uintptr_t site)
{
	uintptr_t rip = site + 1, rsp = (uintptr_t)&stack[2];
	const struct trace_breakpoint_hit at = {
		.site = site, .rip = &rip, .rsp = &rsp, .frame = &regs
	};
	bool is_ours;

	handlers.calls[0] = '\0';
	regs = (struct ftrace_regs){ .rip = rip, .rsp = rsp, .parent = 1, .direct = 1 };
	is_ours = consumer->answer(consumer, &at);
	if (rip != site + 1)
		regs.rip = rip; /* where the host goes on */
	return is_ours;
}

static void answers_without_post(void)
{
	begin();
	probed[0] = CODE;
	assert_int_equal(trace_plat_probe_create(&probes[0], CODE, false), 0);
	assert_true(hit(first, CODE));
	assert_string_equal(handlers.calls, "b<e");
	assert_true(handlers.rip == CODE && handlers.parent == 0x5678);
	assert_true(regs.rip == SIM_EXEC_BASE && !regs.direct);
	handlers.is_busy = true;
	assert_true(hit(first, CODE));
	assert_string_equal(handlers.calls, "m");
	assert_true(regs.rip == SIM_EXEC_BASE);
	handlers.is_busy = false;
	handlers.sends_elsewhere = true;
	assert_true(hit(first, CODE));
	assert_true(regs.rip == 0x7777);
	handlers.sends_elsewhere = false;
	/* With a jump it goes on in the detour, as long as that is used. */
	assert_int_equal(trace_plat_probe_jump_create(&probes[0], REGION), 0);
	trace_plat_probe_jump_use(&probes[0], true);
	assert_true(hit(first, CODE));
	assert_true(regs.rip == SIM_EXEC_BASE + TRACE_EXEC_UNIT + DETOUR_COPY_AT);
	trace_plat_probe_jump_use(&probes[0], false);
	assert_true(hit(first, CODE));
	assert_true(regs.rip == SIM_EXEC_BASE);
	assert_false(hit(first, CODE + 3)); /* not a probe's */
	end();
}

/* The instruction is done between the two handlers: in the slot, or by hand. */
static void answers_with_post(void)
{
	begin();
	handlers.has_post = true;
	probed[0] = CODE;
	assert_int_equal(trace_plat_probe_create(&probes[0], CODE, true), 0);
	assert_true(hit(first, CODE));
	assert_string_equal(handlers.calls, "b<e");
	assert_true(regs.rip == SIM_EXEC_BASE + SLOT_BYTES);
	assert_true(hit(first, SIM_EXEC_BASE + SLOT_BYTES + 3));
	assert_string_equal(handlers.calls, "b>e");
	assert_true(handlers.post_rip == CODE + 3 && regs.rip == CODE + 3);
	handlers.is_busy = true;
	assert_true(hit(first, SIM_EXEC_BASE + SLOT_BYTES + 3));
	assert_string_equal(handlers.calls, "m");
	assert_true(regs.rip == CODE + 3);
	assert_true(hit(first, CODE));
	assert_string_equal(handlers.calls, "m");
	assert_true(regs.rip == SIM_EXEC_BASE);
	handlers.is_busy = false;
	probed[0] = 0; /* it has gone while a CPU was in the slot */
	assert_true(hit(first, SIM_EXEC_BASE + SLOT_BYTES + 3));
	assert_string_equal(handlers.calls, "");
	assert_true(regs.rip == CODE + 3);
	probed[1] = CODE + 14; /* a NOP */
	assert_int_equal(trace_plat_probe_create(&probes[1], CODE + 14, true), 0);
	assert_true(hit(first, CODE + 14));
	assert_string_equal(handlers.calls, "b<>e");
	assert_true(handlers.post_rip == CODE + 15 && regs.rip == CODE + 15);
	handlers.sends_elsewhere = true;
	assert_true(hit(first, CODE + 14));
	assert_string_equal(handlers.calls, "b<e");
	assert_true(regs.rip == 0x7777);
	end();
}

/* An int3 that is not there any more is done again; one that is there has another owner. */
static void answers_to_none(void)
{
	uint8_t *site;

	begin();
	site = (uint8_t *)sim_site(0);
	for (unsigned int byte = 0; byte < 256; byte++) {
		uint8_t before = *site;

		sim_site_damage(0, 0, (uint8_t)byte);
		assert_int_equal(hit(last, (uintptr_t)site), byte != INT3);
		assert_true(regs.rip == (uintptr_t)site + (byte == INT3));
		sim_site_damage(0, 0, before);
	}
	assert_false(hit(last, CODE)); /* no code */
	end();
}

static void test_answers(void **state)
{
	(void)state;
	sim_alone(answers_without_post);
	sim_alone(answers_with_post);
	sim_alone(answers_to_none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_detours), cmocka_unit_test(test_slots),
		cmocka_unit_test(test_restore), cmocka_unit_test(test_moved_parts),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

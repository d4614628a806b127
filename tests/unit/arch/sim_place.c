/*
 * Places of probes on made-up code: slots when there is room for one of two only, functions with a
 * table of jumps, and int3s inside of slots.
 *
 * links: trace/arch/x86_64/probe.c trace/arch/x86_64/probe_int3.c trace/arch/x86_64/probe_jump.c
 * links: trace/arch/x86_64/probe_insn.c trace/arch/x86_64/decode*.c arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include <trace/kprobe_hit.h>
#include "probe_private.h"
#include "sim.h"

#define ADD_LEN	   3u
#define SLOT_FIRST 0x60000000ul

/* Two instructions, which a jump may replace, and the end of the function. */
static const uint8_t plain[16] = { 0x48, 0x01, 0xf8, 0x48, 0x01, 0xf0, 0xc3, 0xc3 };
static const uint8_t table[16] = { 0x48, 0x01, 0xf8, 0x48, 0x01, 0xf0, 0xff, 0xe0 };
#define FUNC_BYTES 8u

/* ---- Functions that the sources call ---- */

const char trace_probe_detour[1], trace_probe_detour_args[1];

static struct trace_breakpoint_consumer *consumer;
static size_t nr_room, nr_slots; /* slots that can be made yet, and that are in use */
static struct slot_note note;

bool trace_text_meant(uintptr_t addr, void *out_bytes, size_t len)
{
	memcpy(out_bytes, (const void *)addr, len);
	return true;
}

void trace_text_write(uintptr_t addr, const void *bytes, size_t len)
{
	(void)addr;
	(void)bytes;
	(void)len;
}

uintptr_t trace_probe_slot_make(uintptr_t addr, const struct trace_insn *insn, const uint8_t *bytes,
				bool is_post)
{
	(void)addr;
	(void)insn;
	(void)bytes;
	(void)is_post;
	return nr_room ? nr_room--, SLOT_FIRST + SLOT_BYTES * nr_slots++ : 0;
}

void trace_probe_slot_free(uintptr_t slot)
{
	assert_true(slot >= SLOT_FIRST);
	nr_slots--;
}

const struct slot_note *trace_probe_slot_of(uintptr_t addr, uintptr_t *out_slot)
{
	*out_slot = addr & ~(SLOT_BYTES - 1);
	return *out_slot == SLOT_FIRST ? &note : NULL;
}

bool trace_probe_move_operand(uint8_t *copy, const struct trace_insn *insn, uintptr_t from,
			      uintptr_t to)
{
	(void)copy;
	(void)insn;
	(void)from;
	(void)to;
	return true;
}

uintptr_t trace_probe_detour_take(void)
{
	return 0;
}

void trace_probe_detour_free(uintptr_t detour)
{
	(void)detour;
}

bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_bytes)
{
	strcpy(out_name, "made_up");
	*out_start = addr;
	*out_bytes = FUNC_BYTES;
	return true;
}

uintptr_t trace_plat_symbol_find(const char *name)
{
	(void)name;
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
		consumer = its;
}

bool trace_arch_has_frames(void)
{
	return true;
}

void trace_arch_frame_load(const void *frame, struct ftrace_regs *out_regs)
{
	(void)frame;
	memset(out_regs, 0, sizeof(*out_regs));
}

void trace_arch_frame_store(void *frame, const struct ftrace_regs *regs)
{
	(void)frame;
	(void)regs;
}

bool trace_plat_read(void *dst, const void *src, size_t size)
{
	memcpy(dst, src, size);
	return true;
}

/* No probe is there any more: its slot says where to go on. */
struct trace_plat_probe *kprobe_hit_find(uintptr_t addr)
{
	(void)addr;
	return NULL;
}

bool kprobe_hit_begin(struct trace_plat_probe *probe)
{
	(void)probe;
	return false;
}

void kprobe_hit_end(void)
{
}

bool kprobe_hit_pre(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
{
	(void)probe;
	(void)fregs;
	return false;
}

void kprobe_hit_post(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
{
	(void)probe;
	(void)fregs;
}

bool kprobe_hit_run(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
{
	(void)probe;
	(void)fregs;
	return false;
}

bool kprobe_hit_has_post(const struct trace_plat_probe *probe)
{
	(void)probe;
	return false;
}

/* ---- Tests ---- */

static void room_for_one_slot(void)
{
	static struct trace_plat_probe probe;

	nr_room = 1;
	assert_int_equal(trace_probe_create(&probe, (uintptr_t)plain, true), -ENOMEM);
	assert_int_equal(nr_slots, 0);
	/* One that had its first slot before keeps it. */
	nr_room = 1;
	assert_int_equal(trace_probe_create(&probe, (uintptr_t)plain, false), 0);
	assert_int_equal(trace_probe_create(&probe, (uintptr_t)plain, true), -ENOMEM);
	assert_int_equal(nr_slots, 1);
	nr_room = 1;
	assert_int_equal(trace_probe_create(&probe, (uintptr_t)plain, true), 0);
	assert_int_equal(nr_slots, 2);
	trace_probe_destroy(&probe);
	assert_int_equal(nr_slots, 0);
	trace_probe_destroy(&probe); /* it has nothing any more */
	assert_int_equal(nr_slots, 0);
}

static void code_is(const struct trace_plat_probe *probe, bool with_detour, uintptr_t first,
		    uintptr_t last)
{
	uintptr_t is_first = 1, is_last = 1;

	trace_plat_probe_code(probe, with_detour, &is_first, &is_last);
	assert_int_equal(is_first, first);
	assert_int_equal(is_last, last);
}

/* From the first to the last byte of slots and detour, in whichever order these lie. */
static void range_of_the_code(void)
{
	static struct trace_plat_probe probe;
	const uintptr_t below = SLOT_FIRST - 0x1000, above = SLOT_FIRST + 0x1000;

	code_is(&probe, true, 0, 0);
	nr_room = 2;
	assert_int_equal(trace_probe_create(&probe, (uintptr_t)plain, false), 0);
	code_is(&probe, true, SLOT_FIRST, SLOT_FIRST + SLOT_BYTES - 1);
	assert_int_equal(trace_probe_create(&probe, (uintptr_t)plain, true), 0);
	code_is(&probe, true, SLOT_FIRST, SLOT_FIRST + 2 * SLOT_BYTES - 1);
	trace_probe_of(&probe)->detour = trace_plat_ip_pack(below);
	code_is(&probe, false, SLOT_FIRST, SLOT_FIRST + 2 * SLOT_BYTES - 1);
	code_is(&probe, true, below, SLOT_FIRST + 2 * SLOT_BYTES - 1);
	trace_probe_of(&probe)->detour = trace_plat_ip_pack(above);
	code_is(&probe, true, SLOT_FIRST, above + TRACE_EXEC_UNIT - 1);
	trace_probe_destroy(&probe);
	code_is(&probe, true, 0, 0);
}

static size_t jump_bytes(const uint8_t *func)
{
	const struct trace_probe_place place = { .func = (uintptr_t)func,
						 .bytes = FUNC_BYTES,
						 .addr = (uintptr_t)func };

	return trace_plat_probe_jump_bytes(&place);
}

/* A jump through a register may lead to any instruction of its function. */
static void jumps_through_registers(void)
{
	assert_int_equal(jump_bytes(plain), 2 * ADD_LEN);
	assert_int_equal(jump_bytes(table), 0);
}

static bool hit_in_slot(uintptr_t offset, uintptr_t *out_rip)
{
	uintptr_t rip = SLOT_FIRST + offset + 1, rsp = 0;
	const struct trace_breakpoint_hit hit = { .site = SLOT_FIRST + offset,
						  .rip = &rip,
						  .rsp = &rsp };
	bool is_ours = consumer->answer(consumer, &hit);

	*out_rip = rip;
	return is_ours;
}

/* Of the int3s that a slot is filled with only the one behind the instruction is a probe's. */
static void int3s_of_a_slot(void)
{
	uintptr_t rip;

	trace_probe_become_consumer();
	note = (struct slot_note){ .origin = 0x1000, .len = ADD_LEN, .is_post = true };
	for (uintptr_t offset = 0; offset < SLOT_NOTE_AT; offset++) {
		assert_int_equal(hit_in_slot(offset, &rip), offset == ADD_LEN);
		assert_int_equal(rip,
				 offset == ADD_LEN ? 0x1000 + ADD_LEN : SLOT_FIRST + offset + 1);
	}
	note.is_post = false;
	assert_false(hit_in_slot(ADD_LEN, &rip));
	assert_false(hit_in_slot(SLOT_BYTES + ADD_LEN, &rip));
}

static void test_room_for_one_slot(void **state)
{
	(void)state;
	sim_alone(room_for_one_slot);
}

static void test_range_of_the_code(void **state)
{
	(void)state;
	sim_alone(range_of_the_code);
}

static void test_jumps_through_registers(void **state)
{
	(void)state;
	sim_alone(jumps_through_registers);
}

static void test_int3s_of_a_slot(void **state)
{
	(void)state;
	sim_alone(int3s_of_a_slot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_for_one_slot),
		cmocka_unit_test(test_range_of_the_code),
		cmocka_unit_test(test_jumps_through_registers),
		cmocka_unit_test(test_int3s_of_a_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

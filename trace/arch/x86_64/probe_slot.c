/*
 * Slots: copies of instructions that CPUs run instead of the original. Two of them share a unit of
 * executable memory. See <trace/arch_probe.h>.
 */
#include <stdatomic.h>
#include <trace/arch_exec.h>
#include <trace/arch_text.h>

#include "check.h"
#include "insn.h"
#include "probe_private.h"

#define MAX_UNITS (TRACE_EXEC_MAX / TRACE_EXEC_UNIT)
#define PER_UNIT  (TRACE_EXEC_UNIT / SLOT_BYTES)
#define ALL_USED  ((1u << PER_UNIT) - 1)
#define DETOUR	  0x80u /* the unit is one */

/* By unit: which of its slots are used; 0: it is not ours. Text lock to change. */
static _Atomic uint8_t used[MAX_UNITS];
static size_t half_used; /* a unit that may have a free slot: where the search begins */

static uintptr_t probe_slot_unit_at(size_t unit)
{
	return trace_arch_exec_start() + unit * TRACE_EXEC_UNIT;
}

static bool has_free_slot(size_t unit)
{
	return used[unit] && used[unit] < ALL_USED;
}

/* A unit of ours with a free slot, or a new one; MAX_UNITS when there is no room. */
static size_t find_unit(void)
{
	size_t unit = half_used;
	uintptr_t addr;

	if (has_free_slot(unit))
		return unit;
	addr = trace_exec_alloc(TRACE_EXEC_UNIT);
	if (addr)
		return (addr - trace_arch_exec_start()) / TRACE_EXEC_UNIT;
	for (unit = 0; unit < trace_exec_units(); unit++) {
		if (has_free_slot(unit))
			return unit;
	}
	return MAX_UNITS;
}

static uintptr_t take_slot(void)
{
	size_t unit = find_unit();
	uint32_t free_one;

	if (unit == MAX_UNITS)
		return 0;
	free_one = (uint32_t)__builtin_ctz(~(uint32_t)used[unit]);
	used[unit] = (uint8_t)(used[unit] | 1u << free_one);
	half_used = unit;
	return probe_slot_unit_at(unit) + free_one * SLOT_BYTES;
}

void trace_probe_slot_free(uintptr_t slot)
{
	static const uint8_t traps[SLOT_BYTES] = { [0 ... SLOT_BYTES - 1] = INSN_INT3 };
	size_t unit = (slot - trace_arch_exec_start()) / TRACE_EXEC_UNIT;
	uint32_t bit = 1u << (slot % TRACE_EXEC_UNIT / SLOT_BYTES);

	CHECK(used[unit] & bit);
	trace_text_write(slot, traps, SLOT_BYTES);
	used[unit] = (uint8_t)(used[unit] & ~bit);
	if (used[unit])
		half_used = unit;
	else
		trace_exec_free(probe_slot_unit_at(unit), TRACE_EXEC_UNIT);
}

uintptr_t trace_probe_detour_take(void)
{
	uintptr_t addr = trace_exec_alloc(TRACE_EXEC_UNIT);

	if (addr)
		used[(addr - trace_arch_exec_start()) / TRACE_EXEC_UNIT] = DETOUR;
	return addr;
}

void trace_probe_detour_free(uintptr_t detour)
{
	static const uint8_t traps[TRACE_EXEC_UNIT] = { [0 ... TRACE_EXEC_UNIT - 1] = INSN_INT3 };

	trace_text_write(detour, traps, sizeof(traps));
	used[(detour - trace_arch_exec_start()) / TRACE_EXEC_UNIT] = 0;
	trace_exec_free(detour, TRACE_EXEC_UNIT);
}

/* The displacement counts from the end of the instruction, so it changes as that moves. */
bool trace_probe_move_operand(uint8_t *copy, const struct trace_insn *insn, uintptr_t from,
			      uintptr_t to)
{
	int64_t disp = insn->disp + (int64_t)(from - to);
	int32_t moved = (int32_t)disp;

	if (!insn->is_rip_relative)
		return true;
	__builtin_memcpy(copy + insn->disp_offset, &moved, sizeof(moved));
	return moved == disp;
}

uintptr_t trace_probe_slot_make(uintptr_t addr, const struct trace_insn *insn, const uint8_t *bytes,
				bool is_post)
{
	uint8_t code[SLOT_BYTES] = { 0 };
	struct slot_note note = { .origin = trace_plat_ip_pack(addr),
				  .len = insn->length,
				  .is_post = is_post };
	uintptr_t slot = take_slot();

	if (!slot)
		return 0;
	__builtin_memset(code, INSN_INT3, SLOT_NOTE_AT);
	__builtin_memcpy(code, bytes, insn->length);
	if (!trace_probe_move_operand(code, insn, addr, slot)) {
		trace_probe_slot_free(slot);
		return 0;
	}
	if (!is_post)
		insn_store(code + insn->length,
			   insn_make(INSN_JMP, slot + insn->length, addr + insn->length));
	__builtin_memcpy(code + SLOT_NOTE_AT, &note, sizeof(note));
	trace_text_write(slot, code, sizeof(code));
	return slot;
}

/* The used bytes of the unit that `addr` is in; 0 when it is not ours. */
static uint32_t used_at(uintptr_t addr)
{
	size_t unit = (addr - trace_arch_exec_start()) / TRACE_EXEC_UNIT;

	if (!trace_exec_contains(addr) || unit >= MAX_UNITS)
		return 0;
	return atomic_load_explicit(&used[unit], memory_order_relaxed);
}

const struct slot_note *trace_probe_slot_of(uintptr_t addr, uintptr_t *out_slot)
{
	uintptr_t at = addr - trace_arch_exec_start();

	if (!(used_at(addr) & 1u << (at % TRACE_EXEC_UNIT / SLOT_BYTES)))
		return NULL;
	*out_slot = addr - at % SLOT_BYTES;
	return (const struct slot_note *)(*out_slot + SLOT_NOTE_AT);
}

/* Copies are as long as what they are of. */
static uintptr_t original_of_detour(uintptr_t addr)
{
	uintptr_t at = (addr - trace_arch_exec_start()) % TRACE_EXEC_UNIT;
	const struct detour_note *note = (const struct detour_note *)(addr - at + DETOUR_NOTE_AT);
	uintptr_t copied = at < DETOUR_COPY_AT ? 0 : at - DETOUR_COPY_AT;

	return trace_plat_ip_unpack(note->origin) + (copied < note->bytes ? copied : note->bytes);
}

bool trace_probe_is_detour(uintptr_t addr)
{
	return used_at(addr) == DETOUR;
}

size_t trace_probe_pushed(uintptr_t addr)
{
	bool is_call = (addr - trace_arch_exec_start()) % TRACE_EXEC_UNIT == DETOUR_CALL_AT;

	return is_call && trace_probe_is_detour(addr) ? PROBE_DETOUR_PUSHED : 0;
}

uintptr_t trace_probe_original(uintptr_t addr)
{
	const struct slot_note *note;
	uintptr_t slot;

	if (TRACE_LIKELY(!trace_exec_contains(addr)))
		return addr;
	if (trace_probe_is_detour(addr))
		return original_of_detour(addr);
	note = trace_probe_slot_of(addr, &slot);
	if (!note)
		return addr;
	return trace_plat_ip_unpack(note->origin) + (addr - slot < note->len ? 0 : note->len);
}

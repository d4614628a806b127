/*
 * Jumps of optimised probes: where one can be, and the detour that it leads to. See
 * <trace/arch_probe.h>.
 *
 * A jump takes the place of several instructions. That is right if a CPU comes to the first of them
 * only: no branch leads to another one, and all of them go on behind themselves.
 */
#include <trace/arch_exec.h>
#include <trace/arch_text.h>

#include "check.h"
#include "insn.h"
#include "probe_private.h"

extern const char trace_probe_detour[], trace_probe_detour_args[]; /* probe_detour_code.asm */

/* ---- Places for jumps ---- */

/* The bytes that are to be replaced; branches may lead to the first one. */
struct region {
	uintptr_t start;
	uintptr_t end;
};

static bool probe_jump_is_inside(const struct region *region, uintptr_t addr)
{
	return addr > region->start && addr < region->end;
}

/* Can the instruction run as part of a detour? */
static bool can_move(const struct trace_insn *insn, uintptr_t addr)
{
	struct plat_probe probe = { 0 };

	if (trace_probe_compile(&probe, insn, addr))
		return false;
	return probe.action == PROBE_SLOT || probe.action == PROBE_SKIP;
}

/* As many instructions as a jump takes. Returns their bytes; 0: not possible. */
static size_t region_bytes(uintptr_t addr, uintptr_t end)
{
	struct trace_insn insn;
	uintptr_t at = addr;

	for (; at < addr + TRACE_INSN_SIZE; at += insn.length) {
		if (at >= end || trace_probe_decode(at, end, &insn) || !can_move(&insn, at))
			return 0;
	}
	return at - addr;
}

static bool is_branch(const struct trace_insn *insn)
{
	return trace_insn_is_relative(insn) && insn->kind != TRACE_INSN_CALL_NEAR;
}

/*
 * The part of a function that the compiler has moved away: no function begins with its symbol, and
 * its branches lead back.
 */
static bool is_moved_part(uintptr_t addr, struct region *out_part)
{
	char name[TRACE_SYM_LEN];
	size_t bytes;

	if (!trace_plat_symbol(addr, name, &out_part->start, &bytes))
		return false;
	out_part->end = out_part->start + bytes;
	for (const char *at = name; *at; at++) {
		if (!__builtin_memcmp(at, ".cold", sizeof(".cold") - 1))
			return true;
	}
	return false;
}

/*
 * No branch in `code` leads into the region, as far as can be seen: one through a register or
 * memory may lead anywhere. *out_part is a moved part that a branch leads to, or as it was.
 */
static bool leaves_alone(const struct region *code, const struct region *region,
			 struct region *out_part)
{
	struct trace_insn insn;
	struct region part;

	for (uintptr_t at = code->start; at < code->end; at += insn.length) {
		uintptr_t to;

		if (trace_probe_decode(at, code->end, &insn) ||
		    insn.kind == TRACE_INSN_JMP_INDIRECT)
			return false;
		if (!is_branch(&insn))
			continue;
		to = trace_insn_target(&insn, at);
		if (probe_jump_is_inside(region, to))
			return false;
		if (to - code->start >= code->end - code->start && is_moved_part(to, &part))
			*out_part = part;
	}
	return true;
}

/*
 * The function that the part was moved out of, by its name. Others may be called so: the right one
 * has branches to the part.
 */
static bool find_whole(const struct region *part, struct region *out_func)
{
	char name[TRACE_SYM_LEN], *end = name;
	uintptr_t start;
	size_t bytes;

	if (!trace_plat_symbol(part->start, name, &start, &bytes))
		return false;
	while (*end && __builtin_memcmp(end, ".cold", sizeof(".cold") - 1) != 0)
		end++;
	*end = '\0';
	start = trace_plat_symbol_find(name);
	if (!start || !trace_plat_symbol(start, name, &out_func->start, &bytes))
		return false;
	out_func->end = out_func->start + bytes;
	return out_func->start == start;
}

/* Is a region in a moved part, which is entered from its function only, left alone by both? */
static bool leave_part_alone(const struct region *part, const struct region *region)
{
	struct region func, found = { 0 }, none;

	return find_whole(part, &func) && leaves_alone(part, region, &none) &&
	       leaves_alone(&func, region, &found) && found.start == part->start;
}

size_t trace_plat_probe_jump_bytes(const struct trace_probe_place *place)
{
	const struct region func = { place->func, place->func + place->bytes };
	struct region region = { .start = place->addr }, part = { 0 }, none;
	size_t bytes = region_bytes(place->addr, func.end);

	region.end = place->addr + bytes;
	if (!bytes || trace_plat_probe_refusal(place->addr, bytes))
		return 0;
	if (is_moved_part(place->addr, &part))
		return leave_part_alone(&part, &region) ? bytes : 0;
	if (!leaves_alone(&func, &region, &part))
		return 0;
	if (part.end && !leaves_alone(&part, &region, &none))
		return 0;
	return bytes;
}

/* ---- Detours ---- */

/* The numbers in probe_detour_code.asm. */
_Static_assert(DETOUR_NOTE_AT - DETOUR_COPY_AT == 38, "where the note is");
_Static_assert(__builtin_offsetof(struct detour_note, probe) == 0, "first in the note");
_Static_assert(__builtin_offsetof(struct trace_plat_probe, only) == 0, "first in the probe");

/* Either is right for any place: the one for arguments goes on as the other when there is more. */
static uintptr_t entry_for(const struct trace_plat_probe *plat)
{
	return (uintptr_t)(atomic_load(&plat->only) ? trace_probe_detour_args : trace_probe_detour);
}

/* Copy the instructions of the region; false: an operand is too far away. */
static bool copy_region(uint8_t *code, uintptr_t detour, uintptr_t addr, size_t bytes)
{
	struct trace_insn insn;

	for (size_t at = 0; at < bytes; at += insn.length) {
		uint8_t *copy = code + DETOUR_COPY_AT + at;

		CHECK(!trace_probe_decode(addr + at, addr + bytes, &insn));
		trace_text_meant(addr + at, copy, insn.length);
		if (!trace_probe_move_operand(copy, &insn, addr + at, detour + DETOUR_COPY_AT + at))
			return false;
	}
	return true;
}

int trace_probe_jump_create(struct trace_plat_probe *plat, size_t bytes)
{
	uint8_t code[TRACE_EXEC_UNIT];
	struct plat_probe *probe = trace_probe_of(plat);
	uintptr_t addr = probe_addr(probe), detour, last = DETOUR_COPY_AT + bytes;
	struct detour_note note = { .probe = plat, .origin = probe->addr, .bytes = (uint8_t)bytes };

	CHECK(last + TRACE_INSN_SIZE <= DETOUR_NOTE_AT && !probe->detour);
	detour = trace_probe_detour_take();
	if (!detour)
		return -ENOMEM;
	__builtin_memset(code, INSN_INT3, sizeof(code));
	code[0] = INSN_PUSH;
	__builtin_memcpy(code + 1, &probe->addr, sizeof(probe->addr));
	insn_store(code + DETOUR_CALL_AT,
		   insn_make(INSN_CALL, detour + DETOUR_CALL_AT, entry_for(plat)));
	if (!copy_region(code, detour, addr, bytes)) {
		trace_probe_detour_free(detour);
		return -ENOMEM;
	}
	insn_store(code + last, insn_make(INSN_JMP, detour + last, addr + bytes));
	__builtin_memcpy(code + DETOUR_NOTE_AT, &note, sizeof(note));
	trace_text_write(detour, code, sizeof(code));
	probe->detour = trace_plat_ip_pack(detour);
	return 0;
}

void trace_plat_probe_jump_use(struct trace_plat_probe *plat, bool use)
{
	struct plat_probe *probe = trace_probe_of(plat);
	uint32_t copy = probe->slot;

	if (use)
		copy = trace_plat_ip_pack(trace_plat_ip_unpack(probe->detour) + DETOUR_COPY_AT);
	__atomic_store_n(&probe->copy, copy, __ATOMIC_RELEASE);
}

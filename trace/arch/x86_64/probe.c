/*
 * Preparing instructions to be probed: see <trace/platform_probes.h> and <trace/arch_probe.h>.
 */
#include <trace/arch_exec.h>
#include <trace/arch_text.h>

#include "check.h"
#include "insn.h"
#include "probe_private.h"

/* The bytes at `addr` as they are meant to be, up to `end`. Returns how many. */
static size_t read_code(uintptr_t addr, uintptr_t end, uint8_t *out_bytes)
{
	size_t len = end - addr < TRACE_INSN_MAX ? end - addr : TRACE_INSN_MAX;
	bool is_code;

	trace_plat_preempt_disable();
	is_code = trace_text_meant(addr, out_bytes, len);
	trace_plat_preempt_enable();
	return is_code ? len : 0;
}

int trace_probe_decode(uintptr_t addr, uintptr_t end, struct trace_insn *out_insn)
{
	uint8_t bytes[TRACE_INSN_MAX];
	size_t len = read_code(addr, end, bytes);

	return len ? trace_insn_decode(out_insn, bytes, len) : -EINVAL;
}

/* Decode from the start of the function up to the address: boundaries follow from those before. */
int trace_plat_probe_check(struct trace_probe_place *place)
{
	uintptr_t at = place->func, end = place->func + place->bytes;
	struct trace_insn insn;
	struct plat_probe probe;

	if (!trace_arch_has_frames()) {
		place->why = "this host has probes at call sites only";
		return -EINVAL;
	}
	for (;; at += insn.length) {
		if (trace_probe_decode(at, end, &insn)) {
			place->why = "what stands in front of it in the function is no code";
			return -EILSEQ;
		}
		if (place->addr < at + insn.length)
			break;
	}
	place->insn = at;
	place->insn_len = insn.length;
	if (at != place->addr) {
		place->why = "it is in the middle of the instruction";
		return -EILSEQ;
	}
	place->why = trace_probe_compile(&probe, &insn, at);
	return place->why ? -EINVAL : 0;
}

static bool needs_slot(const struct plat_probe *probe)
{
	return probe->action == PROBE_SLOT || probe->action == PROBE_JMP_MEM ||
	       probe->action == PROBE_CALL_MEM;
}

/* The slots that it needs and does not have yet. */
static int make_slots(struct plat_probe *probe, const struct trace_insn *insn, const uint8_t *bytes,
		      bool with_post)
{
	uintptr_t addr = probe_addr(probe), slot = 0, post_slot = 0;

	if (!needs_slot(probe))
		return 0;
	if (!probe->slot) {
		slot = trace_probe_slot_make(addr, insn, bytes, false);
		if (!slot)
			return -ENOMEM;
	}
	if (with_post && !probe->post_slot && probe->action == PROBE_SLOT) {
		post_slot = trace_probe_slot_make(addr, insn, bytes, true);
		if (!post_slot)
			goto free_slot;
	}
	if (slot)
		probe->slot = probe->copy = trace_plat_ip_pack(slot);
	if (post_slot)
		__atomic_store_n(&probe->post_slot, trace_plat_ip_pack(post_slot),
				 __ATOMIC_RELEASE);
	return 0;

free_slot:
	if (slot)
		trace_probe_slot_free(slot);
	return -ENOMEM;
}

int trace_probe_create(struct trace_plat_probe *plat, uintptr_t addr, bool with_post)
{
	struct plat_probe *probe = trace_probe_of(plat);
	uint8_t bytes[TRACE_INSN_MAX];
	struct trace_insn insn;

	trace_probe_become_consumer();
	CHECK(!trace_insn_decode(&insn, bytes, read_code(addr, addr + TRACE_INSN_MAX, bytes)));
	if (!probe->addr) {
		CHECK(!trace_probe_compile(probe, &insn, addr));
		probe->addr = trace_plat_ip_pack(addr);
		__builtin_memcpy(probe->original, bytes, sizeof(probe->original));
	}
	return make_slots(probe, &insn, bytes, with_post);
}

void trace_probe_destroy(struct trace_plat_probe *plat)
{
	struct plat_probe *probe = trace_probe_of(plat);

	if (probe->slot)
		trace_probe_slot_free(trace_plat_ip_unpack(probe->slot));
	if (probe->post_slot)
		trace_probe_slot_free(trace_plat_ip_unpack(probe->post_slot));
	if (probe->detour)
		trace_probe_detour_free(trace_plat_ip_unpack(probe->detour));
	*probe = (struct plat_probe){ 0 };
}

/* Make the range contain a piece of code; `addr` 0: there is none. */
static void probe_extend(uint32_t packed, size_t bytes, uintptr_t *first, uintptr_t *last)
{
	uintptr_t addr = trace_plat_ip_unpack(packed);

	if (!addr)
		return;
	if (!*first || addr < *first)
		*first = addr;
	if (addr + bytes - 1 > *last)
		*last = addr + bytes - 1;
}

void trace_plat_probe_code(const struct trace_plat_probe *plat, bool with_detour,
			   uintptr_t *out_first, uintptr_t *out_last)
{
	const struct plat_probe *probe = probe_of_const(plat);

	*out_first = 0;
	*out_last = 0;
	probe_extend(probe->slot, SLOT_BYTES, out_first, out_last);
	probe_extend(probe->post_slot, SLOT_BYTES, out_first, out_last);
	if (with_detour)
		probe_extend(probe->detour, TRACE_EXEC_UNIT, out_first, out_last);
}

static void put_state(const struct plat_probe *probe, enum trace_probe_state state,
		      uint8_t *out_insn)
{
	uintptr_t addr = probe_addr(probe);

	__builtin_memcpy(out_insn, probe->original, TRACE_INSN_SIZE);
	if (state == TRACE_PROBE_BREAKPOINT)
		out_insn[0] = INSN_INT3;
	else if (state == TRACE_PROBE_JUMP)
		insn_store(out_insn,
			   insn_make(INSN_JMP, addr, trace_plat_ip_unpack(probe->detour)));
}

void trace_plat_probe_poke(const struct trace_plat_probe *plat, enum trace_probe_state from,
			   enum trace_probe_state to, struct trace_poke *out_poke)
{
	const struct plat_probe *probe = probe_of_const(plat);

	*out_poke = (struct trace_poke){ .site = probe->addr, .is_probe = true };
	if (from != TRACE_PROBE_JUMP && to != TRACE_PROBE_JUMP)
		out_poke->len = 1;
	put_state(probe, from, out_poke->old_insn);
	put_state(probe, to, out_poke->new_insn);
}

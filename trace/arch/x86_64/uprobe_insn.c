/*
 * Instructions of programs at which probes are, done by hand or moved into slots: see <trace/arch_uprobe.h>.
 */
#include <trace/arch_uprobe.h>

#include "insn.h"
#include "probe_private.h"

/* The contents of trace_uprobe_insn.opaque. Its target is that of an instruction at address 0. */
struct uprobe_insn {
	uint64_t target;
	uint8_t action; /* enum probe_action */
	uint8_t what;
	uint8_t base, index, scale;
	uint8_t disp_offset;
	bool is_rip_relative;
	int32_t disp;
};
_Static_assert(sizeof(struct uprobe_insn) <= sizeof(((struct trace_uprobe_insn *)NULL)->opaque),
	       "it has room");

static const char uprobe_is_none[] = "no instruction begins there";

static const struct uprobe_insn *uprobe_insn_of(const struct trace_uprobe_insn *insn)
{
	return (const struct uprobe_insn *)(const void *)insn->opaque;
}

const char *trace_uprobe_prepare(const uint8_t *bytes, size_t len,
				 struct trace_uprobe_insn *out_insn)
{
	struct uprobe_insn *own = (struct uprobe_insn *)(void *)out_insn->opaque;
	struct plat_probe probe = { 0 };
	struct trace_insn insn;
	const char *why;

	out_insn->len = 0;
	if (trace_insn_decode(&insn, bytes, len))
		return uprobe_is_none;
	out_insn->len = insn.length;
	__builtin_memcpy(out_insn->bytes, bytes, insn.length);
	why = trace_probe_compile(&probe, &insn, 0);
	if (why)
		return why;
	*own = (struct uprobe_insn){
		.target = probe.target,
		.action = probe.action,
		.what = probe.what,
		.base = probe.base,
		.index = probe.index,
		.scale = probe.scale,
		.disp_offset = insn.disp_offset,
		.is_rip_relative = insn.is_rip_relative,
		.disp = (int32_t)insn.disp,
	};
	return NULL;
}

/* ---- By hand ---- */

static bool uprobe_insn_operand(const struct uprobe_insn *insn, const struct ftrace_regs *regs,
				uintptr_t *out_value)
{
	uintptr_t at = insn->target + (insn->is_rip_relative ? regs->rip : 0) +
		       trace_probe_register(regs, insn->base) +
		       trace_probe_register(regs, insn->index) * insn->scale;

	return trace_plat_uprobes()->read(out_value, at, sizeof(*out_value));
}

static enum trace_uprobe_step uprobe_insn_call(struct ftrace_regs *regs, uintptr_t next,
					       uintptr_t to)
{
	uintptr_t sp = regs->rsp - sizeof(next);

	if (!trace_plat_uprobes()->write(sp, &next, sizeof(next)))
		return TRACE_UPROBE_FAULT;
	regs->rsp = sp;
	regs->rip = to;
	return TRACE_UPROBE_DONE;
}

/* Jumps and calls. */
static TRACE_NOINLINE enum trace_uprobe_step uprobe_insn_go(const struct trace_uprobe_insn *insn,
							    struct ftrace_regs *regs)
{
	const struct uprobe_insn *own = uprobe_insn_of(insn);
	uintptr_t next = regs->rip + insn->len, to = regs->rip + own->target;

	switch (own->action) {
	case PROBE_JMP:
		regs->rip = to;
		return TRACE_UPROBE_DONE;
	case PROBE_JCC:
		regs->rip = trace_probe_holds(own->what, regs->rflags) ? to : next;
		return TRACE_UPROBE_DONE;
	case PROBE_LOOP:
		regs->rip = trace_probe_loops(own->what, regs) ? to : next;
		return TRACE_UPROBE_DONE;
	case PROBE_CALL:
		return uprobe_insn_call(regs, next, to);
	case PROBE_CALL_REG:
		return uprobe_insn_call(regs, next, trace_probe_register(regs, own->what));
	case PROBE_CALL_MEM:
		if (!uprobe_insn_operand(own, regs, &to))
			return TRACE_UPROBE_FAULT;
		return uprobe_insn_call(regs, next, to);
	default: /* returns and indirect jumps, too: they do not depend on where they are */
		return TRACE_UPROBE_SLOT_NEEDED;
	}
}

enum trace_uprobe_step trace_uprobe_emulate(const struct trace_uprobe_insn *insn,
					    struct ftrace_regs *regs)
{
	const struct uprobe_insn *own = uprobe_insn_of(insn);

	if (own->action == PROBE_SKIP) {
		regs->rip += insn->len;
		return TRACE_UPROBE_DONE;
	}
	return own->action == PROBE_SLOT ? TRACE_UPROBE_SLOT_NEEDED : uprobe_insn_go(insn, regs);
}

/* ---- Slots ---- */

static bool uprobe_insn_is_near(uintptr_t from, uintptr_t to)
{
	return (intptr_t)(int32_t)(intptr_t)(to - from) == (intptr_t)(to - from);
}

bool trace_uprobe_copy(const struct trace_uprobe_insn *insn, uintptr_t addr, uintptr_t slot,
		       uint8_t *out_code)
{
	const struct uprobe_insn *own = uprobe_insn_of(insn);
	int64_t disp = own->disp + (int64_t)(addr - slot);
	int32_t moved = (int32_t)disp;
	uint64_t jmp = insn_make(INSN_JMP, slot + insn->len, addr + insn->len);

	if (!uprobe_insn_is_near(slot, addr) || (own->is_rip_relative && moved != disp))
		return false;
	__builtin_memset(out_code, INSN_INT3, TRACE_UPROBE_SLOT);
	__builtin_memcpy(out_code, insn->bytes, insn->len);
	if (own->is_rip_relative)
		__builtin_memcpy(out_code + own->disp_offset, &moved, sizeof(moved));
	insn_store(out_code + insn->len, jmp);
	return true;
}

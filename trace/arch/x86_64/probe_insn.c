/*
 * Instructions that probes are at: which can be probed, how each is executed from elsewhere, and
 * those that change where the CPU is, done by hand. See probe_private.h.
 *
 * Manual: Intel SDM volume 2, the pages of CALL, JMP, Jcc, LOOP, RET.
 */
#include <trace/arch_exec.h>

#include "probe_private.h"

/* ---- Kinds of instructions ---- */

static const char refused_far[] = "the instruction changes segments";
static const char refused_mode[] = "the instruction enters or leaves the kernel";
static const char refused_waits[] = "the instruction waits for an interrupt, or lets one come "
				    "behind the next instruction";
static const char refused_traps[] = "the instruction is there to trap";
static const char refused_transaction[] = "the instruction belongs to a transaction";
static const char refused_form[] = "such a form of the instruction is not known to run elsewhere";

/* Of kinds that are refused in any form. */
static const char *refused_kind(uint32_t kind)
{
	switch (kind) {
	case TRACE_INSN_JMP_FAR:
	case TRACE_INSN_CALL_FAR:
	case TRACE_INSN_RET_FAR:
	case TRACE_INSN_MOV_SS:
		return refused_far;
	case TRACE_INSN_IRET:
	case TRACE_INSN_SYSCALL:
	case TRACE_INSN_SYSRET:
	case TRACE_INSN_SYSENTER:
	case TRACE_INSN_SYSEXIT:
	case TRACE_INSN_UIRET:
	case TRACE_INSN_SWAPGS:
	case TRACE_INSN_VM:
		return refused_mode;
	case TRACE_INSN_STI:
	case TRACE_INSN_HLT:
	case TRACE_INSN_MWAIT:
		return refused_waits;
	case TRACE_INSN_INT3:
	case TRACE_INSN_INT:
	case TRACE_INSN_INT1:
	case TRACE_INSN_UD:
		return refused_traps;
	case TRACE_INSN_XBEGIN:
	case TRACE_INSN_XEND:
	case TRACE_INSN_XABORT:
		return refused_transaction;
	default:
		return NULL;
	}
}

static enum probe_action action_of(const struct trace_insn *insn)
{
	switch (insn->kind) {
	case TRACE_INSN_NOP:
	case TRACE_INSN_ENDBR:
		return PROBE_SKIP;
	case TRACE_INSN_JMP_SHORT:
	case TRACE_INSN_JMP_NEAR:
		return PROBE_JMP;
	case TRACE_INSN_JCC_SHORT:
	case TRACE_INSN_JCC_NEAR:
		return PROBE_JCC;
	case TRACE_INSN_LOOP:
		return PROBE_LOOP;
	case TRACE_INSN_CALL_NEAR:
		return PROBE_CALL;
	case TRACE_INSN_RET:
	case TRACE_INSN_RET_IMM:
		return PROBE_RET;
	case TRACE_INSN_JMP_INDIRECT:
		return insn->is_memory_operand ? PROBE_JMP_MEM : PROBE_JMP_REG;
	case TRACE_INSN_CALL_INDIRECT:
		return insn->is_memory_operand ? PROBE_CALL_MEM : PROBE_CALL_REG;
	default:
		return PROBE_SLOT;
	}
}

/* Prefixes that would change what emulation or a moved operand have to do. */
static bool is_known_form(const struct trace_insn *insn, enum probe_action action)
{
	if (action == PROBE_SKIP)
		return true;
	if (insn->is_rip_relative && insn->prefixes & TRACE_INSN_ADDRSIZE)
		return false;
	return action == PROBE_SLOT || !(insn->prefixes & (TRACE_INSN_OPSIZE | TRACE_INSN_ADDRSIZE |
							   TRACE_INSN_FS | TRACE_INSN_GS));
}

const char *trace_probe_compile(struct plat_probe *probe, const struct trace_insn *insn,
				uintptr_t addr)
{
	enum probe_action action = action_of(insn);
	const char *why = refused_kind(insn->kind);

	if (why)
		return why;
	if (!is_known_form(insn, action))
		return refused_form;
	probe->len = insn->length;
	probe->action = (uint8_t)action;
	probe->what = insn->opcode & (action == PROBE_JCC ? 0x0f : 0xff);
	probe->base = insn->base;
	probe->index = insn->index;
	probe->scale = insn->scale;
	if (trace_insn_is_relative(insn))
		probe->target = trace_insn_target(insn, addr);
	else if (action == PROBE_RET)
		probe->target = (uintptr_t)insn->imm;
	else
		probe->target =
			(uintptr_t)insn->disp + (insn->is_rip_relative ? addr + insn->length : 0);
	if (action == PROBE_JMP_REG || action == PROBE_CALL_REG)
		probe->what = (uint8_t)((insn->modrm & 7) | (insn->rex & TRACE_INSN_REX_B ? 8 : 0));
	return NULL;
}

/* ---- By hand ---- */

#define FLAG_CF (1u << 0)
#define FLAG_PF (1u << 2)
#define FLAG_ZF (1u << 6)
#define FLAG_SF (1u << 7)
#define FLAG_OF (1u << 11)

static bool is_less(uint64_t flags)
{
	return !(flags & FLAG_SF) != !(flags & FLAG_OF);
}

/* The codes come in pairs, of which the second is the opposite. */
bool trace_probe_holds(uint32_t condition, uint64_t flags)
{
	bool first;

	switch (condition >> 1) {
	case 0:
		first = flags & FLAG_OF;
		break;
	case 1:
		first = flags & FLAG_CF;
		break;
	case 2:
		first = flags & FLAG_ZF;
		break;
	case 3:
		first = flags & (FLAG_CF | FLAG_ZF);
		break;
	case 4:
		first = flags & FLAG_SF;
		break;
	case 5:
		first = flags & FLAG_PF;
		break;
	case 6:
		first = is_less(flags);
		break;
	default:
		first = (flags & FLAG_ZF) || is_less(flags);
		break;
	}
	return first != (condition & 1);
}

bool trace_probe_loops(uint32_t opcode, struct ftrace_regs *regs)
{
	if (opcode == 0xe3) /* jrcxz */
		return !regs->rcx;
	if (!--regs->rcx)
		return false;
	return opcode == 0xe2 || !(regs->rflags & FLAG_ZF) == (opcode == 0xe0);
}

uint64_t trace_probe_register(const struct ftrace_regs *regs, uint32_t nr)
{
	static const uint8_t offsets[] = {
		offsetof(struct ftrace_regs, rax), offsetof(struct ftrace_regs, rcx),
		offsetof(struct ftrace_regs, rdx), offsetof(struct ftrace_regs, rbx),
		offsetof(struct ftrace_regs, rsp), offsetof(struct ftrace_regs, rbp),
		offsetof(struct ftrace_regs, rsi), offsetof(struct ftrace_regs, rdi),
		offsetof(struct ftrace_regs, r8),  offsetof(struct ftrace_regs, r9),
		offsetof(struct ftrace_regs, r10), offsetof(struct ftrace_regs, r11),
		offsetof(struct ftrace_regs, r12), offsetof(struct ftrace_regs, r13),
		offsetof(struct ftrace_regs, r14), offsetof(struct ftrace_regs, r15),
	};

	return nr < sizeof(offsets)
		       ? *(const uint64_t *)(const void *)((const uint8_t *)regs + offsets[nr])
		       : 0;
}

static bool read_operand(const struct plat_probe *probe, const struct ftrace_regs *regs,
			 uintptr_t *out_value)
{
	uintptr_t at = probe->target + trace_probe_register(regs, probe->base) +
		       trace_probe_register(regs, probe->index) * probe->scale;

	return trace_plat_read(out_value, (const void *)at, sizeof(*out_value));
}

static void push(struct ftrace_regs *regs, uintptr_t value)
{
	regs->rsp -= sizeof(value);
	*(volatile uintptr_t *)regs->rsp = value;
}

static void return_from(struct ftrace_regs *regs, uintptr_t more_bytes)
{
	regs->rip = *(const volatile uintptr_t *)regs->rsp;
	regs->rsp += sizeof(uintptr_t) + more_bytes;
}

bool trace_probe_emulate(const struct plat_probe *probe, struct ftrace_regs *regs)
{
	uintptr_t next = probe_addr(probe) + probe->len, to = probe->target;
	bool is_call = false;

	switch (probe->action) {
	case PROBE_SLOT:
		return false;
	case PROBE_SKIP:
		if (__atomic_load_n(&probe->copy, __ATOMIC_RELAXED))
			return false; /* the next instruction is done in the detour */
		to = next;
		break;
	case PROBE_JCC:
		to = trace_probe_holds(probe->what, regs->rflags) ? to : next;
		break;
	case PROBE_LOOP:
		to = trace_probe_loops(probe->what, regs) ? to : next;
		break;
	case PROBE_RET:
		return_from(regs, to);
		return true;
	case PROBE_CALL:
		is_call = true;
		break;
	case PROBE_JMP_REG:
	case PROBE_CALL_REG:
		to = trace_probe_register(regs, probe->what);
		is_call = probe->action == PROBE_CALL_REG;
		break;
	case PROBE_JMP_MEM:
	case PROBE_CALL_MEM:
		if (!read_operand(probe, regs, &to))
			return false;
		is_call = probe->action == PROBE_CALL_MEM;
		break;
	default: /* PROBE_JMP */
		break;
	}
	if (is_call)
		push(regs, next);
	regs->rip = to;
	return true;
}

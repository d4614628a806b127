/* See compare.h. */
#include "compare.h"

#include <stdio.h>
#include <string.h>
#include <Zydis/Zydis.h>
#include <trace/arch_decode.h>

/* One instruction as both see it. */
struct pair {
	const uint8_t *text;
	int err;
	struct trace_insn ours;
	ZyanStatus status;
	ZydisDecodedInstruction theirs;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* ---- Kinds ---- */

static const struct {
	ZydisMnemonic mnemonic;
	enum trace_insn_kind kind;
} kinds[] = {
	{ ZYDIS_MNEMONIC_RET, TRACE_INSN_RET },
	{ ZYDIS_MNEMONIC_IRET, TRACE_INSN_IRET },
	{ ZYDIS_MNEMONIC_IRETD, TRACE_INSN_IRET },
	{ ZYDIS_MNEMONIC_IRETQ, TRACE_INSN_IRET },
	{ ZYDIS_MNEMONIC_SYSCALL, TRACE_INSN_SYSCALL },
	{ ZYDIS_MNEMONIC_SYSRET, TRACE_INSN_SYSRET },
	{ ZYDIS_MNEMONIC_SYSENTER, TRACE_INSN_SYSENTER },
	{ ZYDIS_MNEMONIC_SYSEXIT, TRACE_INSN_SYSEXIT },
	{ ZYDIS_MNEMONIC_UIRET, TRACE_INSN_UIRET },
	{ ZYDIS_MNEMONIC_XABORT, TRACE_INSN_XABORT },
	{ ZYDIS_MNEMONIC_XBEGIN, TRACE_INSN_XBEGIN },
	{ ZYDIS_MNEMONIC_XEND, TRACE_INSN_XEND },
	{ ZYDIS_MNEMONIC_INT3, TRACE_INSN_INT3 },
	{ ZYDIS_MNEMONIC_INT, TRACE_INSN_INT },
	{ ZYDIS_MNEMONIC_INT1, TRACE_INSN_INT1 },
	{ ZYDIS_MNEMONIC_UD0, TRACE_INSN_UD },
	{ ZYDIS_MNEMONIC_UD1, TRACE_INSN_UD },
	{ ZYDIS_MNEMONIC_UD2, TRACE_INSN_UD },
	{ ZYDIS_MNEMONIC_PUSHF, TRACE_INSN_PUSHF },
	{ ZYDIS_MNEMONIC_PUSHFQ, TRACE_INSN_PUSHF },
	{ ZYDIS_MNEMONIC_POPF, TRACE_INSN_POPF },
	{ ZYDIS_MNEMONIC_POPFQ, TRACE_INSN_POPF },
	{ ZYDIS_MNEMONIC_CLI, TRACE_INSN_CLI },
	{ ZYDIS_MNEMONIC_STI, TRACE_INSN_STI },
	{ ZYDIS_MNEMONIC_HLT, TRACE_INSN_HLT },
	{ ZYDIS_MNEMONIC_MWAIT, TRACE_INSN_MWAIT },
	{ ZYDIS_MNEMONIC_MWAITX, TRACE_INSN_MWAIT },
	{ ZYDIS_MNEMONIC_TPAUSE, TRACE_INSN_MWAIT },
	{ ZYDIS_MNEMONIC_UMWAIT, TRACE_INSN_MWAIT },
	{ ZYDIS_MNEMONIC_SWAPGS, TRACE_INSN_SWAPGS },
	{ ZYDIS_MNEMONIC_ENDBR64, TRACE_INSN_ENDBR },
	{ ZYDIS_MNEMONIC_ENDBR32, TRACE_INSN_ENDBR },
	{ ZYDIS_MNEMONIC_NOP, TRACE_INSN_NOP },
	{ ZYDIS_MNEMONIC_LOOP, TRACE_INSN_LOOP },
	{ ZYDIS_MNEMONIC_LOOPE, TRACE_INSN_LOOP },
	{ ZYDIS_MNEMONIC_LOOPNE, TRACE_INSN_LOOP },
	{ ZYDIS_MNEMONIC_JCXZ, TRACE_INSN_LOOP },
	{ ZYDIS_MNEMONIC_JECXZ, TRACE_INSN_LOOP },
	{ ZYDIS_MNEMONIC_JRCXZ, TRACE_INSN_LOOP },
	{ ZYDIS_MNEMONIC_VMCALL, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_VMLAUNCH, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_VMRESUME, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_VMXOFF, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_VMFUNC, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_VMRUN, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_VMMCALL, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_PREFETCHWT1, TRACE_INSN_NOP },
	{ ZYDIS_MNEMONIC_VMLOAD, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_VMSAVE, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_STGI, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_CLGI, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_SKINIT, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_RSM, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_GETSEC, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_ENCLS, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_ENCLU, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_ENCLV, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_TDCALL, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_SEAMCALL, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_SEAMOPS, TRACE_INSN_VM },
	{ ZYDIS_MNEMONIC_SEAMRET, TRACE_INSN_VM },
};

/* Jumps, conditional or not, and calls: near and far, by distance and not. */
static enum trace_insn_kind kind_of_branch(const struct pair *pair)
{
	const ZydisDecodedInstruction *theirs = &pair->theirs;
	bool is_relative = theirs->raw.imm[0].is_relative, is_short = theirs->raw.imm[0].size == 8;
	bool is_far = theirs->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	if (theirs->mnemonic == ZYDIS_MNEMONIC_CALL)
		return is_far	     ? TRACE_INSN_CALL_FAR
		       : is_relative ? TRACE_INSN_CALL_NEAR
				     : TRACE_INSN_CALL_INDIRECT;
	if (theirs->mnemonic == ZYDIS_MNEMONIC_JMP && !is_relative)
		return is_far ? TRACE_INSN_JMP_FAR : TRACE_INSN_JMP_INDIRECT;
	if (theirs->mnemonic == ZYDIS_MNEMONIC_JMP)
		return is_short ? TRACE_INSN_JMP_SHORT : TRACE_INSN_JMP_NEAR;
	return is_short ? TRACE_INSN_JCC_SHORT : TRACE_INSN_JCC_NEAR;
}

static bool is_nop(const ZydisDecodedInstruction *theirs)
{
	switch (theirs->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return true;
	default:
		break;
	}
	/* pause, and what stands in the opcodes of hints */
	return theirs->mnemonic == ZYDIS_MNEMONIC_PAUSE ||
	       (theirs->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
		theirs->opcode_map == ZYDIS_OPCODE_MAP_0F && theirs->opcode >= 0x18 &&
		theirs->opcode <= 0x1f);
}

static enum trace_insn_kind kind_of(const struct pair *pair)
{
	const ZydisDecodedInstruction *theirs = &pair->theirs;

	if (theirs->mnemonic == ZYDIS_MNEMONIC_RET) {
		if (theirs->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return TRACE_INSN_RET_FAR;
		return theirs->raw.imm[0].size ? TRACE_INSN_RET_IMM : TRACE_INSN_RET;
	}
	if (theirs->mnemonic == ZYDIS_MNEMONIC_MOV &&
	    pair->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    pair->operands[0].reg.value == ZYDIS_REGISTER_SS)
		return TRACE_INSN_MOV_SS;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].mnemonic == theirs->mnemonic)
			return kinds[i].kind;
	}
	if (theirs->mnemonic == ZYDIS_MNEMONIC_CALL ||
	    theirs->meta.category == ZYDIS_CATEGORY_COND_BR ||
	    theirs->meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		return kind_of_branch(pair);
	return is_nop(theirs) ? TRACE_INSN_NOP : TRACE_INSN_ORDINARY;
}

/* ---- Operands ---- */

struct memory {
	const ZydisDecodedOperand *explicit_one;
	bool is_read;
	bool is_written;
	bool is_stack;
};

static struct memory memory_of(const struct pair *pair)
{
	struct memory memory = { 0 };

	for (size_t i = 0; i < pair->theirs.operand_count; i++) {
		const ZydisDecodedOperand *operand = &pair->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		    (operand->reg.value == ZYDIS_REGISTER_RSP ||
		     operand->reg.value == ZYDIS_REGISTER_SP))
			memory.is_stack = true;
		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			memory.explicit_one = operand;
		if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			memory.is_read = true;
		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			memory.is_written = true;
	}
	return memory;
}

/* 0 to 31, whatever its class and size. */
static uint8_t number_of(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_NONE ? TRACE_INSN_NO_REG : (uint8_t)ZydisRegisterGetId(reg);
}

/*
 * With 67 and REX.B, Zydis 4.0 takes r13 for the base of a SIB without one, and drops the displacement. REX.B
 * is not looked at there (SDM volume 2, table 2-5), and LLVM agrees.
 */
static bool is_lost_base(const struct trace_insn *ours)
{
	return ours->prefixes & TRACE_INSN_ADDRSIZE && ours->rex & TRACE_INSN_REX_B &&
	       ours->has_sib && ours->modrm >> 6 == 0 && (ours->sib & 7) == 5;
}

static const char *compare_address(const struct pair *pair, const ZydisDecodedOperand *operand)
{
	const struct trace_insn *ours = &pair->ours;
	bool is_rip =
		operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP;

	if (ours->is_rip_relative != is_rip)
		return "rip-relative";
	if (!is_rip && ours->base != number_of(operand->mem.base) && !is_lost_base(ours))
		return "base";
	if (ours->index != number_of(operand->mem.index))
		return "index";
	if (ours->index != TRACE_INSN_NO_REG && ours->scale != operand->mem.scale &&
	    operand->mem.scale)
		return "scale";
	return NULL;
}

static const char *compare_memory(const struct pair *pair)
{
	const struct trace_insn *ours = &pair->ours;
	struct memory memory = memory_of(pair);
	bool is_modrm = memory.explicit_one && pair->theirs.attributes & ZYDIS_ATTRIB_HAS_MODRM;

	if (ours->is_memory_operand && memory.explicit_one) {
		const char *what = compare_address(pair, memory.explicit_one);

		if (what)
			return what;
	}
	if (is_modrm && !ours->is_memory_operand)
		return "memory operand";
	if (ours->reads_memory != memory.is_read)
		return ours->reads_memory ? "reads" : "reads not";
	if (ours->writes_memory != memory.is_written)
		return ours->writes_memory ? "writes" : "writes not";
	if (ours->uses_stack != memory.is_stack)
		return "stack";
	return NULL;
}

/* ---- Bytes ---- */

static const char *compare_parts(const struct pair *pair)
{
	const struct trace_insn *ours = &pair->ours;
	const ZydisDecodedInstruction *theirs = &pair->theirs;

	if (ours->length != theirs->length)
		return "length";
	if (ours->opcode != theirs->opcode)
		return "opcode";
	if (ours->has_modrm != !!(theirs->attributes & ZYDIS_ATTRIB_HAS_MODRM) ||
	    (ours->has_modrm && pair->text[theirs->raw.modrm.offset] != ours->modrm))
		return "ModRM";
	if (ours->has_sib != !!(theirs->attributes & ZYDIS_ATTRIB_HAS_SIB))
		return "SIB";
	if (ours->disp_size * 8 != theirs->raw.disp.size ||
	    ours->disp_offset != theirs->raw.disp.offset ||
	    memcmp(&ours->disp, &theirs->raw.disp.value, ours->disp_size) != 0)
		return "displacement";
	if (ours->imm_size * 8 != theirs->raw.imm[0].size ||
	    ours->imm_offset != theirs->raw.imm[0].offset)
		return "immediate";
	if (memcmp(&ours->imm, &theirs->raw.imm[0].value, ours->imm_size) != 0)
		return "value of the immediate";
	if (ours->imm2_size * 8 != theirs->raw.imm[1].size ||
	    (ours->imm2_size && ours->imm2 != theirs->raw.imm[1].value.u))
		return "second immediate";
	return NULL;
}

static const char *compare_branch(const struct pair *pair)
{
	const struct trace_insn *ours = &pair->ours;
	ZyanU64 target;

	if (ours->kind != kind_of(pair))
		return "kind";
	if (trace_insn_is_relative(ours) != pair->theirs.raw.imm[0].is_relative)
		return "relative";
	if (!trace_insn_is_relative(ours))
		return NULL;
	if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&pair->theirs, &pair->operands[0],
						   0x123456789000, &target)) ||
	    target != trace_insn_target(ours, 0x123456789000))
		return "target";
	return NULL;
}

/* ---- Permitted differences ---- */

#define NR_ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

/* `what` of an opcode of a map; the first one that fits counts. */
static struct {
	const char *what;
	uint8_t map, first, last;
	const char *why;
	unsigned long count;
} allowed[] = {
	{ "reads not", 1, 0x0d, 0x0d,
	  "prefetches give no data to anybody: a breakpoint on data, a fault "
	  "do not come of them (PREFETCHh)",
	  0 },
	{ "reads not", 1, 0x18, 0x1f, "the same; reserved NOPs access nothing (NOP)", 0 },
	{ "writes not", 1, 0x1b, 0x1b,
	  "MPX is gone, its opcodes are NOPs without it (volume 1, 17)", 0 },
	{ "they refuse", 1, 0x1a, 0x1b, "MPX, with bounds that do not exist, or without memory",
	  0 },
	{ "reads not", 1, 0xb9, 0xb9, "ud1 raises #UD before it reads (UD)", 0 },
	{ "reads not", 1, 0xff, 0xff, "ud0 likewise", 0 },
	{ "reads not", 1, 0x01, 0x01, "invlpg: an address, no access (INVLPG)", 0 },
	{ "reads not", 1, 0xae, 0xae, "clflush, clflushopt, clwb: a line of the cache, no data",
	  0 },
	{ "writes", 2, 0xf8, 0xf8, "enqcmd, enqcmds write to the device (ENQCMD)", 0 },
	{ "writes", 1, 0xc7, 0xc7, "vmclear writes the VMCS to memory (VMCLEAR)", 0 },
	{ "writes", 1, 0xa6, 0xa6, "VIA's montmul stores its result", 0 },
	{ "reads", 1, 0x01, 0x01, "uiret pops (UIRET)", 0 },
	{ "writes", 1, 0x01, 0x01,
	  "saveprevssp pushes on the other shadow stack (SAVEPREVSSP); clzero "
	  "clears a line (AMD, CLZERO)",
	  0 },
};

static bool is_allowed(const struct trace_insn *ours, const char *what)
{
	for (size_t i = 0; i < NR_ALLOWED; i++) {
		if (ours->map == allowed[i].map && ours->opcode >= allowed[i].first &&
		    ours->opcode <= allowed[i].last && ours->encoding == TRACE_INSN_LEGACY &&
		    strcmp(what, allowed[i].what) == 0) {
			allowed[i].count++;
			return true;
		}
	}
	return false;
}

void compare_print_allowed(void)
{
	for (size_t i = 0; i < NR_ALLOWED; i++)
		printf("%9lu %s: map %u, %02x: %s\n", allowed[i].count, allowed[i].what,
		       allowed[i].map, allowed[i].first, allowed[i].why);
}

/* Instructions of a processor that had others in the same bytes, and that no kernel of today runs on. */
static bool is_of_knights_corner(const ZydisDecodedInstruction *theirs)
{
	return theirs->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX ||
	       strncmp(ZydisISASetGetString(theirs->meta.isa_set), "KNC", 3) == 0;
}

const char *compare_insn(const uint8_t *text, size_t room, size_t *out_length)
{
	static ZydisDecoder decoder;
	static bool is_ready;
	struct pair pair = { .text = text };
	const char *what;

	if (!is_ready)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	is_ready = true;
	pair.err = trace_insn_decode(&pair.ours, text, room);
	pair.status = ZydisDecoderDecodeFull(&decoder, text, room, &pair.theirs, pair.operands);
	*out_length = pair.err ? 1 : pair.ours.length;
	if (ZYAN_SUCCESS(pair.status) && is_of_knights_corner(&pair.theirs))
		pair.status = ZYDIS_STATUS_DECODING_ERROR;
	if (pair.err && !ZYAN_SUCCESS(pair.status))
		return NULL;
	if (pair.err)
		return "we refuse";
	if (!ZYAN_SUCCESS(pair.status))
		what = "they refuse";
	else
		what = compare_parts(&pair);
	if (!what)
		what = compare_branch(&pair);
	if (!what)
		what = compare_memory(&pair);
	return what && !is_allowed(&pair.ours, what) ? what : NULL;
}

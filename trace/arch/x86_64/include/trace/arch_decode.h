/*
 * The decoder of instructions, for breakpoints on them, copies that run elsewhere, and jumps
 * written over them. 64-bit mode only. Manual: Intel SDM volume 2, chapter 2 (formats) and appendix
 * A (opcode maps).
 *
 *   | legacy prefixes | REX, VEX, EVEX or XOP | opcode | ModRM | SIB | displacement | immediate |
 *                                                                   ^ disp_offset    ^ imm_offset
 *
 * Offsets count from the first byte. Parts that the instruction lacks have the length 0; registers
 * that it lacks are TRACE_INSN_NO_REG.
 *
 * Where processors differ, this follows Intel's: 66 before a near branch changes nothing there,
 * while AMD's take it for 16-bit operands, which makes other lengths. `is_vendor_specific` tells.
 *
 * Context: any; no memory but what is passed. Not traced.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_DECODE_H
#define TRACE_ARCH_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

#define TRACE_INSN_MAX	  15 /* bytes */
#define TRACE_INSN_NO_REG 0xff

enum trace_insn_encoding {
	TRACE_INSN_LEGACY,
	TRACE_INSN_VEX,
	TRACE_INSN_EVEX,
	TRACE_INSN_XOP,
};

/*
 * Opcode maps. VEX, EVEX and XOP number theirs themselves: EVEX has 1 to 3, 5 and 6, XOP 8 to 10.
 */
#define TRACE_INSN_MAP_ONE_BYTE 0
#define TRACE_INSN_MAP_0F	1
#define TRACE_INSN_MAP_0F38	2
#define TRACE_INSN_MAP_0F3A	3
#define TRACE_INSN_MAP_3DNOW	15 /* 0F 0F; the opcode is the last byte of the instruction */

/* Bits of `prefixes`. */
#define TRACE_INSN_LOCK	    0x001
#define TRACE_INSN_REPNE    0x002 /* F2; of both, only the last one counts and is here */
#define TRACE_INSN_REP	    0x004 /* F3 */
#define TRACE_INSN_OPSIZE   0x008
#define TRACE_INSN_ADDRSIZE 0x010
#define TRACE_INSN_ES	    0x020 /* es, cs, ss and ds change nothing in 64-bit mode */
#define TRACE_INSN_CS	    0x040
#define TRACE_INSN_SS	    0x080
#define TRACE_INSN_DS	    0x100
#define TRACE_INSN_FS	    0x200
#define TRACE_INSN_GS	    0x400

/* Bits of `rex`, also where VEX, EVEX or XOP say the same. */
#define TRACE_INSN_REX_B 1
#define TRACE_INSN_REX_X 2
#define TRACE_INSN_REX_R 4
#define TRACE_INSN_REX_W 8

/* The effect of an instruction on the flow of control, or on interrupts. */
enum trace_insn_kind {
	TRACE_INSN_ORDINARY, /* goes on behind itself */
	TRACE_INSN_NOP,	     /* and does nothing: 90, 0F 0D, 0F 18 to 0F 1F, hints among them */
	TRACE_INSN_ENDBR,    /* endbr64, endbr32 */
	/* `imm` is the distance from the end of the instruction */
	TRACE_INSN_JMP_SHORT,
	TRACE_INSN_JMP_NEAR,
	TRACE_INSN_JCC_SHORT,
	TRACE_INSN_JCC_NEAR,
	TRACE_INSN_LOOP, /* loopne, loope, loop, jrcxz */
	TRACE_INSN_CALL_NEAR,
	TRACE_INSN_XBEGIN, /* with the place where an aborted transaction goes on */
	/* to what a register or memory says */
	TRACE_INSN_JMP_INDIRECT,
	TRACE_INSN_JMP_FAR,
	TRACE_INSN_CALL_INDIRECT,
	TRACE_INSN_CALL_FAR,
	TRACE_INSN_RET,
	TRACE_INSN_RET_IMM,
	TRACE_INSN_RET_FAR, /* with an immediate, too */
	TRACE_INSN_IRET,
	TRACE_INSN_SYSCALL,
	TRACE_INSN_SYSRET,
	TRACE_INSN_SYSENTER,
	TRACE_INSN_SYSEXIT,
	TRACE_INSN_UIRET,
	TRACE_INSN_VM, /* vmcall, vmlaunch, vmresume, vmrun, rsm and others that leave for elsewhere */
	TRACE_INSN_XABORT,
	TRACE_INSN_XEND,
	/* traps */
	TRACE_INSN_INT3,
	TRACE_INSN_INT,
	TRACE_INSN_INT1,
	TRACE_INSN_UD, /* ud0, ud1, ud2: defined to be undefined */
	/* flags and interrupts */
	TRACE_INSN_PUSHF, /* stores TF and IF */
	TRACE_INSN_POPF,  /* changes them */
	TRACE_INSN_CLI,
	TRACE_INSN_STI, /* the next instruction is not interrupted */
	TRACE_INSN_MOV_SS, /* after it, neither interrupts nor traps of TF until the next one is done */
	TRACE_INSN_HLT,
	TRACE_INSN_MWAIT, /* waits as hlt does: mwait, mwaitx, tpause, umwait */
	TRACE_INSN_SWAPGS,
};

struct trace_insn {
	uint8_t length;
	uint8_t encoding; /* enum trace_insn_encoding */
	uint8_t map;
	uint8_t opcode;
	uint8_t kind; /* enum trace_insn_kind */
	uint8_t rex;  /* 40 to 4F; 0: none. VEX, EVEX and XOP: their bits, right way up */
	uint8_t modrm;
	uint8_t sib;
	uint16_t prefixes;
	bool has_modrm;
	bool has_sib;

	uint8_t opcode_offset; /* of 3DNow! that of the second 0F */
	uint8_t disp_offset;   /* displacement of ModRM, or the address of A0 to A3 */
	uint8_t disp_size;
	uint8_t imm_offset; /* immediate, or the distance of a branch */
	uint8_t imm_size;
	uint8_t imm2_size; /* enter, extrq, insertq have a second one right behind it */
	int64_t disp;	   /* sign extended; of EVEX not scaled */
	int64_t imm;	   /* sign extended, but for the first of enter and that of ret */
	uint8_t imm2;

	/* The memory operand of ModRM: base + index * scale + disp. No base, if rip is. */
	uint8_t base;  /* 0 to 15, 4 is rsp */
	uint8_t index; /* to 31, if it is a vector of several addresses */
	uint8_t scale;
	bool is_memory_operand; /* ModRM names memory, even if nothing is read or written (lea) */
	bool is_vector_index;
	bool is_rip_relative; /* disp counts from the end of the instruction */

	bool reads_memory; /* anywhere: ModRM, stack, strings */
	bool writes_memory;
	bool uses_stack; /* moves rsp without naming it: push, pop, call, ret, enter, leave */
	bool is_vendor_specific;
};

/*
 * Decode the instruction at `text`, of which `room` bytes may be read. 0; -EINVAL if it is not
 * defined in 64-bit mode; -ENODATA if it is longer than `room`; -E2BIG if it is longer than an
 * instruction may be. After an error `out_insn` means nothing.
 */
int trace_insn_decode(struct trace_insn *out_insn, const void *text, size_t room);

/* Has it a distance to a place that is known: jumps, calls, loops, xbegin. */
static inline bool trace_insn_is_relative(const struct trace_insn *insn)
{
	return insn->kind >= TRACE_INSN_JMP_SHORT && insn->kind <= TRACE_INSN_XBEGIN;
}

/* The target of such an instruction at `addr`. */
static inline uintptr_t trace_insn_target(const struct trace_insn *insn, uintptr_t addr)
{
	return addr + insn->length + (uintptr_t)insn->imm;
}

TRACE_END_DECLS

#endif

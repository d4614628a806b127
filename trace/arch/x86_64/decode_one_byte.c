/*
 * The one-byte opcode map in 64-bit mode (SDM volume 2, table A-2; groups A-6; x87 ),
 * for decode.c. Prefixes, 0F, and C4, C5, 62 and 8F of VEX, EVEX and XOP are not in it.
 */
#include <stddef.h>
#include "decode_tables.h"

#define PLAIN(first, last, what)      ROW(first, last, 0, 0, 0, what, ORDINARY)
#define FLOW(opcode, what, kind)      ROW(opcode, opcode, 0, 0, 0, what, kind)
#define MODRM(first, last, what)      ROW(first, last, BOTH, ANY, ANY, what, ORDINARY)
#define GROUP(opcode, mod, reg, what) ROW(opcode, opcode, mod, reg, ANY, what, ORDINARY)

#define ROW(first, last, mod, reg, rm, what, kind)                                                 \
	{                                                                                          \
		first, last, PP_ANY, mod, reg, rm, what, TRACE_INSN_##kind                         \
	}
#define ANY 0xff

/* Masks of ModRM.reg. */
#define N(n)	   (1 << (n))
#define N_TO(a, b) ((2 << (b)) - (1 << (a)))

/* add, or, adc, sbb, and, sub, xor: the same six opcodes each */
#define ARITHMETIC(opcode)                                                                         \
	MODRM(opcode, (opcode) + 1, R | W | LOCK), MODRM((opcode) + 2, (opcode) + 3, R),           \
		PLAIN((opcode) + 4, (opcode) + 4, IB), PLAIN((opcode) + 5, (opcode) + 5, IZ)

static const struct decode_row decode_one_byte_rows[] = {
	ARITHMETIC(0x00),
	ARITHMETIC(0x08),
	ARITHMETIC(0x10),
	ARITHMETIC(0x18),
	ARITHMETIC(0x20),
	ARITHMETIC(0x28),
	ARITHMETIC(0x30),
	MODRM(0x38, 0x3b, R), /* cmp */
	PLAIN(0x3c, 0x3c, IB),
	PLAIN(0x3d, 0x3d, IZ),

	PLAIN(0x50, 0x57, PUSH),
	PLAIN(0x58, 0x5f, POP),
	MODRM(0x63, 0x63, R), /* movsxd */
	PLAIN(0x68, 0x68, IZ | PUSH),
	MODRM(0x69, 0x69, IZ | R), /* imul */
	PLAIN(0x6a, 0x6a, IB | PUSH),
	MODRM(0x6b, 0x6b, IB | R),
	PLAIN(0x6c, 0x6d, W | ALWAYS), /* ins */
	PLAIN(0x6e, 0x6f, R | ALWAYS), /* outs */
	ROW(0x70, 0x7f, 0, 0, 0, JB, JCC_SHORT),

	GROUP(0x80, BOTH, N_TO(0, 6), IB | R | W | LOCK),
	GROUP(0x80, BOTH, N(7), IB | R), /* cmp */
	GROUP(0x81, BOTH, N_TO(0, 6), IZ | R | W | LOCK),
	GROUP(0x81, BOTH, N(7), IZ | R),
	GROUP(0x83, BOTH, N_TO(0, 6), IB | R | W | LOCK),
	GROUP(0x83, BOTH, N(7), IB | R),
	MODRM(0x84, 0x85, R),		 /* test */
	MODRM(0x86, 0x87, R | W | LOCK), /* xchg */
	MODRM(0x88, 0x89, W),		 /* mov */
	MODRM(0x8a, 0x8b, R),
	GROUP(0x8c, BOTH, N_TO(0, 5), W),	 /* mov from a segment register */
	GROUP(0x8d, MEM, ANY, 0),		 /* lea */
	GROUP(0x8e, BOTH, N(0) | N_TO(3, 5), R), /* mov to a segment register, not to cs */
	ROW(0x8e, 0x8e, BOTH, N(2), ANY, R, MOV_SS),
	GROUP(0x8f, BOTH, N(0), W | POP),

	FLOW(0x90, 0, NOP), /* with REX.B an xchg: see decode.c */
	PLAIN(0x91, 0x99, 0),
	PLAIN(0x9b, 0x9b, 0), /* fwait */
	FLOW(0x9c, PUSH, PUSHF),
	FLOW(0x9d, POP, POPF),
	PLAIN(0x9e, 0x9f, 0),		    /* sahf, lahf */
	PLAIN(0xa0, 0xa1, IO | R | ALWAYS), /* mov with an address in full */
	PLAIN(0xa2, 0xa3, IO | W | ALWAYS),
	PLAIN(0xa4, 0xa5, R | W | ALWAYS), /* movs */
	PLAIN(0xa6, 0xa7, R | ALWAYS),	   /* cmps */
	PLAIN(0xa8, 0xa8, IB),		   /* test */
	PLAIN(0xa9, 0xa9, IZ),
	PLAIN(0xaa, 0xab, W | ALWAYS), /* stos */
	PLAIN(0xac, 0xaf, R | ALWAYS), /* lods, scas */
	PLAIN(0xb0, 0xb7, IB),	       /* mov */
	PLAIN(0xb8, 0xbf, IV),

	MODRM(0xc0, 0xc0, IB | R | W), /* rol, ror, rcl, rcr, shl, shr, sar */
	MODRM(0xc1, 0xc1, IB | R | W),
	FLOW(0xc2, IW | POP, RET_IMM),
	FLOW(0xc3, POP, RET),
	GROUP(0xc6, BOTH, N(0), IB | W), /* mov */
	ROW(0xc6, 0xc6, REG, N(7), N(0), IB, XABORT),
	GROUP(0xc7, BOTH, N(0), IZ | W),
	ROW(0xc7, 0xc7, REG, N(7), N(0), IZ, XBEGIN),
	PLAIN(0xc8, 0xc8, IWIB | PUSH), /* enter */
	PLAIN(0xc9, 0xc9, POP),		/* leave */
	FLOW(0xca, IW | POP, RET_FAR),
	FLOW(0xcb, POP, RET_FAR),
	FLOW(0xcc, 0, INT3),
	FLOW(0xcd, IB, INT),
	FLOW(0xcf, POP, IRET),

	MODRM(0xd0, 0xd3, R | W),      /* shifts again */
	PLAIN(0xd7, 0xd7, R | ALWAYS), /* xlat */
	/* x87 */
	MODRM(0xd8, 0xd8, R),
	GROUP(0xd9, MEM, N(0) | N_TO(4, 5), R), /* fld, fldenv, fldcw */
	GROUP(0xd9, MEM, N_TO(2, 3) | N_TO(6, 7), W),
	GROUP(0xd9, REG, N_TO(0, 1) | N(3) | N_TO(6, 7), 0),
	ROW(0xd9, 0xd9, REG, N(2), N(0), 0, ORDINARY), /* fnop */
	ROW(0xd9, 0xd9, REG, N(4), N_TO(0, 1) | N_TO(4, 5), 0, ORDINARY),
	ROW(0xd9, 0xd9, REG, N(5), N_TO(0, 6), 0, ORDINARY),
	GROUP(0xda, MEM, ANY, R),
	GROUP(0xda, REG, N_TO(0, 3), 0),	       /* fcmov */
	ROW(0xda, 0xda, REG, N(5), N(1), 0, ORDINARY), /* fucompp */
	GROUP(0xdb, MEM, N(0) | N(5), R),
	GROUP(0xdb, MEM, N_TO(1, 3) | N(7), W),
	GROUP(0xdb, REG, N_TO(0, 3) | N_TO(5, 6), 0),
	ROW(0xdb, 0xdb, REG, N(4), N_TO(0, 4), 0, ORDINARY), /* fnclex, fninit; of the 8087 */
	MODRM(0xdc, 0xdc, R),
	GROUP(0xdd, MEM, N(0) | N(4), R),
	GROUP(0xdd, MEM, N_TO(1, 3) | N_TO(6, 7), W),
	GROUP(0xdd, REG, N_TO(0, 5), 0),
	GROUP(0xde, MEM, ANY, R),
	GROUP(0xde, REG, N_TO(0, 2) | N_TO(4, 7), 0),
	ROW(0xde, 0xde, REG, N(3), N(1), 0, ORDINARY), /* fcompp */
	GROUP(0xdf, MEM, N(0) | N_TO(4, 5), R),
	GROUP(0xdf, MEM, N_TO(1, 3) | N_TO(6, 7), W),
	GROUP(0xdf, REG, N_TO(0, 3) | N_TO(5, 6), 0),
	ROW(0xdf, 0xdf, REG, N(4), N(0), 0, ORDINARY), /* fnstsw ax */

	ROW(0xe0, 0xe3, 0, 0, 0, JB, LOOP),
	PLAIN(0xe4, 0xe7, IB), /* in, out */
	FLOW(0xe8, JZ | PUSH, CALL_NEAR),
	FLOW(0xe9, JZ, JMP_NEAR),
	FLOW(0xeb, JB, JMP_SHORT),
	PLAIN(0xec, 0xef, 0), /* in, out */

	FLOW(0xf1, 0, INT1),
	FLOW(0xf4, 0, HLT),
	PLAIN(0xf5, 0xf5, 0),		       /* cmc */
	GROUP(0xf6, BOTH, N_TO(0, 1), IB | R), /* test; the others have no immediate */
	GROUP(0xf6, BOTH, N_TO(2, 3), R | W | LOCK),
	GROUP(0xf6, BOTH, N_TO(4, 7), R),
	GROUP(0xf7, BOTH, N_TO(0, 1), IZ | R),
	GROUP(0xf7, BOTH, N_TO(2, 3), R | W | LOCK),
	GROUP(0xf7, BOTH, N_TO(4, 7), R),
	PLAIN(0xf8, 0xf9, 0), /* clc, stc */
	FLOW(0xfa, 0, CLI),
	FLOW(0xfb, 0, STI),
	PLAIN(0xfc, 0xfd, 0),			     /* cld, std */
	GROUP(0xfe, BOTH, N_TO(0, 1), R | W | LOCK), /* inc, dec */
	GROUP(0xff, BOTH, N_TO(0, 1), R | W | LOCK),
	ROW(0xff, 0xff, BOTH, N(2), ANY, R | PUSH, CALL_INDIRECT),
	ROW(0xff, 0xff, MEM, N(3), ANY, R | PUSH, CALL_FAR),
	ROW(0xff, 0xff, BOTH, N(4), ANY, R, JMP_INDIRECT),
	ROW(0xff, 0xff, MEM, N(5), ANY, R, JMP_FAR),
	GROUP(0xff, BOTH, N(6), R | PUSH),
};

const struct decode_map trace_decode_one_byte = {
	decode_one_byte_rows, sizeof(decode_one_byte_rows) / sizeof(decode_one_byte_rows[0])
};

/*
 * Opcode maps with VEX, EVEX and XOP as rows, for decode_vector.c. As in decode_tables.h, a row is
 * for the opcodes `first` to `last`, and rows are sorted; here at most one fits.
 */
#ifndef DECODE_VECTOR_ROWS_H
#define DECODE_VECTOR_ROWS_H

#include "decode_tables.h"

/*
 * Forms of ModRM, beside MEM, REG and BOTH: those of EVEX.b, which are broadcast, and rounding or
 * SAE.
 */
#define MEM_B 4
#define REG_B 8
#define BCST  (BOTH | MEM_B)

/*
 * The allowed values of W, and of the length: REG_B has the way of rounding there, and takes any.
 */
#define W0    0x01
#define W1    0x02
#define W_ANY (W0 | W1)
#define L128  0x10
#define L256  0x20
#define L512  0x40
#define L_ANY (L128 | L256 | L512)

/* Masks of ModRM.reg. */
#define ALL  0xff
#define N(n) (1 << (n))

/* In `what`, beside IB, ID, R and W. */
#define VV	 0x0040 /* vvvv is a register; it has to be clear otherwise */
#define V8	 0x0080 /* that is one of 8 */
#define REG8	 0x0100 /* ModRM.reg is one of 8, of masks or tiles */
#define REG16	 0x0200 /* ModRM.reg is one of 16, without EVEX.R' */
#define RM8	 0x0400 /* ModRM.rm is one of 8 */
#define MASK	 0x0800 /* EVEX.aaa may be set */
#define ZERO	 0x1000 /* EVEX.z may be set */
#define VSIB	 0x2000 /* a SIB, whose index is a vector; EVEX.aaa has to be set */
#define DISTINCT 0x4000 /* no two of its registers may be the same */
#define FIXED	 0x8000 /* memory: there is a SIB; registers: ModRM.rm is 0 */
#define MZ	 (MASK | ZERO)
#define VMZ	 (VV | MZ)

struct decode_vector_row {
	uint8_t first;
	uint8_t last;
	uint8_t pp_form; /* pp, and the forms in the upper half */
	uint8_t w_length;
	uint8_t reg;
	uint16_t what;
};

#define ROW(first, last, pp, form, w_length, reg, what)                                            \
	{                                                                                          \
		first, last, (pp) | (form) << 4, w_length, reg, what                               \
	}
#define MAP(rows)                                                                                  \
	{                                                                                          \
		rows, sizeof(rows) / sizeof((rows)[0])                                             \
	}

struct decode_vector_map {
	const struct decode_vector_row *rows;
	size_t nr;
};

extern const struct decode_vector_map trace_decode_vex_0f;
extern const struct decode_vector_map trace_decode_vex_0f38;
extern const struct decode_vector_map trace_decode_vex_0f3a;
extern const struct decode_vector_map trace_decode_xop_8;
extern const struct decode_vector_map trace_decode_xop_9;
extern const struct decode_vector_map trace_decode_xop_10;
extern const struct decode_vector_map trace_decode_evex_0f;
extern const struct decode_vector_map trace_decode_evex_0f38;
extern const struct decode_vector_map trace_decode_evex_0f3a;
extern const struct decode_vector_map trace_decode_evex_5;
extern const struct decode_vector_map trace_decode_evex_6;

#endif

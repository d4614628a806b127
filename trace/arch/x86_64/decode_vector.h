/*
 * Instructions with VEX, EVEX or XOP (SDM volume 2, 2.3 and 2.7; AMD's manual, volume 3, 1.2.7).
 *
 * Context: any; not traced.
 */
#ifndef DECODE_VECTOR_H
#define DECODE_VECTOR_H

#include "decode_cursor.h"
#include "decode_tables.h"

/* The fields of such a prefix besides map and REX; inverted bits are turned over. */
struct decode_vector {
	uint8_t pp;	/* one of PP_NO, PP_66, PP_F3, PP_F2 */
	uint8_t length; /* 0 to 3: 128, 256, 512 bits, none */
	uint8_t vvvv;	/* the register; EVEX: 5 bits with V' */
	/* EVEX */
	uint8_t mask; /* aaa */
	bool is_zeroing;
	bool has_b; /* broadcast, rounding, no exceptions */
	bool has_r; /* R' */
};

/*
 * Read prefix and opcode, of which `byte` is the first. -EINVAL if another prefix stands before it
 * that must not, or a fixed bit is wrong.
 */
int trace_decode_vector_head(struct trace_insn *insn, struct decode_cursor *cursor, uint8_t byte,
			     struct decode_vector *out_vector);

/* All but vzeroupper and vzeroall have one. */
bool trace_decode_vector_has_modrm(const struct trace_insn *insn);

/*
 * Decode the instruction with ModRM known: its immediate and its effect, as in struct decode_row.
 * -EINVAL if it is undefined.
 */
int trace_decode_vector_what(struct trace_insn *insn, const struct decode_vector *vector,
			     uint16_t *out_what);

#endif

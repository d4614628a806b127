/*
 * The opcode maps as rows, for decode.c.
 *
 * A row is for the opcodes `first` to `last`; the first one that fits prefix and ModRM counts, and
 * if there is none the instruction is undefined. Rows are sorted, and ranges of two rows are the
 * same or do not touch.
 */
#ifndef DECODE_TABLES_H
#define DECODE_TABLES_H

#include <trace/arch_decode.h>

/* The prefixes that choose an instruction: none, 66, F3, F2. */
#define PP_NO  1
#define PP_66  2
#define PP_F3  4
#define PP_F2  8
#define PP_ANY 15

/* The allowed forms of ModRM; 0 for an instruction without one. */
#define MEM  1
#define REG  2
#define BOTH 3

/* The immediate that follows: of a fixed size, or of that of the operand. */
enum decode_imm {
	IMM_NO,
	IB,
	IW,   /* 2 bytes */
	IZ,   /* 2 or 4 */
	IV,   /* 2, 4 or 8 */
	IO,   /* an address: 8, or 4 */
	IWIB, /* enter */
	IBIB, /* extrq, insertq */
	JB,
	JZ, /* 4 */
	ID, /* 4 */
};
#define IMM_MASK 0x0f

/*
 * The access to memory: at ModRM's address if that is memory, or at that of A0 to A3 and of
 * strings.
 */
#define R      0x10
#define W      0x20
#define LOCK   0x40 /* may have the prefix, if that is memory */
#define PUSH   0x80
#define POP    0x100
#define STACK  0x200 /* moves rsp, and neither reads nor writes */
#define ALWAYS 0x400 /* R and W are no matter of ModRM */
#define CR     0x800 /* mov to and from control registers: ModRM names registers, whatever `mod` is */

struct decode_row {
	uint8_t first;
	uint8_t last;
	uint8_t pp;
	uint8_t mod;
	uint8_t reg; /* masks: bit 0 for ModRM.reg == 0, and so on */
	uint8_t rm;
	uint16_t what;
	uint8_t kind;
};

struct decode_map {
	const struct decode_row *rows;
	size_t nr;
};

extern const struct decode_map trace_decode_one_byte;
extern const struct decode_map trace_decode_0f;
extern const struct decode_map trace_decode_0f38;
extern const struct decode_map trace_decode_0f3a;

/* Is there an instruction 0F 0F ... `suffix`? */
bool trace_decode_3dnow_exists(uint8_t suffix);

#endif

/* Instructions with VEX, EVEX or XOP, see decode_vector.h. */
#include <stddef.h>
#include "decode_vector.h"

#define DECODE_FORBIDDEN (TRACE_INSN_LOCK | TRACE_INSN_REPNE | TRACE_INSN_REP | TRACE_INSN_OPSIZE)

/* The byte of VEX2 behind C5, the last one of the others: W vvvv L pp, and what goes with it. */
static void vector_last_byte(struct trace_insn *insn, struct decode_vector *vector, uint8_t byte)
{
	vector->pp = (uint8_t)(1 << (byte & 3));
	vector->vvvv = ~byte >> 3 & 15;
	vector->length = byte >> 2 & 1;
	if (byte & 0x80)
		insn->rex |= TRACE_INSN_REX_W;
}

static int vector_vex2(struct trace_insn *insn, struct decode_cursor *cursor,
		       struct decode_vector *vector)
{
	uint8_t byte = decode_byte(cursor);

	insn->encoding = TRACE_INSN_VEX;
	insn->map = TRACE_INSN_MAP_0F;
	vector_last_byte(insn, vector, byte & 0x7f);
	insn->rex = byte & 0x80 ? 0 : TRACE_INSN_REX_R;
	return 0;
}

/* VEX3, and XOP, which has the same form and other maps. */
static int vector_vex3(struct trace_insn *insn, struct decode_cursor *cursor,
		       struct decode_vector *vector, bool is_xop)
{
	uint8_t byte = decode_byte(cursor), map = byte & 0x1f;

	insn->encoding = is_xop ? TRACE_INSN_XOP : TRACE_INSN_VEX;
	insn->map = map;
	insn->rex = ~byte >> 5 & 7;
	vector_last_byte(insn, vector, decode_byte(cursor));
	if (is_xop)
		return map <= 10 ? 0 : -EINVAL;
	return map >= 1 && map <= 3 ? 0 : -EINVAL;
}

static int vector_evex(struct trace_insn *insn, struct decode_cursor *cursor,
		       struct decode_vector *vector)
{
	uint8_t first = decode_byte(cursor), middle = decode_byte(cursor);
	uint8_t last = decode_byte(cursor);

	insn->encoding = TRACE_INSN_EVEX;
	insn->map = first & 7;
	insn->rex = ~first >> 5 & 7;
	vector_last_byte(insn, vector, middle);
	vector->has_r = !(first & 0x10);
	vector->vvvv |= (uint8_t)((~last & 8) << 1);
	vector->length = last >> 5 & 3;
	vector->mask = last & 7;
	vector->has_b = last & 0x10;
	vector->is_zeroing = last & 0x80;
	if (first & 8 || !(middle & 4) || insn->map == 0 || insn->map == 4 || insn->map == 7)
		return -EINVAL;
	return 0;
}

int trace_decode_vector_head(struct trace_insn *insn, struct decode_cursor *cursor, uint8_t byte,
			     struct decode_vector *out_vector)
{
	int err;

	if (insn->rex || insn->prefixes & DECODE_FORBIDDEN)
		return -EINVAL;
	*out_vector = (struct decode_vector){ 0 };
	if (byte == 0xc5)
		err = vector_vex2(insn, cursor, out_vector);
	else if (byte == 0x62)
		err = vector_evex(insn, cursor, out_vector);
	else
		err = vector_vex3(insn, cursor, out_vector, byte == 0x8f);
	if (!cursor->err && err)
		return err;
	insn->opcode_offset = cursor->at;
	insn->opcode = decode_byte(cursor);
	return cursor->err;
}

bool trace_decode_vector_has_modrm(const struct trace_insn *insn)
{
	return insn->encoding != TRACE_INSN_VEX || insn->map != TRACE_INSN_MAP_0F ||
	       insn->opcode != 0x77;
}

/* The immediate that every instruction of a map has, but for those of map 0F. */
static uint16_t vector_imm(const struct trace_insn *insn)
{
	uint8_t opcode = insn->opcode;

	if (insn->map == TRACE_INSN_MAP_0F3A || insn->map == 8)
		return IB;
	if (insn->map == 10)
		return ID;
	if (insn->map == TRACE_INSN_MAP_0F &&
	    ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
	     (opcode >= 0xc4 && opcode <= 0xc6)))
		return IB;
	return IMM_NO;
}

int trace_decode_vector_what(const struct trace_insn *insn, const struct decode_vector *vector,
			     uint16_t *out_what)
{
	(void)vector;
	*out_what = (uint16_t)(vector_imm(insn) | R | W);
	return 0;
}

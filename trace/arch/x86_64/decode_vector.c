/* Instructions with VEX, EVEX or XOP, see decode_vector.h. */
#include <stddef.h>
#include "decode_vector.h"
#include "decode_vector_rows.h"

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

static const struct decode_vector_map *vector_map(const struct trace_insn *insn)
{
	static const struct decode_vector_map *const maps[][11] = {
		[TRACE_INSN_VEX] = { NULL, &trace_decode_vex_0f, &trace_decode_vex_0f38,
				     &trace_decode_vex_0f3a },
		[TRACE_INSN_EVEX] = { NULL, &trace_decode_evex_0f, &trace_decode_evex_0f38,
				      &trace_decode_evex_0f3a, NULL, &trace_decode_evex_5,
				      &trace_decode_evex_6 },
		[TRACE_INSN_XOP] = { [8] = &trace_decode_xop_8,
				     &trace_decode_xop_9,
				     &trace_decode_xop_10 },
	};

	return maps[insn->encoding][insn->map];
}

/* The first row of the opcode, or the one behind. */
static size_t vector_find(const struct decode_vector_map *map, uint8_t opcode)
{
	size_t low = 0, high = map->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (map->rows[middle].last < opcode)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool vector_fits(const struct decode_vector_row *row, const struct trace_insn *insn,
			const struct decode_vector *vector)
{
	uint8_t form = insn->is_memory_operand || !insn->has_modrm ? MEM : REG;
	uint8_t w = insn->rex & TRACE_INSN_REX_W ? W1 : W0;

	if (vector->has_b)
		form = (uint8_t)(form << 2);
	if (!(row->pp_form & vector->pp) || !(row->pp_form >> 4 & form) || !(row->w_length & w))
		return false;
	if (form != REG_B && !(row->w_length & L128 << vector->length))
		return false;
	return row->reg & 1 << (insn->modrm >> 3 & 7);
}

/* The index is a vector: 4 is one, too, and EVEX.V' makes 32 of them. */
static void vector_index(struct trace_insn *insn, const struct decode_vector *vector)
{
	insn->is_vector_index = true;
	insn->index = (uint8_t)((insn->sib >> 3 & 7) | (insn->rex & TRACE_INSN_REX_X) << 2 |
				(vector->vvvv & 16));
	insn->scale = (uint8_t)(1 << (insn->sib >> 6));
}

/* Registers by their numbers: ModRM.reg, ModRM.rm. */
static uint8_t vector_reg(const struct trace_insn *insn, const struct decode_vector *vector)
{
	return (uint8_t)((insn->modrm >> 3 & 7) | (insn->rex & TRACE_INSN_REX_R) << 1 |
			 vector->has_r << 4);
}

static uint8_t vector_rm(const struct trace_insn *insn)
{
	return (uint8_t)((insn->modrm & 7) | (insn->rex & TRACE_INSN_REX_B) << 3 |
			 (insn->encoding == TRACE_INSN_EVEX ? (insn->rex & TRACE_INSN_REX_X) << 3
							    : 0));
}

/* Is any register named twice of those that have to differ? */
static bool vector_is_twice(const struct trace_insn *insn, const struct decode_vector *vector,
			    uint16_t what)
{
	uint8_t reg = vector_reg(insn, vector), other = vector_rm(insn);

	if (what & VSIB)
		other = insn->index;
	if (reg == other && !(insn->is_memory_operand && !(what & VSIB)))
		return true;
	if (!(what & VV))
		return false;
	if (reg == vector->vvvv)
		return true;
	/* sources may be the same, but for tiles, and for a mask that is a register */
	return insn->encoding == TRACE_INSN_VEX && vector->vvvv == other;
}

/* Do the registers exist, and may they be those? */
static bool vector_registers_are_good(const struct trace_insn *insn,
				      const struct decode_vector *vector, uint16_t what)
{
	if (!(what & VV) && vector->vvvv & (what & VSIB ? 15 : 31))
		return false;
	if (what & V8 && vector->vvvv >= 8)
		return false;
	if (what & REG8 && vector_reg(insn, vector) >= 8)
		return false;
	if (what & REG16 && vector->has_r)
		return false;
	if (what & RM8 && insn->rex & TRACE_INSN_REX_B)
		return false;
	if (what & (FIXED | VSIB) && (insn->modrm & 7) != (insn->is_memory_operand ? 4 : 0))
		return false;
	return !(what & DISTINCT) || !vector_is_twice(insn, vector, what);
}

static bool vector_mask_is_good(const struct trace_insn *insn, const struct decode_vector *vector,
				uint16_t what)
{
	if (vector->mask && !(what & MASK))
		return false;
	if (vector->is_zeroing && (!(what & ZERO) || !vector->mask))
		return false;
	return vector->mask || !(what & VSIB) || insn->encoding != TRACE_INSN_EVEX;
}

/* vmaskmovdqu stores to where rdi points: no row has room for that. */
static bool vector_is_maskmov(const struct trace_insn *insn)
{
	return insn->encoding == TRACE_INSN_VEX && insn->map == TRACE_INSN_MAP_0F &&
	       insn->opcode == 0xf7;
}

int trace_decode_vector_what(struct trace_insn *insn, const struct decode_vector *vector,
			     uint16_t *out_what)
{
	const struct decode_vector_map *map = vector_map(insn);
	size_t at = vector_find(map, insn->opcode);

	while (at < map->nr && map->rows[at].first <= insn->opcode &&
	       !vector_fits(&map->rows[at], insn, vector))
		at++;
	if (at == map->nr || map->rows[at].first > insn->opcode)
		return -EINVAL;
	*out_what = map->rows[at].what;
	if (*out_what & VSIB)
		vector_index(insn, vector);
	if (!vector_registers_are_good(insn, vector, *out_what) ||
	    !vector_mask_is_good(insn, vector, *out_what))
		return -EINVAL;
	*out_what &= IMM_MASK | R | W;
	if (vector_is_maskmov(insn))
		*out_what |= W | ALWAYS;
	return 0;
}

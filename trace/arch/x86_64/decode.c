/*
 * The decoder of instructions, see <trace/arch_decode.h>: prefixes, then the opcode and its map,
 * then ModRM and what it brings along, then the row of decode_tables.h, which says what is left.
 */
#include <stddef.h>
#include <trace/arch_decode.h>
#include <trace/errno.h>
#include "decode_cursor.h"
#include "decode_tables.h"
#include "decode_vector.h"

static uint16_t decode_prefix_of(uint8_t byte)
{
	switch (byte) {
	case 0x26:
		return TRACE_INSN_ES;
	case 0x2e:
		return TRACE_INSN_CS;
	case 0x36:
		return TRACE_INSN_SS;
	case 0x3e:
		return TRACE_INSN_DS;
	case 0x64:
		return TRACE_INSN_FS;
	case 0x65:
		return TRACE_INSN_GS;
	case 0x66:
		return TRACE_INSN_OPSIZE;
	case 0x67:
		return TRACE_INSN_ADDRSIZE;
	case 0xf0:
		return TRACE_INSN_LOCK;
	case 0xf2:
		return TRACE_INSN_REPNE;
	case 0xf3:
		return TRACE_INSN_REP;
	default:
		return 0;
	}
}

#define DECODE_REPEATS (TRACE_INSN_REPNE | TRACE_INSN_REP)
#define DECODE_SEGMENTS                                                                            \
	(TRACE_INSN_ES | TRACE_INSN_CS | TRACE_INSN_SS | TRACE_INSN_DS | TRACE_INSN_FS |           \
	 TRACE_INSN_GS)

/*
 * Legacy prefixes, in any order, and a REX. Returns the byte behind them. Of F2 and F3, and of
 * segments, the last one counts; a REX counts if nothing is between it and the opcode (SDM volume
 * 2, 2.2.1).
 */
static uint8_t decode_prefixes(struct trace_insn *insn, struct decode_cursor *cursor)
{
	for (;;) {
		uint8_t byte = decode_byte(cursor);
		uint16_t prefix = decode_prefix_of(byte);

		if ((byte & 0xf0) == 0x40) {
			insn->rex = byte;
			continue;
		}
		if (!prefix)
			return byte;
		insn->rex = 0;
		if (prefix & DECODE_REPEATS)
			insn->prefixes &= (uint16_t)~DECODE_REPEATS;
		if (prefix & DECODE_SEGMENTS)
			insn->prefixes &= (uint16_t)~DECODE_SEGMENTS;
		insn->prefixes |= prefix;
	}
}

/* The opcode of the legacy maps, whose first byte is `byte`. */
static const struct decode_map *decode_opcode(struct trace_insn *insn, struct decode_cursor *cursor,
					      uint8_t byte)
{
	insn->opcode = byte;
	if (byte != 0x0f)
		return &trace_decode_one_byte;

	insn->opcode_offset = cursor->at;
	insn->opcode = decode_byte(cursor);
	insn->map = TRACE_INSN_MAP_0F;
	if (insn->opcode == 0x38) {
		insn->map = TRACE_INSN_MAP_0F38;
		insn->opcode_offset = cursor->at;
		insn->opcode = decode_byte(cursor);
		return &trace_decode_0f38;
	}
	if (insn->opcode == 0x3a) {
		insn->map = TRACE_INSN_MAP_0F3A;
		insn->opcode_offset = cursor->at;
		insn->opcode = decode_byte(cursor);
		return &trace_decode_0f3a;
	}
	if (insn->opcode == 0x0f)
		insn->map = TRACE_INSN_MAP_3DNOW;
	return &trace_decode_0f;
}

/* The first row of `opcode`; NULL if there is none. */
static const struct decode_row *decode_find(const struct decode_map *map, uint8_t opcode)
{
	size_t low = 0, high = map->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (map->rows[middle].last < opcode)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->nr && map->rows[low].first <= opcode ? &map->rows[low] : NULL;
}

/* The PP_ value that the prefixes choose. F2 and F3 come before 66. */
static uint8_t decode_pp(const struct trace_insn *insn)
{
	if (insn->prefixes & TRACE_INSN_REP)
		return PP_F3;
	if (insn->prefixes & TRACE_INSN_REPNE)
		return PP_F2;
	return insn->prefixes & TRACE_INSN_OPSIZE ? PP_66 : PP_NO;
}

/* Does the row fit prefix and ModRM? */
static bool decode_fits(const struct decode_row *row, const struct trace_insn *insn)
{
	bool is_register = insn->modrm >> 6 == 3 || row->what & CR;

	if (!(row->pp & decode_pp(insn)))
		return false;
	if (!row->mod)
		return true;
	if (row->what & CR && insn->rex & TRACE_INSN_REX_R &&
	    (insn->opcode & 1 || insn->modrm & 0x38))
		return false; /* of the registers from 8 on there is only cr8 */
	return row->mod & (is_register ? REG : MEM) && row->reg & 1 << (insn->modrm >> 3 & 7) &&
	       row->rm & 1 << (insn->modrm & 7);
}

static const struct decode_row *decode_choose(const struct decode_map *map,
					      const struct decode_row *row,
					      const struct trace_insn *insn)
{
	for (; row < map->rows + map->nr && row->first <= insn->opcode; row++) {
		if (decode_fits(row, insn))
			return row;
	}
	return NULL;
}

/* SIB and displacement, if ModRM names memory (SDM volume 2, 2.1.5 and 2.2.1). */
static void decode_memory(struct trace_insn *insn, struct decode_cursor *cursor)
{
	uint8_t mod = insn->modrm >> 6, base = insn->modrm & 7;

	insn->is_memory_operand = true;
	if (base == 4) {
		uint8_t index;

		insn->sib = decode_byte(cursor);
		insn->has_sib = true;
		base = insn->sib & 7;
		index = (uint8_t)((insn->sib >> 3 & 7) | (insn->rex & TRACE_INSN_REX_X) << 2);
		if (index != 4) { /* 4: none */
			insn->index = index;
			insn->scale = (uint8_t)(1 << (insn->sib >> 6));
		}
	}
	insn->disp_size = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (mod == 0 && base == 5) {
		insn->is_rip_relative = !insn->has_sib;
		insn->disp_size = 4;
	} else {
		insn->base = (uint8_t)(base | (insn->rex & TRACE_INSN_REX_B) << 3);
	}
	insn->disp_offset = insn->disp_size ? cursor->at : 0;
	insn->disp = decode_signed(cursor, insn->disp_size);
}

static void decode_modrm(struct trace_insn *insn, struct decode_cursor *cursor, bool is_register)
{
	insn->modrm = decode_byte(cursor);
	insn->has_modrm = true;
	if (insn->modrm >> 6 != 3 && !is_register)
		decode_memory(insn, cursor);
}

/* The size of an immediate, without a second one. */
static uint8_t decode_imm_size(const struct trace_insn *insn, unsigned int imm)
{
	bool is_wide = insn->rex & TRACE_INSN_REX_W;
	bool is_short = insn->prefixes & TRACE_INSN_OPSIZE && !is_wide;

	switch (imm) {
	case IB:
	case IBIB:
	case JB:
		return 1;
	case IW:
	case IWIB:
		return 2;
	case IZ:
		return is_short ? 2 : 4;
	case IV:
		return is_wide ? 8 : is_short ? 2 : 4;
	case JZ:
	case ID:
		return 4;
	case IO:
		return insn->prefixes & TRACE_INSN_ADDRSIZE ? 4 : 8;
	default:
		return 0;
	}
}

/* Decode the rest: immediates, or the address of A0 to A3, which counts as a displacement. */
static void decode_imm(struct trace_insn *insn, struct decode_cursor *cursor, unsigned int imm)
{
	uint8_t size = decode_imm_size(insn, imm), offset = size ? cursor->at : 0;

	if (imm == IO) {
		insn->disp_size = size;
		insn->disp_offset = offset;
		insn->disp = (int64_t)decode_number(cursor, size);
		return;
	}
	insn->imm_size = size;
	insn->imm_offset = offset;
	if (imm == IW || imm == IWIB)
		insn->imm = (int64_t)decode_number(cursor, size);
	else
		insn->imm = decode_signed(cursor, size);
	if (imm == IWIB || imm == IBIB) {
		insn->imm2_size = 1;
		insn->imm2 = decode_byte(cursor);
	}
}

static void decode_facts(struct trace_insn *insn, unsigned int what)
{
	bool is_memory = insn->is_memory_operand || what & ALWAYS;

	insn->reads_memory = (what & R && is_memory) || what & POP;
	insn->writes_memory = (what & W && is_memory) || what & PUSH;
	insn->uses_stack = what & (PUSH | POP | STACK);
}

/* Is it a branch that AMD's processors do with 16 bits behind a 66? */
static bool decode_is_near_branch(uint8_t kind)
{
	switch (kind) {
	case TRACE_INSN_JMP_NEAR:
	case TRACE_INSN_JMP_SHORT:
	case TRACE_INSN_JCC_NEAR:
	case TRACE_INSN_JCC_SHORT:
	case TRACE_INSN_LOOP:
	case TRACE_INSN_CALL_NEAR:
	case TRACE_INSN_JMP_INDIRECT:
	case TRACE_INSN_CALL_INDIRECT:
	case TRACE_INSN_RET:
	case TRACE_INSN_RET_IMM:
		return true;
	default:
		return false;
	}
}

/* Add the properties that a row cannot express. */
static void decode_amend(struct trace_insn *insn)
{
	if (insn->map == TRACE_INSN_MAP_ONE_BYTE && insn->opcode == 0x90 &&
	    insn->rex & TRACE_INSN_REX_B && !(insn->prefixes & TRACE_INSN_REP))
		insn->kind = TRACE_INSN_ORDINARY; /* xchg r8, rax */
	insn->is_vendor_specific =
		insn->prefixes & TRACE_INSN_OPSIZE && decode_is_near_branch(insn->kind);
}

/* Decode the byte behind everything else, which is the opcode of a 3DNow! instruction. */
static int decode_3dnow(struct trace_insn *insn, struct decode_cursor *cursor)
{
	insn->opcode = decode_byte(cursor);
	if (cursor->err)
		return cursor->err;
	return trace_decode_3dnow_exists(insn->opcode) ? 0 : -EINVAL;
}

/* Everything behind the prefixes of an instruction of the legacy maps, which begins with `byte`. */
static int decode_legacy(struct trace_insn *insn, struct decode_cursor *cursor, uint8_t byte)
{
	const struct decode_map *map = decode_opcode(insn, cursor, byte);
	const struct decode_row *row = decode_find(map, insn->opcode);

	if (cursor->err)
		return cursor->err;
	if (!row)
		return -EINVAL;
	if (row->mod)
		decode_modrm(insn, cursor, row->what & CR);
	row = decode_choose(map, row, insn);
	if (cursor->err)
		return cursor->err;
	if (!row)
		return -EINVAL;
	if (insn->prefixes & TRACE_INSN_LOCK && !(row->what & LOCK && insn->is_memory_operand))
		return -EINVAL;
	decode_imm(insn, cursor, row->what & IMM_MASK);
	insn->kind = row->kind;
	decode_facts(insn, row->what);
	decode_amend(insn);
	if (insn->map == TRACE_INSN_MAP_3DNOW)
		return decode_3dnow(insn, cursor);
	return cursor->err;
}

/* The same for an instruction with VEX, EVEX or XOP. */
static int decode_vector(struct trace_insn *insn, struct decode_cursor *cursor, uint8_t byte)
{
	struct decode_vector vector;
	uint16_t what;
	int err = trace_decode_vector_head(insn, cursor, byte, &vector);

	if (err)
		return err;
	if (trace_decode_vector_has_modrm(insn))
		decode_modrm(insn, cursor, false);
	if (cursor->err)
		return cursor->err;
	err = trace_decode_vector_what(insn, &vector, &what);
	if (err)
		return err;
	decode_imm(insn, cursor, what & IMM_MASK);
	decode_facts(insn, what);
	return cursor->err;
}

/*
 * 8F is XOP if what would be a map is not below 8; else it is a pop (AMD's manual, volume 3,
 * 1.2.7).
 */
static bool decode_is_vector(const struct decode_cursor *cursor, uint8_t byte)
{
	if (byte == 0x8f)
		return cursor->at < cursor->end && (cursor->text[cursor->at] & 0x1f) >= 8;
	return byte == 0xc4 || byte == 0xc5 || byte == 0x62;
}

int trace_insn_decode(struct trace_insn *out_insn, const void *text, size_t room)
{
	struct decode_cursor cursor = {
		.text = text,
		.end = room < TRACE_INSN_MAX ? (uint8_t)room : TRACE_INSN_MAX,
	};
	uint8_t byte;
	int err;

	*out_insn = (struct trace_insn){
		.base = TRACE_INSN_NO_REG,
		.index = TRACE_INSN_NO_REG,
	};
	byte = decode_prefixes(out_insn, &cursor);
	if (cursor.err)
		return cursor.err;
	out_insn->opcode_offset = (uint8_t)(cursor.at - 1);
	if (decode_is_vector(&cursor, byte))
		err = decode_vector(out_insn, &cursor, byte);
	else
		err = decode_legacy(out_insn, &cursor, byte);
	out_insn->length = cursor.at;
	return err;
}

/* Instructions of .eh_frame, by their numbers in the DWARF standard: see cfi_priv.h. */
#include "cfi_priv.h"

/* A number of the file times its unit; a wrong one is as large as no frame is. */
static int64_t cfi_scaled(uint64_t value, int64_t unit)
{
	int64_t result;

	return __builtin_mul_overflow((int64_t)value, unit, &result) ? INT64_MAX : result;
}

/* ---- Expressions: two kinds are known, by their bytes ---- */

#define CFI_OP_BREG6 0x76
#define CFI_OP_BREG7 0x77
#define CFI_OP_DEREF 0x06

/* Of the linker's table: rsp + 8 + ((rip & 15) >= N) * 8. */
static bool cfi_is_plt(struct cfi_cursor *cursor, int64_t *out_from)
{
	static const uint8_t before[] = { 8, 0x80, 0, 0x3f, 0x1a };
	static const uint8_t behind[] = { 0x2a, 0x33, 0x24, 0x22 };
	bool is_plt = true;
	uint8_t literal;

	for (size_t i = 0; i < sizeof(before); i++)
		is_plt &= cfi_byte(cursor) == before[i];
	literal = cfi_byte(cursor);
	for (size_t i = 0; i < sizeof(behind); i++)
		is_plt &= cfi_byte(cursor) == behind[i];
	*out_from = literal - 0x30; /* DW_OP_lit0 */
	return is_plt && literal >= 0x30 && literal < 0x40;
}

static void cfi_cfa_expression(struct cfi_entry *entry)
{
	struct cfi_cursor *cursor = &entry->cursor;
	struct cfi_row *row = &entry->row;
	uint64_t bytes = cfi_unsigned(cursor), start = cursor->at;
	uint8_t op = cfi_byte(cursor);

	row->kind = CFI_UNKNOWN;
	if (op == CFI_OP_BREG7 && bytes == 11) {
		if (cfi_is_plt(cursor, &row->cfa))
			row->kind = CFI_PLT;
	} else if (op == CFI_OP_BREG6) {
		row->cfa = cfi_signed(cursor);
		if (cfi_byte(cursor) == CFI_OP_DEREF && cursor->at - start == bytes)
			row->kind = CFI_FP_AT;
	}
	cfi_skip_to(cursor, start, bytes);
}

/* The place of a register: a function that has aligned its stack keeps rbp at rbp + 0, and the CFA is known from it. */
static void cfi_expression(struct cfi_entry *entry, bool is_place)
{
	uint64_t reg = cfi_unsigned(&entry->cursor);
	uint64_t bytes = cfi_unsigned(&entry->cursor), start = entry->cursor.at;
	bool is_own = is_place && cfi_byte(&entry->cursor) == CFI_OP_BREG6 && bytes == 2 &&
		      !cfi_byte(&entry->cursor);

	if (reg == CFI_REG_FP)
		entry->row.saved = is_own ? CFI_FP_OWN : CFI_FP_LOST;
	if (reg == CFI_REG_IP)
		entry->row.ip_saved = CFI_FP_LOST;
	cfi_skip_to(&entry->cursor, start, bytes);
}

/* ---- Instructions of an entry ---- */

static void cfi_set_saved(struct cfi_row *row, uint64_t reg, uint8_t saved, int64_t offset)
{
	if (reg == CFI_REG_FP) {
		row->saved = saved;
		row->fp = offset;
	} else if (reg == CFI_REG_IP) {
		row->ip_saved = saved;
		row->ip = offset;
		row->is_end = false;
	}
}

static void cfi_restore(struct cfi_entry *entry, uint64_t reg)
{
	const struct cfi_row *from = &entry->initial;

	if (reg == CFI_REG_FP)
		cfi_set_saved(&entry->row, reg, from->saved, from->fp);
	else
		cfi_set_saved(&entry->row, reg, from->ip_saved, from->ip);
}

static void cfi_undefined(struct cfi_entry *entry)
{
	uint64_t reg = cfi_unsigned(&entry->cursor);

	cfi_set_saved(&entry->row, reg, CFI_FP_LOST, 0);
	if (reg == CFI_REG_IP)
		entry->row.is_end = true;
}

static void cfi_set_cfa(struct cfi_entry *entry, uint64_t reg, int64_t offset)
{
	entry->row.kind = reg == CFI_REG_SP ? CFI_SP : reg == CFI_REG_FP ? CFI_FP : CFI_UNKNOWN;
	entry->row.cfa = offset;
}

static void cfi_remember(struct cfi_entry *entry)
{
	if (entry->nr_rows < CFI_SAVED_ROWS)
		entry->rows[entry->nr_rows++] = entry->row;
	else
		entry->cursor.is_bad = true;
}

static void cfi_recall(struct cfi_entry *entry)
{
	if (entry->nr_rows)
		entry->row = entry->rows[--entry->nr_rows];
	else
		entry->cursor.is_bad = true;
}

/* DW_CFA_offset and its kin: a register lies at the CFA and a scaled number. */
static void cfi_offset(struct cfi_entry *entry, uint64_t reg, uint64_t number)
{
	cfi_set_saved(&entry->row, reg, CFI_FP_SAVED, cfi_scaled(number, entry->data_align));
}

/* Instructions that leave the registers alone, or put one where it is not found. False: it is none of these. */
static bool cfi_other(struct cfi_entry *entry, uint8_t op)
{
	struct cfi_cursor *cursor = &entry->cursor;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x2e: /* GNU_args_size */
		cfi_unsigned(cursor);
		return true;
	case 0x09: /* register */
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		cfi_set_saved(&entry->row, cfi_unsigned(cursor), CFI_FP_LOST, 0);
		cfi_unsigned(cursor);
		return true;
	default:
		return false;
	}
}

/* Rules of registers. False: it is none of these. */
static bool cfi_register(struct cfi_entry *entry, uint8_t op)
{
	struct cfi_cursor *cursor = &entry->cursor;
	uint64_t reg;

	switch (op) {
	case 0x05: /* offset_extended */
		reg = cfi_unsigned(cursor);
		cfi_offset(entry, reg, cfi_unsigned(cursor));
		return true;
	case 0x11: /* offset_extended_sf */
		reg = cfi_unsigned(cursor);
		cfi_offset(entry, reg, (uint64_t)cfi_signed(cursor));
		return true;
	case 0x06: /* restore_extended */
		cfi_restore(entry, cfi_unsigned(cursor));
		return true;
	case 0x07:
		cfi_undefined(entry);
		return true;
	case 0x08: /* same_value */
		cfi_set_saved(&entry->row, cfi_unsigned(cursor), CFI_FP_SAME, 0);
		return true;
	case 0x10: /* expression */
	case 0x16: /* val_expression: never that of a stack that was aligned */
		cfi_expression(entry, op == 0x10);
		return true;
	default:
		return cfi_other(entry, op);
	}
}

/* Rules of the CFA, and rows that are kept. False: none of these. */
static bool cfi_frame(struct cfi_entry *entry, uint8_t op)
{
	struct cfi_cursor *cursor = &entry->cursor;
	uint64_t reg;

	switch (op) {
	case 0x0a:
		cfi_remember(entry);
		return true;
	case 0x0b:
		cfi_recall(entry);
		return true;
	case 0x0c: /* def_cfa */
		reg = cfi_unsigned(cursor);
		cfi_set_cfa(entry, reg, (int64_t)cfi_unsigned(cursor));
		return true;
	case 0x12: /* def_cfa_sf */
		reg = cfi_unsigned(cursor);
		cfi_set_cfa(entry, reg,
			    cfi_scaled((uint64_t)cfi_signed(cursor), entry->data_align));
		return true;
	case 0x0d: /* def_cfa_register */
		cfi_set_cfa(entry, cfi_unsigned(cursor), entry->row.cfa);
		return true;
	case 0x0e: /* def_cfa_offset */
		entry->row.cfa = (int64_t)cfi_unsigned(cursor);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		entry->row.cfa = cfi_scaled((uint64_t)cfi_signed(cursor), entry->data_align);
		return true;
	case 0x0f:
		cfi_cfa_expression(entry);
		return true;
	default:
		return cfi_register(entry, op);
	}
}

/* Bytes of the number of an instruction that goes on in the code; 0: it is another one. */
static uint32_t cfi_advance_bytes(uint8_t op)
{
	return op >= 0x02 && op <= 0x04 ? 1u << (op - 0x02) : 0;
}

static void cfi_run_one(struct cfi_entry *entry)
{
	struct cfi_cursor *cursor = &entry->cursor;
	uint8_t op = cfi_byte(cursor), low = op & 0x3f;
	uint32_t bytes = cfi_advance_bytes(op);

	if (bytes)
		entry->loc += cfi_number(cursor, bytes) * entry->code_align;
	else if (op >> 6 == 1)
		entry->loc += low * entry->code_align;
	else if (op >> 6 == 2)
		cfi_offset(entry, low, cfi_unsigned(cursor));
	else if (op >> 6 == 3)
		cfi_restore(entry, low);
	else if (!cfi_frame(entry, op))
		cursor->is_bad = true;
}

void cfi_run(struct cfi_entry *entry)
{
	struct cfi_row row = entry->row;

	while (entry->cursor.at < entry->cursor.end && !entry->cursor.is_bad) {
		cfi_run_one(entry);
		if (entry->loc > entry->ip)
			break;
		row = entry->row;
	}
	entry->row = row;
}

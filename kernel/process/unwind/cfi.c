/* Finds entries of .eh_frame, and steps from frame to frame: see cfi.h. */
#include "cfi_priv.h"

/* Encodings of the table's numbers: 4 bytes, and from the place of the number itself, or the table's start. */
#define CFI_ENC_UDATA4	0x03
#define CFI_ENC_HERE_4	0x1b
#define CFI_ENC_TABLE_4 0x3b

/* ---- The table by address ---- */

#define CFI_HEAD_BYTES 12u

/* How many pairs it has; 0: it is of another kind. False: it could not be read. */
static bool cfi_count(const struct cfi_table *table, uint64_t *out_nr)
{
	struct {
		uint8_t version, entries_encoding, nr_encoding, pairs_encoding;
		uint32_t entries, nr;
	} head;

	*out_nr = table->nr;
	if (table->index)
		return true;
	*out_nr = 0;
	if (table->bytes < CFI_HEAD_BYTES)
		return true;
	if (!cfi_read(&head, table->start, sizeof(head)))
		return false;
	if (head.version == 1 && head.entries_encoding == CFI_ENC_HERE_4 &&
	    head.nr_encoding == CFI_ENC_UDATA4 && head.pairs_encoding == CFI_ENC_TABLE_4 &&
	    head.nr <= (table->bytes - CFI_HEAD_BYTES) / sizeof(struct cfi_pair))
		*out_nr = head.nr;
	return true;
}

static bool cfi_read_pair(const struct cfi_table *table, uint64_t index, struct cfi_pair *out)
{
	if (table->index) {
		*out = table->index[index];
		return true;
	}
	return cfi_read(out, table->start + CFI_HEAD_BYTES + index * sizeof(*out), sizeof(*out));
}

static uint64_t cfi_from_table(const struct cfi_table *table, int32_t offset)
{
	return table->start + (uint64_t)(int64_t)offset;
}

/* The address of the last entry that begins at or before `ip`; 0: none. False: the table could not be read. */
static bool cfi_search(const struct cfi_table *table, uint64_t ip, uint64_t *out_entry)
{
	uint64_t low = 0, high, middle;
	struct cfi_pair pair;

	*out_entry = 0;
	if (!cfi_count(table, &high))
		return false;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (!cfi_read_pair(table, middle, &pair))
			return false;
		if (cfi_from_table(table, pair.loc) <= ip) {
			*out_entry = cfi_from_table(table, pair.entry);
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return true;
}

static bool cfi_fits(const struct cfi_row *row)
{
	return row->cfa == (int32_t)row->cfa &&
	       (row->saved != CFI_FP_SAVED || row->fp == (int16_t)row->fp);
}

static void cfi_rule_set(const struct cfi_entry *entry, struct cfi_rule *out)
{
	const struct cfi_row *row = &entry->row;

	if (entry->is_signal)
		out->kind = CFI_SIGNAL;
	else if (row->is_end)
		out->kind = CFI_END;
	else if (row->ip_saved != CFI_FP_SAVED || row->ip != -8 || !cfi_fits(row))
		out->kind = CFI_UNKNOWN;
	else
		out->kind = row->kind;
	out->cfa = (int32_t)row->cfa;
	out->fp = row->saved == CFI_FP_SAVED ? (int16_t)row->fp : 0;
	out->saved = row->saved;
}

bool cfi_find(const struct cfi_table *table, uint64_t ip, struct cfi_rule *out)
{
	struct cfi_entry entry = { .ip = ip, .row.kind = CFI_UNKNOWN };
	bool is_other = false, is_good;
	uint64_t at;

	*out = (struct cfi_rule){ .kind = CFI_NONE };
	if (!cfi_search(table, ip, &at))
		return false;
	if (!at)
		return true;
	is_good = cfi_read_entry(&entry, at, &is_other);
	if (entry.cursor.is_missing)
		return false;
	if (!is_good)
		out->kind = CFI_UNKNOWN;
	else if (!is_other)
		cfi_rule_set(&entry, out);
	return true;
}

/* ---- Files with frame pointers ---- */

#define CFI_SAMPLES 32u /* functions looked at */

/* A function at its middle: +1 has set up its frame pointer, -1 has a frame without, 0 neither, as one that calls none. */
static int cfi_sample(const struct cfi_table *table, uint64_t index)
{
	struct cfi_pair pair, next;
	struct cfi_rule rule;
	uint64_t start;

	if (!cfi_read_pair(table, index, &pair) || !cfi_read_pair(table, index + 1, &next))
		return 0;
	start = cfi_from_table(table, pair.loc);
	if (!cfi_find(table, start + (uint64_t)((int64_t)next.loc - pair.loc) / 2, &rule))
		return 0;
	return rule.kind == CFI_FP ? 1 : rule.kind == CFI_SP && rule.cfa > 8 ? -1 : 0;
}

bool cfi_has_pointers(const struct cfi_table *table)
{
	uint32_t nr_with = 0, nr_without = 0;
	uint64_t nr, step;

	if (!cfi_count(table, &nr))
		return false;
	step = nr > CFI_SAMPLES ? nr / CFI_SAMPLES : 1;
	for (uint64_t i = 0; i + 1 < nr; i += step) {
		int sample = cfi_sample(table, i);

		nr_with += sample > 0;
		nr_without += sample < 0;
	}
	return nr_with > 3 * nr_without;
}

/* ---- Steps ---- */

/* Registers in the frame of a signal, from rsp on: Linux's struct ucontext. */
#define CFI_SIGNAL_FP 120
#define CFI_SIGNAL_SP 160 /* behind it rip */

/* Handlers may have a stack of their own, so the frame may lie below. */
static bool cfi_step_signal(struct cfi_frame *frame, uint64_t *out_slot)
{
	uint64_t sp_ip[2], fp;

	if (!cfi_read(sp_ip, frame->sp + CFI_SIGNAL_SP, sizeof(sp_ip)) ||
	    !cfi_read(&fp, frame->sp + CFI_SIGNAL_FP, sizeof(fp)) || !sp_ip[1])
		return false;
	*out_slot = frame->sp + CFI_SIGNAL_SP + 8;
	*frame = (struct cfi_frame){ .ip = sp_ip[1], .sp = sp_ip[0], .fp = fp, .is_exact = true };
	return true;
}

static bool cfi_place(const struct cfi_frame *frame, const struct cfi_rule *rule, uint64_t *out_cfa)
{
	uint64_t offset = (uint64_t)(int64_t)rule->cfa;

	switch (rule->kind) {
	case CFI_SP:
		*out_cfa = frame->sp + offset;
		return true;
	case CFI_FP:
		*out_cfa = frame->fp + offset;
		return true;
	case CFI_FP_AT:
		return cfi_read(out_cfa, frame->fp + offset, sizeof(*out_cfa));
	case CFI_PLT:
		*out_cfa = frame->sp + ((frame->ip & 15) >= offset ? 16 : 8);
		return true;
	case CFI_NONE: /* rbp, then the return address, lie where rbp points to */
		*out_cfa = frame->fp + 16;
		return frame->fp >= frame->sp;
	default:
		return false;
	}
}

static bool cfi_caller_fp(const struct cfi_frame *frame, const struct cfi_rule *rule, uint64_t cfa,
			  uint64_t *out_fp)
{
	uint64_t at = rule->kind == CFI_NONE || rule->saved == CFI_FP_OWN
			      ? frame->fp
			      : cfa + (uint64_t)(int64_t)rule->fp;

	*out_fp = rule->saved == CFI_FP_LOST ? 0 : frame->fp;
	if (rule->kind != CFI_NONE && rule->saved != CFI_FP_OWN && rule->saved != CFI_FP_SAVED)
		return true;
	return cfi_read(out_fp, at, sizeof(*out_fp));
}

bool cfi_step(struct cfi_frame *frame, const struct cfi_rule *rule, uint64_t *out_slot)
{
	struct cfi_frame caller = { .is_exact = false };

	if (rule->kind == CFI_SIGNAL)
		return cfi_step_signal(frame, out_slot);
	if (!cfi_place(frame, rule, &caller.sp) || caller.sp < frame->sp + 8 || caller.sp < 8)
		return false;
	*out_slot = caller.sp - 8;
	if (!cfi_read(&caller.ip, *out_slot, sizeof(caller.ip)) || !caller.ip ||
	    !cfi_caller_fp(frame, rule, caller.sp, &caller.fp))
		return false;
	*frame = caller;
	return true;
}

/* Entries of .eh_frame: those that share things, and those of functions. See cfi_priv.h; words are those of the LSB. */
#include "cfi_priv.h"

/* Encodings of addresses: as wide as an address, or 4 bytes; and what they are counted from. */
#define CFI_ENC_ABSOLUTE 0x00
#define CFI_ENC_UDATA4	 0x03
#define CFI_ENC_HERE_4	 0x1b /* from the place of the number itself, signed */
#define CFI_ENC_TABLE_4	 0x3b /* from the start of .eh_frame_hdr, signed */
#define CFI_ENC_HERE	 0x10
#define CFI_ENC_WIDTH	 0x07 /* the bits that say how wide it is */

static int64_t cfi_signed4(struct cfi_cursor *cursor)
{
	return (int32_t)cfi_number(cursor, 4);
}

/* Set the cursor to what the length at `at` is of. False: it is not one that can be used. */
static bool cfi_enter(struct cfi_cursor *cursor, uint64_t at)
{
	uint64_t bytes;

	cfi_cursor_set(cursor, at, 4);
	bytes = cfi_number(cursor, 4);
	if (bytes < 4 || bytes > CFI_BYTES_MAX)
		return false;
	cfi_cursor_set(cursor, at + 4, bytes);
	return !cursor->is_bad && !cursor->is_missing;
}

/* The letters behind z say what there is; the first of `P` and `R` that is not understood makes the entry bad. */
static void cfi_augmentation(struct cfi_entry *entry, const char *letters)
{
	struct cfi_cursor *cursor = &entry->cursor;
	uint64_t bytes = cfi_unsigned(cursor), start = cursor->at;

	for (; *letters; letters++) {
		if (*letters == 'R')
			entry->encoding = cfi_byte(cursor);
		else if (*letters == 'L')
			cfi_byte(cursor);
		else if (*letters == 'P')
			cfi_number(cursor,
				   (cfi_byte(cursor) & CFI_ENC_WIDTH) == CFI_ENC_UDATA4 ? 4 : 8);
		else if (*letters == 'S')
			entry->is_signal = true;
		else
			break;
	}
	cfi_skip_to(cursor, start, bytes);
}

static void cfi_read_letters(struct cfi_cursor *cursor, char letters[8])
{
	for (size_t i = 0; i < 8; i++) {
		letters[i] = (char)cfi_byte(cursor);
		if (!letters[i])
			return;
	}
	letters[7] = '\0';
	cursor->is_bad = true;
}

/* Read the half that entries share. False: it is of another version, or damaged. */
static bool cfi_read_common(struct cfi_entry *entry, uint64_t at)
{
	struct cfi_cursor *cursor = &entry->cursor;
	uint64_t id, version, ip_reg;
	char letters[8];

	if (!cfi_enter(cursor, at))
		return false;
	id = cfi_number(cursor, 4);
	version = cfi_byte(cursor);
	if (id || (version != 1 && version != 3))
		return false;
	cfi_read_letters(cursor, letters);
	entry->code_align = cfi_unsigned(cursor);
	entry->data_align = cfi_signed(cursor);
	ip_reg = version == 1 ? cfi_byte(cursor) : cfi_unsigned(cursor);
	if (ip_reg != CFI_REG_IP || (letters[0] && letters[0] != 'z'))
		return false;
	entry->has_size = letters[0] == 'z';
	if (entry->has_size)
		cfi_augmentation(entry, letters + 1);
	entry->loc = 0;
	cfi_run(entry);
	entry->initial = entry->row;
	return !cursor->is_bad && !cursor->is_missing;
}

/* An address as the entry encodes it; the number of code bytes has the same width. False: another encoding. */
static bool cfi_read_range(struct cfi_entry *entry, uint64_t *out_bytes)
{
	struct cfi_cursor *cursor = &entry->cursor;
	uint64_t here = cursor->at;

	if (entry->encoding == CFI_ENC_HERE_4) {
		entry->loc = here + (uint64_t)cfi_signed4(cursor);
		*out_bytes = cfi_number(cursor, 4);
	} else if (entry->encoding == CFI_ENC_ABSOLUTE || entry->encoding == CFI_ENC_HERE) {
		entry->loc = cfi_number(cursor, 8) + (entry->encoding ? here : 0);
		*out_bytes = cfi_number(cursor, 8);
	} else {
		return false;
	}
	return true;
}

bool cfi_read_entry(struct cfi_entry *entry, uint64_t at, bool *out_is_other)
{
	struct cfi_cursor *cursor = &entry->cursor;
	uint64_t bytes, common;

	if (!cfi_enter(cursor, at))
		return false;
	common = cfi_number(cursor, 4);
	if (!common || !cfi_read_common(entry, at + 4 - common))
		return false;
	if (!cfi_enter(cursor, at))
		return false;
	cfi_number(cursor, 4);
	if (!cfi_read_range(entry, &bytes))
		return false;
	*out_is_other = entry->ip - entry->loc >= bytes;
	if (entry->has_size) {
		bytes = cfi_unsigned(cursor);
		cfi_skip_to(cursor, cursor->at, bytes);
	}
	cfi_run(entry);
	return !cursor->is_bad && !cursor->is_missing;
}

/* ---- All entries, in order ---- */

struct cfi_head {
	uint32_t bytes, common;
	int32_t loc; /* from here, in the usual encoding */
};

/* The start of the code of the entry at `at`. False: it, or what it shares with others, is damaged. */
static bool cfi_read_start(struct cfi_entry *entry, uint64_t at, const struct cfi_head *head,
			   uint64_t *shared)
{
	uint64_t bytes, common = at + 4 - head->common;

	if (common != *shared && !cfi_read_common(entry, common))
		return false;
	*shared = common;
	if (entry->encoding == CFI_ENC_HERE_4) {
		entry->loc = at + offsetof(struct cfi_head, loc) + (uint64_t)(int64_t)head->loc;
		return true;
	}
	if (!cfi_enter(&entry->cursor, at))
		return false;
	cfi_number(&entry->cursor, 4);
	return cfi_read_range(entry, &bytes) && !entry->cursor.is_missing;
}

/* Heaps of entries, the largest on top. */
static void cfi_sift(struct cfi_pair *pairs, uint32_t at, uint32_t nr)
{
	struct cfi_pair pair = pairs[at];

	for (uint32_t child = 2 * at + 1; child < nr; child = 2 * at + 1) {
		if (child + 1 < nr && pairs[child + 1].loc > pairs[child].loc)
			child++;
		if (pairs[child].loc <= pair.loc)
			break;
		pairs[at] = pairs[child];
		at = child;
	}
	pairs[at] = pair;
}

static bool cfi_is_sorted(const struct cfi_pair *pairs, uint32_t nr)
{
	uint32_t i = 1;

	while (i < nr && pairs[i].loc >= pairs[i - 1].loc)
		i++;
	return i >= nr;
}

static void cfi_sort(struct cfi_pair *pairs, uint32_t nr)
{
	if (cfi_is_sorted(pairs, nr))
		return;
	for (uint32_t i = nr / 2; i > 0; i--)
		cfi_sift(pairs, i - 1, nr);
	for (uint32_t i = nr; i > 1; i--) {
		struct cfi_pair last = pairs[i - 1];

		pairs[i - 1] = pairs[0];
		pairs[0] = last;
		cfi_sift(pairs, 0, i - 1);
	}
}

uint32_t cfi_index(const struct cfi_table *section, struct cfi_pair *out, uint32_t max)
{
	uint64_t at = section->start, end = section->start + section->bytes, shared = 0;
	struct cfi_entry entry = { .ip = UINT64_MAX };
	struct cfi_head head;
	uint32_t nr = 0;

	for (; at < end && nr < max; at += 4 + (uint64_t)head.bytes) {
		if (!cfi_read(&head, at, sizeof(head)) || head.bytes < 8 ||
		    head.bytes > CFI_BYTES_MAX)
			break;
		if (!head.common)
			continue;
		if (!cfi_read_start(&entry, at, &head, &shared))
			break;
		out[nr].loc = (int32_t)(entry.loc - section->start);
		out[nr++].entry = (int32_t)(at - section->start);
	}
	cfi_sort(out, nr);
	return nr;
}

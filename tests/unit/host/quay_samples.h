/*
 * Samples of the events of quay_events.h: for each, one occurrence, and its `format`, text and raw
 * bytes. To be included by one source, behind quay_events.h, on each host that compiles these.
 */
#ifndef HOST_QUAY_SAMPLES_H
#define HOST_QUAY_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#define QUAY_HEAD 8u /* what all events begin with */

struct quay_sample {
	const char *name;
	void (*fire)(void);
	const char *format; /* behind the fields that all events have */
	const char *text;   /* in `trace`, from the name on */
	size_t nr_bytes;
	const uint8_t *bytes; /* behind QUAY_HEAD */
};

static const char quay_name[] = "shed";
static const unsigned long quay_mask[] = { 0x8100000001ul, 2 };
static const uint8_t quay_bytes[20] = "ABC\1\2\3\4\5\6\7~\177 q\"\200r";

static void quay_fire_masks(void)
{
	trace_quay_masks(quay_name, quay_mask);
}

static void quay_fire_dump(void)
{
	trace_quay_dump(quay_bytes, sizeof(quay_bytes));
}

static void quay_fire_bell(void)
{
	trace_quay_bell(1);
}

/* Where a value lies, and how long it is. */
#define QUAY_LOC(offset, bytes) ((offset) | (uint32_t)(bytes) << 16)

static const struct {
	const char *name;
	uint32_t cpus, rel_mask, rel_cpus, rel_cut;
	uint64_t first;
	uint64_t cpus_value, rel_mask_value[2], rel_cpus_value;
	char rel_cut_value[4];
} __attribute__((packed)) quay_raw_masks = {
	.name = quay_name,
	.cpus = QUAY_LOC(40, 8),
	.rel_mask = QUAY_LOC(48 - 24, 16), /* from the end of the field */
	.rel_cpus = QUAY_LOC(64 - 28, 8),
	.rel_cut = QUAY_LOC(72 - 32, 4),
	.first = 0x8100000001,
	.cpus_value = 0x8100000001,
	.rel_mask_value = { 0x8100000001, 2 },
	.rel_cpus_value = 2,
	.rel_cut_value = "she",
};

static const struct {
	uint32_t bytes;
	uint8_t bytes_value[20];
} __attribute__((packed)) quay_raw_dump = {
	.bytes = QUAY_LOC(12, 20),
	.bytes_value = "ABC\1\2\3\4\5\6\7~\177 q\"\200r",
};

static const struct quay_sample quay_samples[] = {
	{ .name = "quay_masks",
	  .fire = quay_fire_masks,
	  .format = "\tfield:const char * name;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t cpus;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc unsigned long[] rel_mask;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc cpumask_t rel_cpus;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] rel_cut;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long first;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"cpus=%s rel_mask=%s rel_cpus=%s rel_cut=%s lens=%d,%d first=%s/%s\", "
	"__get_cpumask(cpus), __get_rel_bitmask(rel_mask), __get_rel_cpumask(rel_cpus), "
	"__get_rel_str(rel_cut), __get_rel_dynamic_array_len(rel_mask), "
	"__get_rel_dynamic_array_len(rel_cut), __print_flags_u64(REC->first, \"+\", "
	"{ 1ULL << 32, \"HIGH\" }, { 1, \"LOW\" }), "
	"__print_symbolic_u64(REC->first, { 0x8100000001ULL, \"odd\" })\n",
	  .text = "quay_masks: cpus=00000081,00000001 rel_mask=00000000,00000002,00000081,00000001 "
		  "rel_cpus=00000000,00000002 rel_cut=she lens=16,4 "
		  "first=HIGH+LOW+0x8000000000/odd\n",
	  .nr_bytes = sizeof(quay_raw_masks),
	  .bytes = (const uint8_t *)&quay_raw_masks },
	{ .name = "quay_dump",
	  .fire = quay_fire_dump,
	  .format = "\tfield:__data_loc u8[] bytes;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\n"
	"print fmt: \"bytes:%s in words:%s\", __print_hex_dump(\"at \", DUMP_PREFIX_OFFSET, 16, 1, "
	"__get_dynamic_array(bytes), __get_dynamic_array_len(bytes), 1), "
	"__print_hex_dump(\"\", DUMP_PREFIX_NONE, 32, 4, __get_dynamic_array(bytes), "
	"__get_dynamic_array_len(bytes), 0)\n",
	  .text = "quay_dump: bytes:\n"
		  "at 00000000: 41 42 43 01 02 03 04 05 06 07 7e 7f 20 71 22 80  ABC.......~. q\".\n"
		  "at 00000010: 72 00 00 00                                      r...\n"
		  " in words:\n"
		  "01434241 05040302 7f7e0706 80227120 00000072\n"
		  "\n",
	  .nr_bytes = sizeof(quay_raw_dump),
	  .bytes = (const uint8_t *)&quay_raw_dump },
	{ .name = "quay_bell",
	  .fire = quay_fire_bell,
	  .format = "\nprint fmt: \"rings\", \n",
	  .text = "quay_bell: rings\n",
	  /* Without any field there is a word of zeros. */
	  .nr_bytes = 4,
	  .bytes = (const uint8_t[4]){ 0 } },
};

#define QUAY_NR (sizeof(quay_samples) / sizeof(quay_samples[0]))

/* The first event of a page of trace_pipe_raw, and its length; NULL: it has none. */
static const uint8_t *quay_first_event(const uint8_t *page, size_t bytes, size_t *out_len)
{
	enum {
		PAGE_HEAD = 16,
		LONG = 0, /* a word with the length, its own 4 bytes included, follows */
		DATA_MAX = 28
	};
	uint32_t word, len;

	for (size_t at = PAGE_HEAD; at + 8 <= bytes; at += 8) { /* past a time */
		__builtin_memcpy(&word, page + at, sizeof(word));
		__builtin_memcpy(&len, page + at + 4, sizeof(len));
		word &= 31;
		if (word > DATA_MAX)
			continue;
		*out_len = word == LONG ? len - 4 : 4 * word;
		return page + at + (word == LONG ? 8 : 4);
	}
	return NULL;
}

/* Are these the bytes of the sample? The ring rounds its length up to words. */
static bool quay_is_raw(const struct quay_sample *sample, const uint8_t *event, size_t len)
{
	return event && len == ((QUAY_HEAD + sample->nr_bytes + 3) & ~(size_t)3) &&
	       __builtin_memcmp(event + QUAY_HEAD, sample->bytes, sample->nr_bytes) == 0;
}

#endif

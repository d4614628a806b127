/* Arguments of probes carried out, for tests. Included once, behind fake.h and fetch.h. */
#ifndef TESTS_FETCH_HELP_H
#define TESTS_FETCH_HELP_H

#include <stdio.h>
#include <string.h>
#include <trace/trace_seq.h>
#include "events/dyn_event.h"

#define HEAD 12u /* bytes in front of the arguments */
#define ROOM 256u

static struct fetch_copy copies[64];
static struct fetch_build build;
static struct fetch_program program;
static struct dyn_event_error error;
static uint8_t entry[ROOM + 8];
static char text[512];

static struct ftrace_regs regs;

static int parse(const struct fetch_context *context, const char *what, struct fetch_parsed *out)
{
	struct expr_word word = { what, strlen(what) };
	struct fetch_build counted = { .context = context, .error = &error, .bytes = HEAD };
	int err = trace_fetch_parse(&counted, &word, out);

	trace_expr_free(program.steps);
	program.steps = NULL;
	if (err)
		return err;
	build = (struct fetch_build){ .context = context, .error = &error, .bytes = HEAD };
	assert_int_equal(trace_fetch_create(&build, &counted, copies), 0);
	assert_int_equal(trace_fetch_parse(&build, &word, out), 0);
	assert_int_equal(counted.nr_insns, build.nr_insns);
	assert_int_equal(counted.nr_copies, build.nr_copies);
	assert_int_equal(counted.nr_words, build.nr_words);
	assert_int_equal(counted.bytes, build.bytes);
	return trace_fetch_finish(&build, &program);
}

/* A program without texts is carried out in the ring, too: the same bytes, and none behind them. */
static void check_numbers(const void *got, uint32_t bytes)
{
	static uint8_t other[ROOM];

	memset(other, 0xee, sizeof(other));
	fetch_numbers(&program, got, other);
	assert_memory_equal(other + HEAD, entry + HEAD, build.bytes - HEAD);
	for (uint32_t i = 0; i < ROOM; i++) {
		if (i < HEAD || i >= build.bytes)
			assert_int_equal(other[i], 0xee);
	}
	assert_int_equal(bytes, (build.bytes + 3) / 4 * 4);
}

/* The argument as it is printed. */
static const char *value_of(const struct fetch_context *context, const char *what, const void *got)
{
	struct fetch_parsed parsed;
	struct trace_seq seq;
	uint32_t bytes;

	assert_int_equal(parse(context, what, &parsed), 0);
	memset(entry, 0xee, sizeof(entry));
	bytes = trace_fetch_run(&program, got, entry, ROOM);
	assert_true(bytes % 4 == 0 && bytes >= build.bytes && bytes <= ROOM);
	assert_int_equal(entry[ROOM], 0xee);
	if (!build.nr_texts)
		check_numbers(got, bytes);
	trace_seq_init(&seq, text, sizeof(text) - 1);
	for (uint32_t i = 0; i < (parsed.count ? parsed.count : 1); i++) {
		if (i)
			trace_seq_putc(&seq, ',');
		trace_fetch_print(parsed.type, entry, bytes, parsed.at + i * parsed.type->size,
				  &seq);
	}
	text[seq.len] = '\0';
	return text;
}

#define CHECK_VALUE(context, what, expected)                                                       \
	assert_string_equal(value_of(&(context), what, &regs), expected)

#endif

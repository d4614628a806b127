/* Scripts on the fake machine: run one while something happens, and its output. Included by one test file. */
#ifndef SCRIPT_HELP_H
#define SCRIPT_HELP_H

#include "tracefs.h"
#include "trace/probes/probe_types.h"
#include <trace/script.h>
#include <trace/trace_seq.h>

static struct trace_script_error script_error;
static struct trace_script_stats script_stats;
static char script_text[1 << 18]; /* output of the last one */

HELPER struct trace_script *script_make(const char *text)
{
	struct trace_script *script;
	int err = trace_script_create(text, NULL, &script, &script_error);

	if (err)
		fail_msg("%s\n%*s^ %s (%d)", text, (int)script_error.pos, "", script_error.why,
			 err);
	return script;
}

HELPER void script_gather(struct trace_script *script)
{
	static char buf[16384];
	struct trace_seq seq;

	do {
		trace_seq_init(&seq, buf, sizeof(buf));
		(void)trace_script_read(script, &seq);
		strncat(script_text, buf, seq.len);
	} while (seq.len);
}

/* Its output, and then its tables. */
HELPER const char *script_end(struct trace_script *script)
{
	static char buf[16384];
	struct trace_seq seq;
	bool has_more;

	trace_script_stop(script);
	script_gather(script);
	do {
		trace_seq_init(&seq, buf, sizeof(buf));
		has_more = trace_script_print(script, &seq);
		strncat(script_text, buf, seq.len);
	} while (has_more);
	trace_script_stats_get(script, &script_stats);
	trace_script_free(script);
	return script_text;
}

HELPER struct trace_script *script_begin(const char *text)
{
	struct trace_script *script = script_make(text);

	script_text[0] = '\0';
	assert_int_equal(trace_script_start(script), 0);
	return script;
}

/* The output while `happens` runs; NULL: nothing happens. */
HELPER const char *script_run(const char *text, void (*happens)(void))
{
	struct trace_script *script = script_begin(text);

	if (happens)
		happens();
	script_gather(script);
	return script_end(script);
}

/* The value of an expression, as printf() shows it. */
HELPER const char *script_value(const char *conversion, const char *expression)
{
	static char text[1024];

	snprintf(text, sizeof(text), "BEGIN { printf(\"%s\", %s); }", conversion, expression);
	return script_run(text, NULL);
}

HELPER int script_setup(void **state)
{
	probe_types_make();
	return tracefs_setup(state);
}

HELPER int script_reset(void **state)
{
	int err = event_reset(state);

	fake_run(1);
	fake_reads_anywhere = true;
	memory_out = fake_alloc_out;
	return err;
}

HELPER int script_check(void **state)
{
	fake_args = NULL;
	return tracefs_check(state);
}

#endif

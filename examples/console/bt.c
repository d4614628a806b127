/*
 * The command bt on a console that writes characters and nothing more: all that a kernel writes to
 * have scripts, besides what the library asks of each host. See <trace/script.h>.
 */
#include <trace/script.h>
#include <trace/trace_seq.h>
#include "console.h"

#define TEXT_BYTES 8192 /* a line has up to 5,120 */

static char text[TEXT_BYTES];

static bool is_word(const char *word, const char *other)
{
	while (*word && *word == *other)
		word++, other++;
	return *word == *other;
}

/* Write what has been printed so far. False: nothing was. */
static bool write_some(struct trace_script *script, bool *goes_on)
{
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text));
	*goes_on = trace_script_read(script, &seq);
	console_text(seq.buf, seq.len);
	return seq.len > 0;
}

static void write_tables(struct trace_script *script)
{
	struct trace_seq seq;
	bool has_more;

	do {
		trace_seq_init(&seq, text, sizeof(text));
		has_more = trace_script_print(script, &seq);
		console_text(seq.buf, seq.len);
	} while (has_more);
}

/* The words up to the mistake, and it. */
static void show_mistake(const char *script, const struct trace_script_error *error)
{
	print("bt: %s", error->why);
	print("  %.*s  <-- here: %.*s", (int)error->pos, script, (int)error->len,
	      script + error->pos);
}

/* Until the script or the console wants the end; with a line to carry out, until that is done. */
static void watch(struct trace_script *script, char *line)
{
	bool goes_on = true;

	if (line)
		console_line(line);
	while (goes_on && !line && console_round())
		write_some(script, &goes_on);
	trace_script_stop(script);
	while (write_some(script, &goes_on))
		;
	write_tables(script);
}

static void show_losses(const struct trace_script *script)
{
	struct trace_script_stats stats;

	trace_script_stats_get(script, &stats);
	if (stats.lost || stats.full || stats.missed)
		print("bt: no room for %llu lines and %llu keys; %llu hits missed",
		      (unsigned long long)stats.lost, (unsigned long long)stats.full,
		      (unsigned long long)stats.missed);
}

static void run(const char *words, char *line)
{
	struct trace_script_error error;
	struct trace_script *script;
	int err = trace_script_create(words, NULL, &script, &error);

	if (err) {
		show_mistake(words, &error);
		return;
	}
	err = trace_script_start(script);
	if (err)
		print("bt: error %d", -err);
	else
		watch(script, line);
	show_losses(script);
	trace_script_free(script);
}

static void list(const char *pattern)
{
	struct trace_seq seq;
	bool has_more = true;

	for (size_t at = 0; has_more;) {
		trace_seq_init(&seq, text, sizeof(text));
		has_more = trace_script_list(pattern, &at, &seq);
		console_text(seq.buf, seq.len);
	}
}

void bt(int argc, char **argv)
{
	if (argc == 3 && is_word(argv[1], "-l"))
		list(argv[2]);
	else if (argc == 4 && is_word(argv[1], "-c"))
		run(argv[3], argv[2]);
	else if (argc == 2)
		run(argv[1], NULL);
	else
		print("bt [-c LINE] SCRIPT | bt -l PATTERN");
}

/*
 * The command bt: a script in the words of bpftrace, compiled by the kernel itself. See <trace/script.h>
 * and docs/scripts.md.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/script.h>
#include <trace/trace_seq.h>
#include "command_tables.h"
#include "date.h"
#include "shell/sh/sh.h"

#define BT_ROUND_NS    (10 * NSEC_PER_MSEC) /* between two looks at the output */
#define BT_TEXT_BYTES  16384u
#define BT_CARET_CHARS 120u
#define BT_PIECES      8 /* of output, in front of a look at whether to go on */

struct bt {
	struct command_env *env;
	bool is_verbose;
	uint64_t pid;	     /* of the process whose hits count; 0: all count */
	const char *command; /* that the script is to watch, or NULL */
	struct sh_job *job;  /* of the command */
	char *buf;	     /* of BT_TEXT_BYTES */
	struct trace_script *script;
};

/* ---- Mistakes ---- */

/* The line of the mistake, with a mark under its word. */
static void bt_show_mistake(struct bt *bt, const char *text, const struct trace_script_error *error)
{
	const char *begin = text + error->pos, *end = begin;
	uint32_t line = 1, column;

	for (const char *at = text; at < begin; at++)
		line += *at == '\n';
	while (begin > text && begin[-1] != '\n')
		begin--;
	while (*end && *end != '\n')
		end++;
	column = (uint32_t)(text + error->pos - begin);
	command_error(bt->env, "%u:%u: %s", line, column + 1, error->why);
	if (column >= BT_CARET_CHARS)
		return;
	command_printf(bt->env, "%.*s\n%*s", (int)(end - begin), begin, (int)column, "");
	for (size_t i = 0; i < error->len && text + error->pos + i < end; i++)
		command_putc(bt->env, '~');
	command_putc(bt->env, '\n');
}

/* ---- Output ---- */

/* Write a piece of the output. False: there was none. */
static bool bt_write_some(struct bt *bt, bool *out_goes_on)
{
	struct trace_seq seq;

	trace_seq_init(&seq, bt->buf, BT_TEXT_BYTES);
	*out_goes_on = trace_script_read(bt->script, &seq);
	command_write(bt->env, seq.buf, seq.len);
	command_flush(bt->env);
	return seq.len;
}

/* The output so far; a script that sees its own output would make more of it for ever. */
static bool bt_read(struct bt *bt)
{
	bool goes_on;

	for (int i = 0; i < BT_PIECES && bt_write_some(bt, &goes_on) && goes_on; i++)
		;
	return goes_on;
}

/* All that is left, when nothing runs any more. */
static void bt_read_rest(struct bt *bt)
{
	bool goes_on;

	while (bt_write_some(bt, &goes_on))
		;
}

static void bt_print_tables(struct bt *bt)
{
	struct trace_seq seq;
	bool has_more;

	do {
		trace_seq_init(&seq, bt->buf, BT_TEXT_BYTES);
		has_more = trace_script_print(bt->script, &seq);
		command_write(bt->env, seq.buf, seq.len);
	} while (has_more);
}

static void bt_print_losses(struct bt *bt)
{
	struct trace_script_stats stats;

	trace_script_stats_get(bt->script, &stats);
	if (stats.lost)
		command_error(bt->env, "%lu lines found no room in the output buffer",
			      (unsigned long)stats.lost);
	if (stats.full)
		command_error(bt->env, "%lu keys found no room in a table",
			      (unsigned long)stats.full);
	if (bt->is_verbose)
		command_printf(bt->env, "%lu runs, %lu hits in the middle of one\n",
			       (unsigned long)stats.runs, (unsigned long)stats.missed);
}

/* Start the command of -c. 0 or -ENOMEM. */
static int bt_start_command(struct bt *bt)
{
	const struct sh_io io = { { bt->env->in, bt->env->out, bt->env->err } };
	struct sh_task task = { .name = "bt-command" };

	if (!bt->command)
		return 0;
	task.text = bt->command;
	task.text_len = strlen(bt->command);
	command_flush(bt->env);
	bt->job = sh_start(bt->env->shell, &task, &io);
	return bt->job ? 0 : -ENOMEM;
}

/* Is there nothing more to wait for? */
static bool bt_has_ended(struct bt *bt)
{
	if (command_stopped(bt->env) || (bt->job && sh_has_ended(bt->job)))
		return true;
	return thread_sleep_ns(BT_ROUND_NS) || command_stopped(bt->env);
}

static int bt_run(struct bt *bt)
{
	int err = trace_script_start(bt->script);

	if (err) {
		command_perror(bt->env, "the probes cannot be attached", err);
		return 1;
	}
	err = bt_start_command(bt);
	while (!err && bt_read(bt) && !bt_has_ended(bt))
		;
	trace_script_stop(bt->script);
	if (bt->job)
		sh_wait(bt->job);
	bt_read_rest(bt);
	command_puts(bt->env, "\n\n");
	bt_print_tables(bt);
	bt_print_losses(bt);
	if (err)
		command_perror(bt->env, bt->command, err);
	return err ? 1 : 0;
}

/* ---- The command ---- */

/* The text of a script: of a file, if `word` is the name of one. Freed by kfree(). NULL: told. */
static char *bt_text(struct bt *bt, const char *word)
{
	size_t len = strlen(word);
	struct file *file;
	ssize_t got;
	char *text;

	if (strchr(word, '{') || vfs_open(command_cwd(bt->env), word, VFS_READ, &file)) {
		text = kmalloc(len + 1);
		if (text)
			memcpy(text, word, len + 1);
		else
			command_perror(bt->env, word, ENOMEM);
		return text;
	}
	text = kmalloc(TRACE_SCRIPT_TEXT_MAX + 1);
	got = text ? file_read_at(file, text, TRACE_SCRIPT_TEXT_MAX, 0) : -ENOMEM;
	fput(file);
	if (got < 0) {
		command_perror(bt->env, word, (int)got);
		kfree(text);
		return NULL;
	}
	text[got] = '\0';
	return text;
}

/* For trace_script_params: in UTC; of a machine without a clock, from its start. */
static size_t bt_date(char *out, size_t size, const char *format, uint64_t clock_ns)
{
	uint64_t real_ns = ktime_get_real_ns();

	return date_format(out, size, format,
			   real_ns ? real_ns - ktime_get_ns() + clock_ns : clock_ns);
}

static int bt_script(struct bt *bt, int argc, char **argv)
{
	struct trace_script_params params = { .pid = (int32_t)bt->pid, .date = bt_date };
	struct trace_script_error error;
	char *text = bt_text(bt, argv[0]);
	struct trace_seq seq;
	int err, status = 1;

	if (!text)
		return 1;
	for (int i = 1; i < argc && i <= (int)TRACE_SCRIPT_PARAMS; i++)
		params.texts[params.nr++] = argv[i];
	err = trace_script_create(text, &params, &bt->script, &error);
	if (err && !error.why[0]) {
		command_perror(bt->env, "script", err);
	} else if (err) {
		bt_show_mistake(bt, text, &error);
	} else {
		uint32_t nr = trace_script_nr_probes(bt->script);

		command_printf(bt->env, "Attaching %u probe%s...\n", nr, nr == 1 ? "" : "s");
		if (bt->is_verbose) {
			trace_seq_init(&seq, bt->buf, BT_TEXT_BYTES);
			trace_script_show(bt->script, &seq);
			command_write(bt->env, seq.buf, seq.len);
		}
		status = bt_run(bt);
	}
	trace_script_free(bt->script);
	kfree(text);
	return status;
}

static int bt_list(struct bt *bt, const char *pattern)
{
	struct trace_seq seq;
	bool has_more = true;
	size_t at = 0;

	while (has_more && !command_stopped(bt->env)) {
		trace_seq_init(&seq, bt->buf, BT_TEXT_BYTES);
		has_more = trace_script_list(pattern, &at, &seq);
		command_write(bt->env, seq.buf, seq.len);
	}
	return 0;
}

/* Take the options in front of the script. Returns how many words they are; -1: they are wrong. */
static int bt_options(struct bt *bt, int argc, char **argv)
{
	int at = 1;

	while (at < argc && argv[at][0] == '-') {
		const char *option = argv[at++];

		if (strcmp(option, "-v") == 0)
			bt->is_verbose = true;
		else if (strcmp(option, "-e") == 0)
			break;
		else if (strcmp(option, "-c") == 0 && at < argc)
			bt->command = argv[at++];
		else if (strcmp(option, "-p") == 0 && at < argc &&
			 command_parse_u64(argv[at++], &bt->pid) && bt->pid && bt->pid <= INT32_MAX)
			continue;
		else
			return -1;
	}
	return at < argc ? at : -1;
}

static int cmd_bt(struct command_env *env, int argc, char **argv)
{
	bool is_list = argc > 1 && argc <= 3 && strcmp(argv[1], "-l") == 0;
	struct bt bt = { .env = env };
	int at = is_list ? 0 : bt_options(&bt, argc, argv), status;

	if (at < 0)
		return COMMAND_USAGE;
	bt.buf = kmalloc(BT_TEXT_BYTES);
	if (!bt.buf) {
		command_perror(env, "bt", ENOMEM);
		return 1;
	}
	if (is_list)
		status = bt_list(&bt, argc == 3 ? argv[2] : "*");
	else
		status = bt_script(&bt, argc - at, argv + at);
	kfree(bt.buf);
	return status;
}

const struct command bt_commands[] = {
	{ "bt", "[-v] [-c COMMAND] [-p PID] SCRIPT|FILE [ARG...] | -l [PATTERN]",
	  "run a script of probes until Ctrl-C, exit() or the COMMAND's end, then print its tables",
	  cmd_bt, 0 },
	{ 0 },
};

/*
 * Bytes as a script, or as choices in a grammar of scripts that makes one. It is run while functions
 * and events are hit, read, stopped, printed; memory may run out anywhere.
 */
// links: trace/[a-k]*/*.c trace/livepatch/*.c trace/[m-z]*/*.c tests/unit/fake/*.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz_events.h"
#include "../unit/trace/probes/probe_types.h"
#include <trace/errno.h>
#include <trace/script.h>
#include <trace/trace_seq.h>

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define NR_FUNCS  4
#define TEXT_MAX  8192u
#define DEPTH_MAX 6

static const uint8_t *choices, *choices_end;
static char text[TEXT_MAX + 512];
static size_t text_len;

/* ---- The grammar: a word that names a list is replaced by one of its rows ---- */

struct rule {
	char name; /* stands as %NAME in rows */
	const char *rows[32];
};

/* The first row of each list leads to no other list that may lead back. */
static const struct rule rules[] = {
	{ 'C', { "%P { %S } ", "%P /%E/ { %S } ", "%P, %P { %S %S } ", "%C%C", "%C%C%C" } },
	{ 'P',
	  { "BEGIN", "END", "kprobe:do_work", "k:*", "kretprobe:do_work", "kr:[dk]*",
	    "interval:ms:1", "profile:hz:99", "tracepoint:shelf:shelf_full", "t:shelf:*",
	    "tracepoint:shelf:shelf_label", "rawtracepoint:shelf_full", "kprobe:kfree",
	    "kprobe:do_work+5", "fentry:$3", "watchpoint:0x1000:8:w", "t:kprobes:work",
	    "uprobe:/bin/a:main" } },
	{ 'S',
	  { "",
	    "%T = %E;",
	    "%T %= %E;",
	    "if (%E) { %S }",
	    "if (%E) { %S } else { %S }",
	    "while (%E) { %S }",
	    "unroll(3) { %S }",
	    "for ($x : %E..%E) { %S }",
	    "%S %S",
	    "%S %S %S",
	    "printf(\"%F\", %E);",
	    "printf(\"%F %F\\n\", %E, %E);",
	    "print(%E);",
	    "print(%M);",
	    "print(%M, 3, 2);",
	    "clear(%M);",
	    "zero(%M);",
	    "delete(%M[%K]);",
	    "delete(%M, %K);",
	    "exit();",
	    "return;",
	    "break;",
	    "continue;",
	    "%M[%K] = %A;",
	    "%M = %A;",
	    "%T++;",
	    "--%T;",
	    "%M[%K]++;" } },
	{ 'T', { "$x", "$y", "$z", "%M", "%M[%K]", "%M[%K].1" } },
	{ 'M', { "@", "@a", "@b", "@c", "@hist", "@text" } },
	{ 'K', { "tid", "comm", "%E", "%E, %E", "kstack", "%E, comm, 1", "str(arg0)" } },
	{ '=', { "+=", "-=", "*=", "/=", "&=", "|=", "<<=", ">>=", "%=", "^=" } },
	{ 'A',
	  { "count()", "sum(%E)", "avg(%E)", "min(%E)", "max(%E)", "stats(%E)", "hist(%E)",
	    "lhist(%E, 0, 100, 10)", "lhist(%E, -5, 5, 1)" } },
	{ 'F', { "%%d", "%%s", "%%x", "%%-20s", "%%05lld", "%%p", "%%c", "%%%%", "%%u", "%%o" } },
	{ 'O',
	  { "+", "-", "*", "/", "%%", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "&", "|", "^",
	    "<<", ">>" } },
	{ 'E', { "1",		"0",
		 "-1",		"%V",
		 "%T",		"%E %O %E",
		 "%E %O %N",	"(%E)",
		 "!%E",		"~%E",
		 "-%E",		"%E ? %E : %E",
		 "(%E, %E)",	"(%E, %E, comm)",
		 "%E.0",	"%E.1",
		 "(%Y)%E",	"*%E",
		 "%E[%E]",	"%E->%B",
		 "%E.%B",	"str(%E)",
		 "str(%E, %E)", "ksym(%E)",
		 "usym(%E)",	"len(%M)",
		 "sizeof(%E)",	"strncmp(%E, %E, 3)",
		 "%T++",	"++%T",
		 "%N" } },
	{ 'N',
	  { "7", "63", "64", "0x7fffffffffffffff", "0xffffffffffffffff", "1e6", "5ms", "4096", "-2",
	    "0x8000000000000000", "\"\"", "\"a text\"", "\"init\"" } },
	{ 'V', { "tid",	      "pid",	 "comm",  "cpu",    "nsecs",	  "elapsed",
		 "rand",      "func",	 "probe", "kstack", "ustack",	  "kstack(3)",
		 "arg0",      "arg1",	 "arg4",  "retval", "args.shelf", "args.label",
		 "args.file", "args.nr", "args",  "$1",	    "$2",	  "$9" } },
	{ 'Y',
	  { "uint8", "int16", "uint32", "int64", "struct file *", "struct path", "struct file",
	    "uint64 *" } },
	{ 'B',
	  { "next", "pos", "path", "name", "text", "mode", "level", "kind", "len", "is_open",
	    "0" } },
};

static uint8_t choice(void)
{
	return choices < choices_end ? *choices++ : 0;
}

static const char *row_of(char name, int depth)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		size_t nr = 0;

		while (nr < 32 && rules[i].rows[nr])
			nr++;
		if (rules[i].name == name)
			return rules[i].rows[depth < DEPTH_MAX ? choice() % nr : 0];
	}
	abort();
}

static void expand(const char *row, int depth)
{
	for (; *row && text_len < TEXT_MAX; row++) {
		if (*row != '%' || !row[1]) {
			text[text_len++] = *row;
			continue;
		}
		row++;
		if (*row == '%' || (*row == '=' && row[1] == ';'))
			text[text_len++] = *row;
		else
			expand(row_of(*row, depth), depth + 1);
	}
}

/* ---- The machine ---- */

static void happen(void)
{
	static struct file file = { .name = "a name", .path = { "/a/path", 7 }, .next = &file };
	static const uint64_t args[6] = { (uintptr_t)&file,   12, ~0ul, 1ul << 63,
					  (uintptr_t) "text", 8 };

	fake_args = args;
	for (uint64_t i = 0; i < 3; i++) {
		fake_clock += 1000000;
		(void)fake_enter(i % NR_FUNCS, fake_func(1) + 4);
		(void)fake_enter(2, fake_func(1) + 4);
		trace_shelf_full((int)i - 1);
		(void)fake_leave(i - 1);
		(void)fake_leave(~i);
		trace_shelf_label(9, "some books");
		trace_shelf_empty(7);
	}
	fake_args = NULL;
}

/* At most `nr` buffers full of output. */
static void gather(struct trace_script *script, int nr)
{
	static char buf[16384];
	struct trace_seq seq;

	do {
		trace_seq_init(&seq, buf, sizeof(buf));
		(void)trace_script_read(script, &seq);
	} while (seq.len && --nr);
}

static void print_tables(struct trace_script *script)
{
	static char buf[16384];
	struct trace_seq seq;
	bool has_more;

	do {
		trace_seq_init(&seq, buf, sizeof(buf));
		has_more = trace_script_print(script, &seq);
	} while (has_more);
}

static void run(struct trace_script *script)
{
	struct trace_script_stats stats;
	struct trace_seq seq;
	char buf[1024];

	trace_seq_init(&seq, buf, sizeof(buf));
	trace_script_show(script, &seq);
	if (!trace_script_start(script)) {
		happen();
		gather(script, 8);
		read_file("enabled_functions");
		happen();
		trace_script_stop(script);
		gather(script, 8);
		print_tables(script);
		trace_script_stats_get(script, &stats);
	}
	trace_script_free(script);
}

static void set_up_scripts(void)
{
	static const char event[] = "p:work do_work file=%di nr=%si";

	probe_types_make();
	set_up();
	probe_types_name();
	fake_run(1);
	fake_reads_anywhere = true;
	write_file("kprobe_events", event, sizeof(event) - 1, TRACE_FS_APPEND);
}

/* First byte: bytes or grammar, and memory until it fails. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct trace_script_params given = { .texts = { "7", "text", "do_*" },
							  .nr = 3 };
	static bool is_ready;
	struct trace_script *script;
	struct trace_script_error error;
	int err;

	if (!is_ready)
		set_up_scripts();
	is_ready = true;
	if (!len)
		return 0;
	choices = data + 1;
	choices_end = data + len;
	text_len = 0;
	if (data[0] & 1)
		expand("%C", 0);
	else
		text_len = len - 1 < TEXT_MAX ? len - 1 : TEXT_MAX;
	if (!(data[0] & 1))
		memcpy(text, data + 1, text_len);
	text[text_len] = '\0';
	fake_alloc_budget = data[0] / 4 < 32 ? -1 : data[0] / 4 - 32;
	err = trace_script_create(text, &given, &script, &error);
	if (!err)
		run(script);
	else if (err != -ENOMEM && (!error.why[0] || error.pos > text_len))
		abort();
	fake_alloc_budget = -1;
	if (fake_nr_probes)
		abort();
	return 0;
}

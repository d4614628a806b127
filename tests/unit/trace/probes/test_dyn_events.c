/*
 * Answers for shells about events that lines define, on the fake machine and with a few types: ways
 * in which a line could go on, and a line in words. See <trace/dyn_events.h>.
 */
#include "unit.h"
#include "tracefs.h"
#include "probe_help.h"
#include <trace/dyn_events.h>
#include <trace/trace_seq.h>
#include "probe_types.h"
#include "text/str.h"
#include "types/btf.h"

static int setup(void **state)
{
	int err;

	probe_types_make();
	err = tracefs_setup(state);
	assert_true(trace_btf_is_loaded());
	return err;
}

static int begin(void **state)
{
	int err = tracefs_reset(state);

	probe_types_name();
	return err;
}

static int end(void **state)
{
	(void)state;
	probe_events_end();
	return 0;
}

static void define(const char *line)
{
	if (echo_append(line, "dynamic_events"))
		fail_msg("%s: %s", line, cat("error_log"));
}

/* ---- Completed ---- */

/* All that could be at the end of a line: ` TEXT` of each, with `~` behind it if something follows. */
struct words {
	const char *line;
	char texts[1000], hints[1000];
};

static void add_word(const struct trace_dyn_event_word *word, void *arg)
{
	struct words *words = arg;
	size_t len = strlen(words->line);

	assert_true(word->from <= len);
	assert_memory_equal(word->text, words->line + word->from, len - word->from);
	strcat(strcat(words->texts, " "), word->text);
	if (word->goes_on)
		strcat(words->texts, "~");
	if (*word->hint)
		strcat(strcat(words->hints, word->hint), ";");
}

static void check_completion(const char *line, const char *texts, const char *hints)
{
	struct words words = { .line = line };

	trace_dyn_event_complete(line, add_word, &words);
	if (strcmp(words.texts, texts))
		fail_msg("%s:%s instead of%s", line, words.texts, texts);
	if (hints)
		assert_string_equal(words.hints, hints);
}

static void argument_names(void **state)
{
	(void)state;
	check_completion("p:my/in do_work n", " nr now", "unsigned short nr;_Bool now;");
	check_completion("p do_work nr f=fi", " file~", "struct file *file;");
	check_completion("r3:x do_work ", " file~ nr text size now last", NULL);
	check_completion("f:x do_work%return t", " text", NULL);
	check_completion("p do_work +0(t", " text~", NULL);
	check_completion("p do_work +8(-4(t", " text~", NULL);
	check_completion("p do_work (file)(t", " text~", NULL);
	check_completion("p do_work (file)t", " text~", NULL);
	check_completion("p do_work (file)+0(t", " text~", NULL);
	check_completion("t sched_switch p", " prev~", "struct sched_thread *prev;");
	check_completion("p do_work+8 n", "", NULL);
	check_completion("p schedule n", "", NULL);
	check_completion("p nothing n", "", NULL);
	check_completion("p do_work nr x", "", NULL);
	check_completion("p do_work", "", NULL);
	check_completion("p:", "", NULL);
	check_completion("x do_work n", "", NULL);
}

static void member_names(void **state)
{
	(void)state;
	check_completion("p do_work file->n", " name next~", "char name[16];struct file *next;");
	check_completion("p do_work a=file->next->",
			 " name path~ next~ mode level is_open kind pos packed", NULL);
	check_completion("p do_work file->path.", " text len",
			 "const char *text;unsigned int len;");
	check_completion("p do_work file->le", " level", "int level : 5;");
	check_completion("p do_work +0(file->path.t", " text~", NULL);
	check_completion("r yield $retval->path.l", " len", NULL);
	check_completion("t sched_switch next->c", " comm", NULL);
	check_completion("p do_work $current->c", " comm", NULL);
	/* Not what C would not have: a member of a pointer, of a number, of nothing. */
	check_completion("p do_work file->next.", "", NULL);
	check_completion("p do_work file->path->", "", NULL);
	check_completion("p do_work file.", "", NULL);
	check_completion("p do_work nr->", "", NULL);
	check_completion("p do_work nothing->", "", NULL);
	check_completion("p do_work ->", "", NULL);
	check_completion("p do_work %di->", "", NULL);
}

static void casts(void **state)
{
	(void)state;
	check_completion("p do_work (fi", " file~", NULL);
	check_completion("p do_work a=(pa", " path~ pair~ pair_t~", NULL);
	check_completion("p do_work (file)((sched", " sched_thread~", NULL);
	check_completion("p do_work (file)%di->n", " name next~", NULL);
	check_completion("p do_work+8 (file)%di->next->path.t", " text", NULL);
	check_completion("p do_work (pair_t)%di->", " a b", "long int a;long int b;");
	check_completion("p do_work (file)(%di)->na", " name", NULL);
	check_completion("p do_work (file)((file)%di->ne", " next~", NULL);
	check_completion("p do_work (file,po", " pos~", NULL);
	check_completion("p do_work (file,pos)%di->po", " pos", NULL);
	check_completion("e sched.sched_switch (file)prev_pi", " prev_pid~", NULL);
	check_completion("e sched.sched_switch (file)prev_pid->po", " pos", NULL);
	check_completion("p do_work (nothing)%di->", "", NULL);
	check_completion("p do_work (nothing,", "", NULL);
	check_completion("p do_work (file)%di.", "", NULL);
	check_completion("p do_work )", "", NULL);
	check_completion("p do_work (file)", " file~ nr~ text~ size~ now~ last~", NULL);
}

static void variables(void **state)
{
	(void)state;
	check_completion("p do_work $", " $comm $current~ $stack", "");
	check_completion("p do_work+8 c=$c", " $comm $current~", NULL);
	check_completion("r do_work $r", " $retval", NULL);
	check_completion("p do_work $r", "", NULL);
	check_completion("t sched_switch $", " $comm $current~ $stack", NULL);
	check_completion("w w@0x1000 $o", " $old", NULL);
	check_completion("e sched.sched_switch $next_p", " $next_pid $next_prio",
			 "pid_t next_pid;int next_prio;");
	check_completion("e sched.sched_switch $co", " $comm", NULL);
	check_completion("e sched.sched_switch $prev_pid if prev_c", " prev_comm",
			 "char prev_comm[16];");
	check_completion("e sched.sched_switch if next_pid>2&&prev_st", " prev_state", NULL);
}

static void types(void **state)
{
	(void)state;
	check_completion("p do_work nr:u", " u64 u32 u16 u8 ustring", "");
	check_completion("p do_work a=+0(%si):sy", " symstr symbol", NULL);
	check_completion("p schedule %di:s3", " s32", NULL);
	check_completion("p do_work nr:z", "", NULL);
}

static void places(void **state)
{
	(void)state;
	check_completion("t:my/x sched_swi", " sched_switch", NULL);
	check_completion("e sched.sched_switch", " sched.sched_switch", NULL);
	check_completion("e:x sched/sched_switch", " sched/sched_switch", NULL);
	define("p:my/in do_work");
	check_completion("e:x my.", " my.in", NULL);
	check_completion("e:x my", " my.in", NULL);
	check_completion("p do_wo", "", NULL);
	check_completion("e", "", NULL);
}

/* ---- In words ---- */

static void check_words(const char *name, const char *want)
{
	static char text[4096];
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text) - 1);
	assert_int_equal(trace_dyn_event_explain(name, &seq), 0);
	text[seq.len] = '\0';
	assert_string_equal(text, want);
}

static void check_no_words(const char *name, int err)
{
	char text[100];
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text));
	assert_int_equal(trace_dyn_event_explain(name, &seq), err);
	assert_int_equal(seq.len, 0);
}

#define DO_WORK_PROTO                                                                              \
	"int do_work(struct file *file, unsigned short nr, const char *text, size_t size, "        \
	"_Bool now, int, long int last)\n"

static void entries(void **state)
{
	(void)state;
	define("p:my/in do_work nr size:x32 text:string $arg6 last $stack1 c=+0($stack):symbol");
	check_words("my/in",
		    "my/in: a dynamic event, off\n"
		    "    p:my/in do_work nr=nr size=size:x32 text=text:string arg4=$arg6 "
		    "last=last arg6=$stack1 c=+0($stack):symbol\n"
		    "        " DO_WORK_PROTO "        nr:u16 from $arg2, unsigned short nr\n"
		    "        size:x32 from $arg4, size_t size\n"
		    "        text:string from +0($arg3), const char *text\n"
		    "        arg4:x64 from $arg6\n"
		    "        last:s64 from $arg7, long int last\n"
		    "        arg6:x64 from $stack1\n"
		    "        c:symbol from +0($stack)\n"
		    "           0 FIELD offset 40 shift 0 mask ffffffffffffffff\n"
		    "           1 STORE\n"
		    "           2 PEEK_TEXT at [offset 48] + 0\n"
		    "           3 PEEK_WORD at [offset 120] + 8\n"
		    "           4 PEEK_WORD at [offset 120] + 8\n"
		    "           5 PEEK_WORD at [offset 120] + 0\n"
		    "           6 END\n");
}

static void members(void **state)
{
	(void)state;
	define("p:in do_work n=file->name:string l=file->path.len p=file->next->pos file->level "
	       "t=+0(file->path.text):x8[4] q=(file,path.len)%di->mode c=$current->pid");
	check_words("in",
		    "kprobes/in: a dynamic event, off\n"
		    "    p:kprobes/in do_work n=file->name:string l=file->path.len "
		    "p=file->next->pos arg4=file->level t=+0(file->path.text):x8[4] "
		    "q=(file,path.len)%di->mode c=$current->pid\n"
		    "        " DO_WORK_PROTO "        n:string from +0($arg1), char name[16]\n"
		    "        l:u32 from +24($arg1), unsigned int len\n"
		    "        p:s64 from +48(+32($arg1)), long int pos\n"
		    "        arg4:s32 from +40($arg1), int level : 5, from bit 3 on\n"
		    "        t:x8[4] from +0(+16($arg1))\n"
		    "        q:u32 from +16(%di), unsigned int mode : 3, from bit 0 on\n"
		    "        c:s32 from +0($current), int pid\n"
		    "           0 PEEK_TEXT at [offset 32] + 0\n"
		    "           1 PEEK at [offset 32] + 24\n"
		    "           2 FIELD offset 32 shift 0 mask ffffffffffffffff\n"
		    "           3 READ 8 bytes at value + 32, true: 4, false: 5\n"
		    "           4 MEMORY at value + 48, false: 6\n"
		    "           5 NO_BYTES\n"
		    "           6 FIELD offset 32 shift 0 mask ffffffffffffffff\n"
		    "           7 READ 4 bytes at value + 40, true: 8, false: 9\n"
		    "           8 BITS << 56 >> 59\n"
		    "           9 STORE\n"
		    "          10 FIELD offset 32 shift 0 mask ffffffffffffffff\n"
		    "          11 READ 8 bytes at value + 16, true: 12, false: 13\n"
		    "          12 MEMORY at value + 0, false: 14\n"
		    "          13 NO_BYTES\n"
		    "          14 FIELD offset 32 shift 0 mask ffffffffffffffff\n"
		    "          15 READ 4 bytes at value + 16, true: 16, false: 17\n"
		    "          16 BITS << 61 >> 61\n"
		    "          17 STORE\n"
		    "          18 THREAD\n"
		    "          19 MEMORY at value + 0\n"
		    "          20 END\n");
}

/* Members in front of the pointer have a negative offset. */
static void in_front(void **state)
{
	(void)state;
	define("p:in do_work+8 n=(file,pos)%di->name:string");
	check_words("in", "kprobes/in: a dynamic event, off\n"
			  "    p:kprobes/in do_work+8 n=(file,pos)%di->name:string\n"
			  "        " DO_WORK_PROTO "        n:string from -48(%di), char name[16]\n"
			  "           0 PEEK_TEXT at [offset 32] + -48\n"
			  "           1 END\n");
}

static void returns(void **state)
{
	(void)state;
	define("r:back yield $retval pos=$retval->pos");
	check_words("kprobes:back", "kprobes/back: a dynamic event, off\n"
				    "    r:kprobes/back yield arg1=$retval pos=$retval->pos\n"
				    "        struct file *yield(void)\n"
				    "        arg1:x64 from $retval, struct file *\n"
				    "        pos:s64 from +48($retval), long int pos\n"
				    "           0 PEEK_WORD at [offset 80] + 48\n"
				    "           1 END\n");
	define("f:no schedule%return $retval");
	check_words("no", "fprobes/no: a dynamic event, off\n"
			  "    f:fprobes/no schedule%return arg1=$retval\n"
			  "        arg1:x64 from $retval\n");
}

static void several(void **state)
{
	(void)state;
	define("p:my/both yield %di");
	define("p:my/other yield %si");
	define("p:my/both yield+8 %di");
	assert_int_equal(echo("1", "events/my/both/enable"), 0);
	check_words("my.both", "my/both: a dynamic event, on\n"
			       "    p:my/both yield arg1=%di\n"
			       "        struct file *yield(void)\n"
			       "        arg1:x64 from %di\n"
			       "    p:my/both yield+8 arg1=%di\n"
			       "        struct file *yield(void)\n"
			       "        arg1:x64 from %di\n");
}

static void other_places(void **state)
{
	(void)state;
	define("t:my/switch sched_switch next->comm:string $arg1 third=$arg3");
	check_words("switch",
		    "my/switch: a dynamic event, off\n"
		    "    t:my/switch sched_switch arg1=next->comm:string prev=prev third=$arg3\n"
		    "        sched_switch(struct sched_thread *prev, struct sched_thread *next)\n"
		    "        arg1:string from +0(+8($arg2)), const char *comm\n"
		    "        prev:x64 from $arg1, struct sched_thread *prev\n"
		    "        third:x64 from $arg3\n"
		    "           0 FIELD offset 8 shift 0 mask ffffffffffffffff\n"
		    "           1 READ 8 bytes at value + 8, true: 2, false: 3\n"
		    "           2 TEXT_AT at value + 0, false: 4\n"
		    "           3 NO_TEXTS\n"
		    "           4 END\n");
	define("e:my/on sched.sched_switch $prev_pid n=$next_comm p=(file)prev_pid->pos if "
	       "next_pid > 0");
	check_words("on", "my/on: a dynamic event, off\n"
			  "    e:my/on sched.sched_switch arg1=$prev_pid n=$next_comm "
			  "p=(file)prev_pid->pos if next_pid > 0\n"
			  "        arg1:x64 from $prev_pid, pid_t prev_pid\n"
			  "        n:string from $next_comm, char next_comm[16]\n"
			  "        p:s64 from +48($prev_pid), long int pos\n"
			  "           0 FIELD offset 20 shift 32 mask ffffffffffffffff\n"
			  "           1 STORE\n"
			  "           2 ADDRESS\n"
			  "           3 TEXT_AT at value + 0\n"
			  "           4 FIELD offset 20 shift 32 mask ffffffffffffffff\n"
			  "           5 MEMORY at value + 48\n"
			  "           6 END\n");
	define("s:lat u64 nr");
	check_words("synthetic/lat", "synthetic/lat: a dynamic event, off\n"
				     "    s:synthetic/lat\tu64 nr\n");
}

/* Who uses it; without that it would be gone. */
static void uses(void **state)
{
	static const char rest[] = "    p:my/in yield\n        struct file *yield(void)\n";
	char want[200];

	(void)state;
	define("p:my/in yield");
	assert_int_equal(echo("traceoff", "events/my/in/trigger"), 0);
	snprintf(want, sizeof(want), "my/in: a dynamic event, off with triggers\n%s", rest);
	check_words("in", want);
	assert_int_equal(echo_append("-:in", "dynamic_events"), -EBUSY);
	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(put("", 0, "dynamic_events", TRACE_FS_TRUNC), -EBUSY);
	assert_non_null(
		strstr(cat("error_log"), "dynamic_events: error: my/in is in use: it is on "));
	assert_non_null(strstr(cat("error_log"), "\n  Command: > dynamic_events\n           ^\n"));
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "some"), 0);
	assert_int_equal(echo("1", "instances/some/events/my/in/enable"), 0);
	snprintf(want, sizeof(want),
		 "my/in: a dynamic event, on in instance some, off with triggers\n%s", rest);
	check_words("in", want);
	assert_int_equal(echo("!traceoff", "events/my/in/trigger"), 0);
	snprintf(want, sizeof(want), "my/in: a dynamic event, on in instance some\n%s", rest);
	check_words("in", want);
	assert_int_equal(echo("0", "instances/some/events/my/in/enable"), 0);
	snprintf(want, sizeof(want), "my/in: a dynamic event, off\n%s", rest);
	check_words("in", want);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "some"), 0);
}

static void no_such_events(void **state)
{
	(void)state;
	define("p:my/in do_work");
	check_no_words("sched/sched_switch", -EINVAL);
	check_no_words("sched_switch", -ENOENT);
	check_no_words("my/out", -ENOENT);
	check_no_words("your/in", -ENOENT);
	check_no_words("", -ENOENT);
	check_no_words("/in", -ENOENT);
}

static void without_types(void **state)
{
	(void)state;
	trace_btf_unload();
	define("p:my/in do_work $arg2 %si");
	check_words("my/in", "my/in: a dynamic event, off\n"
			     "    p:my/in do_work arg1=$arg2 arg2=%si\n"
			     "        arg1:x64 from $arg2\n"
			     "        arg2:x64 from %si\n");
	check_completion("p do_work n", "", NULL);
	check_completion("p do_work file->", "", NULL);
	check_completion("p do_work (file)%di->", "", NULL);
	check_completion("p do_work (f", "", NULL);
	check_completion("p do_work $cu", " $current~", NULL);
	assert_int_equal(trace_btf_load(fake_btf, fake_btf_bytes), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(argument_names, begin, end),
		cmocka_unit_test_setup_teardown(member_names, begin, end),
		cmocka_unit_test_setup_teardown(casts, begin, end),
		cmocka_unit_test_setup_teardown(variables, begin, end),
		cmocka_unit_test_setup_teardown(types, begin, end),
		cmocka_unit_test_setup_teardown(places, begin, end),
		cmocka_unit_test_setup_teardown(entries, begin, end),
		cmocka_unit_test_setup_teardown(members, begin, end),
		cmocka_unit_test_setup_teardown(in_front, begin, end),
		cmocka_unit_test_setup_teardown(returns, begin, end),
		cmocka_unit_test_setup_teardown(several, begin, end),
		cmocka_unit_test_setup_teardown(other_places, begin, end),
		cmocka_unit_test_setup_teardown(uses, begin, end),
		cmocka_unit_test_setup_teardown(no_such_events, begin, end),
		cmocka_unit_test_setup_teardown(without_types, begin, end),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

/* Events that users put in programs, on a fake host with programs: uprobe_events, its mistakes, what is recorded. */
#include "unit.h"
#include "tracefs.h"
#include "programs.h"
#include "trace/events/event_parse.h"
#include "probe_help.h"
#include "text/str.h"
#include "program_elf.h"
#include <elf.h>
#include <trace/dyn_events.h>
#include <trace/trace_seq.h>
#include <trace/thread.h>

#define PLACE  "/bin/prog:0x0000000000000010"
#define CALLER 0x400555ul

static int define(const char *line)
{
	return echo_append(line, "uprobe_events");
}

static int group_setup(void **state)
{
	fake_programs_start();
	return event_setup(state);
}

static int begin(void **state)
{
	int err = event_reset(state);

	fake_programs_start();
	fake_thread_add(7, "prog");
	fake_run(7);
	assert_int_equal(echo("", "error_log"), 0);
	return err;
}

static int end(void **state)
{
	(void)state;
	probe_events_end();
	assert_string_equal(cat("uprobe_events"), "");
	fake_run(7);
	trace_thread_exited(7, "prog");
	fake_thread_exit(7);
	assert_int_equal(fake_file_refs, 0);
	fake_run(-1);
	return 0;
}

static void lists(void **state)
{
	static const char *const lines[][2] = {
		{ "p /bin/prog:0x10", "p:uprobes/p_prog_0x10 " PLACE "\n" },
		{ "p:one /bin/prog:16", "p:uprobes/one " PLACE "\n" },
		{ "p:my/one /bin/prog:020(0x20) %ip", "p:my/one " PLACE "(0x20) arg1=%ip\n" },
		{ "r /bin/prog:0x10 $retval", "r:uprobes/p_prog_0x10 " PLACE " arg1=$retval\n" },
		{ "p:my/ret /bin/prog:0x10%return(32) a=@+0x20:u8",
		  "r:my/ret " PLACE "(0x20) a=@+0x20:u8\n" },
	};

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(lines); i++) {
		assert_int_equal(define(lines[i][0]), 0);
		assert_string_equal(cat("uprobe_events"), lines[i][1]);
		assert_string_equal(cat("dynamic_events"), lines[i][1]);
		assert_string_equal(cat("kprobe_events"), "");
		assert_int_equal(echo("", "uprobe_events"), 0);
		/* A listed line defines the same. */
		assert_int_equal(put_line(lines[i][1], "dynamic_events", 0), 0);
		assert_string_equal(cat("uprobe_events"), lines[i][1]);
		assert_int_equal(echo("", "uprobe_events"), 0);
	}
	assert_int_equal(define("p:my/one /bin/prog:0x10"), 0);
	assert_int_equal(define("p:my/one /bin/prog:0x20"), 0);
	assert_int_equal(define("-:my/one /bin/prog:0x0000000000000020"), 0);
	assert_string_equal(cat("uprobe_events"), "p:my/one " PLACE "\n");
	assert_int_equal(define("-:one"), 0);
}

static void relative_paths(void **state)
{
	(void)state;
	assert_int_equal(define("p:one prog:0x10"), 0);
	assert_string_equal(cat("uprobe_events"), "p:uprobes/one " PLACE "\n");
	assert_int_equal(put_line("p:two ./prog:0x10", "dynamic_events", 0), 0);
	assert_string_equal(cat("uprobe_events"),
			    "p:uprobes/one " PLACE "\np:uprobes/two " PLACE "\n");
	assert_int_equal(echo("", "uprobe_events"), 0);
}

/* One place under two names of its file is one place. */
static void same_places(void **state)
{
	(void)state;
	assert_int_equal(define("p:one /bin/prog:0x10 a=%di"), 0);
	assert_int_equal(define("p:one ./prog:0x10 a=%di"), -EEXIST);
	assert_non_null(strstr(cat("error_log"), "There is already the exact same probe event"));
	assert_int_equal(define("p:one /lib/link:0x10 a=%di"), -EEXIST);
	assert_int_equal(define("p:one /lib/link:0x10 a=%si"), 0);
	assert_int_equal(define("p:one /lib/link:0x20 a=%di"), 0);
	assert_int_equal(echo("", "uprobe_events"), 0);
}

static void add_text(const struct trace_dyn_event_word *word, void *texts)
{
	strcat(strcat(texts, " "), word->text);
}

static void check_completion(const char *line, const char *expected)
{
	char texts[256] = "";

	trace_dyn_event_complete(line, add_text, texts);
	assert_string_equal(texts, expected);
}

/* Functions of the file, behind the colon; a file that is not there has none. */
static void completion(void **state)
{
	(void)state;
	check_completion("p /bin/prog:", "");
	program_elf_make();
	check_completion("p:one /bin/prog:ma", " main main");
	check_completion("r ./prog:tw", " twice twice");
	check_completion("p /bin/prog:", " main main twice twice far");
	check_completion("p /bin/prog:none", "");
	check_completion("p /bin/none:ma", "");
	check_completion("p /bin/prog", "");
	check_completion("p /bin/prog:main a", "");
}

static void mistakes(void **state)
{
	static const struct mistake all[] = {
		{ "p ^/non_exist_file:100", "Failed to find the given file" },
		{ "p ^/bin:100", "Not a regular file" },
		{ "p /bin/prog:^10a", "Invalid uprobe offset" },
		{ "p /bin/prog:^-1", "Invalid uprobe offset" },
		{ "p /bin/prog:10(^1a)", "Invalid reference counter offset" },
		{ "p /bin/prog:10(^)", "Invalid reference counter offset" },
		{ "p /bin/prog:10(10^", "Reference counter brace is not closed" },
		{ "p /bin/prog:10(10)^a", "Reference counter has wrong suffix" },
		{ "p /bin/prog:10^%entry", "Invalid probed address suffix" },
		{ "p /bin/prog:10 ^@+ab", "Invalid file offset value" },
		{ "p /bin/prog:10 ^@symbol", "Symbol is not available with uprobe" },
		{ "p /bin/prog:10 ^$retval", "$retval is not available on probe" },
		{ "p /bin/prog:10 ^$current", "Invalid $-variable specified" },
		{ "p /bin/prog:10 ^$arg1", "Invalid $-variable specified" },
		{ "p /bin/prog:10 ^%hoge", "Invalid register name" },
		{ "p /bin/prog:10 +0(^this_cpu_ptr(%di))",
		  "Per-cpu variable access is only for kernel probes" },
		{ "p /bin/prog:10 %ip:^symbol", "Unknown type is specified" },
		{ "p /bin/prog:10 $stack0:^symstr", "Unknown type is specified" },
		{ "p /bin/prog:10 %di:^%pd", "Unknown type is specified" },
		{ "p /bin/prog:10 ^name", "BTF is not available or not supported" },
		{ "p ^/bin/prog:0x17",
		  "Probe point is not an instruction boundary: no instruction begins there" },
		{ "p ^/bin/prog:0x18",
		  "Failed to register probe event: the instruction is there to trap" },
		{ "p ^/bin/prog:0x10000",
		  "Failed to register probe event: the file ends before it" },
		{ "p /bin/prog:^main", "The file is no ELF file: write an offset" },
		{ "p^5 /bin/prog:10", "Maxactive is only for function exit" },
	};
	static const struct mistake plain[] = {
		{ "p ^prog", "Place must be of the form: PATH:OFFSET or PATH:SYMBOL[+OFFSET]" },
		{ "p ^/bin/prog:",
		  "Place must be of the form: PATH:OFFSET or PATH:SYMBOL[+OFFSET]" },
	};

	(void)state;
	fake_program_file[0x17] = NO_INSN;
	fake_program_file[0x18] = NO_PROBE;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(all); i++) {
		check_refused(&all[i], "uprobe_events", "trace_uprobe", 0);
		check_refused(&all[i], "dynamic_events", "trace_uprobe", 0);
	}
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(plain); i++)
		check_refused(&plain[i], "uprobe_events", "trace_uprobe", -EINVAL);
	assert_string_equal(cat("uprobe_events"), "");
}

/* Counters of one place are one, whether events are on or not. */
static void counters(void **state)
{
	static const struct mistake all[] = {
		{ "p:two ^/bin/prog:0x10(0x22)",
		  "Reference counter is not that of another probe at this place" },
		{ "r:two ^/bin/prog:0x10",
		  "Reference counter is not that of another probe at this place" },
	};

	(void)state;
	assert_int_equal(define("p:one /bin/prog:0x10(0x20)"), 0);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(all); i++)
		check_refused(&all[i], "uprobe_events", "trace_uprobe", -EINVAL);
	assert_int_equal(define("r:same /bin/prog:0x10(0x20)"), 0);
	assert_int_equal(define("p:other /bin/prog:0x11(0x22)"), 0);
	assert_int_equal(echo("", "uprobe_events"), 0);
	assert_int_equal(define("p:one /bin/prog:0x10"), 0);
	check_refused(&all[0], "uprobe_events", "trace_uprobe", -EINVAL);
}

/* A program's stack is as deep as it likes. */
static void words_of_the_stack(void **state)
{
	(void)state;
	assert_int_equal(define("p:deep /bin/prog:0x10 $stack10000 $stack16777216"), 0);
	check_refused(
		&(struct mistake){ "p /bin/prog:0x10 ^$stack16777217", "Invalid stack number" },
		"uprobe_events", "trace_uprobe", -EINVAL);
}

static void hits(void **state)
{
	struct ftrace_regs regs = { .arg = { 5, 6 } };

	(void)state;
	assert_int_equal(define("p:my/one /bin/prog:0x10 a=%di:u32 b=%si"), 0);
	event_on("my/one");
	assert_true(fake_program_step(0x10, &regs));
	event_is_for("one: (0x400010) a=5 b=0x6", "one: (400010) a=5 b=0x6");
	assert_non_null(strstr(
		cat("uprobe_profile"),
		"  /bin/prog one                                                        1\n"));
	assert_non_null(strstr(cat("events/my/one/format"),
			       "field:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;"));
	assert_int_equal(echo("a == 6", "events/my/one/filter"), 0);
	assert_int_equal(echo("", "trace"), 0);
	assert_true(fake_program_step(0x10, &regs));
	regs.arg[0] = 6;
	assert_true(fake_program_step(0x10, &regs));
	event_is_for("one: (0x400010) a=6 b=0x6", "one: (400010) a=6 b=0x6");
	assert_int_equal(echo("0", "events/my/one/enable"), 0);
	assert_true(fake_program_step(0x10, &regs));
	assert_non_null(strstr(cat("uprobe_profile"), " 3\n"));
}

/* All memory is the program's, whatever the argument says. */
static void memory(void **state)
{
	static char page[FAKE_PAGE_BYTES] __attribute__((aligned(FAKE_PAGE_BYTES)));
	static const char kernel[] = "of the kernel";
	struct ftrace_regs regs = { .arg = { (uintptr_t)page, (uintptr_t)kernel } };

	(void)state;
	strcpy(page, "of the program");
	fake_user_page = page;
	assert_int_equal(
		define("p:my/text /bin/prog:0x10 a=+0(%di):string b=+0(%si):string c=$comm "
		       "d=+0(%di):x16 e=+0(%di):u8[2]"),
		0);
	event_on("my/text");
	assert_true(fake_program_step(0x10, &regs));
	event_is_for(
		"text: (0x400010) a=\"of the program\" b=(fault) c=\"prog\" d=0x666f e={111,102}",
		"text: (400010) a=\"of the program\" b=\"(fault)\" c=\"prog\" d=0x666f "
		"e={111,102}");
	assert_int_equal(echo("a ~ \"*kernel*\"", "events/my/text/filter"), 0);
	assert_int_equal(echo("", "trace"), 0);
	assert_true(fake_program_step(0x10, &regs));
	assert_string_equal(cat_body("trace"), "");
	fake_user_page = NULL;
}

static void returns(void **state)
{
	(void)state;
	assert_int_equal(define("r:my/back /bin/prog:0x10 ret=$retval:s32 ip=%ip"), 0);
	event_on("my/back");
	fake_program_call(0x10, 30, CALLER);
	assert_int_equal(fake_program_return(30, (uint64_t)-3), CALLER);
	event_is_for("back: (0x400555 <- 0x400010) ret=-3 ip=0x400555",
		     "back: (400010 <- 400555) ret=-3 ip=0x400555");
	assert_int_equal(echo("0", "events/my/back/enable"), 0);
	/* With the file: as far from the function as it is in the file. */
	assert_int_equal(define("r:my/file /bin/prog:0x10 a=@+0x20:u8 ret=$retval"), 0);
	event_on("my/file");
	assert_int_equal(echo("", "trace"), 0);
	fake_program_call(0x10, 30, CALLER);
	assert_int_equal(fake_program_return(30, 9), CALLER);
	event_is_for("file: (0x400555 <- 0x400010) a=0 ret=0x9",
		     "file: (400010 <- 400555) a=0 ret=0x9");
}

static void several_places(void **state)
{
	struct ftrace_regs regs = { .arg = { 1 } };

	(void)state;
	assert_int_equal(define("p:my/two /bin/prog:0x10 a=%di"), 0);
	assert_int_equal(define("p:my/two /bin/prog:0x1010 a=%di"), 0);
	check_refused(&(struct mistake){ "^p:my/two /bin/prog:0x10 a=%di",
					 "There is already the exact same probe event" },
		      "uprobe_events", "trace_uprobe", -EEXIST);
	check_refused(&(struct mistake){ "^r:my/two /bin/prog:0x10 a=%di",
					 "Probe type is different from existing probe" },
		      "uprobe_events", "trace_uprobe", -EEXIST);
	event_on("my/two");
	assert_int_equal(fake_nr_edits, 1); /* by one walk */
	assert_true(fake_program_step(0x10, &regs));
	assert_true(fake_program_step(0x1010, &regs));
	assert_int_equal(nr_of(cat("trace"), "two: (0x40"), 2);
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(fake_nr_edits, 2);
}

/* Hits at one place come in the order of the definitions, whichever way the events were switched on together. */
static void order_at_one_place(void **state)
{
	struct ftrace_regs regs = { .arg = { 1 } };
	const char *text, *first, *second, *third;

	(void)state;
	assert_int_equal(define("p:my/first /bin/prog:0x10"), 0);
	assert_int_equal(define("p:my/second /bin/prog:0x10"), 0);
	assert_int_equal(define("p:my/third /bin/prog:0x10"), 0);
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("1", "events/my/enable"), 0);
	assert_int_equal(fake_nr_edits, 1);
	assert_true(fake_program_step(0x10, &regs));
	text = cat_body("trace");
	first = strstr(text, "first: (");
	second = strstr(text, "second: (");
	third = strstr(text, "third: (");
	assert_non_null(first);
	assert_true(first < second && second < third);
}

static void symbols(void **state)
{
	static const struct mistake all[] = {
		{ "p /bin/prog:^mai", "The file has no symbol of that name" },
		{ "p /bin/prog:^mainly", "The file has no symbol of that name" },
		{ "p /bin/prog:^outside", "The file has no symbol of that name" },
		{ "p /bin/prog:^far", "The file has no symbol of that name" },
		{ "p /bin/prog:^twice", "The symbol is not unique" },
		{ "p /bin/prog:main+^a", "Invalid uprobe offset" },
	};
	Elf64_Shdr *table = (Elf64_Shdr *)(fake_program_file + 0x200);

	(void)state;
	program_elf_make();
	assert_int_equal(define("p:my/one /bin/prog:main"), 0);
	assert_int_equal(define("p:my/two /bin/prog:main+4"), 0);
	assert_int_equal(define("r:my/three /bin/prog:main-0x10%return(0x10) $retval"), 0);
	assert_string_equal(cat("uprobe_events"),
			    "p:my/one /bin/prog:0x0000000000001010\n"
			    "p:my/two /bin/prog:0x0000000000001014\n"
			    "r:my/three /bin/prog:0x0000000000001000(0x10) arg1=$retval\n");
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(all); i++)
		check_refused(&all[i], "uprobe_events", "trace_uprobe", 0);
	/* A damaged file: tables that begin or end behind it. */
	table->sh_size = UINT64_MAX;
	check_refused(&all[0], "uprobe_events", "trace_uprobe", -ENOENT);
	table->sh_link = 77;
	check_refused(&(struct mistake){ "p /bin/prog:^main",
					 "The file has no symbols: write an offset" },
		      "uprobe_events", "trace_uprobe", -ENODATA);
}

/* Instructions are counted from the beginning of the function, as far as the file names one. */
static void boundaries(void **state)
{
	static const struct mistake all[] = {
		{ "p /bin/prog:^0x1013",
		  "Probe point is not an instruction boundary: its instruction begins at 0x1012" },
		{ "r /bin/prog:main+^3%return",
		  "Probe point is not an instruction boundary: its instruction begins at 0x1012" },
	};
	static const char *const right[] = {
		"p:my/one /bin/prog:0x1012", "p:my/two /bin/prog:0x1014",
		"p:my/three /bin/prog:main+0x2", "p:my/four /bin/prog:0x100d", /* in no function */
	};
	Elf64_Sym *symbols = (Elf64_Sym *)(fake_program_file + PROGRAM_SYMBOLS_AT);

	(void)state;
	program_elf_make();
	fake_program_file[0x1012] = TWO_BYTES;
	fake_program_file[0x100c] = TWO_BYTES;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(all); i++)
		check_refused(&all[i], "uprobe_events", "trace_uprobe", -EILSEQ);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(right); i++)
		assert_int_equal(define(right[i]), 0);
	/* The function ends in front of it. */
	symbols[0].st_size = symbols[1].st_size = 3;
	assert_int_equal(define("p:my/five /bin/prog:0x1013"), 0);
	symbols[1].st_size = 4;
	check_refused(&all[0], "uprobe_events", "trace_uprobe", -EILSEQ);
	/* In front of it is something that is no instruction. */
	fake_program_file[0x1011] = NO_INSN;
	assert_int_equal(define("p:my/six /bin/prog:0x1013"), 0);
	fake_program_file[0x1011] = 0x90;
	/* A variable is no function. */
	symbols[0].st_info = symbols[1].st_info = STT_OBJECT;
	assert_int_equal(define("p:my/seven /bin/prog:0x1013"), 0);
}

/* An event that is on, and whose probe no program has come to. */
static void why_it_is_empty(void **state)
{
	static const char unhit[] =
		"The probe one is not hit: no program has come to " PLACE " so far.";
	struct ftrace_regs regs = { .arg = { 1 } };

	(void)state;
	assert_int_equal(define("p:my/one /bin/prog:0x10"), 0);
	assert_null(strstr(cat("why"), unhit));
	event_on("my/one");
	assert_non_null(strstr(cat("why"), unhit));
	assert_true(fake_program_step(0x10, &regs));
	assert_null(strstr(cat("why"), unhit));
}

static const char *explained(const char *line, int *out_err)
{
	static char text[300];
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text) - 1);
	*out_err = trace_dyn_event_explain_place(line, &seq);
	text[seq.len] = '\0';
	return text;
}

static void places_explained(void **state)
{
	static const struct {
		const char *line, *said;
		int err;
	} all[] = {
		{ "p /bin/prog:0x10", PLACE ", where a probe can be\n", 0 },
		{ "p /bin/prog:0x18",
		  "/bin/prog:0x0000000000000018, no probe can be there: the instruction is there "
		  "to trap\n",
		  -EOPNOTSUPP },
		{ "p /bin/none:0x18", "no probe can be there: Failed to find the given file\n",
		  -ENOENT },
		{ "p /bin/prog:",
		  "no probe can be there: Place must be of the form: PATH:OFFSET "
		  "or PATH:SYMBOL[+OFFSET]\n",
		  -EINVAL },
		{ "p yield", "", -ENOENT },
		{ "x /bin/prog:0x10", "", -ENOENT },
	};
	int err;

	(void)state;
	fake_program_file[0x18] = NO_PROBE;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(all); i++) {
		assert_string_equal(explained(all[i].line, &err), all[i].said);
		assert_int_equal(err, all[i].err);
	}
	assert_string_equal(cat("uprobe_events"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lists, begin, end),
		cmocka_unit_test_setup_teardown(relative_paths, begin, end),
		cmocka_unit_test_setup_teardown(same_places, begin, end),
		cmocka_unit_test_setup_teardown(completion, begin, end),
		cmocka_unit_test_setup_teardown(mistakes, begin, end),
		cmocka_unit_test_setup_teardown(counters, begin, end),
		cmocka_unit_test_setup_teardown(words_of_the_stack, begin, end),
		cmocka_unit_test_setup_teardown(hits, begin, end),
		cmocka_unit_test_setup_teardown(memory, begin, end),
		cmocka_unit_test_setup_teardown(returns, begin, end),
		cmocka_unit_test_setup_teardown(several_places, begin, end),
		cmocka_unit_test_setup_teardown(order_at_one_place, begin, end),
		cmocka_unit_test_setup_teardown(symbols, begin, end),
		cmocka_unit_test_setup_teardown(boundaries, begin, end),
		cmocka_unit_test_setup_teardown(why_it_is_empty, begin, end),
		cmocka_unit_test_setup_teardown(places_explained, begin, end),
	};

	return cmocka_run_group_tests(tests, group_setup, event_teardown);
}

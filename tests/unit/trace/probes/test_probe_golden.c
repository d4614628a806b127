/*
 * Probes: what was typed to Linux 6.1 (tests/golden, probe-* and eprobe-*) about kprobe_events and
 * dynamic_events is typed here. Where ours answers otherwise, a table says what, and why.
 */
#include "unit.h"
#include "golden.h"
#include "text/str.h"

/* ---- An answer ---- */

#define NO_CARET SIZE_MAX

struct answer {
	int err;
	size_t caret; /* in the line; NO_CARET: error_log says nothing */
	char why[200];
};

/* The first entry of an error_log. */
static void read_log(const char *log, struct answer *out)
{
	const char *why = strstr(log, "error: "), *caret = strchr(log, '^');

	out->caret = NO_CARET;
	out->why[0] = '\0';
	if (*log != '[')
		return;
	why += strlen("error: ");
	snprintf(out->why, sizeof(out->why), "%.*s", (int)strcspn(why, "\n"), why);
	out->caret = 0;
	while (caret[-1 - (long)out->caret] == ' ')
		out->caret++;
	out->caret -= strlen("  Command: ");
}

/* ---- Differences, and why ---- */

#define FAKE	  "the fake machine saves the registers of arguments only"
#define NEWER	  "a type of newer kernels"
#define USER	  "Linux forgets that arrays may be in user space"
#define CONDITION "ours shows the filter in its line"
#define NO_EVENT  "the fake machine has no such event"
#define SILENT	  "Linux refuses it without a word"
#define NUMBER	  "behind the letter is a number, or nothing; Linux does not look"
#define NEW_WORDS "the words of newer kernels"
#define MODULES	  "there are no modules that could bring it later"
#define NOT_OURS  "a symbol of Linux"
#define CHAINS	  "an event of another probe can be probed"
#define DIRECTORY "its directory would be in the way of a file"
#define WORD	  "ours says which word is wrong"
#define SAME_NAME "ours looks whether there may be more probes of the event first"
#define BEHIND	  "Linux marks where one more word would be"
#define FIELD	  "an event of a return has no such field"
#define REGISTERS "of a return there are no other registers"
#define SYMBOL	  "Linux looks for the symbol when the probe is registered"
#define BRACKET	  "Linux does not look at what is behind the bracket"
#define BY_NAME	  "an argument by name is an argument of newer kernels"
#define AT_RETURN "an argument at a return is one of newer kernels"
#define IN_USE                                                                                     \
	"kprobes/one is in use: it is on or has triggers in some instance, or another event "      \
	"needs it, or something of it is open"
#define NOT_SO "There is no such event at that place, with these arguments"
#define FORM   "Command must be of the form: LETTER[:[GROUP/]NAME] PLACE [ARGUMENT]..."

struct difference {
	const char *typed;
	int err; /* ours */
	size_t caret;
	const char *why; /* what our error_log says */
	const char *reason;
};

static const struct difference differences[] = {
	/* Lines that are accepted. */
	{ "p:regs kfree %di %si %dx %cx %ax %bx %bp %sp %ip %flags %r8 %r9 %r10 %r11 %r12 %r13 "
	  "%r14 %r15",
	  -EINVAL, 25, "Invalid register name", FAKE },
	{ "p:odd_regs kfree %cs %ss %orig_ax", -EINVAL, 17, "Invalid register name", FAKE },
	{ "p:chain kfree +0(+8(-16(%sp))) back=-8($stack) user=+u4(+u8(%di)):u32", -EINVAL, 24,
	  "Invalid register name", FAKE },
	{ "p:letter kfree a=%di:char", 0, NO_CARET, "", NEWER },
	{ "p:user_array kfree +u0(%si):x8[4]", 0, NO_CARET, "", USER },
	{ "e:timer timer.timer_start f=$function:symbol", -ENODEV, 8,
	  "Attached event does not exist", NO_EVENT },
	/* Removal. */
	{ "-", -EINVAL, 0, "Removal must be of the form: -:[system/]name", SILENT },
	{ "-:", -EINVAL, 0, "Removal must be of the form: -:[system/]name", SILENT },
	{ "-one", -EINVAL, 0, "Removal must be of the form: -:[system/]name", SILENT },
	{ "-:one", -EBUSY, 2, IN_USE, SILENT },
	{ "-:kprobes/one", -EBUSY, 2, IN_USE, SILENT },
	{ "-:nothing", -ENOENT, 2, "There is no such event", SILENT },
	{ "-:my/one", -ENOENT, 2, "There is no such event", SILENT },
	{ "-:my/three yield", -ENOENT, 2, NOT_SO, SILENT },
	{ "-:four yield arg1=%si", -ENOENT, 2, NOT_SO, SILENT },
	/* The lines. */
	{ "p", -EINVAL, 1, FORM, SILENT },
	{ "r", -EINVAL, 1, FORM, SILENT },
	{ "e", -EINVAL, 1, FORM, SILENT },
	{ "p:", -EINVAL, 2, "Event name is not specified", SILENT },
	{ "p:one", -EINVAL, 5, FORM, SILENT },
	{ "e:a", -EINVAL, 3, FORM, SILENT },
	{ "x schedule", -EINVAL, 0, "There are no events of this kind", SILENT },
	{ ":one schedule", -EINVAL, 0, "There are no events of this kind", SILENT },
	{ "schedule", -EINVAL, 0, "There are no events of this kind", SILENT },
	{ "px schedule", -EINVAL, 0, "There are no events of this kind", NUMBER },
	{ "r-1 schedule", -EINVAL, 0, "There are no events of this kind", NUMBER },
	{ "p100 schedule", -EINVAL, 1, "Maxactive is only for function exit", NEW_WORDS },
	{ "e5 sched.sched_switch", -EINVAL, 1, "Maxactive is only for function exit", NUMBER },
	/* Places. */
	{ "p nomod:schedule", -EINVAL, 2, "There are no modules: SYMBOL alone", MODULES },
	{ "p 0x10", -EINVAL, 2, "Failed to register probe event: 0x10: there is no function",
	  MODULES },
	{ "p copy_from_kernel_nofault", -ENOENT, 2, "Invalid probed address or symbol", NOT_OURS },
	{ "p int3_selftest_ip", -ENOENT, 2, "Invalid probed address or symbol", NOT_OURS },
	{ "p kprobe_int3_handler", -ENOENT, 2, "Invalid probed address or symbol", NOT_OURS },
	{ "p do_int3", -ENOENT, 2, "Invalid probed address or symbol", NOT_OURS },
	{ "p asm_exc_int3", -ENOENT, 2, "Invalid probed address or symbol", NOT_OURS },
	{ "p ftrace_caller", -ENOENT, 2, "Invalid probed address or symbol", NOT_OURS },
	{ "e:a eprobes.there", 0, NO_CARET, "", CHAINS },
	/* Names. */
	{ "p:enable schedule", -EEXIST, 2,
	  "Given group/event name is already used by another event", DIRECTORY },
	{ "p:filter schedule", -EEXIST, 2,
	  "Given group/event name is already used by another event", DIRECTORY },
	{ "p:sched/sched_switch schedule", -EEXIST, 8,
	  "Given group/event name is already used by another event", WORD },
	{ "e:sched/sched_switch sched.sched_waking", -EEXIST, 8,
	  "Given group/event name is already used by another event", WORD },
	{ "e:eprobes/there sched.sched_switch a=$prev_pid", -EEXIST, 10,
	  "Given group/event name is already used by another event", WORD },
	{ "e:there sched.sched_switch", -EEXIST, 2,
	  "Given group/event name is already used by another event", WORD },
	{ "e:there sched.sched_waking a=$pid", -EEXIST, 2,
	  "Given group/event name is already used by another event", WORD },
	{ "p:eprobes/there schedule", -EEXIST, 0, "Probe type is different from existing probe",
	  SAME_NAME },
	{ "p:there schedule", -EEXIST, 16, "Argument type or name is different from existing probe",
	  BEHIND },
	{ "r schedule __probe_ip=$retval", 0, NO_CARET, "", FIELD },
	/* Arguments. */
	{ "r schedule %di", -EINVAL, 11, "Invalid register name", REGISTERS },
	{ "p schedule @", -EINVAL, 11, "Invalid memory address", SYMBOL },
	{ "p schedule @nothing_there", -ENOENT, 11, "Invalid memory address", SYMBOL },
	{ "p schedule @jiffies+", -ENOENT, 11, "Invalid memory address", SYMBOL },
	{ "p schedule @jiffies+x", -ENOENT, 11, "Invalid memory address", SYMBOL },
	{ "p schedule +0(%di)x", -EINVAL, 18, "Invalid fetch argument", BRACKET },
	{ "r schedule $arg1", 0, NO_CARET, "", AT_RETURN },
	{ "p schedule a", -EINVAL, 11, "BTF is not available or not supported", BY_NAME },
	{ "p schedule foo", -EINVAL, 11, "BTF is not available or not supported", BY_NAME },
	{ "p schedule a=foo", -EINVAL, 13, "BTF is not available or not supported", BY_NAME },
	{ "p schedule +0(foo)", -EINVAL, 14, "BTF is not available or not supported", BY_NAME },
	{ "e:a sched.sched_switch a=foo", -EINVAL, 25, "BTF is not available or not supported",
	  BY_NAME },
	{ "e:a sched.sched_switch if", -EINVAL, 25, "No filter rule after 'if'", BEHIND },
	{ "e:a sched.sched_switch if foo", -EINVAL, 29, "Field not found", CONDITION },
	{ "e:a sched.sched_switch a=$", -ENOENT, 25, "Attached event does not have this field",
	  WORD },
	{ "e:a sched.sched_switch a=$common_pid", -ENOENT, 25,
	  "Attached event does not have this field", WORD },
	{ "p schedule \\\"a\":u8", -EINVAL, 16,
	  "$comm and immediate-string only accepts string type", SILENT },
	{ "p schedule \\\"a\":string[2]", -EINVAL, 16,
	  "$comm and immediate-string only accepts string type", SILENT },
	{ "p schedule $comm:u8", -EINVAL, 17, "$comm and immediate-string only accepts string type",
	  SILENT },
	{ "p schedule $comm:string[2]", -EINVAL, 17,
	  "$comm and immediate-string only accepts string type", SILENT },
};

static bool is_met[TRACE_ARRAY_SIZE(differences)];

static const struct difference *find_difference(const char *typed)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(differences); i++) {
		if (strcmp(differences[i].typed, typed) == 0) {
			is_met[i] = true;
			return &differences[i];
		}
	}
	return NULL;
}

/* Behind the words of Linux ours may have a reason. */
static bool is_same(const struct answer *ours, int err, size_t caret, const char *why)
{
	size_t len = strlen(why);

	return ours->err == err && ours->caret == caret && strncmp(ours->why, why, len) == 0 &&
	       (!ours->why[len] || ours->why[len] == ':');
}

static void compare(const char *typed, const struct answer *ours, const struct answer *theirs)
{
	const struct difference *difference = find_difference(typed);
	bool is_as_linux = is_same(ours, theirs->err, theirs->caret, theirs->why);

	if (difference && is_as_linux)
		fail_msg("%s: as Linux, in spite of '%s'", typed, difference->reason);
	if (difference)
		is_as_linux = is_same(ours, difference->err, difference->caret, difference->why);
	if (!is_as_linux)
		fail_msg("%s: %d, '%s' at %zd; Linux: %d, '%s' at %zd", typed, ours->err, ours->why,
			 (ssize_t)ours->caret, theirs->err, theirs->why, (ssize_t)theirs->caret);
}

/* ---- Listings and formats ---- */

/* Listed by one of both only: a difference above says why. */
static const char *const unlisted[] = {
	"p:kprobes/regs ",   "p:kprobes/odd_regs ",   "p:kprobes/chain ",
	"p:kprobes/letter ", "p:kprobes/user_array ", "e:eprobes/timer ",
};

/* Differences of the list. The second column is ours. */
static const char *const listed[][2] = {
	/* As many calls as there is room for, unless a number was typed. */
	{ "r10:kprobes/ten", "r@10:kprobes/ten" },
	{ "\nr10:", "\nr:" },
	{ "r@10", "r10" },
	/* Places are listed as they were typed. */
	{ "p:my/zero schedule", "p:my/zero schedule+0" },
	{ "r:kprobes/zero schedule", "r:kprobes/zero schedule+0" },
	/* Conditions are listed, as newer kernels do. */
	{ "e:eprobes/filtered sched.sched_switch prev=$prev_pid",
	  "e:eprobes/filtered sched.sched_switch prev=$prev_pid if prev_pid == 0" },
	{ "e:eprobes/sched_waking sched.sched_waking",
	  "e:eprobes/sched_waking sched/sched_waking" },
	{ "e:my/ev sched.sched_switch", "e:my/ev sched/sched_switch" },
	{ NULL, NULL },
};

#define PLACE(NAME) "(void *)(((REC->" NAME " + 0x80000000ul) & 0xfffffffful) - 0x80000000ul)"

/* Differences of the descriptions. */
static const char *const described[][2] = {
	/* Addresses of code take four bytes, and are shown as a symbol by programs, too. */
	{ "unsigned long __probe_", "unsigned int __probe_" },
	{ "\"(%lx <- %lx)", "\"(%pS <- %ps)" },
	{ "\"(%lx)", "\"(%pS)" },
	{ "REC->__probe_func, REC->__probe_ret_ip",
	  PLACE("__probe_ret_ip") ", " PLACE("__probe_func") },
	{ "REC->__probe_ip", PLACE("__probe_ip") },
	{ " REC->n,", " (void *)REC->n," },
	{ "REC->a, REC->b[0], REC->b[1]", "(void *)REC->a, (void *)REC->b[0], (void *)REC->b[1]" },
	/* Programs know these as well, and the sign of short numbers. */
	{ "%Lu", "%llu" },
	{ "%Ld", "%lld" },
	{ "%Lx", "%llx" },
	{ "e=%d f=%d", "e=%hhd f=%hd" },
	{ "s={%d}", "s={%hd}" },
	/* How many there are, as newer kernels say. */
	{ "u8 arg1[];", "u8 arg1[4];" },
	{ "words[];", "words[2];" },
	{ "u64 b[];", "u64 b[2];" },
	{ "s16 s[];", "s16 s;" },
	{ "char[][2] name;", "char[] name[2];" },
	/* An event of an event names it, and a text is one, as in newer kernels. */
	{ "\" prev=%u", "\"(sched.sched_switch) prev=%u" },
	{ "fmt: \"\"", "fmt: \"(sched.sched_switch)\"" },
	{ "u64 next;\tsigned:0", "__data_loc char[] next;\tsigned:1" },
	{ "next=0x%llx", "next=\\\"%s\\\"" },
	{ "REC->next", "__get_str(next)" },
	{ NULL, NULL },
};

static bool is_unlisted(const char *line)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(unlisted); i++) {
		if (strncmp(line, unlisted[i], strlen(unlisted[i])) == 0)
			return true;
	}
	return false;
}

static void without_unlisted(char *text)
{
	while (*text) {
		char *next = strchr(text, '\n') + 1;

		if (is_unlisted(text))
			memmove(text, next, strlen(next) + 1);
		else
			text = next;
	}
}

static void same_files(const char *paths, const char *answer)
{
	static char ours[GOLDEN_MAX], theirs[GOLDEN_MAX];
	bool is_format = strstr(paths, "/format");

	snprintf(ours, sizeof(ours), "%s", golden_cat(paths));
	snprintf(theirs, sizeof(theirs), "%s", answer);
	if (is_format) {
		golden_without_layout(ours);
		golden_without_layout(theirs);
	}
	for (const char *const(*words)[2] = is_format ? described : listed; (*words)[0]; words++)
		golden_replace(theirs, sizeof(theirs), (*words)[0], (*words)[1]);
	if (!is_format) {
		without_unlisted(ours);
		without_unlisted(theirs);
	}
	assert_string_equal(ours, theirs);
}

/* ---- Transcripts ---- */

/* A typed line, with the `cat error_log` that may stand behind it. */
static void replay_write(struct golden *golden, const struct golden_write *write)
{
	struct answer ours, theirs = { .err = golden_errno(golden->answer) };

	assert_int_equal(echo("", "error_log"), 0);
	ours.err = write->is_empty ? put("", 0, write->path, write->flags)
				   : put_line(write->text, write->path, write->flags);
	read_log(cat("error_log"), &ours);
	if (golden->next && strncmp(golden->next, "$ cat error_log", 15) == 0) {
		assert_true(golden_next(golden));
		read_log(golden->answer, &theirs);
	} else {
		theirs.caret = ours.caret; /* the sample did not look */
		strcpy(theirs.why, ours.why);
	}
	compare(write->text, &ours, &theirs);
}

static void begin_again(const char *const *lines, size_t nr)
{
	assert_int_equal(put("", 0, "dynamic_events", TRACE_FS_TRUNC), 0);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(echo_append(lines[i], "dynamic_events"), 0);
}

/* The sample begins with definitions `lines`; all others find just those. Without any, what those before left. */
static void replay(const char *name, const char *const *lines, size_t nr_lines, size_t min)
{
	static struct golden golden;
	static struct golden_write write;
	size_t nr = 0;

	golden_load(&golden, name, NULL);
	for (; golden_next(&golden); nr++) {
		if (nr_lines && nr >= nr_lines)
			begin_again(lines, nr_lines);
		if (golden_take(golden.command, &write))
			replay_write(&golden, &write);
		else if (strncmp(golden.command, "cat ", 4) == 0)
			same_files(golden.command + 4, golden.answer);
	}
	assert_true(nr >= min);
	begin_again(NULL, 0);
}

static void lines(void **state)
{
	(void)state;
	replay("probe-lines", NULL, 0, 40);
	replay("eprobe-lines", NULL, 0, 20);
}

static void removal(void **state)
{
	(void)state;
	replay("probe-remove", NULL, 0, 25);
}

static void mistakes(void **state)
{
	static const char *const probes[] = { "p:there schedule a=%di", "r:back schedule" };

	(void)state;
	replay("probe-errors", probes, 2, 150);
}

static void mistakes_with_events(void **state)
{
	static const char *const probes[] = { "e:there sched.sched_switch a=$prev_pid" };

	(void)state;
	replay("eprobe-errors", probes, 1, 25);
}

static void formats(void **state)
{
	(void)state;
	replay("probe-formats", NULL, 0, 20);
}

/* Each difference above was met. */
static void table(void **state)
{
	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(differences); i++) {
		if (!is_met[i])
			fail_msg("nobody typed %s", differences[i].typed);
	}
}

static int setup(void **state)
{
	int err = tracefs_setup(state);

	fake_symbol_add(0xffffffff82000000, 8, "jiffies");
	return err;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),    cmocka_unit_test(removal),
		cmocka_unit_test(mistakes), cmocka_unit_test(mistakes_with_events),
		cmocka_unit_test(formats),  cmocka_unit_test(table),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

/*
 * The types of events that Linux has, too: their `format`, number for number, and what else tools
 * need for raw pages. `differences` has all that is not as in the samples of Linux 6.1, and why.
 */
#include "unit.h"
#include "tracefs.h"
#include "golden.h"
#include <trace/errno.h>
#include <trace/noise.h>

#define SMALL	 "addresses have 32 bits, which `print fmt` widens"
#define MOVED	 "shorter fields stand before it"
#define ORDER	 "fields stand in the order in which raw, hex and bin show them"
#define LETTER	 "a state is the letter that is shown, not a number"
#define DURATION "how long the call took is stored, not when it began and ended"

/* A line of `format` for a field. */
#define F(declaration, offset, size, is_signed)                                                    \
	"\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"
#define ADDRESS(name) "(void *)REC->" name
#define PACKED(name)  "(void *)(((REC->" name " + 0x80000000ul) & 0xfffffffful) - 0x80000000ul)"
#define IP_LINUX      F("unsigned long ip", 8, 8, 0)
#define IP_HERE	      F("unsigned int ip", 8, 4, 0)

#define CTX_LINUX                                                                                  \
	F("unsigned int prev_pid", 8, 4, 0)                                                        \
	F("unsigned int next_pid", 12, 4, 0)                                                       \
	F("unsigned int next_cpu", 16, 4, 0)                                                       \
	F("unsigned char prev_prio", 20, 1, 0)                                                     \
	F("unsigned char prev_state", 21, 1, 0)                                                    \
	F("unsigned char next_prio", 22, 1, 0)                                                     \
	F("unsigned char next_state", 23, 1, 0)
#define CTX_HERE                                                                                   \
	F("unsigned int prev_pid", 8, 4, 0)                                                        \
	F("unsigned char prev_prio", 20, 1, 0)                                                     \
	F("char prev_state", 21, 1, 1)                                                             \
	F("unsigned int next_cpu", 16, 4, 0)                                                       \
	F("unsigned int next_pid", 12, 4, 0)                                                       \
	F("unsigned char next_prio", 22, 1, 0)                                                     \
	F("char next_state", 23, 1, 1)
#define LETTERS                                                                                    \
	"{ 68, \"D\" }, { 73, \"I\" }, { 82, \"R\" }, { 83, \"S\" }, { 84, \"T\" }, "              \
	"{ 88, \"X\" }, { 90, \"Z\" }"
#define SYMBOLIC(name) "__print_symbolic(REC->" name ", " LETTERS ")"

#define CALLER_LINE "\\t=> %ps\\n"

/* Differences from Linux's text of a type: its words, ours, the reason. */
static const struct {
	const char *type, *linux_has, *here, *reason;
} differences[] = {
	{ "function", IP_LINUX, IP_HERE, SMALL },
	{ "function", F("unsigned long parent_ip", 16, 8, 0), F("unsigned int parent_ip", 12, 4, 0),
	  SMALL },
	{ "function", ADDRESS("ip"), PACKED("ip"), SMALL },
	{ "function", ADDRESS("parent_ip"), PACKED("parent_ip"), SMALL },

	{ "func_repeats", IP_LINUX, IP_HERE, SMALL },
	{ "func_repeats", F("unsigned long parent_ip", 16, 8, 0),
	  F("unsigned int parent_ip", 12, 4, 0), SMALL },
	{ "func_repeats",
	  F("u16 count", 24, 2, 0) F("u16 top_delta_ts", 26, 2, 0)
		  F("u32 bottom_delta_ts", 28, 4, 0),
	  F("unsigned long long count_and_last", 16, 8, 0),
	  "one store updates the count and the time, whoever reads meanwhile" },
	{ "func_repeats", ADDRESS("ip"), PACKED("ip"), SMALL },
	{ "func_repeats", ADDRESS("parent_ip"), PACKED("parent_ip"), SMALL },
	{ "func_repeats", "  delta: -%llu)\", ", ")\", ",
	  "the time is an absolute one, of which 48 bits are kept" },
	{ "func_repeats", "REC->count, (((u64)(REC)->top_delta_ts << 32) | (REC)->bottom_delta_ts)",
	  "(unsigned int)(REC->count_and_last >> 48)", "as above" },

	{ "funcgraph_entry", F("unsigned long func", 8, 8, 0), F("unsigned int func", 8, 4, 0),
	  SMALL },
	{ "funcgraph_entry", F("int depth", 16, 4, 1), F("int depth", 12, 4, 1), MOVED },
	{ "funcgraph_entry", ADDRESS("func"), PACKED("func"), SMALL },

	{ "funcgraph_exit", F("unsigned long func", 8, 8, 0), F("unsigned int func", 8, 4, 0),
	  SMALL },
	{ "funcgraph_exit", F("int depth", 16, 4, 1) F("unsigned int overrun", 20, 4, 0),
	  F("unsigned short depth", 12, 2, 0) F("unsigned short overrun", 14, 2, 0),
	  "16 bits are enough: a return is half as long as in Linux" },
	{ "funcgraph_exit",
	  F("unsigned long long calltime", 24, 8, 0) F("unsigned long long rettime", 32, 8, 0),
	  F("unsigned long long duration", 16, 8, 0) F("unsigned char calltime", 13, 1, 0)
		  F("unsigned long long rettime", 16, 8, 0),
	  DURATION "; the two that tools ask for are 0 and the same" },
	{ "funcgraph_exit", "\"<-- %ps (%d) (start: %llx  end: %llx) over: %d\", ",
	  "\"<-- %ps (%u) (%llu ns) over: %u\", ", DURATION },
	{ "funcgraph_exit", ADDRESS("func"), PACKED("func"), SMALL },
	{ "funcgraph_exit", "REC->calltime, REC->rettime, REC->depth\n",
	  "REC->duration, REC->overrun\n",
	  "Linux prints the depth a second time, for the overrun" },

	{ "context_switch", CTX_LINUX, CTX_HERE, ORDER "; " LETTER },
	{ "context_switch", "\"%u:%u:%u  ==> %u:%u:%u ", "\"%u:%u:%s  ==> %u:%u:%s ", LETTER },
	{ "context_switch", "REC->prev_state", SYMBOLIC("prev_state"), LETTER },
	{ "context_switch", "REC->next_state", SYMBOLIC("next_state"), LETTER },
	{ "wakeup", CTX_LINUX, CTX_HERE, ORDER "; " LETTER },
	{ "wakeup", "\"%u:%u:%u  ==+ %u:%u:%u ", "\"%u:%u:%s  ==+ %u:%u:%s ", LETTER },
	{ "wakeup", "REC->prev_state", SYMBOLIC("prev_state"), LETTER },
	{ "wakeup", "REC->next_state", SYMBOLIC("next_state"), LETTER },

	{ "kernel_stack", F("int size", 8, 4, 1), "", "the length of the event says how many" },
	{ "kernel_stack", F("unsigned long caller[8]", 16, 64, 0),
	  F("unsigned long caller[]", 8, 0, 0), "there are as many as there were callers" },
	{ "kernel_stack",
	  "\"" CALLER_LINE CALLER_LINE CALLER_LINE "\" \"" CALLER_LINE CALLER_LINE CALLER_LINE
	  "\" \"" CALLER_LINE CALLER_LINE "\"",
	  "\"" CALLER_LINE CALLER_LINE CALLER_LINE CALLER_LINE "\"",
	  "a stack of four is never too short for it" },
	{ "kernel_stack",
	  ", " ADDRESS("caller[4]") ", " ADDRESS("caller[5]") ", " ADDRESS(
		  "caller[6]") ", " ADDRESS("caller[7]") "\n",
	  "\n", "as above" },

	{ "print", IP_LINUX, IP_HERE, SMALL },
	{ "print", F("char buf[]", 16, 0, 1), F("char buf[]", 12, 0, 1), MOVED },
	{ "print", ADDRESS("ip"), PACKED("ip"), SMALL },

	{ "bprint", IP_LINUX, IP_HERE F("unsigned short args_bytes", 12, 2, 0),
	  SMALL "; the arguments end at any byte, and the event at a multiple of 4" },
	{ "bprint", F("u32 buf[]", 24, 0, 0), F("unsigned char buf[]", 24, 0, 0),
	  "the arguments are bytes, packed without gaps" },
	{ "bprint", ADDRESS("ip"), PACKED("ip"), SMALL },

	{ "bputs", IP_LINUX, IP_HERE, SMALL },
	{ "bputs", ADDRESS("ip"), PACKED("ip"), SMALL },
};
#define NR_DIFFERENCES (sizeof(differences) / sizeof(differences[0]))

/* Types of Linux that belong to what is not there. */
static const char *const absent[] = { "branch", "mmiotrace_map", "mmiotrace_rw" };
/* Types that Linux 6.1 does not have. */
static const char *const newer[] = { "fgraph_retaddr_entry", "funcgraph_exit_retval", "func_args",
				     "funcgraph_args_entry" };

#define BEGIN "--- events/ftrace/"

static bool is_one_of(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* The text of a type in the sample, which the caller frees; NULL: it has none. */
static char *sample_of(const struct golden *golden, const char *type)
{
	char head[100];
	const char *at, *end;

	snprintf(head, sizeof(head), BEGIN "%s/format\n", type);
	at = strstr(golden->text, head);
	if (!at)
		return NULL;
	at += strlen(head);
	end = strstr(at, BEGIN);
	return end ? strndup(at, (size_t)(end - at)) : strdup(at);
}

/* Each of them has to be found once: what is not true any more is no difference. */
static void apply_differences(const char *type, char *text, size_t size)
{
	for (size_t i = 0; i < NR_DIFFERENCES; i++) {
		const char *from = differences[i].linux_has;
		char *at;

		if (strcmp(differences[i].type, type) != 0)
			continue;
		at = strstr(text, from);
		if (!at || strstr(at + 1, from))
			fail_msg("%s: Linux does not have this once: %s(%s)", type, from,
				 differences[i].reason);
		golden_replace(at, size - (size_t)(at - text), from, differences[i].here);
	}
}

static void formats(void **state)
{
	static struct golden golden;
	static char want[8192];
	char path[100], type[60];
	size_t nr = 0;

	(void)state;
	golden_load(&golden, "events-formats-ftrace", NULL);
	for (const char *at = golden.text; (at = strstr(at, BEGIN)); at++) {
		char *sample;

		snprintf(type, sizeof(type), "%.*s", (int)strcspn(at + strlen(BEGIN), "/"),
			 at + strlen(BEGIN));
		snprintf(path, sizeof(path), "events/ftrace/%s/format", type);
		assert_int_equal(!node_of(path),
				 is_one_of(type, absent, sizeof(absent) / sizeof(absent[0])));
		if (!node_of(path))
			continue;
		sample = sample_of(&golden, type);
		snprintf(want, sizeof(want), "%s", sample);
		free(sample);
		apply_differences(type, want, sizeof(want));
		assert_string_equal(cat(path), want);
		nr++;
	}
	assert_int_equal(nr, 15);
}

/* Types of trace/ that the sample does not know are known to be newer. */
static void others(void **state)
{
	static struct golden golden;
	struct trace_node *dir = node_of("events/ftrace"), *child = NULL;
	size_t nr = 0;

	(void)state;
	golden_load(&golden, "events-formats-ftrace", NULL);
	while ((child = trace_fs_next_child(dir, child))) {
		char *sample = sample_of(&golden, child->name);

		if (child->is_dir && !sample) {
			assert_true(
				is_one_of(child->name, newer, sizeof(newer) / sizeof(newer[0])));
			nr++;
		}
		free(sample);
	}
	assert_int_equal(nr, sizeof(newer) / sizeof(newer[0]));
}

static void headers(void **state)
{
	static struct golden golden;

	(void)state;
	golden_load(&golden, "events-headers", NULL);
	while (golden_next(&golden))
		assert_string_equal(golden_run(golden.command), golden.answer);
	assert_int_equal(golden.nr, 2);
}

/* Numbers of other systems are given to events as they register. */
static void ids(void **state)
{
	static const char *const names[][2] = { { "gold/gold_int", "sched/sched_switch" }, { 0 } };
	static struct golden golden;
	char path[100];
	const char *line;
	int id;

	(void)state;
	golden_load(&golden, "events-ids", names);
	assert_true(golden_next(&golden));
	assert_string_equal(golden.command, "ids events/ftrace");
	for (line = golden.answer; *line; line = strchr(line, '\n') + 1) {
		assert_int_equal(sscanf(line, "%99s %d", path, &id), 2);
		assert_int_equal(atoi(cat(path)), id);
	}
	while (golden_next(&golden) && strncmp(golden.command, "echo ", 5) != 0)
		;
	assert_string_equal(golden.command, "echo 5 > events/sched/sched_switch/id");
	assert_int_equal(golden_errno(golden.answer), -EINVAL);
	assert_int_equal(echo("5", "events/sched/sched_switch/id"), -EINVAL);
}

/* The texts that the guest of the sample prints. */
static void print_like_the_guest(void)
{
	trace_printk("puts without newline");
	trace_printk("no newline at the end");
	trace_printk("from trace_puts\n");
	trace_printk("string %s hex %#x pointer %ps\n", "text", 1, (void *)0);
	trace_printk("one integer %d\n", 1);
	trace_printk("no argument\n");
	trace_printk("after the call %s\n", "text");
	trace_printk("before the call\n");
	trace_printk("comment in a leaf %d\n", 1);
}

/* The line of our file with the text of Linux's line, whose address is its own. */
static void same_text_here(const char *line)
{
	char text[100];
	const char *here, *at, *end = strchr(line, '\n');
	unsigned long address;
	int used;

	assert_memory_equal(line, "0x", 2);
	snprintf(text, sizeof(text), "%.*s", (int)(end + 1 - strchr(line, ' ')), strchr(line, ' '));
	here = cat("printk_formats");
	at = strstr(here, text);
	if (!at)
		fail_msg("no line with%s", text);
	while (at > here && at[-1] != '\n')
		at--;
	assert_int_equal(sscanf(at, "0x%lx%n", &address, &used), 1);
	assert_memory_equal(at + used, text, strlen(text));
	/* The bytes at the address begin as the text does: the escapes come at its end. */
	assert_memory_equal((const char *)address, text + strlen(" : \""),
			    strcspn(text + 4, "\\\""));
}

static void printk_formats(void **state)
{
	static struct golden golden;
	size_t nr = 0;

	(void)state;
	print_like_the_guest();
	golden_load(&golden, "events-printk-formats", NULL);
	while (golden_next(&golden)) {
		if (golden.answer[0] != '0')
			continue;
		for (const char *line = golden.answer; *line; line = strchr(line, '\n') + 1, nr++)
			same_text_here(line);
	}
	assert_int_equal(nr, 15);
}

/* A host with threads for tracers of noise: their types are compared, too. None runs here. */
static int no_listen(void)
{
	return -ENOMEM;
}

static int golden_setup(void **state)
{
	static const struct trace_noise_host host = { .listen = no_listen };

	trace_noise_host_set(&host);
	return tracefs_setup(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),	  cmocka_unit_test(others),
		cmocka_unit_test(headers),	  cmocka_unit_test(ids),
		cmocka_unit_test(printk_formats),
	};

	return cmocka_run_group_tests(tests, golden_setup, NULL);
}

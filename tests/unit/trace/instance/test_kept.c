/*
 * Instances in memory that survives a reset: each kernel is a process of its own, the memory is
 * shared by all.
 */
#include "unit.h"
#include <stdio.h>
#include <sys/mman.h>
#include "child.h"
#include "tracefs.h"
#include "instance/entry.h"
#include "instance/instance.h"
#include "instance/kept.h"

#define BYTES  (256u << 10)
#define BOX    "instances/box/"
#define PARAM  "box^traceprintk@kept,sched:sched_waking"
#define FUZZES 150

static uint8_t *memory;
static const char *param = PARAM;

static void boot(void)
{
	fake_kept = memory;
	fake_kept_bytes = BYTES;
	EXPECT(trace_boot_param("trace_instance", param));
	EXPECT(tracefs_setup(NULL) == 0);
	fake_clock = 1000000;
	trace_boot_start();
}

static int fresh_memory(void **state)
{
	(void)state;
	param = PARAM;
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? -1 : 0;
}

static int free_memory(void **state)
{
	(void)state;
	return munmap(memory, BYTES);
}

static bool says(const char *path, const char *text)
{
	return strstr(cat(path), text);
}

/* A kernel that records, and is reset without a word. */
static void records(void)
{
	boot();
	EXPECT(says(BOX "tracing_on", "1"));
	trace_thread_named(77, "victim");
	fake_cpus[0].pid = 77;
	for (int i = 0; i < 600; i++) {
		fake_clock += 1000;
		EXPECT(echo(i == 599 ? "the last one" : "one of many", BOX "trace_marker") == 0);
		trace_printk("number %d of %s\n", i, "printk");
		trace_puts("a literal\n");
	}
	EXPECT(echo("xyz!", BOX "trace_marker_raw") == 0);
}

static void finds(void)
{
	boot();
	EXPECT(says(BOX "trace", "          victim-77      [000] .....     0.001600: "));
	EXPECT(says(BOX "trace", ": the last one\n"));
	EXPECT(says(BOX "trace", ": number 599 of printk\n"));
	EXPECT(says(BOX "trace", ": a literal\n"));
	EXPECT(!says(BOX "trace", "LOST") && !says(BOX "trace", "Unknown"));
	EXPECT(says(BOX "tracing_on", "0"));
	EXPECT(says(BOX "last_boot_info",
		    "\t[kernel]\n# build: fake, the same as now\n# clock: local\n"
		    "# events: 1801\n# damaged sub-buffers: 0\n"));
	EXPECT(strstr(fake_log(),
		      "trace: box has 1801 events of the last kernel and does not record "
		      "before 1 is written to its tracing_on\n"));
	EXPECT(!node_of("last_boot_info"));
	EXPECT(echo("too early", BOX "trace_marker") == -EBADF);
}

static void found(void **state)
{
	(void)state;
	in_child(records);
	in_child(finds);
	in_child(finds); /* nothing has begun anew */
}

static void begins(void)
{
	boot();
	EXPECT(echo("1", BOX "tracing_on") == 0);
	EXPECT(strcmp(cat(BOX "last_boot_info"),
		      "# Current\n# the last kernel's events are gone since recording began\n") ==
	       0);
	EXPECT(strcmp(cat_body(BOX "trace"), "") == 0);
	EXPECT(echo("fake-cycles", BOX "trace_clock") == 0);
	EXPECT(echo("of the second", BOX "trace_marker") == 0);
}

static void finds_second(void)
{
	boot();
	EXPECT(says(BOX "trace", ": of the second\n"));
	EXPECT(says(BOX "last_boot_info", "# clock: fake-cycles\n# events: 1\n"));
	EXPECT(echo("", BOX "trace") == 0);
	EXPECT(says(BOX "last_boot_info", "# Current\n"));
	EXPECT(says(BOX "tracing_on", "0"));
}

static void finds_none(void)
{
	boot();
	EXPECT(strcmp(cat(BOX "last_boot_info"),
		      "# Current\n# the last kernel has left no events\n") == 0);
	EXPECT(says(BOX "tracing_on", "1"));
}

static void begun_anew(void **state)
{
	(void)state;
	in_child(records);
	in_child(begins);
	in_child(finds_second);
	in_child(finds_none);
}

static void is_cleared(void)
{
	boot();
	EXPECT(strcmp(cat(BOX "last_boot_info"), "# Current\n# the memory was cleared\n") == 0);
}

static void is_something_else(void)
{
	boot();
	EXPECT(says(BOX "last_boot_info",
		    "# the memory held something else, or a ring of another layout\n"));
}

static void cleared(void **state)
{
	(void)state;
	in_child(records);
	memset(memory, 0, BYTES);
	in_child(is_cleared);
	memory[9]++;
	in_child(is_something_else);
}

static struct kept_note *note_of(void)
{
	return (struct kept_note *)(void *)(memory + 64);
}

/* Another build: what points into it, and types that have changed, are unknown; numbers are others. */
static void is_foreign(void)
{
	boot();
	EXPECT(says(BOX "last_boot_info", "# build: other, another one than now\n"));
	EXPECT(says(BOX "last_boot_info", "# damaged sub-buffers: 0\n"));
	EXPECT(says(BOX "trace", ": the last one\n"));
	EXPECT(says(BOX "trace", ": Unknown type 0\n"));
	EXPECT(!says(BOX "trace", ": number "));
}

static void other_build(void **state)
{
	(void)state;
	in_child(records);
	assert_string_equal(note_of()->build, "fake");
	strcpy(note_of()->build, "other");
	in_child(is_foreign);
	in_child(is_foreign);
}

static void knows_not(void)
{
	boot();
	EXPECT(says(BOX "trace", ": Unknown type 0\n"));
	EXPECT(says(BOX "trace", ": number 599 of printk\n"));
	EXPECT(!says(BOX "trace", ": one of many"));
	EXPECT(says(BOX "last_boot_info", "# events: 1801\n# damaged sub-buffers: 0\n"));
}

static struct kept_type *noted(uint16_t type)
{
	for (uint32_t i = 0; i < note_of()->nr_types; i++) {
		if (note_of()->types[i].type == type)
			return &note_of()->types[i];
	}
	fail_msg("type %u is not noted", type);
	return NULL;
}

static void changed_type(void **state)
{
	(void)state;
	in_child(records);
	noted(TRACE_TYPE_PRINT)->hash++;
	in_child(knows_not);
	in_child(knows_not);
}

/* A reset in the middle of replacing numbers: nothing is believed. */
static void is_cut(void)
{
	boot();
	EXPECT(says(BOX "last_boot_info",
		    "# a reset came while events of another build were read\n"));
	EXPECT(says(BOX "last_boot_info", "# events: 0\n"));
	EXPECT(strcmp(cat_body(BOX "trace"), "") == 0);
}

static void cut_translation(void **state)
{
	(void)state;
	in_child(records);
	note_of()->is_translating = 1;
	in_child(is_cut);
}

static void makes_copy(void)
{
	boot();
	EXPECT(says("instances/copy/trace", ": the last one\n"));
	EXPECT(says("instances/copy/trace", "          victim-77 "));
	EXPECT(says("instances/copy/last_boot_info", "# events: 1801\n"));
	EXPECT(says("instances/copy/tracing_on", "0"));
	EXPECT(says(BOX "last_boot_info", "# Current\n"));
	EXPECT(says(BOX "tracing_on", "1"));
	EXPECT(echo("and on", BOX "trace_marker") == 0);
	EXPECT(!says("instances/copy/trace", ": and on\n"));
	EXPECT(echo("1", "instances/copy/tracing_on") == 0);
	EXPECT(says("instances/copy/last_boot_info", "# Current\n"));
}

static void boot_with_copy(void)
{
	EXPECT(trace_boot_param("trace_instance", PARAM));
	param = "copy=box";
	makes_copy();
}

static void boot_off_with_copy(void)
{
	EXPECT(trace_boot_param("trace_instance", "box^traceoff@kept"));
	param = "copy=box";
	boot();
	EXPECT(says("instances/copy/trace", ": and on\n"));
	EXPECT(says(BOX "trace", ": and on\n"));
	EXPECT(says(BOX "tracing_on", "0"));
}

static void backup(void **state)
{
	(void)state;
	in_child(records);
	in_child(boot_with_copy);
	in_child(boot_off_with_copy);
}

static void boot_wrong(void)
{
	EXPECT(trace_boot_param("trace_instance", "a@nothing"));
	EXPECT(trace_boot_param("trace_instance", "b=nothing"));
	EXPECT(trace_boot_param("trace_instance", "usual"));
	EXPECT(trace_boot_param("trace_instance", "c=usual"));
	boot();
	EXPECT(strstr(fake_log(), "trace: trace_instance=a: there is no memory nothing\n"));
	EXPECT(strstr(fake_log(),
		      "trace: trace_instance=b: there is no instance in memory that survives, "
		      "nothing\n"));
	EXPECT(strstr(fake_log(),
		      "trace: trace_instance=c: there is no instance in memory that survives, "
		      "usual\n"));
	EXPECT(!node_of("instances/a") && !node_of("instances/c"));
	EXPECT(node_of(BOX) && !node_of("instances/usual/last_boot_info"));
}

static void boot_small(void)
{
	fake_kept = memory;
	EXPECT(trace_boot_param("trace_instance", "small@kept"));
	EXPECT(tracefs_setup(NULL) == 0);
	fake_kept_bytes = sizeof(struct kept_note);
	trace_boot_start();
	EXPECT(strstr(fake_log(), "trace_instance: cannot make small: error 22\n"));
	EXPECT(!node_of("instances/small"));
}

static void wrong_parameters(void **state)
{
	(void)state;
	in_child(boot_wrong);
	in_child(boot_small);
}

/* Not possible: other sizes, a snapshot, an end. */
static void boot_limits(void)
{
	boot();
	EXPECT(echo("64", BOX "buffer_size_kb") == -EOPNOTSUPP);
	EXPECT(echo("8", BOX "buffer_subbuf_size_kb") == -EOPNOTSUPP);
	EXPECT(echo("1", BOX "snapshot") == -EOPNOTSUPP);
	EXPECT(trace_instance_remove("box") == -EBUSY);
	EXPECT(echo("works", BOX "trace_marker") == 0);
	EXPECT(says(BOX "trace", ": works\n"));
}

static void limits(void **state)
{
	(void)state;
	in_child(boot_limits);
}

/* However damaged the memory is, a kernel boots with it, shows it in each form, and begins anew. */
static void survives(void)
{
	static const char *const forms[] = { "raw", "hex", "bin", "fields", "latency-format" };
	char path[64];

	boot();
	EXPECT(cat(BOX "trace"));
	EXPECT(cat(BOX "last_boot_info"));
	EXPECT(cat(BOX "why"));
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		snprintf(path, sizeof(path), BOX "options/%s", forms[i]);
		EXPECT(echo("1", path) == 0);
		EXPECT(cat(BOX "trace"));
		EXPECT(echo("0", path) == 0);
	}
	EXPECT(!fake_nr_bugs);
	EXPECT(echo("1", BOX "tracing_on") == 0);
	EXPECT(echo("goes on", BOX "trace_marker") == 0);
	EXPECT(says(BOX "trace", ": goes on\n"));
}

static void damaged(void **state)
{
	uint8_t *good = malloc(BYTES);

	(void)state;
	in_child(records);
	memcpy(good, memory, BYTES);
	srand(11);
	for (int round = 0; round < unit_rounds(FUZZES); round++) {
		size_t from = round % 3 == 0 ? 64 : 64 + sizeof(struct kept_note);
		size_t room = round % 3 == 0 ? sizeof(struct kept_note) : BYTES - from;

		memcpy(memory, good, BYTES);
		for (int i = 1 << rand() % 10; i > 0; i--)
			memory[from + (size_t)rand() % room] ^= (uint8_t)(1 << rand() % 8);
		in_child(survives);
	}
	free(good);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fresh_memory, free_memory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(found),	 T(begun_anew),	     T(cleared), T(other_build),
		T(changed_type), T(cut_translation), T(backup),	 T(wrong_parameters),
		T(limits),	 T(damaged),
	};

	return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}

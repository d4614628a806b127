/* trace_printk() where only a kernel has it: symbols of callers, interrupts, several CPUs. */
#include <arch/sections.h>
#include <arch/smp.h>
#include "ktest.h"
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fgraph.h>
#include <trace/fs.h>
#include <trace/platform.h>
#include <trace/trace.h>

#define TEXT_BYTES  32768u
#define NR_THREADS  4
#define NR_MESSAGES 20

static void put(const char *name, const char *text)
{
	struct trace_node *node = trace_fs_lookup(trace_fs_root(), name, strlen(name));
	struct trace_handle *handle;
	uint64_t pos = 0;

	if (trace_fs_open(node, TRACE_FS_WRITE | TRACE_FS_TRUNC, &handle))
		return;
	trace_fs_write(handle, text, strlen(text), &pos);
	trace_fs_close(handle);
}

void ktest_trace_prepare(void)
{
	if (tracing_alloc_snapshot() == 0)
		put("snapshot", "0");
	/* The first change of a tracepoint makes room for all of them. */
	if (ftrace_graph_sleep_get() == 0)
		ftrace_graph_sleep_put();
}

/* The file, to be freed by kfree(); NULL when out of memory. */
static char *read_file(const char *name)
{
	struct trace_node *node = trace_fs_lookup(trace_fs_root(), name, strlen(name));
	char *text = kzalloc(TEXT_BYTES);
	struct trace_handle *handle;
	uint64_t pos = 0;

	if (!text || trace_fs_open(node, TRACE_FS_READ, &handle))
		return text;
	while (pos < TEXT_BYTES - 1 &&
	       trace_fs_read(handle, text + pos, TEXT_BYTES - 1 - pos, &pos) > 0)
		;
	trace_fs_close(handle);
	return text;
}

static char *read_trace(void)
{
	return read_file("trace");
}

static int count(const char *text, const char *what)
{
	int nr = 0;

	for (; (text = strstr(text, what)); text++)
		nr++;
	return nr;
}

static void __attribute__((noinline)) ktest_trace_speaker(int number, const char *word)
{
	trace_printk("number %d word %s me %ps\n", number, word, (void *)ktest_trace_speaker);
	trace_printk("nothing else\n");
	trace_puts("a copy");
	__asm__ volatile("" : : : "memory"); /* not a tail call */
}

static void test_caller(void)
{
	char word[8] = "gone", *text;

	put("trace", "");
	ktest_trace_speaker(-7, word);
	memset(word, 'x', 4);
	text = read_trace();
	if (!KTEST_NEED(text))
		return;
	/* A tick may have wished for another thread just before the event. */
	KTEST_CHECK(count(text, "..... ") + count(text, ".N... ") >= 3);
	KTEST_CHECK(count(text, ": ktest_trace_speaker: number -7 word gone "
				"me ktest_trace_speaker\n") == 1);
	KTEST_CHECK(count(text, ": ktest_trace_speaker: nothing else\n") == 1);
	KTEST_CHECK(count(text, ": ktest_trace_speaker: a copy\n") == 1);
	kfree(text);
}

static void speak_in_interrupt(void *arg)
{
	(void)arg;
	trace_printk("interrupted cpu %u\n", trace_plat_cpu_id());
}

static void test_interrupts(void)
{
	uint32_t nr_cpus = 0;
	char *text;

	put("trace", "");
	on_each_cpu(speak_in_interrupt, NULL, true);
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++)
		nr_cpus += trace_plat_cpu_online(cpu);
	text = read_trace();
	if (!KTEST_NEED(text))
		return;
	KTEST_CHECK((uint32_t)count(text, ": speak_in_interrupt: interrupted cpu ") == nr_cpus);
	KTEST_CHECK((uint32_t)count(text, "] d") == nr_cpus); /* interrupts are off in there */
	kfree(text);
}

static int speak_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < NR_MESSAGES; i++)
		trace_printk("message %d of many\n", i);
	return 0;
}

static void test_concurrent(void)
{
	char *text;

	put("trace", "");
	KTEST_CHECK(ktest_threads(NR_THREADS, speak_often, NULL) == 0);
	text = read_trace();
	if (!KTEST_NEED(text))
		return;
	KTEST_CHECK(count(text, ": speak_often: message ") == NR_THREADS * NR_MESSAGES);
	kfree(text);
	put("trace", "");
}

static void __attribute__((noinline)) dump_stack_below(void)
{
	trace_dump_stack(1);
	__asm__ volatile("" : : : "memory");
}

/* The option stacktrace, and trace_dump_stack(): whose callers come first. */
static void test_stack(void)
{
	char *text;

	put("trace", "");
	put("trace_options", "stacktrace");
	ktest_trace_speaker(1, "stack");
	put("trace_options", "nostacktrace");
	trace_printk("no stack behind this\n");
	dump_stack_below();
	text = read_trace();
	if (!KTEST_NEED(text))
		return;
	KTEST_CHECK(count(text, ": <stack trace>\n => ktest_trace_speaker\n => test_stack\n") == 3);
	KTEST_CHECK(count(text, ": <stack trace>\n => test_stack\n => ") == 1);
	KTEST_CHECK(count(text, "<stack trace>") == 4);
	kfree(text);
	put("trace", "");
}

/* The switch and the snapshot, as code uses them; `snapshot` is what a user had there. */
static void test_switch(void)
{
	char *text;

	put("trace", "");
	put("snapshot", "0");
	trace_printk("said first\n");
	tracing_off();
	KTEST_CHECK(!tracing_is_on());
	trace_printk("said to nobody\n");
	tracing_on();
	KTEST_CHECK(tracing_is_on());
	KTEST_CHECK(tracing_alloc_snapshot() == 0);
	tracing_snapshot();
	trace_printk("said last\n");
	text = read_file("snapshot");
	if (!KTEST_NEED(text))
		return;
	KTEST_CHECK(count(text, ": said first\n") == 1 && count(text, ": said ") == 1);
	kfree(text);
	text = read_trace();
	if (!KTEST_NEED(text))
		return;
	KTEST_CHECK(count(text, ": said last\n") == 1 && count(text, ": said ") == 1);
	kfree(text);
	put("snapshot", "0");
	put("trace", "");
}

/* Without room for a snapshot the trace says so and stops; the trace of that is readable. */
static void test_no_snapshot(void)
{
	char *text;

	put("trace", "");
	put("snapshot", "0");
	tracing_snapshot();
	KTEST_CHECK(!tracing_is_on());
	tracing_on();
	text = read_trace();
	if (!KTEST_NEED(text))
		return;
	KTEST_CHECK(count(text, "*** SNAPSHOT NOT ALLOCATED ***\n") == 1);
	KTEST_CHECK(count(text, "*** stopping trace here!   ***\n") == 1);
	kfree(text);
	put("trace", "");
}

/* The questions that filters of events ask in probes. */
static void test_current(void)
{
	char comm[TRACE_COMM_LEN], byte;

	trace_plat_current_comm(comm);
	KTEST_CHECK(strcmp(comm, current_thread()->name) == 0);
	KTEST_CHECK(trace_plat_read(&byte, comm, 1) && byte == comm[0]);
	KTEST_CHECK(!trace_plat_read(&byte, NULL, 1));
	KTEST_CHECK(!trace_plat_read(&byte, boot_stack_guard, 1));
}

const struct ktest ktest_trace[] = {
	{ "trace_printk_caller", test_caller },
	{ "trace_printk_interrupts", test_interrupts },
	{ "trace_printk_concurrent", test_concurrent },
	{ "trace_stack", test_stack },
	{ "trace_switch", test_switch },
	{ "trace_switch_no_snapshot", test_no_snapshot },
	{ "trace_current", test_current },
	{ 0 },
};

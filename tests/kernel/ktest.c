/* The runner of the tests in tests/kernel/, and the command `ktest`; see ktest.h. */
#include <stdatomic.h>
#include <kernel/command.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "ktest.h"
#include "test_commands.h"

#define MAX_SHOWN 5u
#define SETTLE_NS (10 * NSEC_PER_MSEC) /* for the other commands of a pipe to get their memory */
#define LINE_MAX  160
#define RESTS	  3u /* as long as the work before */

#define MAX_REST_NS NSEC_PER_MSEC /* an emulated CPU may have stood still in the middle of it */

static const struct ktest *const tables[] = {
	ktest_data,	   ktest_mm,	       ktest_lock,     ktest_timer,	   ktest_thread,
	ktest_rt,	   ktest_printk,       ktest_smp,      ktest_trace,	   ktest_arch,
	ktest_nmi,	   ktest_breakpoint,   ktest_unwind,   ktest_unwind_chain, ktest_fgraph,
	ktest_ops,	   ktest_ops_context,  ktest_ops_load, ktest_ops_span,	   ktest_grace,
	ktest_stack,	   ktest_events,       ktest_kprobe,   ktest_fprobe,	   ktest_wprobe,
	ktest_kprobe_load, ktest_kprobe_forms,
};

_Atomic uint64_t ktest_nr_checks;

static struct {
	struct mutex running;
	_Atomic uint32_t nr_bad; /* checks of this test */
	bool others_allocate;	 /* other things run meanwhile: do not compare pages */
	void (*print)(const char *line, void *arg);
	void *arg;
} run;

void ktest_failed(const char *file, int line, const char *text)
{
	char message[LINE_MAX];

	if (atomic_fetch_add(&run.nr_bad, 1) >= MAX_SHOWN)
		return;
	trace_snprintf(message, sizeof(message), "  %s:%d: failed: %s", file, line, text);
	run.print(message, run.arg);
}

long ktest_threads(unsigned int nr, int (*fn)(void *arg), void *arg)
{
	struct thread **threads = kcalloc(
		nr, sizeof(*threads)); // NOLINT(bugprone-sizeof-expression): pointers are meant
	unsigned int started = 0;
	long sum = 0;

	while (threads && started < nr) {
		threads[started] = thread_create("ktest", fn, arg, 0);
		if (!threads[started])
			break;
		started++;
	}
	for (unsigned int i = 0; i < started; i++)
		sum += thread_join_wait(threads[i]);
	kfree(threads);
	return started == nr ? sum : -1;
}

void ktest_rest(uint64_t start_ns)
{
	uint64_t rest_ns = RESTS * (ktime_get_ns() - start_ns);

	thread_sleep_ns(rest_ns < MAX_REST_NS ? rest_ns : MAX_REST_NS);
}

/* Is as much memory in use as before? As many objects may lie in one slab more, if others of them live now than before. */
static bool ktest_memory_is_equal(const struct mm_stats *before)
{
	struct mm_stats now;
	uint64_t used, used_before;

	mm_stats_get(&now);
	used = now.used_pages - now.page_table_pages;
	used_before = before->used_pages - before->page_table_pages;
	return used == used_before || (used - now.slab_pages == used_before - before->slab_pages &&
				       now.slab_objects == before->slab_objects);
}

/* True when it passed. */
static bool ktest_run_test(const struct ktest *test)
{
	struct mm_stats before;
	char line[LINE_MAX];
	uint64_t start_ns;
	bool ok;

	mm_stats_get(&before);
	start_ns = ktime_get_ns();
	atomic_store(&run.nr_bad, 0);
	test->fn();
	if (!run.others_allocate)
		KTEST_CHECK(ktest_memory_is_equal(&before));
	ok = atomic_load(&run.nr_bad) == 0;
	trace_snprintf(line, sizeof(line), "%s %s (%llu ms)", ok ? "ok    " : "FAILED", test->name,
		       (ktime_get_ns() - start_ns) / NSEC_PER_MSEC);
	run.print(line, run.arg);
	return ok;
}

/* Meanings of the numbers in the last line. */
static void ktest_explain(int nr_tests)
{
	char line[LINE_MAX];

	trace_snprintf(line, sizeof(line), "ktest: %d tests ran once each and made %llu checks; %s",
		       nr_tests, (unsigned long long)atomic_load(&ktest_nr_checks),
		       run.others_allocate ? "memory not compared, as others use it (-b)"
					   : "pages in use compared before and after each");
	run.print(line, run.arg);
}

static int ktest_run_tables(const char *filter)
{
	int nr_passed = 0, nr_failed = 0;
	char line[LINE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		for (const struct ktest *test = tables[i]; test->name; test++) {
			if (filter && !strstr(test->name, filter))
				continue;
			if (thread_interrupted())
				return -EINTR;
			if (ktest_run_test(test))
				nr_passed++;
			else
				nr_failed++;
		}
	}
	ktest_explain(nr_passed + nr_failed);
	trace_snprintf(line, sizeof(line), "%d passed, %d failed", nr_passed, nr_failed);
	run.print(line, run.arg);
	return nr_failed;
}

int ktest_run(const char *filter, bool others_allocate, void (*print)(const char *line, void *arg),
	      void *arg)
{
	int result;

	if (!mutex_trylock(&run.running))
		return -EBUSY;
	run.others_allocate = others_allocate;
	atomic_store(&ktest_nr_checks, 0);
	run.print = print;
	run.arg = arg;
	ktest_mm_prepare();
	ktest_trace_prepare();
	ktest_events_prepare();
	thread_sleep_ns(SETTLE_NS);
	result = ktest_run_tables(filter);
	mutex_unlock(&run.running);
	return result;
}

static void ktest_print_line(const char *line, void *arg)
{
	command_printf(arg, "%s\n", line);
	command_flush(arg);
}

static int ktest_command(struct command_env *env, int argc, char **argv)
{
	bool busy = argc > 1 && strcmp(argv[1], "-b") == 0;
	int result, first = busy ? 2 : 1;

	if (argc > first + 1)
		return COMMAND_USAGE;
	result = ktest_run(argc > first ? argv[first] : NULL, busy, ktest_print_line, env);
	if (result < 0) {
		command_perror(env, "tests", result);
		return 1;
	}
	return result ? 1 : 0;
}

const struct command ktest_commands[] = {
	{ .name = "ktest",
	  .usage = "[-b] [PART OF A NAME]",
	  .help = "run the kernel's own unit tests (-b: while other things run)",
	  .run = ktest_command },
	{ 0 },
};

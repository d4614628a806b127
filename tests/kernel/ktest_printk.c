/* The message ring. Messages are LOG_DEBUG: not shown on the console. */
#include <stdatomic.h>
#include <arch/smp.h>
#include "ktest.h"
#include <kernel/mm.h>
#include <kernel/printk.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fmt.h>

#define NR_MESSAGES 60

static uint64_t ring_end(struct dmesg_line *line)
{
	uint64_t seq = 0;

	while (dmesg_read(&seq, line))
		;
	return seq;
}

static void test_lines(void)
{
	struct dmesg_line *line = kmalloc(sizeof(*line));
	char want[PRINTK_LINE_MAX];
	uint64_t seq;

	if (!KTEST_NEED(line != NULL))
		return;
	seq = ring_end(line);
	for (int len = 1; len < 390; len += 37) {
		memset(want, 'a' + len % 26, (size_t)len);
		want[len] = '\0';
		printk(LOG_DEBUG, "%s\n", want);
		KTEST_CHECK(dmesg_read(&seq, line));
		KTEST_CHECK(line->len == len && strcmp(line->text, want) == 0);
		KTEST_CHECK(line->level == LOG_DEBUG);
	}
	printk(LOG_DEBUG, "one\ntwo\n");
	KTEST_CHECK(dmesg_read(&seq, line) && strcmp(line->text, "one") == 0);
	KTEST_CHECK(dmesg_read(&seq, line) && strcmp(line->text, "two") == 0);
	KTEST_CHECK(!dmesg_read(&seq, line));
	kfree(line);
}

static void test_format(void)
{
	struct dmesg_line *line = kzalloc(sizeof(*line));
	char buf[40];

	if (!KTEST_NEED(line != NULL))
		return;
	line->time_ns = 12345678901;
	strlcpy(line->text, "hello", sizeof(line->text));
	KTEST_CHECK(dmesg_format(line, buf, sizeof(buf)) == 20);
	KTEST_CHECK(strcmp(buf, "[   12.345678] hello") == 0);
	kfree(line);
}

static int print_some(void *arg)
{
	(void)arg;
	for (int i = 0; i < NR_MESSAGES; i++)
		printk(LOG_DEBUG, "ktest %d message %d %s\n", current_thread()->pid, i,
		       "with a tail that makes it longer than one slot of the ring, so that it "
		       "takes two of them");
	return 0;
}

/* Every message that is read is whole; those of few writers are all there. */
static void test_concurrent(void)
{
	struct dmesg_line *line = kmalloc(sizeof(*line));
	uint32_t nr_threads = smp_nr_online() < 4 ? smp_nr_online() + 1 : 4, nr = 0;
	uint64_t seq;

	if (!KTEST_NEED(line != NULL))
		return;
	seq = ring_end(line);
	KTEST_CHECK(ktest_threads(nr_threads, print_some, NULL) == 0);
	while (dmesg_read(&seq, line)) {
		if (!str_has_prefix(line->text, "ktest "))
			continue;
		nr++;
		KTEST_CHECK(line->len > 104 && strlen(line->text) == line->len);
		KTEST_CHECK(strcmp(line->text + line->len - 15, &"takes two of them"[2]) == 0);
	}
	KTEST_CHECK(nr == nr_threads * NR_MESSAGES);
	kfree(line);
}

const struct ktest ktest_printk[] = {
	{ "printk_lines", test_lines },
	{ "printk_format", test_format },
	{ "printk_concurrent", test_concurrent },
	{ 0 },
};

/*
 * Definitions of events in the form of Linux, in the kernel: those of tests/unit/host/quay_events.h, as
 * they are. Each has the format, the text and the raw bytes that it has on the fake machine.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include <trace/fs.h>
#include <trace/platform.h>
#include "ktest.h"
#include "host/types.h"

#define CREATE_TRACE_POINTS
#include "host/quay_events.h"
#include "host/quay_samples.h"

#define TEXT_BYTES 16384u
#define PAGE_BYTES 4096u
#define QUAY	   "instances/quay/"
#define PATH_MAX   80

struct buffers {
	char text[TEXT_BYTES];
	uint8_t page[PAGE_BYTES];
};

static struct trace_handle *events_open(const char *path, unsigned int flags)
{
	struct trace_node *node = trace_fs_root(), *next;
	struct trace_handle *handle = NULL;

	while (node && *path) {
		size_t len = 0;

		while (path[len] && path[len] != '/')
			len++;
		next = trace_fs_lookup(node, path, len);
		trace_fs_put(node);
		node = next;
		path += len + (path[len] == '/');
	}
	if (!node)
		return NULL;
	(void)trace_fs_open(node, flags, &handle);
	trace_fs_put(node);
	return handle;
}

/* The file as a text, which may be cut. */
static const char *events_read(const char *path, struct buffers *buffers)
{
	struct trace_handle *handle = events_open(path, TRACE_FS_READ);
	uint64_t pos = 0;

	buffers->text[0] = '\0';
	if (!handle)
		return buffers->text;
	while (pos < TEXT_BYTES - 1 &&
	       trace_fs_read(handle, buffers->text + pos, TEXT_BYTES - 1 - pos, &pos) > 0)
		;
	buffers->text[pos] = '\0';
	trace_fs_close(handle);
	return buffers->text;
}

static bool events_write(const char *path, const char *text)
{
	struct trace_handle *handle = events_open(path, TRACE_FS_WRITE | TRACE_FS_TRUNC);
	uint64_t pos = 0;
	bool is_taken;

	if (!handle)
		return false;
	is_taken = trace_fs_write(handle, text, strlen(text), &pos) > 0;
	trace_fs_close(handle);
	return is_taken;
}

static void events_check_format(const struct quay_sample *sample, struct buffers *buffers)
{
	char path[PATH_MAX];
	const char *fields;

	trace_snprintf(path, sizeof(path), "events/quay/%s/format", sample->name);
	fields = strstr(events_read(path, buffers), "\n\n");
	KTEST_CHECK(fields && strcmp(fields + 2, sample->format) == 0);
}

static void events_check_text(const struct quay_sample *sample, struct buffers *buffers)
{
	const char *text = strstr(events_read(QUAY "trace", buffers), sample->name);

	KTEST_CHECK(text && strcmp(text, sample->text) == 0);
}

/* Of the CPU that it happened on; the other ones have nothing. */
static void events_check_raw(const struct quay_sample *sample, struct buffers *buffers)
{
	unsigned int nr = 0;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		struct trace_handle *handle;
		char path[PATH_MAX];
		const uint8_t *event;
		uint64_t pos = 0;
		size_t len = 0;

		trace_snprintf(path, sizeof(path), QUAY "per_cpu/cpu%u/trace_pipe_raw", cpu);
		handle = events_open(path, TRACE_FS_READ | TRACE_FS_NONBLOCK);
		if (!handle)
			continue;
		if (trace_fs_read(handle, buffers->page, PAGE_BYTES, &pos) == PAGE_BYTES) {
			event = quay_first_event(buffers->page, PAGE_BYTES, &len);
			KTEST_CHECK(quay_is_raw(sample, event, len));
			nr++;
		}
		trace_fs_close(handle);
	}
	KTEST_CHECK(nr == 1);
}

static void events_check(const struct quay_sample *sample, struct buffers *buffers)
{
	char path[PATH_MAX];

	events_check_format(sample, buffers);
	trace_snprintf(path, sizeof(path), QUAY "events/quay/%s/enable", sample->name);
	KTEST_CHECK(events_write(path, "1"));
	sample->fire();
	KTEST_CHECK(events_write(path, "0"));
	events_check_text(sample, buffers);
	events_check_raw(sample, buffers);
}

/* The first event that is switched makes what stays for good, and the directory looked at last stays in memory. */
void ktest_events_prepare(void)
{
	for (size_t i = 0; i < QUAY_NR; i++) {
		char path[PATH_MAX];

		trace_snprintf(path, sizeof(path), "events/quay/%s/enable", quay_samples[i].name);
		(void)events_write(path, "1");
		(void)events_write(path, "0");
	}
}

static void ktest_events_of_linux(void)
{
	struct trace_node *instances = trace_fs_lookup(trace_fs_root(), "instances", 9);
	struct buffers *buffers = kzalloc(sizeof(*buffers));

	if (KTEST_NEED(instances && buffers) &&
	    KTEST_NEED(trace_fs_mkdir(instances, "quay") == 0)) {
		for (size_t i = 0; i < QUAY_NR; i++)
			events_check(&quay_samples[i], buffers);
		KTEST_CHECK(trace_fs_rmdir(instances, "quay") == 0);
	}
	kfree(buffers);
	ktest_events_prepare();
}

const struct ktest ktest_events[] = {
	{ "events_of_linux", ktest_events_of_linux },
	{ NULL, NULL },
};

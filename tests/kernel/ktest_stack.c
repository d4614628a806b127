/*
 * How much stack configuration takes, TRACE_CONFIG_STACK of <trace/platform.h>: the stack below a
 * write is painted first, and looked at afterwards.
 */
#include <kernel/string.h>
#include <trace/fs.h>
#include <trace/platform.h>
#include "ktest.h"

#define PAINT	    0x5aa5c33c0ff0963cull
#define PAINT_BYTES (2ul * TRACE_CONFIG_STACK)
#define OWN_BYTES   256u /* of stack_use() itself */
#define TRIES	    5u	 /* an interrupt may use this stack, too, but not each time */

struct setting {
	const char *file, *text, *undo;
};

/* Those that keep no memory; tracers, instances and sizes of buffers take less than the second. */
static const struct setting settings[] = {
	{ "set_ftrace_filter", "*sched* kmalloc", "" },
	{ "set_ftrace_filter", "kmalloc:traceoff:3", "!kmalloc:traceoff:0" },
	{ "set_graph_function", "kmalloc*", "" },
	{ "trace_options", "stacktrace", "nostacktrace" },
};

static void stack_write(const char *name, const char *text)
{
	struct trace_node *node = trace_fs_lookup(trace_fs_root(), name, strlen(name));
	uint32_t mode = TRACE_FS_WRITE | (*text ? 0 : TRACE_FS_TRUNC);
	struct trace_handle *handle;
	uint64_t pos = 0;

	if (!KTEST_NEED(node && trace_fs_open(node, mode, &handle) == 0))
		return;
	if (*text)
		KTEST_CHECK(trace_fs_write(handle, text, strlen(text), &pos) > 0);
	trace_fs_close(handle);
}

/* Bytes below this function that one write has used. Nothing else runs on this stack meanwhile. */
static TRACE_NOINLINE size_t stack_use(const char *file, const char *text)
{
	uintptr_t top = (uintptr_t)__builtin_frame_address(0);
	volatile uint64_t *word, *low = (volatile uint64_t *)(top - PAINT_BYTES);

	for (word = low; (uintptr_t)word < top - OWN_BYTES; word++)
		*word = PAINT;
	stack_write(file, text);
	for (word = low; (uintptr_t)word < top - OWN_BYTES && *word == PAINT; word++)
		;
	return top - (uintptr_t)word;
}

static size_t stack_least_use(const struct setting *setting)
{
	size_t least = SIZE_MAX;

	for (uint32_t i = 0; i < TRIES; i++) {
		size_t set = stack_use(setting->file, setting->text);
		size_t undo = stack_use(setting->file, setting->undo);
		size_t used = set > undo ? set : undo;

		least = used < least ? used : least;
	}
	return least;
}

static void test_configuration(void)
{
	size_t most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		size_t used = stack_least_use(&settings[i]);
		most = used > most ? used : most;
	}
	KTEST_CHECK(most <= TRACE_CONFIG_STACK);
	KTEST_CHECK(most > TRACE_CONFIG_STACK / 2); /* nor does the header ask for much more */
}

const struct ktest ktest_stack[] = {
	{ "stack_configuration", test_configuration },
	{ 0 },
};

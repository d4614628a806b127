/*
 * Commands about memory and messages: free, dmesg.
 */
#include <kernel/mm.h>
#include <kernel/printk.h>
#include <kernel/string.h>
#include "command_tables.h"

static void cmd_print_cache(const char *name, size_t bytes, uint64_t live, uint64_t pages,
			    void *arg)
{
	command_printf(arg, "%-16s %8lu %10lu %8lu\n", name, bytes, live, pages);
}

/* The unit is pages, so that two outputs can be compared exactly. */
static int cmd_free(struct command_env *env, int argc, char **argv)
{
	struct mm_stats stats;
	bool with_caches = argc == 2 && strcmp(argv[1], "-s") == 0;
	bool only_used = argc == 2 && strcmp(argv[1], "-p") == 0;

	if (argc > 1 && !with_caches && !only_used)
		return COMMAND_USAGE;
	mm_stats_get(&stats);
	if (only_used) {
		command_printf(env, "%lu\n", stats.used_pages);
		return 0;
	}
	command_puts(env, "              total        used        free  KiB\n");
	command_printf(env, "Mem:     %10lu  %10lu  %10lu\n", stats.total_pages * 4,
		       stats.used_pages * 4, stats.free_pages * 4);
	command_printf(env, "pages: %lu total, %lu free, %lu used\n", stats.total_pages,
		       stats.free_pages, stats.used_pages);
	command_printf(env, "used:  %lu slab, %lu vmalloc, %lu stacks, %lu page tables\n",
		       stats.slab_pages, stats.vmalloc_pages, stats.stack_pages,
		       stats.page_table_pages);
	command_printf(env, "slab:  %lu objects\n", stats.slab_objects);
	if (stats.alloc_failures)
		command_printf(env, "failed allocations: %lu\n", stats.alloc_failures);
	if (with_caches) {
		command_puts(env, "CACHE               BYTES    OBJECTS    PAGES\n");
		mm_each_cache(cmd_print_cache, env);
	}
	return 0;
}

static int cmd_dmesg(struct command_env *env, int argc, char **argv)
{
	struct dmesg_line line;
	char text[PRINTK_LINE_MAX + 32];
	uint64_t seq = 0;
	bool clears = argc == 2 && strcmp(argv[1], "-c") == 0;

	if (argc > 1 && !clears)
		return COMMAND_USAGE;
	while (dmesg_read(&seq, &line) && !command_stopped(env)) {
		size_t len = dmesg_format(&line, text, sizeof(text) - 1);

		text[len++] = '\n';
		command_write(env, text, len);
	}
	if (clears)
		dmesg_clear();
	return 0;
}

const struct command memory_commands[] = {
	{ "dmesg", "[-c]", "show the kernel's messages, -c: and forget them", cmd_dmesg, 0 },
	{ "free", "[-p | -s]", "count memory pages, -p: only those in use, -s: and slab caches",
	  cmd_free, 0 },
	{ 0 },
};

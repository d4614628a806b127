/*
 * last_boot_info, of instances whose ring lies in memory that survives a reset: the kernel that its
 * events come from, and all that was found in the memory. The first line is Linux's. See fs_file.h.
 */
#include "fs_file.h"
#include "instance/kept.h"
#include "text/str.h"

/* Text out of the memory: only what a build may be called. */
static void kept_show_build(const char *build, struct trace_seq *seq)
{
	for (size_t i = 0; i + 1 < TRACE_BUILD_LEN && build[i]; i++)
		trace_seq_putc(seq, build[i] > ' ' && build[i] <= '~' ? build[i] : '?');
}

static void kept_show_last(const struct trace_array *tr, struct trace_seq *seq)
{
	const struct trace_kept *kept = tr->kept;

	trace_seq_printf(seq, "%lx\t[kernel]\n",
			 (unsigned long)trace_plat_symbol_find("text_start"));
	trace_seq_puts(seq, "# build: ");
	kept_show_build(kept->build, seq);
	trace_seq_puts(seq,
		       kept->is_same_build ? ", the same as now\n" : ", another one than now\n");
	trace_seq_printf(seq, "# clock: %s\n", tr->clock->name);
	trace_seq_printf(seq, "# events: %llu\n", (unsigned long long)kept->found.nr_events);
	trace_seq_printf(seq, "# damaged sub-buffers: %llu\n",
			 (unsigned long long)kept->found.nr_damaged);
	if (kept->was_cut)
		trace_seq_puts(seq, "# a reset came while events of another build were read\n");
}

/* Why there are no events of the last kernel, or no more. */
static const char *kept_reason(const struct ring_kept_report *found)
{
	if (found->nr_events || found->nr_damaged)
		return "the last kernel's events are gone since recording began";
	if (found->is_found)
		return "the last kernel has left no events";
	return found->is_blank ? "the memory was cleared"
			       : "the memory held something else, or a ring of another layout";
}

static int last_boot_show(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_array *tr = handle->tr;

	trace_plat_lock(&trace_config_lock);
	if (trace_kept_holds(tr))
		kept_show_last(tr, seq);
	else
		trace_seq_printf(seq, "# Current\n# %s\n", kept_reason(&tr->kept->found));
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static const struct trace_file last_boot_info_file = {
	.name = "last_boot_info",
	.mode = TRACE_MODE_READ,
	.kept_only = true,
	.show = last_boot_show,
};

static const struct trace_file *const fs_kept_files[] = { &last_boot_info_file };

const struct trace_file_table trace_kept_files = { .files = fs_kept_files,
						   .nr = TRACE_ARRAY_SIZE(fs_kept_files) };

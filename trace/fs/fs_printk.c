/*
 * printk_formats: the texts to which events of trace_printk() have only pointers, for tools that
 * read raw pages. See fs_file.h, <trace/trace_printk.h>.
 */
#include "fs_file.h"

/* The section of TRACE_PRINTK_FORMAT(). */
TRACE_SECTION(trace_printk_fmts);
extern const char *const __start_trace_printk_fmts[];
extern const char *const __stop_trace_printk_fmts[];

static void print_escaped(const char *text, struct trace_seq *seq)
{
	for (; *text; text++) {
		if (*text == '\n')
			trace_seq_puts(seq, "\\n");
		else if (*text == '\t')
			trace_seq_puts(seq, "\\t");
		else if (*text == '\\' || *text == '"')
			trace_seq_printf(seq, "\\%c", *text);
		else
			trace_seq_putc(seq, *text);
	}
}

/* A format that was no literal stands in the section as NULL. */
static int formats_next(struct trace_handle *handle, struct trace_seq *seq)
{
	size_t nr = (size_t)(__stop_trace_printk_fmts - __start_trace_printk_fmts);
	const char *fmt = NULL;

	while (!fmt && handle->index < nr)
		fmt = __start_trace_printk_fmts[handle->index++];
	if (!fmt)
		return 0;
	trace_seq_printf(seq, "0x%lx : \"", (unsigned long)(uintptr_t)fmt);
	print_escaped(fmt, seq);
	trace_seq_puts(seq, "\"\n");
	return 1;
}

const struct trace_file trace_printk_formats_file = {
	.name = "printk_formats",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	.next = formats_next,
};

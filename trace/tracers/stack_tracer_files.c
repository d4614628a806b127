/*
 * stack_trace and stack_max_size, of the stack tracer; stack_trace_filter is with the other filters
 * in fs_functions.c. See fs_file.h, tracers/stack_tracer_private.h.
 *
 * stack_trace shows the deepest stack of a thread as Linux does; behind it, each with a heading of
 * its own, come interrupts and the stacks of NMIs and faults.
 */
#include "fs/fs_functions.h"
#include "instance/array.h"
#include "text/str.h"
#include "stack_tracer_private.h"
#include "feature/boot.h"
#include "feature/feature.h"
#include "fs/fs_file.h"

#define WORD_MAX 64u

static const char *const kind_names[TRACE_NR_STACK_KINDS] = {
	[TRACE_STACK_THREAD] = "thread",
	[TRACE_STACK_IRQ] = "interrupt",
	[TRACE_STACK_NMI] = "NMI",
	[TRACE_STACK_FAULT] = "fault",
};

/* ---- stack_max_size ---- */

static int max_size_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_printf(seq, "%llu\n", (unsigned long long)stack_tracer_max_bytes());
	return 0;
}

static int max_size_store(struct trace_handle *handle, char *text)
{
	uint64_t value;
	int err = trace_handle_number(handle, text, &value);

	if (!err)
		stack_tracer_set_max(value);
	return err;
}

/* ---- stack_trace: handle->index counts lines of the kind that `private` holds ---- */

struct stack_handle {
	uint32_t kind; /* the next to be read */
	uint32_t nr;   /* lines of `max` */
	struct stack_tracer_max max;
};

static void stack_rewind(struct trace_handle *handle)
{
	struct stack_handle *own = handle->private;

	own->kind = TRACE_STACK_THREAD;
	own->nr = 0;
}

static int stack_open(struct trace_handle *handle)
{
	handle->private_bytes = sizeof(struct stack_handle);
	handle->private = trace_plat_alloc(handle->private_bytes);
	return handle->private ? 0 : -ENOMEM;
}

static int stack_close(struct trace_handle *handle)
{
	trace_plat_free(handle->private, handle->private_bytes);
	return 0;
}

static void stack_tracer_files_print_head(struct trace_seq *seq, const struct stack_handle *own,
					  uint32_t kind)
{
	if (kind != TRACE_STACK_THREAD)
		trace_seq_printf(seq, "\n%s stack, CPU %u:\n", kind_names[kind], own->max.cpu);
	trace_seq_printf(seq, "        Depth    Size   Location    (%u entries)\n", own->nr);
	trace_seq_puts(seq, "        -----    ----   --------\n");
	if (kind != TRACE_STACK_THREAD || stack_tracer_enabled() || stack_tracer_max_bytes())
		return;
	trace_seq_puts(seq, "#\n#  Stack tracer disabled\n#\n"
			    "# To enable the stack tracer, either add 'stacktrace' to the\n"
			    "# kernel command line\n"
			    "# or 'echo 1 > /proc/sys/kernel/stack_tracer_enabled'\n#\n");
}

static void stack_tracer_files_print_entry(struct trace_seq *seq,
					   const struct stack_tracer_max *max, uint32_t at)
{
	uint32_t depth = max->depths[at];
	uint32_t caller = at + 1 < max->nr ? max->depths[at + 1] : 0;

	/* The first one is the traced function, the others are where calls return to. */
	trace_seq_printf(seq, at ? "%3u) %8u   %5u   %pB\n" : "%3u) %8u   %5u   %pS\n", at, depth,
			 depth - caller, (void *)trace_plat_ip_unpack(max->ips[at]));
	if (at + 1 == max->nr && max->is_cut)
		trace_seq_printf(seq, "# only the innermost %u callers are kept\n",
				 STACK_TRACER_ENTRIES);
}

/* The head of the next kind that has something to show; the thread's comes in any case. */
static bool next_head(struct trace_handle *handle, struct trace_seq *seq)
{
	struct stack_handle *own = handle->private;
	uint32_t kind;
	bool has;

	do {
		if (own->kind == TRACE_NR_STACK_KINDS)
			return false;
		kind = own->kind++;
		has = stack_tracer_read((enum trace_stack_kind)kind, &own->max);
		own->nr = has ? own->max.nr : 0;
	} while (!has && kind != TRACE_STACK_THREAD);
	stack_tracer_files_print_head(seq, own, kind);
	handle->index = 0;
	return true;
}

static int stack_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct stack_handle *own = handle->private;

	if (handle->index >= own->nr)
		return next_head(handle, seq) ? 1 : 0;
	stack_tracer_files_print_entry(seq, &own->max, (uint32_t)handle->index++);
	return 1;
}

static const struct trace_file max_size_file = {
	.name = "stack_max_size",
	.root_only = true,
	.mode = TRACE_MODE_WRITE,
	.show = max_size_show,
	.store = max_size_store,
	.store_max = WORD_MAX,
};

static const struct trace_file stack_trace_file = {
	.name = "stack_trace",
	.root_only = true,
	.mode = TRACE_MODE_READ,
	.open = stack_open,
	.next = stack_next,
	.rewind = stack_rewind,
	.close = stack_close,
};

static struct ftrace_ops *stack_ops(struct trace_array *tr)
{
	(void)tr;
	return &stack_tracer_ops;
}

static const struct trace_functions_source stack_filter = { .list = FTRACE_LIST_FILTER,
							    .ops = stack_ops };

static const struct trace_file stack_filter_file = {
	.name = "stack_trace_filter",
	.mode = TRACE_MODE_WRITE,
	.root_only = true,
	TRACE_FUNCTIONS_FILTER(stack_filter),
};

static const struct trace_file *const stack_tracer_files[] = {
	&max_size_file,
	&stack_trace_file,
	&stack_filter_file,
};

static const struct trace_file_table stack_files = { .files = stack_tracer_files,
						     .nr = TRACE_ARRAY_SIZE(stack_tracer_files) };

/* ---- The feature ---- */

static char filter[TRACE_BOOT_PARAM_MAX];
static bool is_wanted;

/* Both stacktrace and stacktrace_filter= switch the stack tracer on. */
static void stack_tracer_take(const char *value)
{
	(void)value;
	is_wanted = true;
}

static const struct trace_boot_param stack_tracer_params[] = {
	{ .name = "stacktrace", .take = stack_tracer_take },
	{ .name = "stacktrace_filter",
	  .text = filter,
	  .size = sizeof(filter),
	  .take = stack_tracer_take },
	{ .name = NULL },
};

static void stack_tracer_boot_start(struct trace_array *tr)
{
	(void)tr;
	if (is_wanted)
		stack_tracer_boot(filter);
}

static struct trace_files stack_file_entry = { .table = &stack_files };

static int stack_tracer_init(void)
{
	trace_files_register(&stack_file_entry);
	return 0;
}

const struct trace_feature trace_feature_stack_tracer = {
	.name = "stack_tracer",
	.init = stack_tracer_init,
	.params = stack_tracer_params,
	.boot_start = stack_tracer_boot_start,
};

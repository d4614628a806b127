/*
 * trace_options and options/NAME. See fs_file.h, options.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "text/str.h"

#define WORD_MAX   64u
#define DEST_STAYS "another instance has to set it"
#define NO_TYPES   "there are no types of functions (BTF) in this kernel"

static int trace_options_file_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_plat_lock(&trace_config_lock);
	trace_options_show(handle->tr, seq);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static int trace_options_file_store(struct trace_handle *handle, char *text)
{
	const char *word = trace_strip(text);
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_option_parse(handle->tr, word);
	trace_plat_unlock(&trace_config_lock);
	if (err == -EINVAL)
		trace_handle_blame(handle, word,
				   trace_streq(word, "notrace_printk_dest")
					   ? DEST_STAYS
					   : "no such option, or one that the tracer refuses");
	if (err == -EOPNOTSUPP)
		trace_handle_blame(handle, word, NO_TYPES);
	return err;
}

static int option_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_seq_puts(seq, handle->tr->options & TRACE_OPT_BIT(handle->node->arg) ? "1\n" : "0\n");
	return 0;
}

static int option_store(struct trace_handle *handle, char *text)
{
	bool on;
	int err = trace_handle_switch(handle, text, &on);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	err = trace_option_set(handle->tr, (enum trace_option)handle->node->arg, on);
	trace_plat_unlock(&trace_config_lock);
	if (err == -EINVAL)
		trace_handle_blame(handle, text,
				   handle->node->arg == TRACE_OPT_PRINTK_DEST
					   ? DEST_STAYS
					   : "the tracer refuses it");
	return err;
}

const struct trace_file trace_option_file = {
	.mode = TRACE_MODE_WRITE,
	.show = option_show,
	.store = option_store,
	.store_max = WORD_MAX,
};

static uint32_t tracer_option_bit(const struct trace_handle *handle, struct tracer **out_tracer)
{
	struct tracer *tracer = (struct tracer *)(uintptr_t)handle->node->arg;
	size_t i = 0;

	while (!trace_streq(tracer->options[i].name, handle->node->name))
		i++;
	*out_tracer = tracer;
	return tracer->options[i].bit;
}

static int tracer_option_show(struct trace_handle *handle, struct trace_seq *seq)
{
	struct tracer *tracer;
	uint32_t bit = tracer_option_bit(handle, &tracer);

	trace_seq_puts(seq, tracer_option_bits(handle->tr, tracer) & bit ? "1\n" : "0\n");
	return 0;
}

static int tracer_option_store(struct trace_handle *handle, char *text)
{
	struct tracer *tracer;
	uint32_t bit = tracer_option_bit(handle, &tracer);
	bool on;
	int err = trace_handle_switch(handle, text, &on);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	err = tracer_option_set(handle->tr, tracer, bit, on);
	trace_plat_unlock(&trace_config_lock);
	if (err == -EINVAL)
		trace_handle_blame(handle, text, "the tracer refuses it");
	if (err == -EOPNOTSUPP)
		trace_handle_blame(handle, text, NO_TYPES);
	return err;
}

const struct trace_file trace_tracer_option_file = {
	.mode = TRACE_MODE_WRITE,
	.show = tracer_option_show,
	.store = tracer_option_store,
	.store_max = WORD_MAX,
};

static const struct trace_file trace_options_file = {
	.name = "trace_options",
	.mode = TRACE_MODE_WRITE,
	.show = trace_options_file_show,
	.store = trace_options_file_store,
	.store_max = WORD_MAX,
};

static const struct trace_file *const fs_options_files[] = {
	&trace_options_file,
};

const struct trace_file_table trace_option_files = { .files = fs_options_files,
						     .nr = TRACE_ARRAY_SIZE(fs_options_files) };

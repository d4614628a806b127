/*
 * The arguments of a line, one after the other, with names in place of numbers: `$arg*` stands for
 * all arguments of the function, and `$argN` without a name of its own for the Nth. See probe.h.
 * Error messages have Linux's words.
 *
 *	p kmalloc $arg*        p kmalloc bytes
 *	r kmalloc $arg1:u32    r kmalloc bytes:u32
 */
#include <trace/errno.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "fetch_private.h"
#include "probe.h"

/* The name of an argument: a written one; that of a variable, as it is; or arg1, arg2 and so on. */
static int probe_names_choose(struct probe_arg *arg)
{
	struct expr_word rest = arg->word;

	arg->nr++;
	arg->name = expr_take_until(&rest, "=");
	if (rest.len)
		return 1;
	rest = arg->word;
	arg->name = expr_take_until(&rest, ":");
	if (!trace_expr_is_name(&arg->name))
		arg->name =
			(struct expr_word){ arg->digits,
					    (size_t)trace_snprintf(arg->digits, sizeof(arg->digits),
								   "arg%u", arg->nr) };
	return 1;
}

/*
 * Take argument `n` of the function, from 1, and the type that is written behind its number; NULL:
 * of those that `$arg*` stands for. One without a name stays a number.
 */
static int take_numbered(struct probe_arg *arg, uint32_t n, const struct expr_word *type)
{
	const char *name = trace_fetch_names->name_of(&arg->definition->context, n - 1);
	struct trace_seq seq;

	if (!name)
		return trace_probe_blame(arg->definition, arg->written.at,
					 "This variable is not found at this probe point", -ENOENT);
	trace_seq_init(&seq, arg->room, sizeof(arg->room));
	trace_seq_puts(&seq, name);
	if (!*name)
		trace_seq_printf(&seq, "$arg%u", n);
	if (type)
		trace_seq_write(&seq, type->at, type->len);
	if (seq.overflowed)
		return trace_probe_refuse(arg->definition, arg->written.at,
					  "Argument expression is too long");
	arg->word = type && !*name ? arg->written : (struct expr_word){ arg->room, seq.len };
	return probe_names_choose(arg);
}

/* Take a word of the line; `$argN` and `$argN:TYPE` become names where there are some. */
static int take_written(struct probe_arg *arg)
{
	const struct fetch_context *context = &arg->definition->context;
	struct expr_word type = arg->written, number = expr_take_until(&type, ":");
	bool has_names = context->place != FETCH_AT_EVENT && context->place != FETCH_AT_CODE &&
			 trace_fetch_names && trace_expr_starts(&number, "$arg");
	uint64_t n = 0;

	if (has_names) {
		number = expr_behind(&number, sizeof("$arg") - 1);
		has_names = !trace_expr_number(&number, 10, false, &n) && n &&
			    n <= FETCH_ARGS_MAX && trace_fetch_names->count(context) >= 0;
	}
	if (has_names)
		return take_numbered(arg, (uint32_t)n, &type);
	arg->word = arg->written;
	return probe_names_choose(arg);
}

/* Begin to take what a `$arg*` stands for. */
static int begin_all(struct probe_arg *arg)
{
	const struct probe_definition *definition = arg->definition;
	const char *at = arg->written.at;
	int count = trace_fetch_names ? trace_fetch_names->count(&definition->context) : -ENOENT;

	if (definition->context.place == FETCH_AT_CODE)
		return trace_probe_refuse(definition, at,
					  "$arg* can be used only on function entry or exit");
	if (arg->has_all)
		return trace_probe_refuse(definition, at,
					  "$arg* can be used only once in the parameters");
	if (count < 0)
		return trace_probe_refuse(definition, at, "BTF is not available or not supported");
	arg->has_all = true;
	arg->all = 0;
	arg->nr_all = (uint32_t)count;
	return 0;
}

void trace_probe_arg_begin(struct probe_arg *arg, const struct probe_definition *definition)
{
	arg->definition = definition;
	arg->rest = definition->args;
	arg->nr = arg->all = arg->nr_all = 0;
	arg->has_all = false;
}

int trace_probe_arg_next(struct probe_arg *arg)
{
	int err = 0;

	while (!err) {
		if (arg->all < arg->nr_all)
			return take_numbered(arg, ++arg->all, NULL);
		arg->written = trace_expr_next_word(&arg->rest, '\0');
		if (!arg->written.len)
			return 0;
		if (arg->definition->context.place == FETCH_AT_EVENT ||
		    !trace_expr_is(&arg->written, "$arg*"))
			return take_written(arg);
		err = begin_all(arg);
	}
	return err;
}

int trace_probe_arg_blame(const struct probe_arg *arg, int err)
{
	struct dyn_event_error *error = arg->definition->error;

	if (error->at >= arg->room && error->at <= arg->room + sizeof(arg->room))
		error->at = arg->written.at;
	return err;
}

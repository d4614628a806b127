/*
 * Arguments and results of calls by their types. See call_args.h, types/btf.h.
 */
#include <trace/errno.h>
#include <trace/trace_seq.h>
#include <trace/platform.h>
#include "call_args.h"
#include "ops/ftrace_private.h"
#include "print/output.h"
#include "text/str.h"
#include "types/btf.h"
#include "feature/feature.h"

/* ---- The table ---- */

static uint32_t call_types_code_of(const struct btf_func *func)
{
	uint32_t nr = 0, texts = 0;
	struct btf_arg arg;

	for (uint32_t i = 0; trace_btf_func_arg(func, i, &arg); i++) {
		if (arg.place != BTF_PLACE_REGS)
			continue;
		nr = arg.at + arg.words;
		if (trace_btf_form(arg.type) == BTF_FORM_STRING &&
		    trace_btf_points_to_const(arg.type))
			texts |= 1u << arg.at;
	}
	return 1u << nr | texts;
}

static void find_range(uintptr_t *out_low, uintptr_t *out_high)
{
	struct ftrace_cursor cursor = { 0 };
	const struct dyn_ftrace *record;

	*out_low = UINTPTR_MAX;
	*out_high = 0;
	while ((record = ftrace_next_record(&cursor))) {
		uintptr_t ip = trace_plat_ip_unpack(record->ip);

		*out_low = ip < *out_low ? ip : *out_low;
		*out_high = ip > *out_high ? ip : *out_high;
	}
}

static void call_types_fill(struct trace_call_codes *all)
{
	struct trace_symbol_cursor names = { { 0 } };
	struct ftrace_cursor cursor = { 0 };
	const struct dyn_ftrace *record;
	char name[TRACE_SYM_LEN];
	struct btf_func func;

	while ((record = ftrace_next_record(&cursor))) {
		uintptr_t ip = trace_plat_ip_unpack(record->ip);

		if (trace_plat_symbol_next(&names, ip, name) && trace_btf_func_find(name, &func))
			all->codes[(ip - all->base) / CALL_SITE_STEP] =
				(uint8_t)call_types_code_of(&func);
	}
}

static size_t call_types_table_bytes(size_t bytes)
{
	return sizeof(struct trace_call_codes) + bytes / CALL_SITE_STEP + 1;
}

static int call_types_prepare(void)
{
	struct trace_call_codes *all;
	uintptr_t low, high;

	if (!trace_btf_is_loaded())
		return -EOPNOTSUPP;
	if (atomic_load_explicit(&trace_call_codes, memory_order_relaxed))
		return 0;
	find_range(&low, &high);
	if (low > high)
		return 0; /* no sites, no calls */
	all = trace_plat_alloc(call_types_table_bytes(high - low + 1));
	if (!all)
		return -ENOMEM;
	all->base = low;
	all->bytes = high - low + 1;
	call_types_fill(all);
	/* Pairs with the acquire of trace_call_code(). */
	atomic_store_explicit(&trace_call_codes, all, memory_order_release);
	return 0;
}

void trace_call_codes_free(void)
{
	struct trace_call_codes *all = atomic_exchange(&trace_call_codes, NULL);

	if (all)
		trace_plat_free(all, call_types_table_bytes(all->bytes));
}

/* ---- As text ---- */

static bool call_types_find_func(uint32_t packed_ip, struct btf_func *out)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	return trace_plat_symbol(trace_plat_ip_unpack(packed_ip), name, &start, &bytes) &&
	       trace_btf_func_find(name, out);
}

static void print_quoted(struct trace_seq *seq, const char *text, uint32_t len)
{
	trace_seq_putc(seq, '"');
	for (uint32_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '\n' || c == '\t' || c == '"' || c == '\\') {
			trace_seq_putc(seq, '\\');
			c = c == '\n' ? 'n' : c == '\t' ? 't' : c;
		}
		trace_seq_putc(seq, c < ' ' && c >= 0 ? '.' : c);
	}
	trace_seq_puts(seq, len == CALL_TEXT_MAX ? "\"..." : "\"");
}

/* Print the next text, to which `value` points. */
static void call_types_print_text(struct trace_seq *seq, struct call_recorded *recorded,
				  uint64_t value)
{
	uint32_t len = (uint32_t)trace_strnlen(recorded->text, recorded->text_left);

	if (!value || (len && recorded->text[len - 1] == CALL_TEXT_LOST)) {
		trace_seq_printf(seq, value ? "0x%llx(fault)" : "0x%llx",
				 (unsigned long long)value);
	} else {
		print_quoted(seq, recorded->text, len);
	}
	if (len < recorded->text_left)
		len++;
	recorded->text += len;
	recorded->text_left -= len;
}

static void print_words(struct trace_seq *seq, const struct call_recorded *recorded,
			const struct btf_arg *arg)
{
	trace_seq_putc(seq, '{');
	for (uint32_t i = 0; i < arg->words && arg->at + i < recorded->nr; i++)
		trace_seq_printf(
			seq, i ? ", 0x%llx" : "0x%llx",
			(unsigned long long)trace_call_recorded_value(recorded, arg->at + i));
	trace_seq_putc(seq, '}');
}

static void print_arg(struct trace_seq *seq, struct call_recorded *recorded,
		      const struct btf_arg *arg)
{
	enum btf_form form = trace_btf_form(arg->type);

	if (arg->name[0])
		trace_seq_printf(seq, "%s=", arg->name);
	if (arg->place != BTF_PLACE_REGS || arg->at + arg->words > recorded->nr)
		trace_seq_puts(seq, "?");
	else if (form == BTF_FORM_STRING && trace_btf_points_to_const(arg->type) &&
		 recorded->text_left)
		call_types_print_text(seq, recorded, trace_call_recorded_value(recorded, arg->at));
	else if (arg->words > 1 || form == BTF_FORM_STRUCT)
		print_words(seq, recorded, arg);
	else
		trace_btf_print_value(seq, arg->type, trace_call_recorded_value(recorded, arg->at));
}

static void print_args(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip,
		       uint32_t offset)
{
	struct call_recorded recorded;
	struct btf_func func;
	struct btf_arg arg;

	trace_seq_putc(seq, '(');
	if (trace_call_recorded_find(iter, offset, &recorded) &&
	    call_types_find_func(packed_ip, &func)) {
		for (uint32_t i = 0; trace_btf_func_arg(&func, i, &arg); i++) {
			if (i)
				trace_seq_puts(seq, ", ");
			print_arg(seq, &recorded, &arg);
		}
		if (func.is_variadic)
			trace_seq_puts(seq, ", ...");
	}
	trace_seq_putc(seq, ')');
}

static bool returns_nothing(uint32_t packed_ip)
{
	struct btf_func func;

	return call_types_find_func(packed_ip, &func) && trace_btf_strip(func.returns) == 0;
}

static bool call_types_print_return(struct trace_seq *seq, uint32_t packed_ip, uint64_t value,
				    const char *before)
{
	struct btf_func func;

	if (!call_types_find_func(packed_ip, &func) ||
	    trace_btf_sizeof(func.returns) > sizeof(value) ||
	    trace_btf_form(func.returns) == BTF_FORM_NONE)
		return false;
	trace_seq_puts(seq, before);
	trace_btf_print_value(seq, func.returns, value);
	return true;
}

static const struct call_types btf_call_types = {
	.prepare = call_types_prepare,
	.print_args = print_args,
	.print_return = call_types_print_return,
	.returns_nothing = returns_nothing,
};

/* ---- The feature ---- */

/* A host without types, or with damaged ones, does without. */
static int types_init(void)
{
	size_t bytes;
	const void *data = trace_plat_btf(&bytes);
	int err = data ? trace_btf_load(data, bytes) : 0;

	if (err)
		trace_plat_log("trace: types (BTF) cannot be used: error %d", -err);
	trace_call_types = &btf_call_types;
	return 0;
}

const struct trace_feature trace_feature_types = {
	.name = "types",
	.init = types_init,
};

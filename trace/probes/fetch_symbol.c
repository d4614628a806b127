/*
 * SYMBOL, SYMBOL+OFFSET, SYMBOL-OFFSET: a variable or a function by its name. See fetch.h.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "fetch_private.h"
#include "text/str.h"

const char trace_fetch_not_unique[] = "The symbol is not unique";

/* Split the word; false: it is not of that form. */
static bool fetch_symbol_split(const struct expr_word *word, struct fetch_symbol *out)
{
	struct expr_word rest = *word;

	*out = (struct fetch_symbol){ .name = expr_take_until(&rest, "+-") };
	if (!out->name.len || !rest.len)
		return out->name.len;
	(void)expr_take(&rest, '+');
	return !trace_expr_number(&rest, 0, true, &out->offset);
}

int trace_fetch_symbol(const struct expr_word *word, struct fetch_symbol *out)
{
	struct trace_plat_variable variable;
	char name[TRACE_SYM_LEN];
	uintptr_t func = 0;
	size_t nr;

	if (!fetch_symbol_split(word, out))
		return -EINVAL;
	if (!trace_expr_copy(name, sizeof(name), &out->name))
		return -ENOENT;
	nr = trace_plat_variable_find(name, &variable);
	if (nr) {
		out->addr = variable.addr;
		out->bytes = variable.bytes;
	} else {
		nr = trace_plat_symbol_find_all(name, &func, 1);
		out->addr = func;
	}
	if (nr != 1)
		return nr ? -EEXIST : -ENOENT;
	out->addr += out->offset;
	return 0;
}

const char *trace_fetch_module(const struct expr_word *value)
{
	struct expr_word name = { value->at + value->len, 0 };
	struct fetch_symbol symbol;

	while (name.at > value->at && name.at[-1] != '@') {
		name.at--;
		name.len++;
	}
	if (name.at == value->at || *value->at == '\\' || expr_is_digit(*name.at))
		return NULL;
	return trace_fetch_symbol(&name, &symbol) == -ENOENT ? name.at - 1 : NULL;
}

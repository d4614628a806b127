/*
 * SYMBOL, SYMBOL+OFFSET, SYMBOL-OFFSET: a variable or a function by its name. See fetch.h.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "fetch_private.h"
#include "text/str.h"

const char trace_fetch_not_unique[] = "The symbol is not unique";

/* Split the word; false: it is not of that form. */
static bool fetch_symbol_split(const struct fetch_word *word, struct fetch_symbol *out)
{
	struct fetch_word rest;

	*out = (struct fetch_symbol){ .name = { word->at, 0 } };
	while (out->name.len < word->len && word->at[out->name.len] != '+' &&
	       word->at[out->name.len] != '-')
		out->name.len++;
	rest = (struct fetch_word){ word->at + out->name.len, word->len - out->name.len };
	if (!out->name.len || !rest.len)
		return out->name.len;
	if (*rest.at == '+') {
		rest.at++;
		rest.len--;
	}
	return !trace_fetch_signed(&rest, &out->offset);
}

int trace_fetch_symbol(const struct fetch_word *word, struct fetch_symbol *out)
{
	struct trace_plat_variable variable;
	char name[TRACE_SYM_LEN];
	uintptr_t func = 0;
	size_t nr;

	if (!fetch_symbol_split(word, out))
		return -EINVAL;
	if (out->name.len >= sizeof(name))
		return -ENOENT;
	memcpy(name, out->name.at, out->name.len);
	name[out->name.len] = '\0';
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
	out->addr += (uint64_t)out->offset;
	return 0;
}

const char *trace_fetch_module(const struct fetch_word *value)
{
	struct fetch_word name = { value->at + value->len, 0 };
	struct fetch_symbol symbol;

	while (name.at > value->at && name.at[-1] != '@') {
		name.at--;
		name.len++;
	}
	if (name.at == value->at || *value->at == '\\' || (*name.at >= '0' && *name.at <= '9'))
		return NULL;
	return trace_fetch_symbol(&name, &symbol) == -ENOENT ? name.at - 1 : NULL;
}

/*
 * Places in code, SYMBOL, SYMBOL+OFFSET or an address, and what events there are called that have
 * no name. See probe.h. The words of mistakes are those of Linux.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "probe.h"
#include "text/str.h"

static int bad_place(const struct probe_definition *definition, int err)
{
	return probe_blame(definition, definition->place.at, "Invalid probed address or symbol",
			   err);
}

static int find_symbol(const struct probe_definition *definition, struct probe_place *place)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;

	if (!place->symbol.len || place->symbol.len >= sizeof(name))
		return bad_place(definition, -EINVAL);
	memcpy(name, place->symbol.at, place->symbol.len);
	name[place->symbol.len] = '\0';
	start = trace_plat_symbol_find(name);
	if (!start)
		return bad_place(definition, -ENOENT);
	place->addr = start + place->offset;
	return 0;
}

int probe_find_place(const struct probe_definition *definition, struct probe_place *out)
{
	const struct fetch_word *word = &definition->place;
	struct fetch_word number;
	uint64_t address;

	*out = (struct probe_place){ .symbol = { word->at, 0 } };
	if (!fetch_number(word, 0, &address)) {
		out->addr = address;
		return 0;
	}
	for (size_t i = 0; i < word->len; i++) {
		if (word->at[i] == '%')
			return probe_blame(definition, &word->at[i],
					   "Invalid probed address suffix", -EINVAL);
	}
	while (out->symbol.len < word->len && word->at[out->symbol.len] != '+' &&
	       word->at[out->symbol.len] != '-')
		out->symbol.len++;
	if (out->symbol.len < word->len) {
		number.at = word->at + out->symbol.len + 1;
		number.len = word->len - out->symbol.len - 1;
		if (number.at[-1] == '-' || fetch_number(&number, 0, &out->offset) ||
		    out->offset > UINT32_MAX)
			return bad_place(definition, -EINVAL);
	}
	return find_symbol(definition, out);
}

int probe_find_function(const struct probe_definition *definition, struct probe_place *out)
{
	int err = probe_find_place(definition, out);

	if (!err && out->offset)
		return probe_blame(definition, definition->place.at,
				   "Retprobe address must be an function entry", -EINVAL);
	return err;
}

/* Those of compilers have a dot. */
static void end_name(char *name, size_t len)
{
	name[len] = '\0';
	for (; *name; name++) {
		if (*name == '.' || *name == ':')
			*name = '_';
	}
}

void probe_name_by_number(struct probe_definition *definition, const struct probe_place *place)
{
	struct trace_seq seq;

	trace_seq_init(&seq, definition->default_name, sizeof(definition->default_name) - 1);
	trace_seq_printf(&seq, "%c_", definition->kind->letter);
	if (place->symbol.len) {
		trace_seq_write(&seq, place->symbol.at, place->symbol.len);
		trace_seq_putc(&seq, '_');
		trace_seq_dec(&seq, place->offset, 0, ' ');
	} else {
		trace_seq_printf(&seq, "0x%llx", (unsigned long long)place->addr);
	}
	end_name(definition->default_name, seq.len);
}

void probe_name_by_suffix(struct probe_definition *definition, const struct probe_place *place,
			  const char *suffix)
{
	struct trace_seq seq;

	trace_seq_init(&seq, definition->default_name, sizeof(definition->default_name) - 1);
	if (place->symbol.len)
		trace_seq_write(&seq, place->symbol.at, place->symbol.len);
	else
		trace_seq_printf(&seq, "f_0x%llx", (unsigned long long)place->addr);
	trace_seq_puts(&seq, suffix);
	end_name(definition->default_name, seq.len);
}

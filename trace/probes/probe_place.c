/*
 * Places in code, SYMBOL, SYMBOL+OFFSET, FILE:LINE or an address, SYMBOL@FILE for SYMBOL, and
 * default names of events there. See probe.h. Error messages have Linux's words, with a reason
 * behind them in some cases.
 */
#include <trace/errno.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "events/func_name.h"
#include "probe.h"
#include "text/str.h"

#define LINES_NEAR 20u /* greatest distance of a line taken in place of the asked one */

/* The words that error_log has until the next mistake; guarded by the config lock. */
static char reason[400];
/* The function of the last line that was found, and the place as listed; guarded likewise. */
static char found_name[TRACE_SYM_LEN], found_place[FUNC_NAME_MAX + 24];

static int bad_place(const struct probe_definition *definition, int err)
{
	return trace_probe_blame(definition, definition->place.at,
				 "Invalid probed address or symbol", err);
}

/* Blame an unknown function. The host may know the reason: it was inlined, for example. */
static int no_function(const struct probe_definition *definition, const char *name)
{
	static const char invalid[] = "Invalid probed address or symbol: ";
	const size_t len = sizeof(invalid) - 1;
	struct trace_plat_variable variable;

	if (trace_plat_variable_find(name, &variable)) {
		trace_snprintf(reason, sizeof(reason),
			       "Failed to register probe event: %s is data, which w@%s watches",
			       name, name);
		return trace_probe_refuse(definition, definition->place.at, reason);
	}
	memcpy(reason, invalid, sizeof(invalid));
	if (trace_plat_why_not(name, reason + len, sizeof(reason) - len))
		return bad_place(definition, -ENOENT);
	return trace_probe_blame(definition, definition->place.at, reason, -ENOENT);
}

/* ---- FILE:LINE ---- */

static int blame_line(const struct probe_definition *definition, const struct expr_word *line,
		      int err)
{
	switch (err) {
	case -ENOENT:
		return trace_probe_blame(definition, definition->place.at,
					 "No code comes from a file of that name", err);
	case -EEXIST:
		return trace_probe_refuse(definition, definition->place.at,
					  "Several files are called so: write more of the path");
	case -ENODATA:
		return trace_probe_blame(definition, line->at, "There is no code from that line on",
					 -ENOENT);
	default:
		return trace_probe_blame(definition, definition->place.at,
					 "This kernel has no table of lines", err);
	}
}

/* The place is listed as the function and the offset that were found. */
static int place_line(struct probe_definition *definition, const struct trace_plat_line *line,
		      struct probe_place *out)
{
	uintptr_t start;
	size_t bytes, len;

	if (!trace_plat_symbol(line->addr, found_name, &start, &bytes))
		return bad_place(definition, -ENOENT);
	out->addr = line->addr;
	out->symbol = (struct expr_word){ found_name, trace_strlen(found_name) };
	out->offset = line->addr - start;
	len = trace_func_name_write(found_name, start, found_place);
	trace_snprintf(found_place + len, sizeof(found_place) - len, len ? "+%lu" : "0x%lx",
		       (unsigned long)(len ? out->offset : line->addr));
	definition->listed = (struct expr_word){ found_place, trace_strlen(found_place) };
	return 0;
}

static int find_line(struct probe_definition *definition, const struct expr_word *line,
		     struct probe_place *out)
{
	const struct expr_word *place = &definition->place;
	struct trace_plat_line found;
	uint64_t wanted;
	int err;

	if (trace_expr_number(line, 10, false, &wanted) || !wanted || wanted > UINT32_MAX)
		return trace_probe_refuse(definition, line->at, "This is no line: FILE:LINE");
	err = trace_plat_line_find(place->at, (size_t)(line->at - place->at - 1), (uint32_t)wanted,
				   &found);
	if (err)
		return blame_line(definition, line, err);
	if (found.line - wanted > LINES_NEAR) {
		trace_snprintf(reason, sizeof(reason),
			       "No code is near that line: the next that has some is %u",
			       found.line);
		return trace_probe_blame(definition, line->at, reason, -ENOENT);
	}
	return place_line(definition, &found, out);
}

/* With a colon in it: FILE:LINE, or MODULE:SYMBOL, which set_ftrace_filter refuses, too. */
static int find_behind_colon(struct probe_definition *definition, const struct expr_word *file,
			     const struct expr_word *line, struct probe_place *out)
{
	struct expr_word rest = *file;

	(void)expr_take_until(&rest, "./");
	if (rest.len || !line->len || expr_is_digit(*line->at))
		return find_line(definition, line, out);
	return trace_probe_refuse(definition, file->at, "There are no modules: SYMBOL alone");
}

/* ---- SYMBOL ---- */

/* Take SYMBOL or SYMBOL@FILE, behind which an offset may be; a path may have hyphens. */
static struct expr_word take_symbol(struct expr_word *rest)
{
	struct expr_word symbol = expr_take_until(rest, "+-@"), file;

	if (expr_first(rest) == '@') {
		file = expr_take_until(rest, "+");
		symbol.len += file.len;
	}
	return symbol;
}

/* `word` is SYMBOL or SYMBOL@FILE. */
static int probe_place_find_symbol(const struct probe_definition *definition,
				   const struct expr_word *word, struct probe_place *place)
{
	struct expr_word rest = *word;
	char name[TRACE_SYM_LEN];
	const char *why;
	uintptr_t start;
	int err;

	place->symbol = expr_take_until(&rest, "@");
	if (!place->symbol.len || !trace_expr_copy(name, sizeof(name), &place->symbol))
		return bad_place(definition, -EINVAL);
	err = trace_func_name_find(word->at, word->len, &start, &why);
	if (err && why)
		return trace_probe_blame(definition, definition->place.at, why, err);
	if (err)
		return no_function(definition, name);
	place->addr = start + place->offset;
	return 0;
}

int trace_probe_find_place(struct probe_definition *definition, struct probe_place *out)
{
	const struct expr_word *word = &definition->place;
	struct expr_word rest = *word, part;

	*out = (struct probe_place){ .symbol = { word->at, 0 } };
	if (!trace_expr_number(word, 0, false, &out->addr))
		return 0;
	part = expr_take_until(&rest, "%:");
	if (expr_first(&rest) == '%')
		return trace_probe_refuse(definition, rest.at, "Invalid probed address suffix");
	if (expr_take(&rest, ':'))
		return find_behind_colon(definition, &part, &rest, out);
	rest = *word;
	part = take_symbol(&rest);
	if (rest.len &&
	    (!expr_take(&rest, '+') || trace_expr_number(&rest, 0, false, &out->offset) ||
	     out->offset > UINT32_MAX))
		return bad_place(definition, -EINVAL);
	return probe_place_find_symbol(definition, &part, out);
}

int trace_probe_find_function(struct probe_definition *definition, struct probe_place *out)
{
	int err = trace_probe_find_place(definition, out);

	if (!err && out->offset)
		return trace_probe_refuse(definition, definition->place.at,
					  "Retprobe address must be an function entry");
	return err;
}

/* Cut the dot that compilers put into names, and the rest behind it. */
static void end_name(char *name, size_t len)
{
	name[len] = '\0';
	for (; *name; name++) {
		if (*name == '.' || *name == ':')
			*name = '_';
	}
}

void trace_probe_name_by_number(struct probe_definition *definition,
				const struct probe_place *place)
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

void trace_probe_name_by_suffix(struct probe_definition *definition,
				const struct probe_place *place, const char *suffix)
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

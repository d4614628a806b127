/*
 * Places of probes of programs: PATH:OFFSET[%return][(COUNTER)], PATH:SYMBOL[+OFFSET|-OFFSET]. See
 * probe_uprobe.h. Error messages have Linux's words.
 */
#include <trace/errno.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "probe_uprobe.h"
#include "text/str.h"

/* A place, taken apart. */
struct uprobe_place {
	struct expr_word path, what; /* in front of the last colon, and behind it */
	struct expr_word symbol;     /* of length 0: an offset was written */
	const char *number;	     /* where it was written; NULL: the symbol alone */
	uint64_t offset, counter;
};

/* Bytes of a function up to which instructions are counted. */
#define UPROBE_WALK_MAX 65536u

/* The place as listed, and its file's whole path; guarded by the config lock. */
static char uprobe_listed[PROBE_PATH_MAX + 64];
static char uprobe_whole_path[PROBE_PATH_MAX];
/* The words that error_log has until the next mistake; guarded by the config lock. */
static char uprobe_boundary_text[96];

/* ---- Lines ---- */

static struct expr_word place_of_line(const char *line)
{
	(void)trace_expr_next_word(&line, '\0');
	return trace_expr_next_word(&line, '\0');
}

bool trace_probe_uprobe_is(const char *line)
{
	struct expr_word place = place_of_line(line);

	return (trace_probe_line_is(line, 'p') || trace_probe_line_is(line, 'r')) &&
	       (expr_first(&place) == '/' || trace_expr_starts(&place, "./") ||
		trace_expr_starts(&place, "../"));
}

bool trace_probe_uprobe_is_return(const char *line)
{
	struct expr_word rest = place_of_line(line);

	(void)expr_take_until(&rest, "%");
	return *line == 'r' || trace_expr_starts(&rest, PROBE_RETURN_SUFFIX);
}

/* ---- Parts ---- */

/* Cut the place at its last colon: a path may have some, too. */
static int split_path(const struct probe_definition *definition, struct uprobe_place *out)
{
	const struct expr_word *word = &definition->place;
	size_t len = word->len;

	while (len && word->at[len - 1] != ':')
		len--;
	if (len < 2 || len == word->len)
		return trace_probe_refuse(
			definition, word->at,
			"Place must be of the form: PATH:OFFSET or PATH:SYMBOL[+OFFSET]");
	out->path = (struct expr_word){ word->at, len - 1 };
	out->what = expr_behind(word, len);
	return 0;
}

/* Take (COUNTER) off the end. */
static int split_counter(const struct probe_definition *definition, struct uprobe_place *out)
{
	struct expr_word rest = out->what, number;

	out->what = expr_take_until(&rest, "(");
	if (!expr_take(&rest, '('))
		return 0;
	number = expr_take_until(&rest, ")");
	if (!rest.len)
		return trace_probe_refuse(definition, rest.at,
					  "Reference counter brace is not closed");
	if (rest.len > 1)
		return trace_probe_refuse(definition, rest.at + 1,
					  "Reference counter has wrong suffix");
	if (trace_expr_number(&number, 0, false, &out->counter))
		return trace_probe_refuse(definition, number.at,
					  "Invalid reference counter offset");
	return 0;
}

/* Take the suffix off the end: the kind of the line is known by it. */
static int split_suffix(const struct probe_definition *definition, struct uprobe_place *out)
{
	struct expr_word rest = out->what;

	out->what = expr_take_until(&rest, "%");
	if (rest.len && !trace_expr_is(&rest, PROBE_RETURN_SUFFIX))
		return trace_probe_refuse(definition, rest.at, "Invalid probed address suffix");
	return 0;
}

/* ---- Symbols ---- */

static int blame_symbol(const struct probe_definition *definition, const struct uprobe_place *place,
			int err)
{
	static const char *const reasons[] = { "The file has no symbol of that name",
					       "The file has no symbols: write an offset",
					       "The file is no ELF file: write an offset" };
	const char *why = reasons[err == -ENODATA ? 1 : err == -ENOEXEC ? 2 : 0];

	return trace_probe_blame(definition, place->symbol.at, why, err);
}

static int find_symbol(const struct probe_definition *definition, struct uprobe_file *file,
		       struct uprobe_place *place)
{
	struct expr_word rest = place->what;
	struct probe_elf_symbol symbol;
	int err;

	place->symbol = expr_take_until(&rest, "+-");
	(void)expr_take(&rest, '+');
	if (rest.len && trace_expr_number(&rest, 0, true, &place->offset))
		return trace_probe_refuse(definition, rest.at, "Invalid uprobe offset");
	place->number = rest.len ? rest.at : NULL;
	err = trace_probe_elf_find(file, place->symbol.at, place->symbol.len, &symbol);
	if (err)
		return blame_symbol(definition, place, err);
	if (symbol.nr > 1)
		return trace_probe_refuse(definition, place->symbol.at, trace_fetch_not_unique);
	place->offset += symbol.offset;
	return 0;
}

static int find_offset(const struct probe_definition *definition, struct uprobe_file *file,
		       struct uprobe_place *place)
{
	if (place->what.len && !expr_is_digit(*place->what.at) && expr_is_of_name(*place->what.at))
		return find_symbol(definition, file, place);
	if (trace_expr_number(&place->what, 0, false, &place->offset))
		return trace_probe_refuse(definition, place->what.at, "Invalid uprobe offset");
	place->number = place->what.at;
	return 0;
}

/* Is there an instruction's first byte, counted from that of its function, if the file names one? */
static int check_boundary(const struct probe_definition *definition, struct uprobe_file *file,
			  const struct uprobe_place *place)
{
	uint64_t begin, insn;

	if (!place->number || !trace_probe_elf_function(file, place->offset, &begin) ||
	    place->offset - begin > UPROBE_WALK_MAX)
		return 0;
	insn = uprobe_insn_at(file, begin, place->offset);
	if (insn == place->offset)
		return 0;
	trace_snprintf(
		uprobe_boundary_text, sizeof(uprobe_boundary_text),
		"Probe point is not an instruction boundary: its instruction begins at 0x%llx",
		(unsigned long long)insn);
	return trace_probe_blame(definition, place->number, uprobe_boundary_text, -EILSEQ);
}

/* ---- Names ---- */

/* The name of an event without one has that of the file, up to what no name may have. */
static void name_event(struct probe_definition *definition, const struct uprobe_place *place)
{
	struct expr_word file = place->path, rest = file;
	struct trace_seq seq;

	for (; rest.len; rest = expr_behind(&rest, 1)) {
		if (*rest.at == '/')
			file = expr_behind(&rest, 1);
	}
	file = expr_take_until(&file, ".-_+,:@~");
	trace_seq_init(&seq, definition->default_name, sizeof(definition->default_name) - 1);
	trace_seq_puts(&seq, "p_");
	trace_seq_write(&seq, file.at, file.len);
	trace_seq_printf(&seq, "_0x%llx", (unsigned long long)place->offset);
	definition->default_name[seq.len] = '\0';
}

/* The place is listed as Linux does, whatever was written, but for the path: as a whole, it holds in any directory. */
static void list_place(struct probe_definition *definition, const struct uprobe_place *place)
{
	struct trace_seq seq;

	trace_seq_init(&seq, uprobe_listed, sizeof(uprobe_listed) - 1);
	trace_seq_printf(&seq, "%s:0x%016llx", uprobe_whole_path,
			 (unsigned long long)place->offset);
	if (place->counter)
		trace_seq_printf(&seq, "(0x%llx)", (unsigned long long)place->counter);
	uprobe_listed[seq.len] = '\0';
	definition->listed = (struct expr_word){ uprobe_listed, seq.len };
}

/* ---- The whole ---- */

static int uprobe_place_open(const struct probe_definition *definition,
			     const struct uprobe_place *place, struct uprobe_file **out_file)
{
	char path[PROBE_PATH_MAX];
	int err = trace_expr_copy(path, sizeof(path), &place->path) ? 0 : -ENAMETOOLONG;

	if (!err)
		err = uprobe_file_path(path, uprobe_whole_path, sizeof(uprobe_whole_path));
	if (!err)
		err = uprobe_file_get(uprobe_whole_path, out_file);
	if (!err || err == -ENOMEM)
		return err;
	return trace_probe_blame(definition, place->path.at,
				 err == -EINVAL	  ? "Not a regular file"
				 : err == -ENODEV ? "There are no programs here"
						  : "Failed to find the given file",
				 err);
}

int trace_probe_uprobe_find(struct probe_definition *definition)
{
	struct uprobe_place place = { .counter = 0 };
	struct uprobe_file *file = NULL;
	int err = split_path(definition, &place);

	if (!err)
		err = uprobe_place_open(definition, &place, &file);
	if (err)
		return err;
	err = split_counter(definition, &place);
	if (!err)
		err = split_suffix(definition, &place);
	if (!err)
		err = find_offset(definition, file, &place);
	if (!err)
		err = check_boundary(definition, file, &place);
	uprobe_file_put(file);
	if (err)
		return err;
	definition->target.uprobe.offset = place.offset;
	definition->target.uprobe.ref_ctr_offset = place.counter;
	definition->context.place = FETCH_AT_CODE;
	definition->context.is_user = true;
	definition->context.is_user_return = definition->kind == &trace_probe_uretprobe_kind;
	definition->context.file_offset = place.offset;
	name_event(definition, &place);
	list_place(definition, &place);
	return 0;
}

void trace_probe_uprobe_path(const struct probe *probe, char *out)
{
	const char *place = trace_probe_place_text(probe);
	size_t len = trace_strlen(place);

	while (len && place[len] != ':')
		len--;
	trace_strcpy(out, place, len < PROBE_PATH_MAX ? len + 1 : PROBE_PATH_MAX);
}

bool trace_probe_uprobe_is_same(const struct probe *a, const struct probe *b)
{
	const struct uprobe_consumer *mine = &a->target.uprobe, *own = &b->target.uprobe;
	char path[PROBE_PATH_MAX];
	struct uprobe_file *file;
	bool is_same;

	trace_probe_uprobe_path(a, path);
	if (mine->offset != own->offset || uprobe_file_get(path, &file))
		return false;
	is_same = uprobe_file_id(file) == uprobe_file_id(own->file);
	uprobe_file_put(file);
	return is_same;
}

const char *trace_probe_uprobe_gone(const struct probe *probe)
{
	struct uprobe_file *file;
	char path[PROBE_PATH_MAX];
	bool is_same;

	trace_probe_uprobe_path(probe, path);
	if (uprobe_file_get(path, &file))
		return "the file is gone";
	is_same = uprobe_file_id(file) == uprobe_file_id(probe->target.uprobe.file);
	uprobe_file_put(file);
	return is_same ? NULL : "another file has this path now";
}

/* See debuginfo.h. */
#include "debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"

#define MAX_DEPTH 256 /* of nested entries; the compilers stay far below */

/* One function with machine code, kept until it is known whether its file has sites. */
struct compiled {
	struct record *record;
	const char *symbol;
	bool has_site;
};

struct walk {
	struct records *records;
	const struct code *code;
	Dwarf_Files *files;	   /* of the current unit */
	struct compiled *compiled; /* of the current unit */
	size_t nr_compiled;
	size_t capacity;
	bool is_unit_traced;
};

/* The function whose machine code an entry is part of. */
struct outer {
	const char *name; /* NULL outside machine code */
	bool is_traced;
	unsigned int depth;
};

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attr));
}

static uint32_t number_of(Dwarf_Die *die, unsigned int at)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr_integrate(die, at, &attr), &value) != 0)
		return 0;
	return (uint32_t)value;
}

static void set_place(struct walk *walk, struct record *record, Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	int line = 0;

	record->is_in_source = true;
	if (record->file || !file || dwarf_decl_line(die, &line) != 0)
		return;
	record->file = records_path(walk->records, file);
	record->line = (uint32_t)line;
}

/* Find the first piece of machine code of a function: its start and end. False when it has none. */
static bool code_range(struct walk *walk, Dwarf_Die *die, Dwarf_Addr *out_start,
		       Dwarf_Addr *out_end)
{
	Dwarf_Addr base;

	return dwarf_ranges(die, 0, &base, out_start, out_end) > 0 && *out_start < *out_end &&
	       code_contains(walk->code, *out_start);
}

static void add_compiled(struct walk *walk, const struct compiled *compiled)
{
	if (walk->nr_compiled == walk->capacity) {
		walk->capacity = walk->capacity ? walk->capacity * 2 : 64;
		walk->compiled = xrealloc(walk->compiled, walk->capacity * sizeof(*walk->compiled));
	}
	walk->compiled[walk->nr_compiled++] = *compiled;
	walk->is_unit_traced |= compiled->has_site;
}

static void walk_children(struct walk *walk, Dwarf_Die *die, const struct outer *outer);

static void visit_function(struct walk *walk, Dwarf_Die *die, const struct outer *outer)
{
	struct outer inside = { .depth = outer->depth };
	const char *name = name_of(die);
	struct record *record;
	Dwarf_Addr start, end;

	if (!name || dwarf_hasattr(die, DW_AT_declaration))
		return;
	record = records_get(walk->records, name);
	set_place(walk, record, die);
	if (code_range(walk, die, &start, &end)) {
		const struct selected *symbol = code_symbol_at(walk->code, start);

		inside.name = symbol ? symbol->name : name;
		inside.is_traced = code_has_site(walk->code, start, end);
		add_compiled(walk, &(struct compiled){ .record = record,
						       .symbol = inside.name,
						       .has_site = inside.is_traced });
	}
	walk_children(walk, die, &inside);
}

static void visit_inlined(struct walk *walk, Dwarf_Die *die, const struct outer *outer)
{
	const char *name = name_of(die);
	uint32_t file = number_of(die, DW_AT_call_file);
	struct call call = { .caller = outer->name,
			     .line = number_of(die, DW_AT_call_line),
			     .is_caller_traced = outer->is_traced };

	if (name && outer->name) {
		call.caller = records_string(walk->records, outer->name);
		call.file = records_path(walk->records,
					 walk->files ? dwarf_filesrc(walk->files, file, NULL, NULL)
						     : NULL);
		record_add_call(records_get(walk->records, name), &call);
	}
	walk_children(walk, die, outer);
}

static void walk_children(struct walk *walk, Dwarf_Die *die, const struct outer *outer)
{
	struct outer next = *outer;
	Dwarf_Die child;

	if (++next.depth > MAX_DEPTH || dwarf_child(die, &child) != 0)
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			visit_function(walk, &child, &next);
			break;
		case DW_TAG_inlined_subroutine:
			visit_inlined(walk, &child, &next);
			break;
		case DW_TAG_lexical_block:
			walk_children(walk, &child, &next);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
}

/*
 * Complete the records of the functions of a unit, now that all of it was seen. A clone that the
 * compiler made has a record under its own name as well.
 */
static void finish_unit(struct walk *walk)
{
	for (size_t i = 0; i < walk->nr_compiled; i++) {
		const struct compiled *c = &walk->compiled[i];
		bool is_clone = strcmp(c->symbol, c->record->name) != 0;
		struct record *of_symbol = records_get(walk->records, c->symbol);

		if (is_clone && c->has_site && !c->record->renamed)
			c->record->renamed = of_symbol->name;
		if (is_clone && !of_symbol->file) {
			of_symbol->file = c->record->file;
			of_symbol->line = c->record->line;
		}
		of_symbol->is_compiled = true;
		of_symbol->has_site |= c->has_site;
		of_symbol->is_file_traced |= walk->is_unit_traced;
		if (is_clone && !c->has_site) {
			c->record->is_compiled = true;
			c->record->is_file_traced |= walk->is_unit_traced;
		}
	}
	walk->nr_compiled = 0;
	walk->is_unit_traced = false;
}

static bool is_include(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && strcmp(path + len - 4, ".inc") == 0;
}

/* Set the place of a record to that of line `i`, or of the next that is in no include file. */
static void set_line(struct walk *walk, struct record *record, Dwarf_Lines *lines, size_t i,
		     size_t nr)
{
	for (; i < nr; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *path = dwarf_linesrc(line, NULL, NULL);
		int number;

		if (path && !is_include(path) && dwarf_lineno(line, &number) == 0) {
			record->file = records_path(walk->records, path);
			record->line = (uint32_t)number;
			return;
		}
	}
}

/*
 * Routines of an assembler file have no entries of their own; its line table says where they are.
 */
static void visit_assembly(struct walk *walk, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t nr;

	if (dwarf_getsrclines(unit, &lines, &nr) != 0)
		return;
	for (size_t i = 0; i < nr; i++) {
		const struct selected *symbol;
		struct record *record;
		Dwarf_Addr addr;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, i), &addr) != 0)
			continue;
		symbol = code_symbol_at(walk->code, addr);
		record = symbol ? records_get(walk->records, symbol->name) : NULL;
		if (record && !record->file)
			set_line(walk, record, lines, i, nr);
	}
}

static void visit_unit(struct walk *walk, Dwarf_Die *unit, debuginfo_file_fn each_file, void *arg)
{
	const struct outer nothing = { 0 };
	size_t nr_files = 0;

	if (dwarf_srclang(unit) == DW_LANG_Mips_Assembler) {
		visit_assembly(walk, unit);
		return;
	}
	if (dwarf_getsrcfiles(unit, &walk->files, &nr_files) != 0) {
		walk->files = NULL;
		nr_files = 0;
	}
	for (size_t i = 0; i < nr_files; i++) {
		const char *path = dwarf_filesrc(walk->files, i, NULL, NULL);

		if (path)
			each_file(records_path(walk->records, path), arg);
	}
	walk_children(walk, unit, &nothing);
	finish_unit(walk);
}

int debuginfo_collect(struct records *records, const struct code *code, debuginfo_file_fn each_file,
		      void *arg)
{
	struct walk walk = { .records = records, .code = code };
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	size_t nr_units = 0;
	int fd = open(code->image.path, O_RDONLY);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);

	while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		visit_unit(&walk, &unit, each_file, arg);
		nr_units++;
	}
	free(walk.compiled);
	if (dwarf)
		dwarf_end(dwarf);
	if (fd >= 0)
		close(fd);
	return nr_units ? 0 : linked_error(&code->image, "no debug information: compile with -g");
}

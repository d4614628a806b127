/* See unsure.h. */
#include "unsure.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"

static int compare_names(const void *left, const void *right)
{
	char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

static void add(struct unsure *unsure, const char *name)
{
	unsure->names = xgrow(unsure->names, unsure->nr, sizeof(*unsure->names));
	unsure->names[unsure->nr++] = strdup(name);
}

/* Names that several functions of the kernel have. */
static void collect_ambiguous(struct unsure *unsure, const struct linked *kernel)
{
	const char **names = xcalloc(kernel->nr_syms + 1, sizeof(*names));
	size_t nr = 0;

	for (size_t i = 0; i < kernel->nr_syms; i++)
		if (ELF64_ST_TYPE(kernel->syms[i].st_info) == STT_FUNC)
			names[nr++] = linked_symbol_name(kernel, i);
	qsort(names, nr, sizeof(*names), compare_names);
	for (size_t i = 1; i < nr; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			add(unsure, names[i]);
	free(names);
}

/* DWARF numbers of rdi, rsi, rdx, rcx, r8, r9. */
static const uint8_t argument_regs[] = { 5, 4, 1, 2, 8, 9 };

/*
 * Is the parameter, which is number `nr`, where the calling convention has it at `entry`? One that
 * the function does not need may be nowhere.
 */
static bool is_in_place(Dwarf_Die *param, uint32_t nr, Dwarf_Addr entry)
{
	Dwarf_Attribute attr;
	Dwarf_Op *expr;
	size_t len;

	if (!dwarf_attr_integrate(param, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, entry, &expr, &len, 1) <= 0)
		return true;
	return len != 1 || expr->atom < DW_OP_reg0 || expr->atom > DW_OP_reg31 ||
	       expr->atom - DW_OP_reg0 == argument_regs[nr];
}

/* The type of a parameter, or what a function returns: its size, and whether it is a struct. */
static bool type_of(Dwarf_Die *die, Dwarf_Word *out_bytes, bool *out_is_struct)
{
	Dwarf_Attribute attr;
	Dwarf_Die type, peeled;
	int tag;

	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), &type) ||
	    dwarf_peel_type(&type, &peeled) != 0 || dwarf_aggregate_size(&peeled, out_bytes) != 0)
		return false;
	tag = dwarf_tag(&peeled);
	*out_is_struct = tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
	return true;
}

static bool is_in_order(Dwarf_Die *func)
{
	Dwarf_Addr entry;
	Dwarf_Word bytes;
	Dwarf_Die die;
	bool is_struct;
	uint32_t nr = 0;

	if (dwarf_lowpc(func, &entry) != 0 || dwarf_child(func, &die) != 0)
		return true; /* no code of its own, or no parameters */
	if (type_of(func, &bytes, &is_struct) && is_struct && bytes > 16)
		nr++; /* where it is to be written */
	do {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		if (nr == sizeof(argument_regs) || !type_of(&die, &bytes, &is_struct) ||
		    is_struct || bytes > 8)
			return true;
		if (!is_in_place(&die, nr++, entry))
			return false;
	} while (dwarf_siblingof(&die, &die) == 0);
	return true;
}

static void collect_changed(struct unsure *unsure, Dwarf_Die *unit)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die) != 0)
		return;
	do {
		if (dwarf_tag(&die) == DW_TAG_subprogram && dwarf_diename(&die) &&
		    !is_in_order(&die))
			add(unsure, dwarf_diename(&die));
	} while (dwarf_siblingof(&die, &die) == 0);
}

int unsure_collect(struct unsure *unsure, const struct linked *kernel)
{
	int fd = open(kernel->path, O_RDONLY);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	size_t nr_units = 0;

	while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		collect_changed(unsure, &unit);
		nr_units++;
	}
	if (dwarf)
		dwarf_end(dwarf);
	if (fd >= 0)
		close(fd);
	if (!nr_units)
		return linked_error(kernel, "no debug information: compile with -g");
	collect_ambiguous(unsure, kernel);
	qsort(unsure->names, unsure->nr, sizeof(*unsure->names), compare_names);
	return 0;
}

bool unsure_has(const struct unsure *unsure, const char *name)
{
	return unsure->nr &&
	       bsearch(&name, unsure->names, unsure->nr, sizeof(*unsure->names), compare_names);
}

void unsure_free(struct unsure *unsure)
{
	for (size_t i = 0; i < unsure->nr; i++)
		free(unsure->names[i]);
	free(unsure->names);
}

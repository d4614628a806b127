/* See functions.h. */
#include "functions.h"

#include <stdlib.h>
#include <string.h>

#include "names.h"

static int compare_functions(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Functions, and labels of assembly that are not local to a routine. */
static bool is_function(const struct linked *image, const Elf64_Sym *sym, const char *name)
{
	uint8_t type = ELF64_ST_TYPE(sym->st_info);

	if (!linked_is_code(image, sym->st_shndx) || name[0] == '\0')
		return false;
	return type == STT_FUNC || (type == STT_NOTYPE && !strchr(name, '.'));
}

void functions_collect(struct functions *functions, const struct linked *image)
{
	memset(functions, 0, sizeof(*functions));
	functions->list = xcalloc(image->nr_syms, sizeof(*functions->list));
	for (size_t i = 1; i < image->nr_syms; i++) {
		const char *name = linked_symbol_name(image, i);

		if (is_function(image, &image->syms[i], name))
			functions->list[functions->nr++] = (struct function){
				.addr = image->syms[i].st_value,
				.size = image->syms[i].st_size,
				.name = name,
			};
	}
	qsort(functions->list, functions->nr, sizeof(*functions->list), compare_functions);
}

void functions_free(struct functions *functions)
{
	free(functions->list);
	memset(functions, 0, sizeof(*functions));
}

/* Number of functions that start at or below `addr`. */
static size_t count_up_to(const struct functions *functions, uint64_t addr)
{
	size_t low = 0, high = functions->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions->list[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool functions_has_start(const struct functions *functions, uint64_t addr)
{
	size_t nr = count_up_to(functions, addr);

	return nr > 0 && functions->list[nr - 1].addr == addr;
}

const struct function *functions_around(const struct functions *functions, uint64_t addr)
{
	size_t nr = count_up_to(functions, addr);

	while (nr-- > 0) {
		const struct function *f = &functions->list[nr];

		if (f->size && addr - f->addr < f->size)
			return f;
		if (f->size && (nr == 0 || functions->list[nr - 1].addr != f->addr))
			return NULL;
	}
	return NULL;
}

/* See code.h. */
#include "code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

static int compare_sites(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static int load_sites(struct code *code)
{
	const Elf64_Sym *start = linked_find_symbol(&code->image, "__start_mcount_loc");
	const Elf64_Sym *stop = linked_find_symbol(&code->image, "__stop_mcount_loc");
	const uint8_t *table;
	uint64_t size;

	if (!start || !stop || stop->st_value < start->st_value)
		return linked_error(&code->image, "no __start_mcount_loc, __stop_mcount_loc");
	size = stop->st_value - start->st_value;
	code->nr_sites = size / sizeof(uint64_t);
	if (code->nr_sites == 0)
		return 0;
	table = linked_bytes_at(&code->image, start->st_value, size);
	if (!table)
		return linked_error(&code->image, "the site table has no contents");
	code->sites = xcalloc(code->nr_sites, sizeof(*code->sites));
	memcpy(code->sites, table, code->nr_sites * sizeof(*code->sites));
	qsort(code->sites, code->nr_sites, sizeof(*code->sites), compare_sites);
	return 0;
}

int code_open(struct code *code, const char *path)
{
	memset(code, 0, sizeof(*code));
	if (linked_open(&code->image, path) != 0)
		return -1;
	if (load_sites(code) != 0 || selection_make(&code->selection, &code->image) != 0) {
		code_close(code);
		return -1;
	}
	return 0;
}

void code_close(struct code *code)
{
	selection_free(&code->selection);
	free(code->sites);
	linked_close(&code->image);
}

bool code_has_site(const struct code *code, uint64_t start, uint64_t end)
{
	size_t low = 0, high = code->nr_sites;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->sites[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < code->nr_sites && code->sites[low] < end;
}

bool code_contains(const struct code *code, uint64_t addr)
{
	for (size_t i = 1; i < code->image.nr_sections; i++) {
		const Elf64_Shdr *sh = &code->image.sections[i];

		if (linked_is_code(&code->image, i) && addr >= sh->sh_addr &&
		    addr - sh->sh_addr < sh->sh_size)
			return true;
	}
	return false;
}

const struct selected *code_symbol_at(const struct code *code, uint64_t addr)
{
	size_t low = 0, high = code->selection.nr_addressed;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->selection.symbols[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < code->selection.nr_addressed && code->selection.symbols[low].addr == addr)
		return &code->selection.symbols[low];
	return NULL;
}

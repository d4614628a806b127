/* See sites.h. */
#include "sites.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CALL_OPCODE	0xe8
#define CALL_FIELD_SIZE 4
#define INDIRECT_OPCODE 0xff /* call *disp32(%rip) is ff 15 */
#define INDIRECT_MODRM	0x15

static bool is_tracer_name(const char *name)
{
	return strcmp(name, "__fentry__") == 0 || strcmp(name, "mcount") == 0;
}

/* One byte per symbol: is it one that sites call? NULL after a message on failure. */
static uint8_t *find_tracer_symbols(const struct object *obj)
{
	uint8_t *is_tracer = calloc(obj->nr_syms + 1, 1);

	if (!is_tracer) {
		object_error(obj, "out of memory");
		return NULL;
	}
	for (size_t i = 1; i < obj->nr_syms; i++) {
		const char *name = object_symbol_name(obj, i);

		if (!name) {
			object_error(obj, "symbol %zu: name outside the string table", i);
			free(is_tracer);
			return NULL;
		}
		is_tracer[i] = is_tracer_name(name);
	}
	return is_tracer;
}

static int add_site(const struct object *obj, struct site_list *list, size_t section,
		    uint64_t offset)
{
	if (list->nr == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 64;
		struct site *sites = realloc(list->sites, capacity * sizeof(*sites));

		if (!sites)
			return object_error(obj, "out of memory");
		list->sites = sites;
		list->capacity = capacity;
	}
	list->sites[list->nr++] = (struct site){ .section = section, .offset = offset };
	return 0;
}

static bool is_branch_type(uint64_t type)
{
	return type == R_X86_64_PLT32 || type == R_X86_64_PC32;
}

static bool is_got_type(uint64_t type)
{
	return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
	       type == R_X86_64_REX_GOTPCRELX;
}

/*
 * Add the site of one reference to __fentry__ or mcount. References that are not calls (a jump, an
 * address that is taken) are ignored; a call that cannot become a 5-byte NOP is an error.
 */
static int check_reference(const struct object *obj, struct site_list *list, size_t section,
			   const Elf64_Rela *rela)
{
	const Elf64_Shdr *sh = &obj->sections[section];
	const uint8_t *text = obj->image + sh->sh_offset;
	uint64_t type = ELF64_R_TYPE(rela->r_info);
	uint64_t pos = rela->r_offset;

	if (sh->sh_size < CALL_FIELD_SIZE || pos > sh->sh_size - CALL_FIELD_SIZE)
		return object_error(obj, "relocation at 0x%" PRIx64 " lies outside section %zu",
				    pos, section);
	if (is_got_type(type) && pos >= 2 && text[pos - 2] == INDIRECT_OPCODE &&
	    text[pos - 1] == INDIRECT_MODRM)
		return object_error(
			obj, "6-byte call at 0x%" PRIx64 " of section %zu: compile with -fno-pie",
			pos - 2, section);
	if (!is_branch_type(type) || pos < 1 || text[pos - 1] != CALL_OPCODE)
		return 0;
	if (rela->r_addend != -CALL_FIELD_SIZE)
		return object_error(obj, "call at 0x%" PRIx64 " of section %zu has addend %" PRId64,
				    pos - 1, section, rela->r_addend);
	return add_site(obj, list, section, pos - 1);
}

static int scan_relocations(const struct object *obj, struct site_list *list, size_t rela_section,
			    const uint8_t *is_tracer)
{
	const Elf64_Shdr *sh = &obj->sections[rela_section];
	const Elf_Data *data = object_data(obj, rela_section);
	const Elf64_Rela *relas;

	if (!data)
		return -1;
	relas = data->d_buf;
	for (size_t i = 0; i < sh->sh_size / sizeof(*relas); i++) {
		uint64_t sym = ELF64_R_SYM(relas[i].r_info);

		if (sym >= obj->nr_syms)
			return object_error(obj,
					    "relocation %zu of section %zu: no symbol %" PRIu64, i,
					    rela_section, sym);
		if (is_tracer[sym] && check_reference(obj, list, sh->sh_info, &relas[i]) != 0)
			return -1;
	}
	return 0;
}

/* Does this section hold relocations of code? -1 after a message when it is damaged. */
static int is_code_relocations(const struct object *obj, size_t section)
{
	const Elf64_Shdr *sh = &obj->sections[section];
	const Elf64_Shdr *target;

	if ((sh->sh_type != SHT_RELA && sh->sh_type != SHT_REL) || sh->sh_size == 0)
		return 0;
	if (sh->sh_info == 0 || sh->sh_info >= obj->nr_sections)
		return object_error(obj, "relocation section %zu: no section %u", section,
				    sh->sh_info);
	target = &obj->sections[sh->sh_info];
	if (target->sh_type != SHT_PROGBITS || !(target->sh_flags & SHF_EXECINSTR))
		return 0;
	if (sh->sh_type != SHT_RELA || sh->sh_entsize != sizeof(Elf64_Rela) ||
	    sh->sh_size % sizeof(Elf64_Rela) || sh->sh_link != obj->symtab)
		return object_error(obj, "relocation section %zu: unknown format", section);
	return 1;
}

static int compare_sites(const void *left, const void *right)
{
	const struct site *a = left, *b = right;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static void sort_unique(struct site_list *list)
{
	size_t kept = 0;

	if (list->nr == 0)
		return;
	qsort(list->sites, list->nr, sizeof(*list->sites), compare_sites);
	for (size_t i = 0; i < list->nr; i++)
		if (kept == 0 || compare_sites(&list->sites[kept - 1], &list->sites[i]) != 0)
			list->sites[kept++] = list->sites[i];
	list->nr = kept;
}

int sites_find(const struct object *obj, struct site_list *out_list)
{
	uint8_t *is_tracer;
	int err = 0;

	memset(out_list, 0, sizeof(*out_list));
	is_tracer = find_tracer_symbols(obj);
	if (!is_tracer)
		return -1;
	for (size_t i = 1; i < obj->nr_sections && !err; i++) {
		err = is_code_relocations(obj, i);
		if (err > 0)
			err = scan_relocations(obj, out_list, i, is_tracer);
	}
	free(is_tracer);
	if (err) {
		sites_free(out_list);
		return -1;
	}
	sort_unique(out_list);
	return 0;
}

void sites_free(struct site_list *list)
{
	free(list->sites);
	memset(list, 0, sizeof(*list));
}

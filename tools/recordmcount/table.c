/* See table.h. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "symbols.h"

/* The name of the relocations. The name of the table is the end of this string. */
static const char RELA_NAME[] = ".rela__mcount_loc";
#define RELA_PREFIX_LEN (sizeof(".rela") - 1)
#define ENTRY_SIZE	sizeof(uint64_t)

struct build {
	const struct object *obj;
	const struct site_list *list;
	struct section_symbols symbols;
	struct image *image;
	Elf64_Shdr *sections; /* the old headers, then the new ones */
	size_t nr_sections;
	uint32_t *group_of; /* group section of each input section; 0 for none */
};

/* Fill group_of[]; the group's members must exist and belong to one group only. */
static int find_group_members(struct build *b, size_t group)
{
	const Elf_Data *data = object_data(b->obj, group);
	const uint32_t *words;

	if (!data)
		return -1;
	words = data->d_buf;
	for (size_t i = 1; i < data->d_size / sizeof(*words); i++) {
		if (words[i] == 0 || words[i] >= b->obj->nr_sections)
			return object_error(b->obj, "group %zu: no section %u", group, words[i]);
		if (b->group_of[words[i]])
			return object_error(b->obj, "section %u is in two groups", words[i]);
		b->group_of[words[i]] = (uint32_t)group;
	}
	return 0;
}

static int find_groups(struct build *b)
{
	b->group_of = calloc(b->obj->nr_sections, sizeof(*b->group_of));
	if (!b->group_of)
		return object_error(b->obj, "out of memory");
	for (size_t i = 1; i < b->obj->nr_sections; i++)
		if (b->obj->sections[i].sh_type == SHT_GROUP && b->obj->sections[i].sh_size > 0 &&
		    find_group_members(b, i) != 0)
			return -1;
	return 0;
}

static size_t count_code_sections(const struct site_list *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr += i == 0 || list->sites[i].section != list->sites[i - 1].section;
	return nr;
}

/* Add the table of one code section, for sites [first, end) of the list, and its relocations. */
static void add_table(struct build *b, size_t first, size_t end, uint32_t name)
{
	size_t code = b->list->sites[first].section;
	uint64_t group_flag = b->group_of[code] ? SHF_GROUP : 0;
	Elf64_Shdr *table = &b->sections[b->nr_sections];
	Elf64_Shdr *relas = &b->sections[b->nr_sections + 1];
	size_t bytes = (end - first) * ENTRY_SIZE;

	*table = (Elf64_Shdr){
		.sh_name = name + RELA_PREFIX_LEN,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_LINK_ORDER | group_flag,
		.sh_offset = image_append(b->image, NULL, bytes, 8),
		.sh_size = bytes,
		.sh_link = (uint32_t)code,
		.sh_addralign = 1, /* as the compiler's own */
	};
	*relas = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = SHT_RELA,
		.sh_flags = SHF_INFO_LINK | group_flag,
		.sh_offset = image_append(b->image, NULL, 0, 8),
		.sh_size = (end - first) * sizeof(Elf64_Rela),
		.sh_link = (uint32_t)b->obj->symtab,
		.sh_info = (uint32_t)b->nr_sections,
		.sh_addralign = 8,
		.sh_entsize = sizeof(Elf64_Rela),
	};
	for (size_t i = first; i < end; i++) {
		const Elf64_Rela rela = {
			.r_offset = (i - first) * ENTRY_SIZE,
			.r_info = ELF64_R_INFO((uint64_t)b->symbols.of_section[code], R_X86_64_64),
			.r_addend = (int64_t)b->list->sites[i].offset,
		};

		image_append(b->image, &rela, sizeof(rela), 1);
	}
	b->nr_sections += 2;
}

static void add_tables(struct build *b, uint32_t name)
{
	for (size_t first = 0, end; first < b->list->nr; first = end) {
		for (end = first + 1; end < b->list->nr; end++)
			if (b->list->sites[end].section != b->list->sites[first].section)
				break;
		add_table(b, first, end, name);
	}
}

/* Make the new sections members of the group that their code is in. */
static int extend_group(struct build *b, size_t group)
{
	const Elf_Data *data = object_data(b->obj, group);
	Elf64_Shdr *sh = &b->sections[group];

	if (!data)
		return -1;
	sh->sh_offset = image_append(b->image, data->d_buf, data->d_size, 4);
	for (size_t i = b->obj->nr_sections; i < b->nr_sections; i += 2) {
		const uint32_t members[2] = { (uint32_t)i, (uint32_t)i + 1 };

		if (b->group_of[b->sections[i].sh_link] == group)
			image_append(b->image, members, sizeof(members), 1);
	}
	sh->sh_size = b->image->size - sh->sh_offset;
	return 0;
}

static int extend_groups(struct build *b)
{
	uint8_t *is_extended = calloc(b->obj->nr_sections, 1);
	int err = 0;

	if (!is_extended)
		return object_error(b->obj, "out of memory");
	for (size_t i = b->obj->nr_sections; i < b->nr_sections && !err; i += 2) {
		uint32_t group = b->group_of[b->sections[i].sh_link];

		if (group && !is_extended[group])
			err = extend_group(b, group);
		is_extended[group] = 1;
	}
	free(is_extended);
	return err;
}

/* Append a longer copy of the section name table; returns the position of the new name in it. */
static uint32_t add_names(struct build *b)
{
	Elf64_Shdr *sh = &b->sections[b->obj->names];
	const uint8_t *old = b->obj->image + sh->sh_offset;
	uint32_t name = (uint32_t)sh->sh_size;

	sh->sh_offset = image_append(b->image, old, sh->sh_size, 1);
	image_append(b->image, RELA_NAME, sizeof(RELA_NAME), 1);
	sh->sh_size += sizeof(RELA_NAME);
	return name;
}

/* The section headers go last; the file header and section 0 say where and how many. */
static void add_headers(struct build *b)
{
	bool is_extended = b->nr_sections >= SHN_LORESERVE;
	Elf64_Ehdr eh;

	b->sections[0].sh_size = is_extended ? b->nr_sections : 0;
	memcpy(&eh, b->obj->image, sizeof(eh));
	eh.e_shnum = is_extended ? 0 : (uint16_t)b->nr_sections;
	eh.e_shoff = image_append(b->image, b->sections, b->nr_sections * sizeof(*b->sections), 8);
	if (!b->image->out_of_memory)
		memcpy(b->image->bytes, &eh, sizeof(eh));
}

static int build_all(struct build *b)
{
	const struct object *obj = b->obj;
	size_t nr = obj->nr_sections;

	if (section_symbols_plan(&b->symbols, obj, b->list) != 0 || find_groups(b) != 0)
		return -1;
	b->nr_sections = nr;
	b->sections = calloc(nr + 2 * count_code_sections(b->list), sizeof(*b->sections));
	if (!b->sections)
		return object_error(obj, "out of memory");
	memcpy(b->sections, obj->sections, nr * sizeof(*b->sections));
	image_append(b->image, obj->image, obj->image_bytes, 1);
	if (b->image->out_of_memory)
		return object_error(obj, "out of memory");
	if (section_symbols_insert(&b->symbols, obj, b->image, b->sections) != 0)
		return -1;
	add_tables(b, add_names(b));
	if (extend_groups(b) != 0)
		return -1;
	add_headers(b);
	return b->image->out_of_memory ? object_error(obj, "out of memory") : 0;
}

int table_build(const struct object *obj, const struct site_list *list, struct image *out_image)
{
	struct build b = { .obj = obj, .list = list, .image = out_image };
	int err;

	memset(out_image, 0, sizeof(*out_image));
	err = build_all(&b);
	if (err)
		image_free(out_image);
	section_symbols_free(&b.symbols);
	free(b.sections);
	free(b.group_of);
	return err;
}

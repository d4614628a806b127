/* Finds the .eh_frame tables of a program's files: see unwind.h. */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "../elf.h"
#include "../mm.h"
#include "unwind_priv.h"

/* A mapping of code while its file is looked at. */
struct unwind_code {
	uint64_t start, end, offset;
	struct file *file;
};

struct unwind_search {
	uint32_t changes;
	uint32_t nr;
	struct unwind_code code[UNWIND_FILES];
	struct unwind_file found[UNWIND_FILES];
	struct elf_file elf;
};

/* The file's mappings of code; files are held, because they are read without the lock. */
static void unwind_collect(struct mm *mm, struct unwind_search *search)
{
	struct list *pos;

	mutex_lock(&mm->lock);
	search->changes = atomic_load(&mm->unwind.changes);
	list_for_each(pos, &mm->vmas) {
		const struct vma *vma = list_entry(pos, struct vma, link);

		if (!vma->file || !(vma->flags & VM_EXEC) || search->nr == UNWIND_FILES)
			continue;
		get_file(vma->file);
		search->code[search->nr++] = (struct unwind_code){
			.start = vma->start,
			.end = vma->end,
			.offset = vma->offset,
			.file = vma->file,
		};
	}
	mutex_unlock(&mm->lock);
}

/* The difference between addresses in memory and in the file. False: the file has no such part. */
static bool unwind_bias(const struct elf_file *elf, const struct unwind_code *code,
			uint64_t *out_bias)
{
	for (uint16_t i = 0; i < elf->header.phnum; i++) {
		const struct elf_phdr *ph = &elf->phdrs[i];

		if (ph->type == PT_LOAD && code->offset >= ALIGN_DOWN(ph->offset, PAGE_SIZE) &&
		    code->offset < ph->offset + ph->filesz) {
			*out_bias = code->start - (ph->vaddr + code->offset - ph->offset);
			return true;
		}
	}
	return false;
}

/* A static program has .eh_frame alone, and the entries in it are found one after the other. */
static bool unwind_find_section(struct elf_file *elf, uint64_t bias, struct cfi_table *out)
{
	struct elf_section section;

	if (!elf_find_section(elf, ".eh_frame", &section))
		return false;
	*out = (struct cfi_table){ .start = bias + section.addr, .bytes = section.size };
	return true;
}

static bool unwind_find_header(const struct elf_file *elf, uint64_t bias, struct cfi_table *out)
{
	for (uint16_t i = 0; i < elf->header.phnum; i++) {
		const struct elf_phdr *ph = &elf->phdrs[i];

		if (ph->type == PT_GNU_EH_FRAME) {
			*out = (struct cfi_table){ .start = bias + ph->vaddr, .bytes = ph->memsz };
			return true;
		}
	}
	return false;
}

/* True: it is a section that needs an index. */
static bool unwind_find_table(struct unwind_search *search, uint32_t i)
{
	const struct unwind_code *code = &search->code[i];
	struct elf_file *elf = &search->elf;
	struct unwind_file *out = &search->found[i];
	uint64_t bias;

	*out = (struct unwind_file){ .start = code->start, .end = code->end };
	elf->file = code->file;
	if (elf_read_headers(elf) || !unwind_bias(elf, code, &bias) ||
	    unwind_find_header(elf, bias, &out->table) || search->nr > 1)
		return false;
	return unwind_find_section(elf, bias, &out->table);
}

/* The map of the program; NULL without memory. It stays. */
static struct unwind_map *unwind_get_map(struct mm *mm)
{
	struct unwind_map *map;

	mutex_lock(&mm->lock);
	map = atomic_load(&mm->unwind.map);
	if (!map) {
		map = kzalloc(sizeof(*map));
		atomic_store(&mm->unwind.map, map);
	}
	mutex_unlock(&mm->lock);
	return map;
}

/* Entries of a static program, once: probes may read them at any time afterwards. */
static void unwind_make_index(struct mm *mm, struct unwind_map *map, struct cfi_table *section)
{
	struct cfi_pair *pairs = map->index ? NULL : kmalloc(UNWIND_INDEX * sizeof(*pairs)), *exact;
	uint32_t nr = pairs ? cfi_index(section, pairs, UNWIND_INDEX) : 0;

	exact = nr ? kmalloc(nr * sizeof(*pairs)) : NULL;
	if (exact)
		memcpy(exact, pairs, nr * sizeof(*pairs));
	kfree(pairs);
	mutex_lock(&mm->lock);
	if (!map->index) {
		map->index = exact;
		map->nr_index = exact ? nr : 0;
		exact = NULL;
	}
	mutex_unlock(&mm->lock);
	kfree(exact);
	section->index = map->index;
	section->nr = map->nr_index;
}

/* The map gets what was found, and its old rules are none any more. */
static void unwind_publish(struct mm *mm, struct unwind_map *map,
			   const struct unwind_search *search, bool has_tables)
{
	mutex_lock(&mm->lock);
	atomic_fetch_add(&map->seq, 1);
	atomic_thread_fence(memory_order_seq_cst);
	map->nr = search->nr;
	memcpy(map->files, search->found, sizeof(map->files));
	atomic_fetch_add(&map->seq, 1);
	atomic_store(&mm->unwind.has_tables, has_tables);
	atomic_store(&mm->unwind.known, search->changes);
	atomic_store(&mm->unwind.has_pointers,
		     !has_tables && search->changes == atomic_load(&mm->unwind.changes));
	mutex_unlock(&mm->lock);
}

/* Look at the files that were collected, and let them go. Is there a table that is needed? */
static bool unwind_look_at_files(struct mm *mm, struct unwind_map *map,
				 struct unwind_search *search)
{
	bool has_tables = false;

	for (uint32_t i = 0; i < search->nr; i++) {
		struct cfi_table *table = &search->found[i].table;

		bool is_section = unwind_find_table(search, i);

		fput(search->code[i].file);
		if (is_section)
			unwind_make_index(mm, map, table);
		has_tables |= table->bytes && !cfi_has_pointers(table);
	}
	return has_tables;
}

void unwind_look(struct mm *mm)
{
	struct unwind_search *search = kzalloc(sizeof(*search));
	struct unwind_map *map = search ? unwind_get_map(mm) : NULL;

	if (map) {
		unwind_collect(mm, search);
		unwind_publish(mm, map, search, unwind_look_at_files(mm, map, search));
	}
	kfree(search);
}

void unwind_copy(struct unwind_mm *to, struct unwind_mm *from)
{
	const struct unwind_map *map = atomic_load(&from->map);
	struct unwind_map *copy = NULL;

	if (atomic_load(&from->known) != atomic_load(&from->changes) || (map && map->index))
		return;
	if (map) {
		copy = kmalloc(sizeof(*copy));
		if (!copy)
			return;
		memcpy(copy, map, sizeof(*copy));
	}
	atomic_store(&to->map, copy);
	atomic_store(&to->has_tables, atomic_load(&from->has_tables));
	atomic_store(&to->has_pointers, !atomic_load(&to->has_tables));
	atomic_store(&to->known, atomic_load(&to->changes));
}

void unwind_free(struct unwind_mm *unwind)
{
	struct unwind_map *map = atomic_load(&unwind->map);

	if (map)
		kfree(map->index);
	kfree(map);
}

/*
 * The ELF loader: programs that are linked for one address, and position independent ones without an
 * interpreter (static-pie). Each PT_LOAD becomes a range that is backed by the file, and one of zeros
 * behind it if it is longer in memory. Nothing of a damaged file is believed: every number is checked
 * before it is used.
 */
#include <kernel/string.h>
#include "elf.h"
#include "process.h"

struct elf_file {
	struct file *file;
	struct elf_header header;
	struct elf_phdr phdrs[ELF_MAX_PHNUM];
};

static int elf_read(struct file *file, void *to, size_t bytes, uint64_t pos)
{
	ssize_t got = file_read_at(file, to, bytes, pos);

	if (got < 0)
		return (int)got;
	return (size_t)got == bytes ? 0 : -ENOEXEC;
}

static bool elf_is_program(const struct elf_header *h)
{
	return memcmp(h->magic, "\177ELF", sizeof(h->magic)) == 0 && h->class == ELF_CLASS_64 &&
	       h->data == ELF_LITTLE && h->machine == ELF_X86_64 &&
	       (h->type == ELF_EXEC || h->type == ELF_DYN) && h->phentsize == ELF_PH_BYTES &&
	       h->phnum > 0 && h->phnum <= ELF_MAX_PHNUM && h->phoff <= INT64_MAX;
}

static int elf_read_headers(struct elf_file *elf)
{
	struct elf_header *h = &elf->header;
	int err = elf_read(elf->file, h, sizeof(*h), 0);

	if (!err && !elf_is_program(h))
		err = -ENOEXEC;
	return err ? err
		   : elf_read(elf->file, elf->phdrs, h->phnum * sizeof(elf->phdrs[0]), h->phoff);
}

/* Can this part be mapped at `bias`, behind the address `*end`, where the part before it ends? */
static bool elf_part_fits(const struct elf_phdr *ph, uintptr_t bias, uintptr_t *end)
{
	uintptr_t start = bias + ph->vaddr;

	if (ph->filesz > ph->memsz || ph->vaddr % PAGE_SIZE != ph->offset % PAGE_SIZE ||
	    ph->offset > INT64_MAX || ph->filesz > INT64_MAX)
		return false;
	if (ph->vaddr >= TASK_SIZE_MAX || ph->memsz > TASK_SIZE_MAX ||
	    start > STACK_TOP - STACK_BYTES_MAX || ph->memsz > STACK_TOP - STACK_BYTES_MAX - start)
		return false;
	if (ALIGN_DOWN(start, PAGE_SIZE) < *end || start < MM_LOWEST)
		return false;
	*end = ALIGN_UP(start + ph->memsz, PAGE_SIZE);
	return true;
}

static int elf_check_parts(const struct elf_file *elf, uintptr_t bias)
{
	uintptr_t end = 0;

	for (uint16_t i = 0; i < elf->header.phnum; i++) {
		const struct elf_phdr *ph = &elf->phdrs[i];

		if (ph->type == PT_INTERP) {
			pr_info("exec: a program that needs an interpreter does not run here\n");
			return -ENOEXEC;
		}
		if (ph->type == PT_LOAD && ph->memsz && !elf_part_fits(ph, bias, &end))
			return -ENOEXEC;
	}
	return end ? 0 : -ENOEXEC;
}

static uint32_t elf_vm_flags(uint32_t flags)
{
	return (flags & PF_R ? VM_READ : 0) | (flags & PF_W ? VM_WRITE : 0) |
	       (flags & PF_X ? VM_EXEC : 0);
}

/* The bytes behind the part's contents, up to the end of their last page, are zeros. */
static int elf_clear_tail(struct mm *mm, uintptr_t from, uint32_t flags)
{
	size_t bytes = ALIGN_UP(from, PAGE_SIZE) - from;

	return bytes && flags & VM_WRITE ? mm_write(mm, from, NULL, bytes) : 0;
}

static int elf_map_part(struct mm *mm, struct file *file, const struct elf_phdr *ph, uintptr_t bias)
{
	uintptr_t start = bias + ph->vaddr, file_end = start + ph->filesz;
	uintptr_t zeros = ALIGN_UP(file_end, PAGE_SIZE);
	uintptr_t end = ALIGN_UP(start + ph->memsz, PAGE_SIZE);
	struct vma range = { .start = ALIGN_DOWN(start, PAGE_SIZE), .end = zeros, .file = file };
	int err = 0;

	range.offset = ALIGN_DOWN(ph->offset, PAGE_SIZE);
	range.flags = elf_vm_flags(ph->flags);
	if (!ph->filesz)
		zeros = range.start;
	else
		err = vma_add(mm, &range);
	range = (struct vma){ .start = zeros, .end = end, .flags = range.flags };
	if (!err && end > zeros)
		err = vma_add(mm, &range);
	return err;
}

static int elf_map(struct mm *mm, const struct elf_file *elf, uintptr_t bias, uintptr_t *out_end)
{
	int err = 0;

	for (uint16_t i = 0; i < elf->header.phnum && !err; i++) {
		const struct elf_phdr *ph = &elf->phdrs[i];

		if (ph->type != PT_LOAD || !ph->memsz)
			continue;
		mutex_lock(&mm->lock);
		err = elf_map_part(mm, elf->file, ph, bias);
		mutex_unlock(&mm->lock);
		if (!err && ph->filesz && ph->memsz > ph->filesz)
			err = elf_clear_tail(mm, bias + ph->vaddr + ph->filesz,
					     elf_vm_flags(ph->flags));
		*out_end = bias + ph->vaddr + ph->memsz;
	}
	return err;
}

/* Where programs find their own program headers: in the part that has those bytes of the file. */
static uintptr_t elf_phdr_address(const struct elf_file *elf, uintptr_t bias)
{
	for (uint16_t i = 0; i < elf->header.phnum; i++) {
		const struct elf_phdr *ph = &elf->phdrs[i];

		if (ph->type == PT_LOAD && elf->header.phoff >= ph->offset &&
		    elf->header.phoff - ph->offset < ph->filesz)
			return bias + ph->vaddr + (elf->header.phoff - ph->offset);
	}
	return 0;
}

static int elf_load(struct mm *mm, struct elf_file *elf, struct elf_image *out_image)
{
	uintptr_t bias;
	int err = elf_read_headers(elf);

	if (err)
		return err;
	bias = elf->header.type == ELF_DYN ? MM_PIE_BASE : 0;
	err = elf_check_parts(elf, bias);
	if (!err && elf->header.entry >= TASK_SIZE_MAX - bias)
		err = -ENOEXEC;
	if (!err)
		err = elf_map(mm, elf, bias, &out_image->end);
	out_image->entry = bias + elf->header.entry;
	out_image->phdr = elf_phdr_address(elf, bias);
	out_image->phnum = elf->header.phnum;
	return err;
}

int load_elf_binary(struct mm *mm, struct file *file, struct elf_image *out_image)
{
	struct elf_file *elf;
	int err;

	if (!file->ops->map_page)
		return -ENOEXEC;
	elf = kmalloc(sizeof(*elf));
	if (!elf)
		return -ENOMEM;
	elf->file = file;
	err = elf_load(mm, elf, out_image);
	kfree(elf);
	return err == -EFAULT ? -ENOEXEC : err;
}

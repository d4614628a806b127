/*
 * The ELF loader: programs that are linked for one address, and position independent ones. Each PT_LOAD
 * becomes a range that is backed by the file, and one of zeros behind it if it is longer in memory.
 * Nothing of a damaged file is believed: every number is checked before it is used.
 *
 * A dynamic program names its interpreter, ld.so, in PT_INTERP. That is mapped too, at a free place, and
 * begins instead of the program, which it finds by AT_PHDR and AT_ENTRY.
 */
#include <kernel/string.h>
#include "elf.h"
#include "exec.h"
#include "process.h"

int elf_read(struct file *file, void *to, size_t bytes, uint64_t pos)
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

int elf_read_headers(struct elf_file *elf)
{
	struct elf_header *h = &elf->header;
	int err = elf_read(elf->file, h, sizeof(*h), 0);

	if (!err && !elf_is_program(h))
		err = -ENOEXEC;
	return err ? err
		   : elf_read(elf->file, elf->phdrs, h->phnum * sizeof(elf->phdrs[0]), h->phoff);
}

/* Can this part be mapped at `bias`, behind the address `*end`, where the part before it ends? */
static bool elf_part_fits(const struct mm *mm, const struct elf_phdr *ph, uintptr_t bias,
			  uintptr_t *end)
{
	uintptr_t start = bias + ph->vaddr, high = mm->stack_top - STACK_BYTES_MAX;

	if (ph->filesz > ph->memsz || ph->vaddr % PAGE_SIZE != ph->offset % PAGE_SIZE ||
	    ph->offset > INT64_MAX || ph->filesz > INT64_MAX)
		return false;
	if (ph->vaddr >= TASK_SIZE_MAX || ph->memsz > TASK_SIZE_MAX || start > high ||
	    ph->memsz > high - start)
		return false;
	if (ALIGN_DOWN(start, PAGE_SIZE) < *end || start < MM_LOWEST)
		return false;
	*end = ALIGN_UP(start + ph->memsz, PAGE_SIZE);
	return true;
}

static int elf_check_parts(const struct mm *mm, const struct elf_file *elf, uintptr_t bias)
{
	uintptr_t end = 0;

	if (elf->header.entry >= TASK_SIZE_MAX - bias)
		return -ENOEXEC;
	for (uint16_t i = 0; i < elf->header.phnum; i++) {
		const struct elf_phdr *ph = &elf->phdrs[i];

		if (ph->type == PT_LOAD && (ph->memsz || ph->filesz) &&
		    !elf_part_fits(mm, ph, bias, &end))
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

static const struct elf_phdr *elf_find(const struct elf_file *elf, uint32_t type)
{
	for (uint16_t i = 0; i < elf->header.phnum; i++) {
		if (elf->phdrs[i].type == type)
			return &elf->phdrs[i];
	}
	return NULL;
}

/* The difference between addresses in the file and in memory. */
static uintptr_t elf_program_bias(const struct mm *mm, const struct elf_file *elf)
{
	return elf->header.type == ELF_DYN ? aslr_program_bias(mm) : 0;
}

/* The same for an interpreter, which gets a free place for all of its parts. -ENOEXEC, -ENOMEM. */
static int elf_interpreter_bias(struct mm *mm, const struct elf_file *elf, uintptr_t *out_bias)
{
	uintptr_t low = TASK_SIZE_MAX, high = 0;

	for (uint16_t i = 0; i < elf->header.phnum; i++) {
		const struct elf_phdr *ph = &elf->phdrs[i];

		if (ph->type != PT_LOAD || !ph->memsz)
			continue;
		if (ph->vaddr >= TASK_SIZE_MAX || ph->memsz > TASK_SIZE_MAX - ph->vaddr)
			return -ENOEXEC;
		low = ph->vaddr < low ? ALIGN_DOWN(ph->vaddr, PAGE_SIZE) : low;
		high = ph->vaddr + ph->memsz > high ? ph->vaddr + ph->memsz : high;
	}
	if (elf->header.type != ELF_DYN || high <= low)
		return -ENOEXEC;
	mutex_lock(&mm->lock);
	*out_bias = vma_find_free(mm, ALIGN_UP(high, PAGE_SIZE) - low);
	mutex_unlock(&mm->lock);
	*out_bias -= *out_bias ? low : 0;
	return *out_bias ? 0 : -ENOMEM;
}

/* The path in PT_INTERP, which ends with the only NUL in it. 0 or -ENOEXEC. */
static int elf_interpreter_path(const struct elf_file *elf, const struct elf_phdr *ph, char *out)
{
	int err = -ENOEXEC;

	if (ph->filesz >= 2 && ph->filesz <= VFS_PATH_MAX && ph->offset <= INT64_MAX)
		err = elf_read(elf->file, out, ph->filesz, ph->offset);
	return !err && memchr(out, '\0', ph->filesz) != out + ph->filesz - 1 ? -ENOEXEC : err;
}

static struct elf_file *elf_open(struct file *file, int *out_err)
{
	struct elf_file *elf = file->ops->map_page ? kmalloc(sizeof(*elf)) : NULL;

	*out_err = file->ops->map_page ? -ENOMEM : -ENOEXEC;
	if (!elf)
		return NULL;
	elf->file = file;
	*out_err = elf_read_headers(elf);
	if (!*out_err)
		return elf;
	kfree(elf);
	return NULL;
}

static int elf_map_interpreter(struct mm *mm, struct file *file, struct elf_image *image)
{
	uintptr_t end;
	int err;
	struct elf_file *elf = elf_open(file, &err);

	if (!elf)
		return err;
	err = elf_interpreter_bias(mm, elf, &image->base);
	if (!err)
		err = elf_check_parts(mm, elf, image->base);
	if (!err)
		err = elf_map(mm, elf, image->base, &end);
	image->start = image->base + elf->header.entry;
	kfree(elf);
	return err;
}

static int elf_load_interpreter(struct mm *mm, const char *path, struct elf_image *image)
{
	struct file *file;
	int err = open_exec(path, &file);

	if (err)
		return err;
	err = elf_map_interpreter(mm, file, image);
	fput(file);
	return err == -ENOEXEC ? -ELIBBAD : err;
}

/* Map the parts of the program itself. `interpreter` is empty afterwards if it needs none. */
static int elf_load(struct mm *mm, const struct elf_file *elf, char *interpreter,
		    struct elf_image *out_image)
{
	const struct elf_phdr *ph = elf_find(elf, PT_INTERP);
	uintptr_t bias = elf_program_bias(mm, elf);
	int err = elf_check_parts(mm, elf, bias);

	if (!err && ph)
		err = elf_interpreter_path(elf, ph, interpreter);
	if (!err)
		err = elf_map(mm, elf, bias, &out_image->end);
	out_image->start = out_image->entry = bias + elf->header.entry;
	out_image->bias = bias;
	out_image->phdr = elf_phdr_address(elf, bias);
	out_image->phnum = elf->header.phnum;
	return err;
}

int load_elf_binary(struct mm *mm, struct file *file, struct elf_image *out_image)
{
	char interpreter[VFS_PATH_MAX] = "";
	int err;
	struct elf_file *elf = elf_open(file, &err);

	if (!elf)
		return err;
	err = elf_load(mm, elf, interpreter, out_image);
	kfree(elf);
	if (!err && *interpreter)
		err = elf_load_interpreter(mm, interpreter, out_image);
	return err == -EFAULT ? -ENOEXEC : err;
}

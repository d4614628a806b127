/* See object.h. */
#include "object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int object_error(const struct object *obj, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "recordmcount: %s: ", obj->path);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return -1;
}

static int read_all(struct object *obj, int fd)
{
	size_t done = 0;

	while (done < obj->image_bytes) {
		ssize_t n = read(fd, obj->image + done, obj->image_bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return object_error(obj, "cannot read: %s", strerror(errno));
		if (n == 0)
			return object_error(obj, "shrank while it was read");
		done += (size_t)n;
	}
	return 0;
}

static int read_image(struct object *obj)
{
	struct stat st;
	int err = -1;
	int fd = open(obj->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return object_error(obj, "cannot open: %s", strerror(errno));
	if (fstat(fd, &st) != 0) {
		object_error(obj, "cannot stat: %s", strerror(errno));
		goto close_file;
	}
	if (!S_ISREG(st.st_mode)) {
		object_error(obj, "not a regular file");
		goto close_file;
	}
	obj->mode = st.st_mode & 07777;
	obj->image_bytes = (size_t)st.st_size;
	obj->image = malloc(obj->image_bytes + 1);
	if (!obj->image) {
		object_error(obj, "out of memory");
		goto close_file;
	}
	err = read_all(obj, fd);
close_file:
	close(fd);
	return err;
}

static int no_code(const struct object *obj)
{
	return object_error(obj, "no machine code yet: compile without -flto");
}

/* The file header, before libelf sees the file: libelf takes damaged tables for empty ones. */
static int check_header(const struct object *obj)
{
	Elf64_Ehdr eh;

	if (obj->image_bytes >= 4 && memcmp(obj->image, "BC\xc0\xde", 4) == 0) /* LLVM's bitcode */
		return no_code(obj);
	if (obj->image_bytes < EI_NIDENT || memcmp(obj->image, ELFMAG, SELFMAG) != 0)
		return object_error(obj, "not an ELF file");
	if (obj->image[EI_CLASS] != ELFCLASS64 || obj->image[EI_DATA] != ELFDATA2LSB)
		return object_error(obj, "not a 64-bit little-endian ELF file");
	if (obj->image_bytes < sizeof(eh))
		return object_error(obj, "truncated: the ELF header is incomplete");
	memcpy(&eh, obj->image, sizeof(eh));
	if (eh.e_version != EV_CURRENT || eh.e_ident[EI_VERSION] != EV_CURRENT)
		return object_error(obj, "unknown ELF version");
	if (eh.e_machine != EM_X86_64)
		return object_error(obj, "machine %u, not x86-64", eh.e_machine);
	if (eh.e_type != ET_REL)
		return object_error(obj, "not a relocatable object (type %u)", eh.e_type);
	if (eh.e_ehsize != sizeof(eh) || eh.e_phnum != 0)
		return object_error(obj, "damaged ELF header");
	if (eh.e_shoff < sizeof(eh) || eh.e_shentsize != sizeof(Elf64_Shdr))
		return object_error(obj, "no section headers, or of an unknown size");
	if (eh.e_shoff > obj->image_bytes || obj->image_bytes - eh.e_shoff < sizeof(Elf64_Shdr))
		return object_error(obj, "truncated: section headers lie behind the end");
	return 0;
}

/* Copy the section headers. Their number is in section 0 when it does not fit the file header. */
static int load_sections(struct object *obj)
{
	Elf64_Ehdr eh;
	Elf64_Shdr first;
	uint64_t nr;

	memcpy(&eh, obj->image, sizeof(eh));
	memcpy(&first, obj->image + eh.e_shoff, sizeof(first));
	nr = eh.e_shnum ? eh.e_shnum : first.sh_size;
	obj->names = eh.e_shstrndx == SHN_XINDEX ? first.sh_link : eh.e_shstrndx;
	if (nr == 0 || first.sh_type != SHT_NULL)
		return object_error(obj, "damaged section headers");
	if (nr > (obj->image_bytes - eh.e_shoff) / sizeof(Elf64_Shdr))
		return object_error(obj, "truncated: section headers lie behind the end");
	obj->nr_sections = nr;
	obj->sections = calloc(nr, sizeof(*obj->sections));
	if (!obj->sections)
		return object_error(obj, "out of memory");
	memcpy(obj->sections, obj->image + eh.e_shoff, nr * sizeof(*obj->sections));
	if (obj->names == 0 || obj->names >= nr || obj->sections[obj->names].sh_type != SHT_STRTAB)
		return object_error(obj, "no section name table");
	return 0;
}

static int check_bounds(const struct object *obj, size_t section)
{
	const Elf64_Shdr *sh = &obj->sections[section];

	if (sh->sh_type == SHT_NULL || sh->sh_type == SHT_NOBITS)
		return 0;
	if (sh->sh_offset > obj->image_bytes || sh->sh_size > obj->image_bytes - sh->sh_offset)
		return object_error(obj, "truncated: section %zu lies behind the end", section);
	return 0;
}

/* Check what can be checked without looking into the section. 0, or -1 after a message. */
static int check_section(struct object *obj, size_t section)
{
	const Elf64_Shdr *sh = &obj->sections[section];

	if (check_bounds(obj, section) != 0)
		return -1;
	if (sh->sh_type == SHT_SYMTAB) {
		if (obj->symtab)
			return object_error(obj, "two symbol tables");
		if (sh->sh_entsize != sizeof(Elf64_Sym) || sh->sh_size % sizeof(Elf64_Sym) ||
		    sh->sh_size == 0)
			return object_error(obj, "symbol table of an unknown format");
		if (sh->sh_link >= obj->nr_sections ||
		    obj->sections[sh->sh_link].sh_type != SHT_STRTAB)
			return object_error(obj, "symbol table without names");
		obj->symtab = section;
	}
	if (sh->sh_type == SHT_SYMTAB_SHNDX)
		obj->xindex = section;
	return 0;
}

static int load_symbols(struct object *obj)
{
	const Elf64_Shdr *sh = &obj->sections[obj->symtab];
	const Elf_Data *data;

	if (!obj->symtab)
		return 0;
	data = object_data(obj, obj->symtab);
	if (!data)
		return -1;
	obj->syms = data->d_buf;
	obj->nr_syms = sh->sh_size / sizeof(Elf64_Sym);
	if (sh->sh_info > obj->nr_syms)
		return object_error(obj, "symbol table: %u local symbols of %zu", sh->sh_info,
				    obj->nr_syms);
	if (!obj->xindex)
		return 0;
	data = object_data(obj, obj->xindex);
	if (!data)
		return -1;
	if (obj->sections[obj->xindex].sh_link != obj->symtab ||
	    data->d_size != obj->nr_syms * sizeof(uint32_t))
		return object_error(obj, "section index table does not fit the symbol table");
	obj->xindexes = data->d_buf;
	return 0;
}

/* gcc's bytecode has no calls: the object would look as if it had no sites. */
static int check_code(const struct object *obj)
{
	for (size_t i = 1; i < obj->nr_syms; i++) {
		const char *name = object_symbol_name(obj, i);

		if (name && strcmp(name, "__gnu_lto_slim") == 0)
			return no_code(obj);
	}
	return 0;
}

int object_open(struct object *obj, const char *path)
{
	memset(obj, 0, sizeof(*obj));
	obj->path = path;
	if (read_image(obj) != 0 || check_header(obj) != 0 || load_sections(obj) != 0)
		goto close_object;
	for (size_t i = 1; i < obj->nr_sections; i++)
		if (check_section(obj, i) != 0)
			goto close_object;
	obj->elf = elf_memory((char *)obj->image, obj->image_bytes);
	if (!obj->elf || elf_kind(obj->elf) != ELF_K_ELF) {
		object_error(obj, "libelf: %s", elf_errmsg(-1));
		goto close_object;
	}
	if (load_symbols(obj) != 0 || check_code(obj) != 0)
		goto close_object;
	return 0;

close_object:
	object_close(obj);
	return -1;
}

void object_close(struct object *obj)
{
	if (obj->elf)
		elf_end(obj->elf);
	free(obj->sections);
	free(obj->image);
	memset(obj, 0, sizeof(*obj));
}

static const char *string_at(const struct object *obj, size_t table, size_t pos)
{
	const Elf64_Shdr *sh = &obj->sections[table];
	const char *text = (const char *)obj->image + sh->sh_offset;

	if (pos >= sh->sh_size || !memchr(text + pos, '\0', sh->sh_size - pos))
		return NULL;
	return text + pos;
}

const char *object_section_name(const struct object *obj, size_t section)
{
	return string_at(obj, obj->names, obj->sections[section].sh_name);
}

const char *object_symbol_name(const struct object *obj, size_t sym)
{
	return string_at(obj, obj->sections[obj->symtab].sh_link, obj->syms[sym].st_name);
}

const Elf_Data *object_data(const struct object *obj, size_t section)
{
	Elf_Scn *scn = elf_getscn(obj->elf, section);
	const Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	if (!data || data->d_size != obj->sections[section].sh_size || !data->d_buf) {
		object_error(obj, "section %zu cannot be read: %s", section, elf_errmsg(-1));
		return NULL;
	}
	return data;
}

size_t object_symbol_section(const struct object *obj, size_t sym)
{
	size_t section = obj->syms[sym].st_shndx;

	if (section == SHN_XINDEX && obj->xindexes)
		section = obj->xindexes[sym];
	else if (section >= SHN_LORESERVE)
		section = 0;
	return section < obj->nr_sections ? section : 0;
}

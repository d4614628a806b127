/* See blob.h. */
#include "blob.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linked.h"
#include "names.h"

uint32_t blob_append(struct blob *blob, const void *data, size_t size, size_t align)
{
	size_t pos = (blob->size + align - 1) & ~(align - 1);

	if (pos + size > blob->capacity) {
		blob->capacity = 2 * (pos + size);
		blob->bytes = xrealloc(blob->bytes, blob->capacity);
	}
	memset(blob->bytes + blob->size, 0, pos - blob->size);
	if (size)
		memcpy(blob->bytes + pos, data, size);
	blob->size = pos + size;
	return (uint32_t)pos;
}

void blob_free(struct blob *blob)
{
	free(blob->bytes);
	memset(blob, 0, sizeof(*blob));
}

enum {
	SECTION_DATA = 1,
	SECTION_NOTE,
	SECTION_SYMTAB,
	SECTION_STRTAB,
	NR_SECTIONS
};

static void make_headers(Elf64_Shdr *headers, size_t data_size, const char *section,
			 const char *symbol)
{
	/* strtab: "", section, ".note.GNU-stack", ".symtab", ".strtab", symbol */
	headers[SECTION_DATA] = (Elf64_Shdr){ .sh_name = 1,
					      .sh_type = SHT_PROGBITS,
					      .sh_flags = SHF_ALLOC,
					      .sh_size = data_size,
					      .sh_addralign = 8 };
	headers[SECTION_NOTE] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_addralign = 1 };
	headers[SECTION_NOTE].sh_name = (uint32_t)(1 + strlen(section) + 1);
	headers[SECTION_SYMTAB] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
						.sh_size = 2 * sizeof(Elf64_Sym),
						.sh_link = SECTION_STRTAB,
						.sh_info = 1,
						.sh_addralign = 8,
						.sh_entsize = sizeof(Elf64_Sym) };
	headers[SECTION_SYMTAB].sh_name =
		headers[SECTION_NOTE].sh_name + (uint32_t)sizeof(".note.GNU-stack");
	headers[SECTION_STRTAB] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_addralign = 1 };
	headers[SECTION_STRTAB].sh_name =
		headers[SECTION_SYMTAB].sh_name + (uint32_t)sizeof(".symtab");
	headers[SECTION_STRTAB].sh_size =
		headers[SECTION_STRTAB].sh_name + sizeof(".strtab") + strlen(symbol) + 1;
}

static void make_object(struct blob *out, const struct blob *data, const char *section,
			const char *symbol)
{
	Elf64_Shdr headers[NR_SECTIONS] = { 0 };
	Elf64_Sym syms[2] = { 0 };
	Elf64_Ehdr eh = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT },
			  .e_type = ET_REL,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = NR_SECTIONS,
			  .e_shstrndx = SECTION_STRTAB };

	make_headers(headers, data->size, section, symbol);
	syms[1].st_name = headers[SECTION_STRTAB].sh_name + (uint32_t)sizeof(".strtab");
	syms[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	syms[1].st_shndx = SECTION_DATA;
	syms[1].st_size = data->size;

	blob_append(out, &eh, sizeof(eh), 1);
	headers[SECTION_DATA].sh_offset = blob_append(out, data->bytes, data->size, 8);
	headers[SECTION_NOTE].sh_offset = out->size;
	headers[SECTION_SYMTAB].sh_offset = blob_append(out, syms, sizeof(syms), 8);
	headers[SECTION_STRTAB].sh_offset = blob_append(out, "", 1, 1);
	blob_append(out, section, strlen(section) + 1, 1);
	blob_append(out, ".note.GNU-stack", sizeof(".note.GNU-stack"), 1);
	blob_append(out, ".symtab", sizeof(".symtab"), 1);
	blob_append(out, ".strtab", sizeof(".strtab"), 1);
	blob_append(out, symbol, strlen(symbol) + 1, 1);
	eh.e_shoff = blob_append(out, headers, sizeof(headers), 8);
	memcpy(out->bytes, &eh, sizeof(eh));
}

int blob_write_object(const struct blob *blob, const char *path, const char *section,
		      const char *symbol)
{
	struct blob out = { 0 };
	FILE *file = fopen(path, "wb");
	int err = 0;

	if (!file) {
		fprintf(stderr, "%s: %s: cannot open: %s\n", tool_name, path, strerror(errno));
		return -1;
	}
	make_object(&out, blob, section, symbol);
	if (fwrite(out.bytes, 1, out.size, file) != out.size)
		err = -1;
	if (fclose(file) != 0)
		err = -1;
	if (err) {
		fprintf(stderr, "%s: %s: cannot write\n", tool_name, path);
		remove(path);
	}
	blob_free(&out);
	return err;
}

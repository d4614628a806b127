/* The ELF format, as far as programs for x86-64 need it. */
#ifndef KERNEL_PROCESS_ELF_H
#define KERNEL_PROCESS_ELF_H

#include <kernel/vfs.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_header {
	uint8_t magic[4];
	uint8_t class, data, version, abi, pad[8];
	uint16_t type, machine;
	uint32_t version2;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

#define ELF_CLASS_64  2
#define ELF_LITTLE    1
#define ELF_EXEC      2
#define ELF_DYN	      3
#define ELF_X86_64    62
#define ELF_PH_BYTES  56
#define ELF_MAX_PHNUM 64

struct elf_phdr {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

/* A file while its parts are looked at. */
struct elf_file {
	struct file *file;
	struct elf_header header;
	struct elf_phdr phdrs[ELF_MAX_PHNUM];
};

/* Read from a place in the file: 0, -errno of the read, or -ENOEXEC where the file ends before. */
int elf_read(struct file *file, void *to, size_t bytes, uint64_t pos);
/* Read and check the headers of `elf->file`: 0, -errno of a read, or -ENOEXEC. */
int elf_read_headers(struct elf_file *elf);

struct elf_section {
	uint32_t name, type;
	uint64_t flags, addr, offset, size;
	uint32_t link, info;
	uint64_t align, entry_bytes;
};

/* elf_symbols.c. A section by its name, of 15 characters at most. False: there is none. Thread context: reads the file. */
bool elf_find_section(const struct elf_file *elf, const char *name, struct elf_section *out);

/*
 * The function whose code lies at `pos` of the file, by its symbols: the name, cut to `size` bytes, and how
 * far from its start that is. The name is empty when the file has no such symbol, or is damaged. Thread
 * context: reads the file.
 */
uint64_t elf_find_function(struct file *file, uint64_t pos, char *name, size_t size);

#define PT_LOAD		1
#define PT_INTERP	3
#define PT_GNU_EH_FRAME 0x6474e550u
#define PF_X		1u
#define PF_W		2u
#define PF_R		4u

/* Types of auxiliary vector entries. */
#define AT_NULL	    0
#define AT_PHDR	    3
#define AT_PHENT    4
#define AT_PHNUM    5
#define AT_PAGESZ   6
#define AT_BASE	    7
#define AT_FLAGS    8
#define AT_ENTRY    9
#define AT_UID	    11
#define AT_EUID	    12
#define AT_GID	    13
#define AT_EGID	    14
#define AT_PLATFORM 15
#define AT_HWCAP    16
#define AT_CLKTCK   17
#define AT_SECURE   23
#define AT_RANDOM   25
#define AT_HWCAP2   26
#define AT_EXECFN   31

#endif

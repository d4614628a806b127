/*
 * The fake program's file as one in ELF: a section that is loaded, and symbols that tests of probes in programs
 * look for. To be included by one test file, after fake/fake.h.
 */
#ifndef PROGRAM_ELF_H
#define PROGRAM_ELF_H

#include <elf.h>
#include <string.h>

#define PROGRAM_SYMBOLS_AT 0x300u
#define PROGRAM_NAMES_AT   0x400u

/* A file in ELF, which has a function at 0x401010 and a name that two have. */
HELPER void program_elf_make(void)
{
	static const char names[] = "\0main\0twice\0outside\0far";
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			      .e_phoff = 0x100,
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1,
			      .e_shoff = 0x200,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 2 };
	Elf64_Phdr text = {
		.p_type = PT_LOAD, .p_offset = 0x1000, .p_vaddr = 0x401000, .p_filesz = 0x1000
	};
	Elf64_Shdr sections[2] = {
		{ .sh_type = SHT_SYMTAB,
		  .sh_offset = PROGRAM_SYMBOLS_AT,
		  .sh_size = 6 * sizeof(Elf64_Sym),
		  .sh_link = 1,
		  .sh_entsize = sizeof(Elf64_Sym) },
		{ .sh_type = SHT_STRTAB, .sh_offset = PROGRAM_NAMES_AT, .sh_size = sizeof(names) }
	};
	Elf64_Sym symbols[6] = {
		{ .st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x401010 },
		{ .st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x401010 },
		{ .st_name = 6, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x401020 },
		{ .st_name = 6, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x401030 },
		{ .st_name = 12, .st_info = STT_FUNC, .st_shndx = 0, .st_value = 0x401040 },
		{ .st_name = 20, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x701040 },
	};

	memcpy(fake_program_file, &header, sizeof(header));
	memcpy(fake_program_file + 0x100, &text, sizeof(text));
	memcpy(fake_program_file + 0x200, sections, sizeof(sections));
	memcpy(fake_program_file + PROGRAM_SYMBOLS_AT, symbols, sizeof(symbols));
	memcpy(fake_program_file + PROGRAM_NAMES_AT, names, sizeof(names));
}

#endif

/* The names of functions, from the program's own file: see <trace/defaults.h>. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace/defaults.h>
#include <trace/ftrace.h>
#include <unistd.h>
#include "cpu.h"
#include "process.h"

static const struct trace_symbol *table;
static size_t nr_symbols;

/* The file stays mapped, because the names are in it. */
static const Elf64_Ehdr *map_program(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const void *file;
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat))
		die("cannot read the program's file");
	file = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		die("cannot map the program's file");
	return file;
}

static const Elf64_Shdr *find_section(const Elf64_Ehdr *file, uint32_t type)
{
	const Elf64_Shdr *section = (const void *)((const char *)file + file->e_shoff);

	for (uint32_t i = 0; i < file->e_shnum; i++, section++) {
		if (section->sh_type == type)
			return section;
	}
	die("the program has no symbols");
}

static int compare(const void *a, const void *b)
{
	uintptr_t left = ((const struct trace_symbol *)a)->addr;
	uintptr_t right = ((const struct trace_symbol *)b)->addr;

	return (left > right) - (left < right);
}

void symbols_init(void)
{
	const Elf64_Ehdr *file = map_program();
	const Elf64_Shdr *section = find_section(file, SHT_SYMTAB);
	const Elf64_Shdr *sections = (const void *)((const char *)file + file->e_shoff);
	const char *names = (const char *)file + sections[section->sh_link].sh_offset;
	const Elf64_Sym *symbol = (const void *)((const char *)file + section->sh_offset);
	size_t nr_all = section->sh_size / sizeof(*symbol), nr = 0;
	struct trace_symbol *symbols = calloc(nr_all, sizeof(*symbols));

	if (!symbols)
		die("no memory for symbols");
	for (; nr_all; nr_all--, symbol++) {
		const char *name = names + symbol->st_name;

		if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_value ||
		    strlen(name) >= TRACE_SYM_LEN)
			continue;
		symbols[nr++] = (struct trace_symbol){ .addr = symbol->st_value, .name = name };
	}
	qsort(symbols, nr, sizeof(*symbols), compare);
	table = symbols;
	nr_symbols = nr;
	trace_symbols_set(table, nr, process_text.end);
}

/*
 * Of several functions of a name the one that has a call site: the library has static functions
 * that are called as some of the program's.
 */
uintptr_t trace_plat_symbol_find(const char *name)
{
	uintptr_t found = 0;

	for (size_t i = 0; i < nr_symbols; i++) {
		if (strcmp(table[i].name, name))
			continue;
		if (ftrace_location(table[i].addr))
			return table[i].addr;
		if (!found)
			found = table[i].addr;
	}
	return found;
}

/*
 * compare random NUMBER [SEED]   NUMBER strings of random bytes, in each of several shapes
 * compare vectors [STEP]         each prefix VEX and EVEX, as far as it says which instruction it is, with
 *                                each opcode and forms of operands; only every STEPth of them
 * compare elf FILE...            the executable sections of each: from the start of every function on,
 *                                one instruction after the other
 *
 * Prints what differs, how many were compared, and how often what is allowed to differ did. Ends with
 * status 1 if anything differs that may not.
 */
#include "compare.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM	  15
#define MAX_SHOWN 20

static unsigned long nr_compared, nr_different;

static size_t compare_at(const uint8_t *text, size_t room, const char *where, uint64_t addr)
{
	size_t length;
	const char *what = compare_insn(text, room < ROOM ? room : ROOM, &length);

	nr_compared++;
	if (!what)
		return length;
	if (nr_different++ < MAX_SHOWN) {
		printf("%s+%#lx: %s:", where, (unsigned long)addr, what);
		for (size_t i = 0; i < ROOM && i < room; i++)
			printf(" %02x", text[i]);
		printf("\n");
	}
	return length;
}

/* ---- Random bytes ---- */

static uint64_t random_state;

/* xorshift64: the same strings for the same seed, everywhere. */
static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint8_t random_of(const uint8_t *set, size_t nr)
{
	return set[random_next() % nr];
}

/* Up to three prefixes, and then one of the maps behind 0F. */
static void shape_legacy(uint8_t *bytes)
{
	static const uint8_t prefixes[] = { 0x66, 0xf3, 0xf2, 0x48, 0x41, 0xf0, 0x67, 0x64 };
	static const uint8_t maps[] = { 0x38, 0x3a };
	size_t at = random_next() % 4;

	for (size_t i = 0; i < at; i++)
		bytes[i] = random_of(prefixes, sizeof(prefixes));
	bytes[at++] = 0x0f;
	if (random_next() % 2)
		bytes[at] = random_of(maps, sizeof(maps));
}

/* VEX, XOP, or EVEX with its fixed bits right. */
static void shape_vector(uint8_t *bytes)
{
	static const uint8_t first[] = { 0xc4, 0xc5, 0x62, 0x62, 0x8f };

	bytes[0] = random_of(first, sizeof(first));
	if (bytes[0] == 0x62) {
		bytes[1] &= 0xf7;
		bytes[2] |= 4;
	}
}

static void shape_none(uint8_t *bytes)
{
	(void)bytes;
}

static void compare_random(unsigned long nr, uint64_t seed)
{
	static void (*const shapes[])(uint8_t *) = { shape_none, shape_legacy, shape_vector };

	random_state = seed;
	for (unsigned long i = 0; i < nr; i++) {
		uint64_t words[2] = { random_next(), random_next() };
		uint8_t bytes[sizeof(words)];

		memcpy(bytes, words, sizeof(bytes));
		shapes[i % 3](bytes);
		compare_at(bytes, ROOM, "random", i);
	}
}

/* ---- Vectors ---- */

/* Behind the opcode: a register, memory at an address or with an index; and what follows. */
static const uint8_t operands[][10] = {
	{ 0xc1, 0x11 },
	{ 0x00, 0x11 },
	{ 0x04, 0x88, 0x11 },
};

static unsigned long vectors_left, vectors_step; /* until the next one that is compared */

static void compare_operands(uint8_t *bytes, size_t at)
{
	for (unsigned int i = 0; i < 8 * 3; i++) {
		if (--vectors_left)
			continue;
		vectors_left = vectors_step;
		memcpy(bytes + at, operands[i % 3], sizeof(operands[0]));
		bytes[at] |= (uint8_t)(i / 3 << 3);
		compare_at(bytes, ROOM, "vectors", nr_compared);
	}
}

static void compare_opcodes(uint8_t *bytes, size_t at)
{
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		bytes[at] = (uint8_t)opcode;
		compare_operands(bytes, at + 1);
	}
}

/* `what`: map, W, pp, L, whether vvvv names a register; of EVEX also z, b, whether there is a mask. */
static void compare_evex(unsigned int what)
{
	uint8_t bytes[ROOM + 1] = { 0x62 };

	bytes[1] = (uint8_t)(0xf0 | (what & 7));
	bytes[2] =
		(uint8_t)((what >> 3 & 1) << 7 | (what >> 8 & 1 ? 0x14 : 0x7c) | (what >> 4 & 3));
	bytes[3] = (uint8_t)((what >> 9 & 1) << 7 | (what >> 6 & 3) << 5 | (what >> 10 & 1) << 4 |
			     8 | (what >> 11 & 1));
	compare_opcodes(bytes, 4);
}

static void compare_vex(unsigned int what)
{
	uint8_t bytes[ROOM + 1] = { 0xc4 };

	bytes[1] = (uint8_t)(0xe0 | (what & 31));
	bytes[2] = (uint8_t)((what >> 5 & 1) << 7 | (what >> 8 & 1 ? 0x10 : 0x78) |
			     (what >> 9 & 1) << 2 | (what >> 6 & 3));
	compare_opcodes(bytes, 3);
}

static void compare_vectors(unsigned long step)
{
	vectors_left = vectors_step = step;
	for (unsigned int what = 0; what < 1u << 12; what++)
		compare_evex(what);
	for (unsigned int what = 0; what < 1u << 10; what++)
		compare_vex(what);
}

/* ---- ELF ---- */

struct image {
	const char *name;
	const uint8_t *bytes;
	size_t size;
};

static const Elf64_Shdr *section_of(const struct image *image, size_t index)
{
	const Elf64_Ehdr *elf = (const void *)image->bytes;

	return (const void *)(image->bytes + elf->e_shoff + index * elf->e_shentsize);
}

/* Note where functions of section `index` begin, in `starts`, a byte for each of its own. */
static void mark_functions(const struct image *image, size_t index, uint8_t *starts)
{
	const Elf64_Ehdr *elf = (const void *)image->bytes;
	const Elf64_Shdr *text = section_of(image, index);

	for (size_t i = 0; i < elf->e_shnum; i++) {
		const Elf64_Shdr *table = section_of(image, i);
		const Elf64_Sym *symbols = (const void *)(image->bytes + table->sh_offset);

		if (table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM)
			continue;
		for (size_t nr = 0; nr < table->sh_size / sizeof(*symbols); nr++) {
			uint64_t at = symbols[nr].st_value;

			if (elf->e_type != ET_REL)
				at -= text->sh_addr;
			if (ELF64_ST_TYPE(symbols[nr].st_info) == STT_FUNC &&
			    symbols[nr].st_shndx == index && at < text->sh_size)
				starts[at] = 1;
		}
	}
}

static void compare_section(const struct image *image, size_t index)
{
	const Elf64_Shdr *text = section_of(image, index);
	const uint8_t *bytes = image->bytes + text->sh_offset;
	uint8_t *starts = calloc(1, text->sh_size + ROOM);
	uint64_t at = 0;

	if (!starts)
		abort();
	mark_functions(image, index, starts);
	while (at < text->sh_size) {
		size_t length = compare_at(bytes + at, text->sh_size - at, image->name, at);

		for (at++; --length && at < text->sh_size && !starts[at];)
			at++;
	}
	free(starts);
}

static int compare_elf(const char *name)
{
	struct image image = { .name = name };
	const Elf64_Ehdr *elf;
	struct stat stat;
	int fd = open(name, O_RDONLY);

	if (fd < 0 || fstat(fd, &stat) || (size_t)stat.st_size < sizeof(*elf)) {
		fprintf(stderr, "%s: cannot be read\n", name);
		return -1;
	}
	image.size = (size_t)stat.st_size;
	image.bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	elf = (const void *)image.bytes;
	if (image.bytes == MAP_FAILED || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf->e_machine != EM_X86_64) {
		fprintf(stderr, "%s: no ELF file of this machine\n", name);
		return -1;
	}
	for (size_t i = 0; i < elf->e_shnum; i++) {
		const Elf64_Shdr *section = section_of(&image, i);

		if (section->sh_type == SHT_PROGBITS && section->sh_flags & SHF_EXECINSTR)
			compare_section(&image, i);
	}
	munmap((void *)image.bytes, image.size);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "random") == 0) {
		compare_random(strtoul(argv[2], NULL, 0),
			       argc > 3 ? strtoull(argv[3], NULL, 0) : 88172645463325252);
	} else if (argc >= 2 && strcmp(argv[1], "vectors") == 0) {
		compare_vectors(argc > 2 ? strtoul(argv[2], NULL, 0) : 1);
	} else if (argc >= 3 && strcmp(argv[1], "elf") == 0) {
		for (int i = 2; i < argc; i++) {
			if (compare_elf(argv[i]))
				return 2;
		}
	} else {
		fprintf(stderr,
			"usage: compare random NUMBER [SEED] | vectors [STEP] | elf FILE...\n");
		return 2;
	}
	compare_print_allowed();
	printf("%lu compared, %lu different\n", nr_compared, nr_different);
	return nr_different != 0;
}

/*
 * sites [--notrace START END]... KERNEL - check the call sites of a linked kernel, sort their
 * table.
 *
 * The table between __start_mcount_loc and __stop_mcount_loc and the machine code must agree one to
 * one: every entry points at a 5-byte call to __fentry__ that starts a function (endbr64 may stand
 * in front) or to mcount near the start of one, no two are alike, and every such call has its
 * entry. No entry may lie between two symbols START and END given by --notrace.
 *
 * A call in code that belongs to no symbol is dead code: a weak function that another object
 * overrides. Its entry becomes 0, and sorts to the front; the kernel skips those.
 *
 * Static branches, entries of three words between static_branches_start and static_branches_end:
 * each names a 5-byte NOP, code to jump to within reach, and a key.
 *
 * Sorts the table inside the file. Exit status 1, with one line for each mistake and the file
 * unchanged, when something is wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "functions.h"
#include "linked.h"
#include "names.h"
#include "replace.h"

const char tool_name[] = "sites";

#define CALL_SIZE	 5
#define CALL_OPCODE	 0xe8
#define MCOUNT_MAX_DEPTH 64 /* bytes of frame set-up in front of a call to mcount */
#define MAX_RANGES	 16

#define BRANCH_WORDS 3

static const uint8_t NOP5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static const uint8_t ENDBR64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

struct range {
	const char *start_name, *end_name;
	uint64_t start, end;
};

struct check {
	struct linked image;
	struct functions functions;
	struct range ranges[MAX_RANGES];
	size_t nr_ranges;
	uint64_t fentry; /* 0: not in this kernel */
	uint64_t mcount;
	uint8_t *table;	   /* in the image; not aligned */
	uint64_t *entries; /* a copy, sorted */
	size_t nr;
	size_t nr_dead;
	size_t nr_mistakes;
};

/* Print a line: the address, the function around it, what is wrong. */
static void mistake(struct check *c, uint64_t addr, const char *what)
{
	const struct function *f = functions_around(&c->functions, addr);

	if (f)
		fprintf(stderr, "sites: 0x%" PRIx64 " %s+0x%" PRIx64 ": %s\n", addr, f->name,
			addr - f->addr, what);
	else
		fprintf(stderr, "sites: 0x%" PRIx64 ": %s\n", addr, what);
	c->nr_mistakes++;
}

/* Target of the call at `code`, which is loaded at `addr`; 0 when it is no call. */
static uint64_t call_target(const uint8_t *code, uint64_t addr)
{
	int32_t distance;

	if (code[0] != CALL_OPCODE)
		return 0;
	memcpy(&distance, code + 1, sizeof(distance));
	return addr + CALL_SIZE + (uint64_t)(int64_t)distance;
}

static bool is_tracer(const struct check *c, uint64_t target)
{
	return target != 0 && (target == c->fentry || target == c->mcount);
}

static bool is_function_start(const struct check *c, uint64_t addr)
{
	const uint8_t *before = linked_bytes_at(&c->image, addr - sizeof(ENDBR64), sizeof(ENDBR64));

	if (functions_has_start(&c->functions, addr))
		return true;
	return before && memcmp(before, ENDBR64, sizeof(ENDBR64)) == 0 &&
	       functions_has_start(&c->functions, addr - sizeof(ENDBR64));
}

static bool is_dead_code(const struct check *c, uint64_t addr)
{
	return !functions_around(&c->functions, addr) && !functions_has_start(&c->functions, addr);
}

static void check_entry(struct check *c, uint64_t *entry)
{
	const uint8_t *code = linked_bytes_at(&c->image, *entry, CALL_SIZE);
	const struct function *f = functions_around(&c->functions, *entry);
	uint64_t target = code ? call_target(code, *entry) : 0;

	for (size_t i = 0; i < c->nr_ranges; i++)
		if (*entry >= c->ranges[i].start && *entry < c->ranges[i].end)
			mistake(c, *entry, "site in code that must not have one");
	if (!is_tracer(c, target)) {
		mistake(c, *entry, "entry does not point at a call to __fentry__ or mcount");
	} else if (is_dead_code(c, *entry)) {
		*entry = 0;
		c->nr_dead++;
	} else if (target == c->fentry && !is_function_start(c, *entry)) {
		mistake(c, *entry, "call to __fentry__ that does not start a function");
	} else if (target == c->mcount && f && *entry - f->addr > MCOUNT_MAX_DEPTH) {
		mistake(c, *entry, "call to mcount far from the start of its function");
	}
}

static int compare_entries(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/*
 * Report calls in one code section that have no entry. Every byte is looked at as if it were the
 * start of an instruction.
 */
static void check_code(struct check *c, const Elf64_Shdr *sh)
{
	const uint8_t *code = c->image.bytes + sh->sh_offset;

	for (uint64_t i = 0; i + CALL_SIZE <= sh->sh_size; i++) {
		uint64_t addr = sh->sh_addr + i;

		if (code[i] == CALL_OPCODE && is_tracer(c, call_target(code + i, addr)) &&
		    !is_dead_code(c, addr) &&
		    !bsearch(&addr, c->entries, c->nr, sizeof(addr), compare_entries))
			mistake(c, addr, "call to __fentry__ or mcount without an entry");
	}
}

static void check_all(struct check *c)
{
	qsort(c->entries, c->nr, sizeof(*c->entries), compare_entries);
	for (size_t i = 1; i < c->nr; i++)
		if (c->entries[i] != 0 && c->entries[i] == c->entries[i - 1])
			mistake(c, c->entries[i], "two entries for one site");
	for (size_t i = 1; i < c->image.nr_sections; i++)
		if (linked_is_code(&c->image, i))
			check_code(c, &c->image.sections[i]);
	for (size_t i = 0; i < c->nr; i++)
		if (c->entries[i] != 0) /* 0: dead code, found by an earlier run */
			check_entry(c, &c->entries[i]);
	qsort(c->entries, c->nr, sizeof(*c->entries), compare_entries);
}

/* Does code of the kernel lie at `addr`? */
static bool is_code(const struct check *c, uint64_t addr)
{
	for (size_t i = 1; i < c->image.nr_sections; i++) {
		const Elf64_Shdr *sh = &c->image.sections[i];

		if (linked_is_code(&c->image, i) && addr >= sh->sh_addr &&
		    addr - sh->sh_addr < sh->sh_size)
			return true;
	}
	return false;
}

static void check_branch(struct check *c, const uint64_t words[BRANCH_WORDS])
{
	const uint8_t *code = linked_bytes_at(&c->image, words[0], sizeof(NOP5));
	int64_t distance = (int64_t)(words[1] - words[0] - sizeof(NOP5));

	if (!is_code(c, words[0]) || !code || memcmp(code, NOP5, sizeof(NOP5)) != 0)
		mistake(c, words[0], "static branch that is no NOP");
	else if (!is_code(c, words[1]) || distance != (int32_t)distance)
		mistake(c, words[0], "static branch to nowhere");
	else if (words[2] == 0)
		mistake(c, words[0], "static branch without a key");
}

static int check_branches(struct check *c)
{
	const Elf64_Sym *start = linked_find_symbol(&c->image, "static_branches_start");
	const Elf64_Sym *end = linked_find_symbol(&c->image, "static_branches_end");
	uint64_t words[BRANCH_WORDS], addr;

	if (!start || !end)
		return 0; /* this kernel has no static branches */
	if (end->st_value < start->st_value || (end->st_value - start->st_value) % sizeof(words))
		return linked_error(&c->image, "the table of static branches has an odd size");
	for (addr = start->st_value; addr < end->st_value; addr += sizeof(words)) {
		const uint8_t *entry = linked_bytes_at(&c->image, addr, sizeof(words));

		if (!entry)
			return linked_error(&c->image, "the static branches have no contents");
		memcpy(words, entry, sizeof(words));
		check_branch(c, words);
	}
	return 0;
}

static int find_table(struct check *c)
{
	const Elf64_Sym *start = linked_find_symbol(&c->image, "__start_mcount_loc");
	const Elf64_Sym *stop = linked_find_symbol(&c->image, "__stop_mcount_loc");
	uint64_t size;

	if (!start || !stop)
		return linked_error(&c->image, "no __start_mcount_loc, __stop_mcount_loc");
	size = stop->st_value - start->st_value;
	if (stop->st_value < start->st_value || size % sizeof(uint64_t) != 0)
		return linked_error(&c->image, "the site table has a size of 0x%" PRIx64, size);
	c->nr = size / sizeof(uint64_t);
	c->entries = xcalloc(c->nr, sizeof(*c->entries));
	if (c->nr == 0)
		return 0;
	c->table = linked_bytes_at(&c->image, start->st_value, size);
	if (!c->table)
		return linked_error(&c->image, "the site table has no contents");
	memcpy(c->entries, c->table, size);
	return 0;
}

static uint64_t value_of(const struct linked *image, const char *name)
{
	const Elf64_Sym *sym = linked_find_symbol(image, name);

	return sym ? sym->st_value : 0;
}

static int find_symbols(struct check *c)
{
	c->fentry = value_of(&c->image, "__fentry__");
	c->mcount = value_of(&c->image, "mcount");
	for (size_t i = 0; i < c->nr_ranges; i++) {
		struct range *r = &c->ranges[i];

		if (!linked_find_symbol(&c->image, r->start_name) ||
		    !linked_find_symbol(&c->image, r->end_name))
			return linked_error(&c->image, "no %s, %s", r->start_name, r->end_name);
		r->start = value_of(&c->image, r->start_name);
		r->end = value_of(&c->image, r->end_name);
		if (r->end < r->start)
			return linked_error(&c->image, "%s lies behind %s", r->start_name,
					    r->end_name);
	}
	return 0;
}

static int write_table(struct check *c)
{
	size_t size = c->nr * sizeof(*c->entries);
	struct stat st;
	int err;

	if (c->nr == 0 || memcmp(c->table, c->entries, size) == 0)
		return 0;
	memcpy(c->table, c->entries, size);
	if (stat(c->image.path, &st) != 0)
		return linked_error(&c->image, "cannot stat: %s", strerror(errno));
	err = replace_file(c->image.path, c->image.bytes, c->image.size, st.st_mode & 07777);
	return err ? linked_error(&c->image, "cannot write: %s", strerror(-err)) : 0;
}

static int run(struct check *c)
{
	if (find_symbols(c) != 0 || find_table(c) != 0)
		return -1;
	functions_collect(&c->functions, &c->image);
	check_all(c);
	if (check_branches(c) != 0)
		return -1;
	if (c->nr_mistakes)
		return linked_error(&c->image, "%zu mistakes in its call sites", c->nr_mistakes);
	if (c->nr_dead)
		printf("sites: %s: %zu of %zu sites are in dead code\n", c->image.path, c->nr_dead,
		       c->nr);
	return write_table(c);
}

/* Parse the options. Returns the index of the argument behind them, -1 when they are wrong. */
static int parse_options(struct check *c, int argc, char **argv)
{
	int i = 1;

	for (; i + 2 < argc && strcmp(argv[i], "--notrace") == 0; i += 3) {
		if (c->nr_ranges == MAX_RANGES)
			return -1;
		c->ranges[c->nr_ranges++] =
			(struct range){ .start_name = argv[i + 1], .end_name = argv[i + 2] };
	}
	return i + 1 == argc && argv[i][0] != '-' ? i : -1;
}

int main(int argc, char **argv)
{
	struct check c = { 0 };
	int err, arg = parse_options(&c, argc, argv);

	if (arg < 0) {
		fprintf(stderr, "usage: sites [--notrace START END]... KERNEL\n");
		return 2;
	}
	if (linked_open(&c.image, argv[arg]) != 0)
		return EXIT_FAILURE;
	err = run(&c);
	functions_free(&c.functions);
	free(c.entries);
	linked_close(&c.image);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

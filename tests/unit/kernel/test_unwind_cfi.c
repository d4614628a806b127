/*
 * Frames by .eh_frame against two others that read it: binutils' readelf, for every rule of libc and of this program, and
 * libgcc's backtrace() for the stack of this process. And damaged tables.
 *
 * links: kernel/process/unwind/cfi.c kernel/process/unwind/cfi_cursor.c kernel/process/unwind/cfi_entry.c kernel/process/unwind/cfi_run.c
 */
#include "unit.h"
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "process/unwind/cfi.h"

/* ---- Memory of the program: that of this process, or an image of a file ---- */

static uint8_t *image;
static uint64_t image_bytes, nr_read;
static uint64_t missing_from, missing_to; /* addresses that are not there */

/* By bytes, because a stack has places that sanitisers refuse. */
static __attribute__((no_sanitize("address", "undefined"))) void
copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((volatile uint8_t *)to)[i] = from[i];
}

bool cfi_read(void *to, uint64_t from, size_t bytes)
{
	nr_read += bytes;
	if (from < missing_to && from + bytes > missing_from)
		return false;
	if (!image) {
		copy(to, (const uint8_t *)from, bytes);
		return true;
	}
	if (from >= image_bytes || bytes > image_bytes - from)
		return false;
	memcpy(to, image + from, bytes);
	return true;
}

/* ---- readelf ---- */

static struct cfi_table table;

static void load_part(FILE *file, const Elf64_Phdr *ph)
{
	if (ph->p_type == PT_GNU_EH_FRAME)
		table = (struct cfi_table){ .start = ph->p_vaddr, .bytes = ph->p_memsz };
	if (ph->p_type != PT_LOAD)
		return;
	fseek(file, (long)ph->p_offset, SEEK_SET);
	assert_int_equal(fread(image + ph->p_vaddr, 1, ph->p_filesz, file), ph->p_filesz);
}

static void load(const char *path)
{
	FILE *file = fopen(path, "rb");
	Elf64_Ehdr head;
	Elf64_Phdr parts[32];

	assert_non_null(file);
	assert_int_equal(fread(&head, sizeof(head), 1, file), 1);
	assert_in_range(head.e_phnum, 1, 32);
	fseek(file, (long)head.e_phoff, SEEK_SET);
	assert_int_equal(fread(parts, sizeof(parts[0]), head.e_phnum, file), head.e_phnum);
	image_bytes = 0;
	for (int i = 0; i < head.e_phnum; i++) {
		if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr + parts[i].p_memsz > image_bytes)
			image_bytes = parts[i].p_vaddr + parts[i].p_memsz;
	}
	image = calloc(1, image_bytes);
	assert_non_null(image);
	for (int i = 0; i < head.e_phnum; i++)
		load_part(file, &parts[i]);
	fclose(file);
}

static void unload(void)
{
	free(image);
	image = NULL;
}

/* A row of readelf. Columns are named in the line above the rows. */
struct row {
	uint64_t loc, end;
	char cfa[32], rbp[32], ra[32];
};

static char columns[32][16];
static size_t nr_columns;

static void read_columns(char *line)
{
	nr_columns = 0;
	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
		snprintf(columns[nr_columns++], sizeof(columns[0]), "%s", word);
}

static void read_row(char *line, struct row *row)
{
	size_t i = 0;

	memset(row, 0, sizeof(*row));
	for (char *word = strtok(line, " \n"); word && i < nr_columns; word = strtok(NULL, " \n")) {
		char *to = strcmp(columns[i], "CFA") == 0   ? row->cfa
			   : strcmp(columns[i], "rbp") == 0 ? row->rbp
			   : strcmp(columns[i], "ra") == 0  ? row->ra
							    : NULL;

		if (word[0] == '(') /* a register that stands for another one: r10 (r10) */
			continue;
		if (i++ == 0)
			row->loc = strtoull(word, NULL, 16);
		if (to)
			snprintf(to, sizeof(row->cfa), "%s", word);
	}
}

static size_t nr_rows, nr_rules[CFI_UNKNOWN + 1];

static enum cfi_kind kind_of(const struct row *row, enum cfi_kind found)
{
	if (strcmp(row->ra, "u") == 0)
		return CFI_END;
	if (strcmp(row->ra, "c-8") != 0 && strcmp(row->ra, "exp") != 0)
		return CFI_UNKNOWN;
	if (strncmp(row->cfa, "rsp", 3) == 0)
		return CFI_SP;
	if (strncmp(row->cfa, "rbp", 3) == 0)
		return CFI_FP;
	/* It says no more of an expression. */
	return strcmp(row->cfa, "exp") == 0 && found >= CFI_FP_AT ? found : CFI_UNKNOWN;
}

static void check_rule(const struct row *row, uint64_t ip)
{
	struct cfi_rule rule;

	if (!cfi_find(&table, ip, &rule) || rule.kind != kind_of(row, rule.kind))
		fail_msg("%llx: kind %u, %s %s", (unsigned long long)ip, rule.kind, row->cfa,
			 row->ra);
	nr_rules[rule.kind]++;
	if (rule.kind != CFI_SP && rule.kind != CFI_FP)
		return;
	if (rule.cfa != atoi(row->cfa + 3))
		fail_msg("%llx: %d, not %s", (unsigned long long)ip, rule.cfa, row->cfa);
	if (row->rbp[0] == 'c' ? rule.saved != CFI_FP_SAVED || rule.fp != atoi(row->rbp + 1)
	    : row->rbp[0] == 'u' || !row->rbp[0] ? rule.saved != CFI_FP_SAME
						 : rule.saved == CFI_FP_SAME)
		fail_msg("%llx: rbp %u %d, not %s", (unsigned long long)ip, rule.saved, rule.fp,
			 row->rbp);
}

/* At its first byte and at its last. */
static void check_row(struct row *row, uint64_t end)
{
	if (!row->cfa[0] || end <= row->loc)
		return;
	check_rule(row, row->loc);
	check_rule(row, end - 1);
	nr_rows++;
}

static void check_with_readelf(const char *path)
{
	char command[512], line[512];
	struct row row = { 0 };
	uint64_t end = 0;
	FILE *said;

	snprintf(command, sizeof(command), "readelf --debug-dump=frames-interp '%s' 2>/dev/null",
		 path);
	said = popen(command, "r");
	assert_non_null(said);
	while (fgets(line, sizeof(line), said)) {
		struct row next = { 0 };
		const char *pc = strstr(line, " pc=");

		if (strncmp(line, "   LOC", 6) == 0) {
			read_columns(line);
			continue;
		}
		if (strspn(line, "0123456789abcdef") == 16)
			read_row(line, &next);
		check_row(&row, next.cfa[0] && end ? next.loc : end);
		row = next;
		if (strchr(line, '='))
			end = pc ? strtoull(strstr(pc, "..") + 2, NULL, 16) : 0;
	}
	check_row(&row, end);
	pclose(said);
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (strstr(info->dlpi_name, "/libc.so"))
		snprintf(path, 256, "%s", info->dlpi_name);
	return 0;
}

static void rules_are_those_of_readelf(void **state)
{
	char path[256] = "";
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_in_range(bytes, 1, sizeof(path) - 1);
	load(path);
	check_with_readelf(path);
	unload();
	path[0] = '\0';
	dl_iterate_phdr(find_libc, path);
	assert_true(path[0] == '/');
	load(path);
	check_with_readelf(path);
	unload();
	assert_true(nr_rows > 20000);
	assert_true(nr_rules[CFI_SP] > 20000 && nr_rules[CFI_FP] && nr_rules[CFI_PLT] &&
		    nr_rules[CFI_SIGNAL] && nr_rules[CFI_END]);
	assert_true(nr_rules[CFI_UNKNOWN] < 100);
}

/* Without the sorted table, as in static programs, entries are the same. */
static void entries_are_found_without_a_table(void **state)
{
	struct cfi_pair *pairs = calloc(20000, sizeof(*pairs));
	struct cfi_table section = { .index = pairs };
	char path[256] = "";
	uint32_t nr, to;

	(void)state;
	dl_iterate_phdr(find_libc, path);
	load(path);
	memcpy(&to, image + table.start + 4, sizeof(to));
	memcpy(&nr, image + table.start + 8, sizeof(nr));
	section.start = table.start + 4 + to;
	section.bytes = image_bytes - section.start;
	section.nr = cfi_index(&section, pairs, 20000);
	assert_int_equal(section.nr, nr);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t ip = section.start + (uint64_t)(int64_t)pairs[i].loc;
		struct cfi_rule one, other;

		assert_true(!i || pairs[i].loc >= pairs[i - 1].loc);
		assert_true(cfi_find(&section, ip, &one) && cfi_find(&table, ip, &other));
		assert_memory_equal(&one, &other, sizeof(one));
	}
	assert_int_equal(cfi_index(&section, pairs, 10), 10);
	unload();
	free(pairs);
}

/* Debian's libc has no frame pointers; this test is compiled with them. */
static void files_with_frame_pointers(void **state)
{
	char path[256] = "";

	(void)state;
	dl_iterate_phdr(find_libc, path);
	load(path);
	assert_false(cfi_has_pointers(&table));
	unload();
	load("/proc/self/exe");
	assert_true(cfi_has_pointers(&table));
	unload();
}

/* ---- backtrace() ---- */

/* The table of the file that the address is from. */
static int find_table(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t ip = *(uint64_t *)arg;
	struct cfi_table at = { 0 };
	bool is_here = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		is_here |= ph->p_type == PT_LOAD && ip >= start && ip - start < ph->p_memsz;
		if (ph->p_type == PT_GNU_EH_FRAME)
			at = (struct cfi_table){ .start = start, .bytes = ph->p_memsz };
	}
	if (is_here)
		table = at;
	return is_here;
}

#define STACK_MAX 64

static size_t walk(struct cfi_frame frame, uint64_t *out)
{
	size_t nr = 0;

	while (nr < STACK_MAX) {
		uint64_t ip = frame.is_exact ? frame.ip : frame.ip - 1, slot;
		struct cfi_rule rule;

		out[nr++] = frame.ip;
		if (!dl_iterate_phdr(find_table, &ip) || !cfi_find(&table, ip, &rule) ||
		    !cfi_step(&frame, &rule, &slot))
			break;
	}
	return nr;
}

static size_t nr_frames;

/* Both begin in this function, at other instructions. */
static __attribute__((noinline)) void compare_here(void)
{
	struct cfi_frame frame = { .is_exact = true };
	void *theirs[STACK_MAX];
	uint64_t ours[STACK_MAX];
	size_t nr;

	__asm__ volatile("leaq 1f(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2\n1:"
			 : "=r"(frame.ip), "=r"(frame.sp), "=r"(frame.fp));
	nr = walk(frame, ours);
	nr_frames = (size_t)backtrace(theirs, STACK_MAX);
	/* Theirs may have one more in front: a sanitiser's, which stands before backtrace(). */
	assert_in_range(nr_frames, nr, nr + 1);
	for (size_t i = 1; i < nr; i++) /* the last first */
		assert_int_equal(ours[nr - i], (uintptr_t)theirs[nr_frames - i]);
}

static __attribute__((noinline)) void deep(int depth)
{
	if (depth)
		deep(depth - 1);
	else
		compare_here();
	__asm__ volatile("");
}

/* rbp is kept, because the frame has no fixed length. */
static __attribute__((noinline)) void with_room(size_t bytes)
{
	volatile char *room = __builtin_alloca(bytes);

	room[0] = 1;
	deep(2);
	__asm__ volatile("" : : "r"(room));
}

static __attribute__((noinline, force_align_arg_pointer)) void aligned(void)
{
	volatile char room[128] __attribute__((aligned(64)));

	room[0] = 1;
	deep(2);
	__asm__ volatile("" : : "r"(room));
}

static int by_libc(const void *a, const void *b)
{
	static bool is_done;

	(void)a;
	(void)b;
	if (!is_done)
		compare_here();
	is_done = true;
	return 0;
}

static void in_handler(int sig)
{
	(void)sig;
	deep(1);
}

static void stacks_are_those_of_backtrace(void **state)
{
	int numbers[] = { 1, 2 };
	struct sigaction action = { .sa_handler = in_handler };

	(void)state;
	compare_here();
	deep(20);
	with_room(nr_frames * 3);
	aligned();
	qsort(numbers, 2, sizeof(numbers[0]), by_libc);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(raise(SIGUSR1), 0);
}

/* ---- Steps ---- */

static void callers_lie_above(void **state)
{
	uint64_t stack[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, slot;
	uint64_t at = (uintptr_t)stack;
	struct cfi_frame frame = { .ip = 9, .sp = at + 16, .fp = at + 32 };
	const struct cfi_frame before = frame;
	const struct cfi_rule ends[] = {
		{ .kind = CFI_SP, .cfa = 0 },	   { .kind = CFI_SP, .cfa = -8 },
		{ .kind = CFI_FP, .cfa = -16 },	   { .kind = CFI_END, .cfa = 8 },
		{ .kind = CFI_UNKNOWN, .cfa = 8 }, { .kind = CFI_FP_AT, .cfa = 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		assert_false(cfi_step(&frame, &ends[i], &slot));
		assert_memory_equal(&frame, &before, sizeof(frame));
	}
	assert_true(cfi_step(&frame, &(struct cfi_rule){ .kind = CFI_SP, .cfa = 16 }, &slot));
	assert_int_equal(slot, at + 24);
	assert_true(frame.ip == 3 && frame.sp == at + 32 && frame.fp == at + 32 && !frame.is_exact);
	/* Without an entry: by frame pointers, which lie above as well. */
	assert_true(cfi_step(&frame, &(struct cfi_rule){ .kind = CFI_NONE }, &slot));
	assert_true(frame.ip == 5 && frame.fp == 4 && frame.sp == at + 48);
	assert_false(cfi_step(&frame, &(struct cfi_rule){ .kind = CFI_NONE }, &slot));
	frame.sp = at;
	assert_false(cfi_step(&frame, &(struct cfi_rule){ .kind = CFI_SP, .cfa = 8 },
			      &slot)); /* returns to 0 */
}

/* ---- Tables that are damaged, or not there ---- */

static void pages_that_are_not_there(void **state)
{
	uint64_t ip = (uintptr_t)deep;
	struct cfi_rule rule;

	(void)state;
	assert_true(dl_iterate_phdr(find_table, &ip));
	assert_true(cfi_find(&table, ip, &rule));
	missing_from = table.start;
	missing_to = table.start + 4;
	assert_false(cfi_find(&table, ip, &rule));
	missing_from = table.start + 12; /* pairs */
	missing_to = table.start + table.bytes;
	assert_false(cfi_find(&table, ip, &rule));
	missing_from = missing_to; /* entries */
	missing_to += 1 << 20;
	assert_false(cfi_find(&table, ip, &rule));
	missing_to = 0;
}

static void tables_of_other_kinds(void **state)
{
	uint8_t bytes[16] = { 2, 0x1b, 3, 0x3b };
	struct cfi_table other = { .start = (uintptr_t)bytes, .bytes = sizeof(bytes) };
	struct cfi_rule rule;

	(void)state;
	assert_true(cfi_find(&other, 1, &rule) && rule.kind == CFI_NONE);
	bytes[0] = bytes[8] = 1; /* more pairs than there are bytes for */
	assert_true(cfi_find(&other, 1, &rule) && rule.kind == CFI_NONE);
	other.bytes = 3;
	assert_true(cfi_find(&other, 1, &rule) && rule.kind == CFI_NONE);
}

/* Each search ends, and reads no more than it may. */
static void damage_is_bounded(void **state)
{
	struct cfi_rule rule;
	uint64_t end;

	(void)state;
	load("/proc/self/exe");
	srand(1);
	end = table.start + table.bytes + (64 << 10);
	if (end > image_bytes)
		end = image_bytes;
	for (int i = 0; i < 20000; i++) {
		image[table.start + (uint64_t)rand() % (end - table.start)] = (uint8_t)rand();
		nr_read = 0;
		cfi_find(&table, (uint64_t)rand() % image_bytes, &rule);
		assert_true(nr_read <= 2 * CFI_BYTES_MAX + 1024);
	}
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_those_of_readelf),
		cmocka_unit_test(entries_are_found_without_a_table),
		cmocka_unit_test(files_with_frame_pointers),
		cmocka_unit_test(stacks_are_those_of_backtrace),
		cmocka_unit_test(callers_lie_above),
		cmocka_unit_test(pages_that_are_not_there),
		cmocka_unit_test(tables_of_other_kinds),
		cmocka_unit_test(damage_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

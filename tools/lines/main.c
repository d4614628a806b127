/*
 * lines -o OUT.o KERNEL - which line of the source machine code is of, as an object for the second
 * link of KERNEL. The layout: kernel/include/kernel/lines_format.h.
 *
 * From the debug information come the rows that are the start of a statement. Of several at one
 * address the last counts, as for gdb; where a function begins the first, which is its own line: the
 * others are of what is inlined there.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <kernel/lines_format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blob.h"
#include "linked.h"
#include "names.h"

const char tool_name[] = "lines";

struct row {
	uint64_t addr;
	size_t order; /* in the debug information */
	const char *path;
	uint32_t line; /* 0: the end of code */
	uint32_t file;
};

struct rows {
	struct row *list;
	size_t nr;
	char **files; /* sorted */
	size_t nr_files;
};

static void add_row(struct rows *rows, Dwarf_Line *line)
{
	const char *path = dwarf_linesrc(line, NULL, NULL);
	bool is_statement, is_end;
	Dwarf_Addr addr;
	int number;

	if (!path || dwarf_lineaddr(line, &addr) != 0 || dwarf_lineno(line, &number) != 0 ||
	    dwarf_linebeginstatement(line, &is_statement) != 0 ||
	    dwarf_lineendsequence(line, &is_end) != 0)
		return;
	if (!is_end && (!is_statement || number <= 0))
		return;
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	rows->list = xgrow(rows->list, rows->nr, sizeof(*rows->list));
	rows->list[rows->nr] = (struct row){
		.addr = addr, .order = rows->nr, .path = path, .line = is_end ? 0 : (uint32_t)number
	};
	rows->nr++;
}

static int collect(struct rows *rows, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Lines *lines;
	Dwarf_Die unit;
	size_t nr;

	while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		if (dwarf_getsrclines(&unit, &lines, &nr) != 0)
			continue;
		for (size_t i = 0; i < nr; i++)
			add_row(rows, dwarf_onesrcline(lines, i));
	}
	return rows->nr ? 0 : -1;
}

/* By address; the end of one piece of code before the start of the next. */
static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (!a->line != !b->line)
		return a->line ? 1 : -1;
	return a->order < b->order ? -1 : 1;
}

static int compare_addrs(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The addresses at which functions begin, in ascending order. */
static uint64_t *find_starts(const struct linked *kernel, size_t *out_nr)
{
	uint64_t *starts = xcalloc(kernel->nr_syms + 1, sizeof(*starts));
	size_t nr = 0;

	for (size_t i = 0; i < kernel->nr_syms; i++) {
		if (ELF64_ST_TYPE(kernel->syms[i].st_info) == STT_FUNC)
			starts[nr++] = kernel->syms[i].st_value;
	}
	qsort(starts, nr, sizeof(*starts), compare_addrs);
	*out_nr = nr;
	return starts;
}

/*
 * At the beginning of a function, drop all rows but the first. The other rows stay in their order.
 */
static void drop_inlined(struct rows *rows, const struct linked *kernel)
{
	size_t nr_starts, nr = 0;
	uint64_t *starts = find_starts(kernel, &nr_starts);

	for (size_t i = 0; i < rows->nr; i++) {
		const struct row *row = &rows->list[i], *last = nr ? &rows->list[nr - 1] : NULL;

		if (last && last->line && last->addr == row->addr &&
		    bsearch(&row->addr, starts, nr_starts, sizeof(*starts), compare_addrs))
			continue;
		rows->list[nr++] = *row;
	}
	rows->nr = nr;
	free(starts);
}

static bool is_in_kernel(const struct linked *kernel, uint64_t addr, bool is_end)
{
	for (size_t i = 0; i < kernel->nr_sections; i++) {
		const Elf64_Shdr *section = &kernel->sections[i];

		if (linked_is_code(kernel, i) && addr >= section->sh_addr &&
		    addr - section->sh_addr < section->sh_size + is_end)
			return true;
	}
	return false;
}

/* One row for each address, and only where something changes. */
static void reduce(struct rows *rows, const struct linked *kernel)
{
	size_t nr = 0;

	qsort(rows->list, rows->nr, sizeof(*rows->list), compare_rows);
	drop_inlined(rows, kernel);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct row *row = &rows->list[i], *last = nr ? &rows->list[nr - 1] : NULL;

		if (!is_in_kernel(kernel, row->addr, !row->line))
			continue;
		if (last && last->addr == row->addr)
			last = --nr ? &rows->list[nr - 1] : NULL;
		if (last && last->line == row->line && strcmp(last->path, row->path) == 0)
			continue;
		rows->list[nr++] = *row;
	}
	rows->nr = nr;
}

static int compare_texts(const void *left, const void *right)
{
	char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

static void number_files(struct rows *rows)
{
	size_t nr = 0;

	rows->files = xcalloc(rows->nr + 1, sizeof(*rows->files));
	for (size_t i = 0; i < rows->nr; i++)
		rows->files[i] = (char *)rows->list[i].path;
	qsort(rows->files, rows->nr, sizeof(*rows->files), compare_texts);
	for (size_t i = 0; i < rows->nr; i++)
		if (i == 0 || strcmp(rows->files[i], rows->files[nr - 1]) != 0)
			rows->files[nr++] = rows->files[i];
	rows->nr_files = nr;
	for (size_t i = 0; i < rows->nr; i++) {
		char **file = bsearch(&rows->list[i].path, rows->files, nr, sizeof(*rows->files),
				      compare_texts);

		rows->list[i].file = (uint32_t)(file - rows->files);
	}
}

static void put_byte(struct blob *out, uint8_t byte)
{
	blob_append(out, &byte, 1, 1);
}

static void put_number(struct blob *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(out, (uint8_t)(value | 0x80));
	put_byte(out, (uint8_t)value);
}

static void put_step(struct blob *out, uint64_t addr, int64_t line)
{
	if (addr < LINES_NEAR_ADDR && line >= -LINES_NEAR_LINE && line <= LINES_NEAR_LINE) {
		put_byte(out, (uint8_t)((uint64_t)(line + LINES_NEAR_LINE) << 4 | addr));
		return;
	}
	put_byte(out, LINES_FAR);
	put_number(out, addr);
	put_number(out, line < 0 ? (uint64_t)-line * 2 - 1 : (uint64_t)line * 2);
}

static void put_rows(struct blob *out, const struct rows *rows, uint64_t addr)
{
	uint32_t file = UINT32_MAX, line = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct row *row = &rows->list[i];

		if (row->line && row->file != file) {
			put_byte(out, LINES_FILE);
			put_number(out, row->file);
			file = row->file;
		}
		put_step(out, row->addr - addr, row->line ? (int64_t)row->line - line : 0);
		if (!row->line)
			put_byte(out, LINES_END);
		else
			line = row->line;
		addr = row->addr;
	}
}

static void make_table(struct blob *out, const struct rows *rows)
{
	struct lines_header header = { .base = rows->list[0].addr,
				       .nr_files = (uint32_t)rows->nr_files };
	uint32_t *places = xcalloc(rows->nr_files, sizeof(*places));

	blob_append(out, &header, sizeof(header), 8);
	header.file_pos = blob_append(out, places, rows->nr_files * sizeof(*places), 4);
	for (size_t i = 0; i < rows->nr_files; i++)
		places[i] = blob_append(out, rows->files[i], strlen(rows->files[i]) + 1, 1);
	header.row_pos = (uint32_t)out->size;
	put_rows(out, rows, header.base);
	header.row_bytes = (uint32_t)out->size - header.row_pos;
	memcpy(out->bytes, &header, sizeof(header));
	memcpy(out->bytes + header.file_pos, places, rows->nr_files * sizeof(*places));
	free(places);
}

static int run(const char *out, const struct linked *kernel)
{
	int fd = open(kernel->path, O_RDONLY);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	struct rows rows = { 0 };
	struct blob table = { 0 };
	int err = collect(&rows, dwarf);

	if (!err)
		reduce(&rows, kernel);
	if (err || !rows.nr) {
		err = linked_error(kernel, "no lines in the debug information: compile with -g");
	} else {
		number_files(&rows);
		make_table(&table, &rows);
		err = blob_write_object(&table, out, ".lines", "lines_blob");
	}
	blob_free(&table);
	free(rows.files);
	free(rows.list);
	if (dwarf)
		dwarf_end(dwarf);
	if (fd >= 0)
		close(fd);
	return err;
}

int main(int argc, char **argv)
{
	struct linked kernel;
	int err;

	if (argc != 4 || strcmp(argv[1], "-o") != 0) {
		fprintf(stderr, "usage: lines -o OUT.o KERNEL\n");
		return 2;
	}
	if (linked_open(&kernel, argv[3]) != 0)
		return EXIT_FAILURE;
	err = run(argv[2], &kernel);
	linked_close(&kernel);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * whynot -o OUT.o [--sources LIST] KERNEL - for each function of the source that has no call site,
 * the reason, as an object for the second link of KERNEL. Also functions that have one, but were
 * inlined into some of their callers.
 *
 * whynot --list [--sources LIST] KERNEL - print the same as text.
 *
 * What is known comes from the site table and the symbols (has a site, assembly), from debug
 * information (where defined, inlined where) and from the source text (definitions that the
 * compiler dropped): every source file that the debug information names, and those of LIST, one
 * path a line. Paths are relative to the directory the build runs in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob.h"
#include "code.h"
#include "debuginfo.h"
#include "names.h"
#include "records.h"
#include "source.h"
#include "table.h"

const char tool_name[] = "whynot";

struct options {
	const char *out;
	const char *sources;
	const char *kernel;
	bool is_list;
};

/* The files that debug information or LIST name, to be scanned later. */
struct files {
	const char **paths;
	size_t nr;
};

static void add_file(const char *path, void *arg)
{
	struct files *files = arg;

	files->paths = xgrow(files->paths, files->nr, sizeof(*files->paths));
	files->paths[files->nr++] = path;
}

static int compare_paths(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

static int read_list(struct records *records, struct files *files, const char *list)
{
	FILE *file = fopen(list, "r");
	char line[4096];

	if (!file) {
		fprintf(stderr, "whynot: %s: cannot open\n", list);
		return -1;
	}
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\r\n")] = '\0';
		add_file(records_path(records, line), files);
	}
	fclose(file);
	return 0;
}

/* Is it a C file of the tree? Those that come with the compiler are not wanted. */
static bool is_own_source(const char *path)
{
	size_t len = strlen(path);

	return path[0] != '/' && strncmp(path, "../", 3) != 0 && len > 2 && path[len - 2] == '.' &&
	       (path[len - 1] == 'c' || path[len - 1] == 'h');
}

static void scan_sources(struct records *records, struct files *files)
{
	if (files->nr == 0)
		return;
	qsort(files->paths, files->nr, sizeof(*files->paths), compare_paths);
	for (size_t i = 0; i < files->nr; i++)
		if (is_own_source(files->paths[i]) &&
		    (i == 0 || strcmp(files->paths[i], files->paths[i - 1]) != 0))
			source_collect(records, files->paths[i]);
}

/* Note for each symbol of code whether it has a site, and whether it is no C function. */
static void collect_symbols(struct records *records, const struct code *code)
{
	for (size_t i = 0; i < code->selection.nr; i++) {
		const struct selected *s = &code->selection.symbols[i];
		struct record *record = records_get(records, s->name);
		bool is_label = s->type == STT_NOTYPE && i >= code->selection.nr_addressed;

		if (!is_label && code_has_site(code, s->addr, s->addr + (s->size ? s->size : 1)))
			record->has_site = true;
		else if (strstr(s->name, ".cold"))
			record->is_cold_part = true;
		else if (!record->is_compiled)
			record->is_assembly = true;
	}
}

static int collect(struct records *records, const struct code *code, const char *list)
{
	struct files files = { 0 };
	int err = debuginfo_collect(records, code, add_file, &files);

	if (!err && list)
		err = read_list(records, &files, list);
	if (!err) {
		collect_symbols(records, code);
		scan_sources(records, &files);
		records_sort(records);
	}
	free(files.paths);
	return err;
}

static void print_list(const struct records *records)
{
	for (size_t i = 0; i < records->nr; i++) {
		const struct record *r = records->list[i];

		printf("%s %s:%u reason %d inlined %u", r->name, r->file ? r->file : "-", r->line,
		       table_reason(r), r->nr_inlined);
		for (size_t k = 0; k < WHYNOT_MAX_CALLS && r->calls[k].caller; k++)
			printf(" %s@%s:%u", r->calls[k].caller,
			       r->calls[k].file ? r->calls[k].file : "-", r->calls[k].line);
		printf("%s%s\n", r->renamed ? " as " : "", r->renamed ? r->renamed : "");
	}
}

static int write_table(const struct records *records, const char *path)
{
	struct blob table = { 0 };
	int err = table_make(&table, records);

	if (!err)
		err = blob_write_object(&table, path, ".whynot", "whynot_blob");
	blob_free(&table);
	return err;
}

static int parse_options(struct options *options, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--list") == 0)
			options->is_list = true;
		else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
			options->out = argv[++i];
		else if (strcmp(argv[i], "--sources") == 0 && i + 1 < argc)
			options->sources = argv[++i];
		else if (argv[i][0] != '-' && !options->kernel)
			options->kernel = argv[i];
		else
			return -1;
	}
	return options->kernel && options->is_list != (options->out != NULL) ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	struct records records = { 0 };
	struct code code;
	int err;

	if (parse_options(&options, argc, argv) != 0) {
		fprintf(stderr, "usage: whynot -o OUT.o|--list [--sources LIST] KERNEL\n");
		return 2;
	}
	if (code_open(&code, options.kernel) != 0)
		return EXIT_FAILURE;
	err = collect(&records, &code, options.sources);
	if (!err && options.is_list)
		print_list(&records);
	else if (!err)
		err = write_table(&records, options.out);
	records_free(&records);
	code_close(&code);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

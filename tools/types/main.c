/*
 * types --for-pahole OUT KERNEL - a copy of KERNEL whose debug information pahole can read.
 *
 * types -o OUT.o BTF KERNEL - the types that pahole found, as an object for the second link of
 * KERNEL: only functions whose prototype is sure, in the order of their names, and what these need.
 *
 * types --btf OUT BTF KERNEL - the same as a file that pahole and bpftool read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atomics.h"
#include "blob.h"
#include "linked.h"
#include "prune.h"
#include "unsure.h"

const char tool_name[] = "types";

static int write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	bool done = file && fwrite(bytes, 1, size, file) == size;

	if (file && fclose(file) != 0)
		done = false;
	if (!done)
		fprintf(stderr, "types: %s: cannot write\n", path);
	return done ? 0 : -1;
}

static int make_copy(const char *out, struct linked *kernel)
{
	if (atomics_to_volatile(kernel) != 0)
		return -1;
	return write_file(out, kernel->bytes, kernel->size);
}

static int read_file(const char *path, struct blob *out)
{
	FILE *file = fopen(path, "rb");
	uint8_t part[65536];
	size_t len;

	if (!file) {
		fprintf(stderr, "types: %s: cannot open\n", path);
		return -1;
	}
	while ((len = fread(part, 1, sizeof(part), file)) > 0)
		blob_append(out, part, len, 1);
	fclose(file);
	return 0;
}

static int make_types(const char *option, const char *out, const char *path, struct linked *kernel)
{
	struct blob raw = { 0 }, pruned = { 0 };
	struct unsure unsure = { 0 };
	int err = read_file(path, &raw);

	if (!err)
		err = unsure_collect(&unsure, kernel);
	if (!err)
		err = prune(&pruned, &raw, &unsure, path);
	if (!err && strcmp(option, "-o") == 0)
		err = blob_write_object(&pruned, out, ".btf", "btf_blob");
	else if (!err)
		err = write_file(out, pruned.bytes, pruned.size);
	unsure_free(&unsure);
	blob_free(&pruned);
	blob_free(&raw);
	return err;
}

int main(int argc, char **argv)
{
	bool is_copy = argc == 4 && strcmp(argv[1], "--for-pahole") == 0;
	bool is_make = argc == 5 && (strcmp(argv[1], "-o") == 0 || strcmp(argv[1], "--btf") == 0);
	struct linked kernel;
	int err;

	if (!is_copy && !is_make) {
		fprintf(stderr, "usage: types --for-pahole OUT KERNEL\n"
				"       types -o OUT.o|--btf OUT BTF KERNEL\n");
		return 2;
	}
	if (linked_open(&kernel, argv[argc - 1]) != 0)
		return EXIT_FAILURE;
	if (is_copy)
		err = make_copy(argv[2], &kernel);
	else
		err = make_types(argv[1], argv[2], argv[3], &kernel);
	linked_close(&kernel);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

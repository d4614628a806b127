/*
 * recordmcount OBJECT... - give each object a table of its calls to __fentry__ and mcount.
 *
 * Rewrites each x86-64 object in place, by a rename: the section __mcount_loc then holds the
 * address of every call site, as gcc's -mrecord-mcount makes it. Objects without sites, and
 * objects that have a table, are left as they are. A damaged object is named with the reason, left
 * as it is, and makes the exit status 1; the other objects are still processed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "object.h"
#include "replace.h"
#include "sites.h"
#include "table.h"

/* 1 when the object has a table, 0 when not, -1 after a message when names are damaged. */
static int has_table(const struct object *obj)
{
	for (size_t i = 1; i < obj->nr_sections; i++) {
		const char *name = object_section_name(obj, i);

		if (!name)
			return object_error(obj, "section %zu: name outside the string table", i);
		if (strcmp(name, "__mcount_loc") == 0)
			return 1;
	}
	return 0;
}

static int process_object(const struct object *obj)
{
	struct site_list list;
	struct image image;
	int err = has_table(obj);

	if (err)
		return err > 0 ? 0 : -1;
	if (sites_find(obj, &list) != 0)
		return -1;
	if (list.nr == 0)
		return 0;
	err = table_build(obj, &list, &image);
	if (!err) {
		err = replace_file(obj->path, image.bytes, image.size, obj->mode);
		if (err)
			object_error(obj, "cannot write: %s", strerror(-err));
		image_free(&image);
	}
	sites_free(&list);
	return err;
}

static int process_file(const char *path)
{
	struct object obj;
	int err;

	if (object_open(&obj, path) != 0)
		return -1;
	err = process_object(&obj);
	object_close(&obj);
	return err;
}

int main(int argc, char **argv)
{
	int status = EXIT_SUCCESS;

	if (argc < 2) {
		fprintf(stderr, "usage: recordmcount OBJECT...\n");
		return 2;
	}
	if (elf_version(EV_CURRENT) == EV_NONE) {
		fprintf(stderr, "recordmcount: libelf: %s\n", elf_errmsg(-1));
		return EXIT_FAILURE;
	}
	for (int i = 1; i < argc; i++)
		if (process_file(argv[i]) != 0)
			status = EXIT_FAILURE;
	return status;
}

/*
 * From a line of the source to machine code and back; the table is made by tools/lines.
 *
 * Context: any; it goes through the whole table, some 60,000 rows.
 */
#ifndef KERNEL_LINES_H
#define KERNEL_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <kernel/base.h>

struct line_place {
	uintptr_t addr;	  /* the lowest, if there are several */
	const char *file; /* its whole path */
	uint32_t line;	  /* the asked one, or the next with code */
	uint32_t nr;	  /* pieces of code of that line: more than 1 where it was inlined, too */
};

/*
 * Find the code of line `line` of a file. `file` is `len` characters: the file's path, or the end
 * of it behind a slash. 0; -ENOENT: no such file; -EEXIST: several files end so; -ENODATA: no code
 * from that line on; -EOPNOTSUPP: the kernel was built without the table.
 */
int lines_find(const char *file, size_t len, uint32_t line, struct line_place *out);
/*
 * The source line of the code at `addr`; `addr` and `nr` of `out` are not set. 0, -ENOENT,
 * -EOPNOTSUPP.
 */
int lines_of(uintptr_t addr, struct line_place *out);

#endif

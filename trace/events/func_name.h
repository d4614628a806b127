/*
 * Functions named by users: NAME, or NAME@FILE where several functions have that name. FILE is the
 * path of the source, or its end behind a slash.
 *
 * Context: thread, config lock held.
 */
#ifndef FUNC_NAME_H
#define FUNC_NAME_H

#include <stddef.h>
#include <stdint.h>

#define FUNC_NAME_MAX 256u /* room for the text of trace_func_name_write() */

/*
 * Find the function named by the `len` characters at `text`. Returns 0; -ENOENT with *out_why NULL
 * when no function has that name; -ENOENT or -EADDRNOTAVAIL with *out_why, which lasts until the
 * next call, when none of those with that name is in FILE, or several are.
 */
int trace_func_name_find(const char *text, size_t len, uintptr_t *out_addr, const char **out_why);
/*
 * Write the text that finds the function `name` at `addr`: the name, with its file if other
 * functions have that name. Returns the length; 0 when the file does not tell them apart.
 */
size_t trace_func_name_write(const char *name, uintptr_t addr, char out_text[FUNC_NAME_MAX]);

#endif

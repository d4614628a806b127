/*
 * Output of the table tools: a growing block of bytes, and an object file with one read-only
 * section that holds it.
 *
 * Context:   host program, one thread. Out of memory ends the program.
 * Ownership: blob_free().
 */
#ifndef TOOLS_BLOB_H
#define TOOLS_BLOB_H

#include <stddef.h>
#include <stdint.h>

struct blob {
	uint8_t *bytes;
	size_t size;
	size_t capacity;
};

/* Append `size` bytes at the next multiple of `align` (a power of two); returns their position. */
uint32_t blob_append(struct blob *blob, const void *data, size_t size, size_t align);
void blob_free(struct blob *blob);

/*
 * Write the object file `path`: section `section`, allocated and read-only, 8-byte aligned, with
 * the global symbol `symbol` at its start. Returns -1 after a message on failure.
 */
int blob_write_object(const struct blob *blob, const char *path, const char *section,
		      const char *symbol);

#endif

/*
 * The bytes of the file being made: grows at its end, remembers a failed allocation until the end
 * so that callers check once.
 *
 * Context:   host program, one thread.
 * Ownership: image_free(). Pointers into `bytes` are good until the next append.
 */
#ifndef RECORDMCOUNT_IMAGE_H
#define RECORDMCOUNT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image {
	uint8_t *bytes;
	size_t size;
	size_t capacity;
	bool out_of_memory;
};

/* Append `size` bytes (zeros when `data` is NULL) at the next multiple of `align`; its position. */
size_t image_append(struct image *image, const void *data, size_t size, size_t align);
void image_free(struct image *image);

#endif

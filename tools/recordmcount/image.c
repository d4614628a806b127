/* See image.h. */
#include "image.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(struct image *image, size_t size)
{
	size_t capacity = image->capacity ? image->capacity : 4096;
	uint8_t *bytes;

	while (capacity < size)
		capacity *= 2;
	if (capacity == image->capacity)
		return true;
	bytes = realloc(image->bytes, capacity);
	if (!bytes)
		return false;
	image->bytes = bytes;
	image->capacity = capacity;
	return true;
}

size_t image_append(struct image *image, const void *data, size_t size, size_t align)
{
	size_t pos = (image->size + align - 1) / align * align;

	if (image->out_of_memory || !reserve(image, pos + size)) {
		image->out_of_memory = true;
		return 0;
	}
	memset(image->bytes + image->size, 0, pos - image->size);
	if (data && size)
		memcpy(image->bytes + pos, data, size);
	else
		memset(image->bytes + pos, 0, size);
	image->size = pos + size;
	return pos;
}

void image_free(struct image *image)
{
	free(image->bytes);
	memset(image, 0, sizeof(*image));
}

/* See image.h. */
#include "image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int write_all(const struct image *image, int fd)
{
	size_t done = 0;

	while (done < image->size) {
		ssize_t n = write(fd, image->bytes + done, image->size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

static int write_and_rename(const struct image *image, const char *target, unsigned int mode)
{
	size_t len = strlen(target) + sizeof(".XXXXXX");
	char *temp = malloc(len);
	int fd, err;

	if (!temp)
		return -ENOMEM;
	snprintf(temp, len, "%s.XXXXXX", target);
	fd = mkstemp(temp);
	if (fd < 0) {
		err = -errno;
		goto free_name;
	}
	err = write_all(image, fd);
	if (!err && fchmod(fd, mode) != 0)
		err = -errno;
	if (close(fd) != 0 && !err)
		err = -errno;
	if (!err && rename(temp, target) != 0)
		err = -errno;
	if (err)
		unlink(temp);
free_name:
	free(temp);
	return err;
}

int image_replace_file(const struct image *image, const char *path, unsigned int mode)
{
	char *target = realpath(path, NULL); /* replace the file, not a link to it */
	int err;

	if (!target)
		return -errno;
	err = write_and_rename(image, target, mode);
	free(target);
	return err;
}

/* See replace.h. */
#include "replace.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(fd, bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

static int write_new_file(int fd, const void *bytes, size_t size, unsigned int mode)
{
	int err = write_all(fd, bytes, size);

	if (!err && fchmod(fd, mode) != 0)
		err = -errno;
	if (close(fd) != 0 && !err)
		err = -errno;
	return err;
}

static int replace_target(const char *target, const void *bytes, size_t size, unsigned int mode)
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
	err = write_new_file(fd, bytes, size, mode);
	if (!err && rename(temp, target) != 0)
		err = -errno;
	if (err)
		unlink(temp);
free_name:
	free(temp);
	return err;
}

int replace_file(const char *path, const void *bytes, size_t size, unsigned int mode)
{
	char *target = realpath(path, NULL);
	int err;

	if (!target)
		return -errno;
	err = replace_target(target, bytes, size, mode);
	free(target);
	return err;
}

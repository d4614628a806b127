/*
 * Put new contents in the place of a file in one step: readers see the old file or the new one.
 *
 * Context: host program. A link is followed: the file behind it is replaced.
 */
#ifndef TOOLS_REPLACE_H
#define TOOLS_REPLACE_H

#include <stddef.h>

/* `mode` is the permissions of the new file. On failure the old file stays; returns -errno. */
int replace_file(const char *path, const void *bytes, size_t size, unsigned int mode);

#endif

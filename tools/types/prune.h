/*
 * From pahole's BTF to that of the kernel: smaller, and functions can be found by name.
 *
 *   header | types, numbered from 1 | functions, sorted by name | strings, each once
 *
 * Types that no function needs are left out, but for structs around one that stays. The format:
 * Documentation/bpf/btf.rst of Linux.
 */
#ifndef TYPES_PRUNE_H
#define TYPES_PRUNE_H

#include "blob.h"
#include "unsure.h"

/*
 * Append to `out` what is left of `raw` without the functions of `unsure`. `path` is for messages.
 * Returns -1 after a message if `raw` is not BTF as pahole 1.24 writes it.
 */
int prune(struct blob *out, const struct blob *raw, const struct unsure *unsure, const char *path);

#endif

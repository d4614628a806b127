/*
 * The shell's answer to Tab: a line_options.complete whose argument is the struct shell.
 *
 * Context: thread. Locking: none. Ownership: the words found are in out->arena, which the caller
 * frees.
 */
#ifndef KERNEL_SH_COMPLETE_H
#define KERNEL_SH_COMPLETE_H

#include <kernel/base.h>

struct line_matches;

void sh_complete(void *arg, const char *text, size_t len, struct line_matches *out);

#endif

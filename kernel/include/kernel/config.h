/*
 * Build-time choices of kernel/. The Makefile writes kernel_debug.h for them, so that another choice
 * compiles again only what includes this file. Code asks with `if (KERNEL_DEBUG)`, so that both ways
 * always compile.
 */
#ifndef KERNEL_CONFIG_H
#define KERNEL_CONFIG_H

#ifndef KERNEL_DEBUG
#if __has_include(<kernel_debug.h>)
#include <kernel_debug.h>
#else
#define KERNEL_DEBUG 0
#endif
#endif

/* As ASSERT(), but checked in debug builds only. */
#define DEBUG_ASSERT(cond)                                                                         \
	do {                                                                                       \
		if (KERNEL_DEBUG)                                                                  \
			ASSERT(cond);                                                              \
	} while (0)

#endif

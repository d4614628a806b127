/*
 * Build-time choices of kernel/. The Makefile passes -DKERNEL_DEBUG=1 for `make DEBUG=1`; code asks
 * with `if (KERNEL_DEBUG)`, so that both ways always compile.
 */
#ifndef KERNEL_CONFIG_H
#define KERNEL_CONFIG_H

#ifndef KERNEL_DEBUG
#define KERNEL_DEBUG 0
#endif

/* As ASSERT(), but checked in debug builds only. */
#define DEBUG_ASSERT(cond)                                                                         \
	do {                                                                                       \
		if (KERNEL_DEBUG)                                                                  \
			ASSERT(cond);                                                              \
	} while (0)

#endif

/*
 * Limits of the running program, by Linux's numbers. The kernel's own threads have none.
 *
 * Context: thread.
 */
#ifndef KERNEL_RLIMIT_H
#define KERNEL_RLIMIT_H

#include <kernel/base.h>

enum {
	RLIMIT_CPU = 0,	    /* seconds of processor time */
	RLIMIT_FSIZE = 1,   /* bytes of a file */
	RLIMIT_DATA = 2,    /* bytes of private memory that can be written */
	RLIMIT_STACK = 3,   /* bytes */
	RLIMIT_CORE = 4,    /* bytes; no core is written */
	RLIMIT_NPROC = 6,   /* threads of a user */
	RLIMIT_NOFILE = 7,  /* descriptors are below */
	RLIMIT_MEMLOCK = 8, /* bytes that a call locks */
	RLIMIT_AS = 9,	    /* bytes of addresses */
	NR_RLIMITS = 16
};
#define RLIM_INFINITY UINT64_MAX

#ifdef WITH_PROCESSES

/* The one that is in force; RLIM_INFINITY: there is none. */
uint64_t rlimit(unsigned int resource);
/*
 * How many of `len` bytes at `pos` of a file may be written. 0 of more: the program has got SIGXFSZ, and the call's
 * result is to be -EFBIG.
 */
size_t rlimit_file_room(uint64_t pos, size_t len);

#else

static inline size_t rlimit_file_room(uint64_t pos, size_t len)
{
	(void)pos;
	return len;
}

#endif

#endif

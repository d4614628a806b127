/*
 * The surroundings of kernel/ code under test on the build host: memory from malloc (so that ASan
 * sees every byte too far), strings and the formatter from the C library.
 */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stddef.h>

/* Allocations alive. */
extern _Atomic long host_live;
/* The n-th allocation from now on fails, and all after it; negative: none. */
extern long host_fail_at;
/* Only that one fails. */
extern bool host_fails_once;

#endif

/*
 * The inline answers to <trace/arch_host.h>: text is written in place. The others are in patch_int3.c and patch_stop.c.
 */
#ifndef TRACE_ARCH_INLINE_HOST_H
#define TRACE_ARCH_INLINE_HOST_H

#include <trace/arch_in_place.h>

#endif

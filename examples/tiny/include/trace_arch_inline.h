/*
 * This kernel's part of <trace/arch_host.h>: all of it is the library's. linker.ld has text_start and text_end.
 */
#ifndef TRACE_ARCH_INLINE_HOST_H
#define TRACE_ARCH_INLINE_HOST_H

#include <trace/arch_one_cpu.h>

#endif

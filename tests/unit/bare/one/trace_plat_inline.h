/*
 * The inline half of a host with one CPU and nothing else: what is called besides turns up in
 * `nm -u`.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H

#include <trace/one_cpu.h>

#endif

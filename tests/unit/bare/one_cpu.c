/*
 * The inline functions of a host with one CPU, for tests/unit/bare/profiles: compiled so that each
 * is there, in a section of its own, with what it calls.
 */
#include <trace/compiler.h>
#undef TRACE_ALWAYS_INLINE
#define TRACE_ALWAYS_INLINE inline /* the compiler keeps no others */
#include <trace/platform.h>

/*
 * The few compiler attributes that trace/ relies on. Understood by gcc and clang.
 */
#ifndef TRACE_COMPILER_H
#define TRACE_COMPILER_H

#define TRACE_NOTRACE	      __attribute__((no_instrument_function))
#define TRACE_NOINLINE	      __attribute__((noinline))
#define TRACE_ALWAYS_INLINE   inline __attribute__((always_inline))
#define TRACE_PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))
#define TRACE_LIKELY(x)	      __builtin_expect(!!(x), 1)
#define TRACE_UNLIKELY(x)     __builtin_expect(!!(x), 0)
/* What a site can call directly: a function in C that keeps all registers, also those that a C
 * function need not. Its arguments are those of the traced function. */
#define TRACE_DIRECT __attribute__((no_instrument_function, no_caller_saved_registers))

#endif

/*
 * The few compiler attributes that trace/ relies on, and definitions for C++. Understood by gcc and
 * clang.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_COMPILER_H
#define TRACE_COMPILER_H

/*
 * TRACE_BEGIN_DECLS and TRACE_END_DECLS stand around the declarations of a header, so that C++
 * takes them as C. TRACE_EXTERN_C, written instead of `extern`, does the same for one declaration.
 */
#ifdef __cplusplus
#define TRACE_EXTERN_C	  extern "C"
#define TRACE_BEGIN_DECLS extern "C" {
#define TRACE_END_DECLS	  }
#else
#define TRACE_EXTERN_C extern
#define TRACE_BEGIN_DECLS
#define TRACE_END_DECLS
#endif

/* Members named `private`: that is a keyword of C++, where they are called private_. */
#ifdef __cplusplus
#define TRACE_PRIVATE private_
#else
#define TRACE_PRIVATE private
#endif

#define TRACE_NOTRACE	      __attribute__((no_instrument_function))
#define TRACE_NOINLINE	      __attribute__((noinline))
#define TRACE_ALWAYS_INLINE   inline __attribute__((always_inline))
#define TRACE_PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))
#define TRACE_UNUSED	      __attribute__((unused))
#define TRACE_LIKELY(x)	      __builtin_expect(!!(x), 1)
#define TRACE_UNLIKELY(x)     __builtin_expect(!!(x), 0)
/* For the C function that an entry for direct calls calls: see TRACE_DIRECT() in platform_ops.h. */
#define TRACE_DIRECT_BODY __attribute__((no_instrument_function, used))

/* Marks a default of <trace/platform.h>: a function of the host with the same name replaces it. */
#define TRACE_DEFAULT __attribute__((weak))

/*
 * An empty piece of the section `name`, beside the declarations of __start_NAME and __stop_NAME:
 * the linker defines these two even where nothing else is in the section. They are not weak, so a
 * linker script that drops the section does not link.
 */
#define TRACE_SECTION(name) __asm__(".pushsection " #name ", \"a\"\n\t.popsection")

/* Make the compiler keep `value` in a register, and forget how it was computed. */
#define TRACE_OPAQUE(value) __asm__("" : "+r"(value))

#endif

/* Types, error numbers, assertions and the log, for every file of kernel/ and arch/. */
#ifndef KERNEL_BASE_H
#define KERNEL_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/errno.h>

typedef int64_t ssize_t;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* `a` is a power of two. */
#define ALIGN_UP(x, a)			(((x) + (a)-1) & ~((a)-1))
#define ALIGN_DOWN(x, a)		((x) & ~((a)-1))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Do the `len` bytes at `addr` and the `bytes` at `start` have some in common? */
static inline bool ranges_overlap(uintptr_t addr, size_t len, uintptr_t start, size_t bytes)
{
	return addr + len > start && addr < start + bytes;
}

#define PAGE_SIZE  4096ul
#define PAGE_SHIFT 12

#define MAX_CPUS 64 /* at most: masks of CPUs are one uint64_t */

/* Levels as in Linux: lower is more urgent. */
enum log_level {
	LOG_ERR = 3,
	LOG_WARN = 4,
	LOG_INFO = 6,
	LOG_DEBUG = 7
};

/*
 * Put a message, which ends with a newline, into the dmesg ring and on the console. Longer ones
 * than PRINTK_LINE_MAX are cut. Any context.
 */
void printk(enum log_level level, const char *fmt, ...) TRACE_PRINTF(2, 3);
#define pr_err(...)  printk(LOG_ERR, __VA_ARGS__)
#define pr_warn(...) printk(LOG_WARN, __VA_ARGS__)
#define pr_info(...) printk(LOG_INFO, __VA_ARGS__)

/*
 * A message of level LOG_WARN about a fault of kernel or machine that is survived. Tracing is told
 * first, and may stop then: traceoff_on_warning. Any context.
 */
#define kernel_warning(...)                                                                        \
	do {                                                                                       \
		kernel_warn(__VA_ARGS__);                                                          \
		__asm__ volatile(""); /* a jump as the last call would hide the caller */          \
	} while (0)
void kernel_warn(const char *fmt, ...) TRACE_PRINTF(1, 2);

/* Stop the machine: prints `PANIC: ` and the message, registers, backtraces. Any context. */
void panic(const char *fmt, ...) TRACE_PRINTF(1, 2) __attribute__((noreturn, cold));

/* Checked in every build: a broken invariant stops the kernel. */
#define ASSERT(cond)                                                                               \
	do {                                                                                       \
		if (__builtin_expect(!(cond), 0))                                                  \
			panic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #cond);           \
	} while (0)

#endif

/*
 * System calls and a little output for the programs of tests/user, which have no C library. Each program
 * has a function main_program(sp), with sp at argc, and ends by sys_exit().
 */
#ifndef NOLIB_H
#define NOLIB_H

#include <stddef.h>
#include <stdint.h>

static inline long syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

struct stat {
	uint64_t dev, ino, nlink;
	uint32_t mode, uid, gid, pad;
	uint64_t rdev;
	int64_t size, blksize, blocks;
	uint64_t atime[2], mtime[2], ctime[2]; /* seconds and nanoseconds */
	uint64_t unused[3];
};

#define CALL0(nr)	      syscall6(nr, 0, 0, 0, 0, 0, 0)
#define CALL1(nr, a)	      syscall6(nr, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(nr, a, b)	      syscall6(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(nr, a, b, c)    syscall6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(nr, a, b, c, d) syscall6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

#define NR_READ	      0
#define NR_WRITE      1
#define NR_OPEN	      2
#define NR_MMAP	      9
#define NR_MPROTECT   10
#define NR_MUNMAP     11
#define NR_BRK	      12
#define NR_PREAD      17
#define NR_MREMAP     25
#define NR_MSYNC      26
#define NR_MINCORE    27
#define NR_MADVISE    28
#define NR_GETPID     39
#define NR_FORK	      57
#define NR_VFORK      58
#define NR_EXECVE     59
#define NR_WAIT4      61
#define NR_FTRUNCATE  77
#define NR_UNLINK     87
#define NR_ARCH_PRCTL 158
#define NR_EXIT_GROUP 231

static inline void __attribute__((noreturn)) sys_exit(int status)
{
	for (;;)
		CALL1(NR_EXIT_GROUP, status);
}

static inline size_t text_len(const char *text)
{
	size_t len = 0;

	while (text[len])
		len++;
	return len;
}

static inline void put(const char *text)
{
	CALL3(NR_WRITE, 1, text, text_len(text));
}

static inline void put_number(long value)
{
	char digits[24], *at = digits + sizeof(digits);
	unsigned long left = value < 0 ? -(unsigned long)value : (unsigned long)value;

	*--at = '\0';
	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		*--at = '-';
	put(at);
}

static inline void say(const char *name, long value)
{
	put(name);
	put(" ");
	put_number(value);
	put("\n");
}

/* For programs that test: end with the line of a check that does not hold. */
#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			say("failed: line", __LINE__);                                             \
			put("wrong: " #cond "\n");                                                 \
			sys_exit(1);                                                               \
		}                                                                                  \
	} while (0)

static inline int text_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

void main_program(long *sp) __attribute__((noreturn));

__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call main_program\n");

#endif

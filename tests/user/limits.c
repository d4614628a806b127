/*
 * Tests of limits: what they say, who may raise them, and what happens to a program that reaches one. To be started by
 * root. Ends with 0, or with the line of the check that failed.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_RT_SIGPROCMASK = 14,
	NR_WRITEV = 20,
	NR_DUP = 32,
	NR_DUP2 = 33,
	NR_FCNTL = 72,
	NR_GETRLIMIT = 97,
	NR_SETUID = 105,
	NR_GETPPID = 110,
	NR_CAPGET = 125,
	NR_RT_SIGPENDING = 127,
	NR_SETRLIMIT = 160,
	NR_FALLOCATE = 285,
	NR_PRLIMIT = 302
};

enum {
	EPERM = 1,
	ESRCH = 3,
	E2BIG = 7,
	EBADF = 9,
	EAGAIN = 11,
	ENOMEM = 12,
	EINVAL = 22,
	EMFILE = 24,
	EFBIG = 27,
	EOPNOTSUPP = 95
};
enum {
	FSIZE = 1,
	DATA = 2,
	STACK = 3,
	CORE = 4,
	NPROC = 6,
	NOFILE = 7,
	AS = 9
};
enum {
	SIGSEGV = 11,
	SIGXFSZ = 25
};

#define INFINITE (~0ul)
#define MIB	 (1ul << 20)
#define FILE	 "/tmp/limits"

struct limit {
	unsigned long cur, max;
};

static struct limit limit_of(int resource)
{
	struct limit limit;

	CHECK(CALL2(NR_GETRLIMIT, resource, &limit) == 0);
	return limit;
}

static long set(int resource, unsigned long cur, unsigned long max)
{
	const struct limit limit = { cur, max };

	return CALL2(NR_SETRLIMIT, resource, &limit);
}

/* Run `fn` in a child. Its status, as wait4() tells it. */
static int in_child(void (*fn)(void))
{
	int status = -1;
	long pid = CALL0(NR_FORK);

	if (!pid) {
		fn();
		sys_exit(0);
	}
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid);
	return status;
}

/* CAP_SYS_RESOURCE, which root may lack in a container. */
static int may_raise(void)
{
	const uint32_t head[2] = { 0x20080522, 0 };
	uint32_t caps[6];

	CHECK(CALL2(NR_CAPGET, head, caps) == 0);
	return caps[0] >> 24 & 1;
}

static void asking(void)
{
	struct limit limit;

	CHECK(limit_of(STACK).cur == 8 * MIB);
	CHECK(limit_of(NOFILE).cur <= limit_of(NOFILE).max);
	CHECK(CALL2(NR_GETRLIMIT, 16, &limit) == -EINVAL);
	CHECK(CALL4(NR_PRLIMIT, 0x7ffffff0, NOFILE, 0, &limit) == -ESRCH);
	CHECK(set(FSIZE, 2, 1) == -EINVAL);
	CHECK(set(FSIZE, 5000, 6000) == 0 && limit_of(FSIZE).cur == 5000 &&
	      limit_of(FSIZE).max == 6000);
	CHECK(set(FSIZE, 5000, 7000) == (may_raise() ? 0 : -EPERM));
	CHECK(set(FSIZE, 5000, 6000) == 0);
	CHECK(set(NOFILE, 0, 1ul << 40) == -EPERM); /* more than there can be */
	CHECK(CALL1(NR_SETUID, 1000) == 0);
	CHECK(set(FSIZE, 6000, 6000) == 0 && set(FSIZE, 6000, 6001) == -EPERM);
	CHECK(set(FSIZE, 10, 20) == 0 && set(FSIZE, 20, 20) == 0);
	limit = (struct limit){ 1, 1 };
	CHECK(CALL4(NR_PRLIMIT, CALL0(NR_GETPPID), FSIZE, &limit, 0) == -EPERM);
}

/* A child has its parent's, and another process may be asked. */
static void inherited(void)
{
	struct limit limit;

	CHECK(limit_of(CORE).cur == 77);
	CHECK(CALL4(NR_PRLIMIT, CALL0(NR_GETPPID), CORE, 0, &limit) == 0 && limit.cur == 77);
	limit.cur = 78;
	CHECK(CALL4(NR_PRLIMIT, CALL0(NR_GETPPID), CORE, &limit, 0) == 0);
}

static void descriptors(void)
{
	long fd = CALL1(NR_DUP, 0);

	CHECK(fd >= 0 && set(NOFILE, (unsigned long)fd + 2, 200) == 0);
	CHECK(CALL1(NR_DUP, 0) == fd + 1 && CALL1(NR_DUP, 0) == -EMFILE);
	CHECK(CALL3(NR_OPEN, "/", 0, 0) == -EMFILE);
	CHECK(CALL2(NR_DUP2, 0, fd + 2) == -EBADF && CALL2(NR_DUP2, 0, fd + 1) == fd + 1);
	CHECK(CALL3(NR_FCNTL, 0, 0, fd + 2) == -EINVAL);
	CHECK(CALL1(NR_CLOSE, fd) == 0 && CALL1(NR_DUP, 0) == fd);
}

/* A write stops at the limit; one that begins there is refused, and a signal comes. */
static void files(void)
{
	const uint64_t xfsz = 1ul << (SIGXFSZ - 1);
	uint64_t pending = 0;
	long fd = CALL3(NR_OPEN, FILE, 0102, 0600);

	CHECK(fd >= 0 && set(FSIZE, 10, INFINITE) == 0);
	CHECK(CALL4(NR_RT_SIGPROCMASK, 0, &xfsz, 0, 8) == 0);
	CHECK(CALL3(NR_WRITE, fd, "0123456789abcdef", 16) == 10);
	CHECK(CALL2(NR_RT_SIGPENDING, &pending, 8) == 0 && !pending);
	CHECK(CALL3(NR_WRITE, fd, "x", 0) == 0);
	CHECK(CALL3(NR_WRITE, fd, "x", 1) == -EFBIG);
	CHECK(CALL2(NR_RT_SIGPENDING, &pending, 8) == 0 && pending == xfsz);
	CHECK(CALL2(NR_FTRUNCATE, fd, 11) == -EFBIG && CALL2(NR_FTRUNCATE, fd, 4) == 0);
	CHECK(CALL4(NR_FALLOCATE, fd, 0, 0, 8) == 0 && CALL4(NR_FALLOCATE, fd, 0, 2, 9) == -EFBIG);
	CHECK(CALL4(NR_FALLOCATE, fd, 1, 0, 8) == 0 &&
	      CALL4(NR_FALLOCATE, fd, 64, 0, 8) == -EOPNOTSUPP);
	CHECK(CALL4(NR_FALLOCATE, fd, 0, 0, 0) == -EINVAL);
	CHECK(syscall6(8, fd, 0, 2, 0, 0, 0) == 8);
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

static void file_signal(void)
{
	long fd = CALL3(NR_OPEN, FILE, 01, 0);

	CHECK(set(FSIZE, 0, INFINITE) == 0);
	CALL3(NR_WRITE, fd, "x", 1);
}

static long map(unsigned long bytes, int prot)
{
	return syscall6(NR_MMAP, 0, (long)bytes, prot, 0x22, -1, 0);
}

static void addresses(void)
{
	long brk = CALL1(NR_BRK, 0);

	CHECK(set(AS, 20 * MIB, INFINITE) == 0);
	CHECK(map(32 * MIB, 3) == -ENOMEM && map(32 * MIB, 0) == -ENOMEM);
	CHECK(map(4 * MIB, 3) > 0);
	CHECK(CALL1(NR_BRK, (unsigned long)brk + 32 * MIB) == brk);
	CHECK(CALL1(NR_BRK, brk + 4096) == brk + 4096);
}

/* A mapping in place of others, which stay when it is refused; they make room for it. */
static void in_place(void)
{
	char *at = (char *)map(8 * MIB, 3);

	CHECK((long)at > 0);
	at[0] = at[8 * MIB - 1] = 'x';
	CHECK(set(AS, 12 * MIB, INFINITE) == 0);
	CHECK(syscall6(NR_MMAP, (long)at, (long)(16 * MIB), 3, 0x32, -1, 0) == -ENOMEM);
	CHECK(at[0] == 'x' && at[8 * MIB - 1] == 'x');
	CHECK(syscall6(NR_MMAP, (long)(at + MIB), (long)(7 * MIB), 3, 0x32, -1, 0) > 0);
	CHECK(at[0] == 'x' && at[8 * MIB - 1] == 0);
}

static void data(void)
{
	CHECK(set(DATA, 20 * MIB, INFINITE) == 0);
	CHECK(map(32 * MIB, 3) == -ENOMEM && map(4 * MIB, 3) > 0);
	CHECK(map(32 * MIB, 1) > 0); /* what cannot be written is none */
}

static __attribute__((noinline)) char deep(int levels)
{
	volatile char frame[4096];
	char below;

	frame[levels % 4096] = (char)levels;
	below = levels ? deep(levels - 1) : 0;
	return (char)(below + frame[levels % 4096]);
}

static void stack_is_enough(void)
{
	deep(500);
}

static void stack_ends(void)
{
	CHECK(set(STACK, MIB, INFINITE) == 0);
	deep(500);
}

static void tasks(void)
{
	CHECK(set(NPROC, 1, 1) == 0);
	CHECK(CALL1(NR_SETUID, 54321) == 0);
	CHECK(CALL0(NR_FORK) == -EAGAIN);
}

#define LONGEST (128u << 10) /* bytes of one argument, with its end */
#define MANY                                                                                       \
	65 /* arguments of 32 KiB: more than a quarter of the stack, of which that is too much */

static char text[LONGEST + 1];

static void fill_text(size_t len)
{
	for (volatile size_t i = 0; i < len; i++)
		text[i] = 'x';
}

/* Be the same program with `nr` arguments of text behind the name of the test. */
static long again_with(const char *name, int nr)
{
	static char *argv[MANY + 3];

	argv[0] = "limits";
	argv[1] = (char *)name;
	for (int i = 0; i < nr; i++)
		argv[i + 2] = text;
	argv[nr + 2] = 0;
	return CALL3(NR_EXECVE, "/proc/self/exe", argv, argv + nr + 2);
}

static void an_argument(void)
{
	fill_text(LONGEST);
	CHECK(again_with("longest", 1) == -E2BIG);
	text[LONGEST - 1] = '\0';
	again_with("longest", 1);
	CHECK(0);
}

static void all_arguments(void)
{
	fill_text(32767);
	CHECK(again_with("many", MANY) == -E2BIG);
	again_with("many", MANY - 3);
	CHECK(0);
}

/* The program that the two above have started. */
static void began_again(int argc, char **argv)
{
	size_t len = 0, want = argv[1][0] == 'l' ? LONGEST - 1 : 32767;

	while (argv[argc - 1][len])
		len++;
	CHECK(len == want && argc == (argv[1][0] == 'l' ? 3 : MANY - 1));
	CHECK(!argv[argc] && !argv[argc + 1]);
	deep(64);
	sys_exit(0);
}

void main_program(long *sp)
{
	if (*sp > 2)
		began_again((int)*sp, (char **)(sp + 1));
	CHECK(in_child(asking) == 0);
	CHECK(set(CORE, 77, INFINITE) == 0 && in_child(inherited) == 0 && limit_of(CORE).cur == 78);
	CHECK(set(CORE, 0, INFINITE) == 0);
	CHECK(in_child(descriptors) == 0);
	CHECK(in_child(files) == 0);
	CHECK((in_child(file_signal) & 0x7f) == SIGXFSZ);
	CHECK(CALL1(NR_UNLINK, FILE) == 0);
	CHECK(in_child(addresses) == 0 && in_child(in_place) == 0 && in_child(data) == 0);
	CHECK(in_child(stack_is_enough) == 0 && (in_child(stack_ends) & 0x7f) == SIGSEGV);
	CHECK(in_child(tasks) == 0);
	CHECK(in_child(an_argument) == 0 && in_child(all_arguments) == 0);
	put("limits are as they should be\n");
	sys_exit(0);
}

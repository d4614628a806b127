/*
 * User events as a program has them. Without arguments: tests, which end with 0, or with the line of the check that failed; so they
 * do on Linux. `user_events emit N`: writes the event `emitted` N times, by its bit if that is 1.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_IOCTL = 16,
	NR_WRITEV = 20,
	NR_SCHED_YIELD = 24
};

enum {
	ENOENT = 2,
	E2BIG = 7,
	EBADF = 9,
	EFAULT = 14,
	EBUSY = 16,
	EINVAL = 22,
	ENOTTY = 25,
	EADDRINUSE = 98
};

#define TRACING "/sys/kernel/tracing/"
#define EVENTS	TRACING "events/user_events/"
#define REG	0xc0082a00l
#define DEL	0x40082a01l
#define UNREG	0x40082a02l
#define PAGE	4096l

struct reg {
	unsigned int size;
	unsigned char bit, bytes;
	unsigned short flags;
	unsigned long addr, text;
	unsigned int index;
} __attribute__((packed));

struct unreg {
	unsigned int size;
	unsigned char bit, reserved;
	unsigned short reserved2;
	unsigned long addr;
} __attribute__((packed));

struct place {
	const void *at;
	unsigned long len;
};

static volatile unsigned int word;
static volatile unsigned long wide;
static int data;

static long open_file(const char *name, int flags)
{
	return CALL3(NR_OPEN, name, flags, 0);
}

/* The index, or -errno. */
static long reg_at(const char *text, volatile void *at, int bit, int bytes)
{
	struct reg reg = { .size = sizeof(reg),
			   .bit = (unsigned char)bit,
			   .bytes = (unsigned char)bytes,
			   .addr = (unsigned long)at,
			   .text = (unsigned long)text,
			   .index = 77 };
	long err = CALL3(NR_IOCTL, data, REG, &reg);

	return err ? err : (long)reg.index;
}

static long reg(const char *text, int bit)
{
	return reg_at(text, &word, bit, sizeof(word));
}

static long unreg_at(volatile void *at, int bit)
{
	struct unreg unreg = { .size = sizeof(unreg),
			       .bit = (unsigned char)bit,
			       .addr = (unsigned long)at };

	return CALL3(NR_IOCTL, data, UNREG, &unreg);
}

static long unreg(int bit)
{
	return unreg_at(&word, bit);
}

static long emit(int index, const void *values, unsigned long len)
{
	struct place places[] = { { &index, sizeof(index) }, { values, len } };

	return CALL3(NR_WRITEV, data, places, 2);
}

static long write_file(const char *name, const char *text)
{
	int fd = (int)open_file(name, 1);
	long result = CALL3(NR_WRITE, fd, text, text_len(text));

	CALL1(NR_CLOSE, fd);
	return fd < 0 ? fd : result < 0 ? result : 0;
}

static void wait_for(int pid)
{
	int status = -1;

	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && !status);
}

/* ---- Registering ---- */

static void test_registering(void)
{
	CHECK(reg("__tested u32 one; u32 two", 31) == 0 && !word);
	CHECK(reg("__tested u32 one; u32 two", 31) == -EADDRINUSE);
	CHECK(reg("__tested u32 one;u32 two;", 30) == 0);
	CHECK(reg("__tested u32 one;", 29) == -EADDRINUSE);
	CHECK(reg("__tested u32 one; s32 two", 29) == -EADDRINUSE);
	CHECK(reg("__other", 29) == 1);
	CHECK(!unreg(31) && !unreg(30) && !unreg(29));
	CHECK(unreg(31) == -ENOENT);
}

static void test_mistakes(void)
{
	static const char *const bad[] = { "",
					   "a:b u32 c",
					   "a b",
					   "a u32",
					   "a u32 b c",
					   "a long b",
					   "a char[0] b",
					   "a char[1025] b",
					   "a char[4 b",
					   "a u8[4] b",
					   "a unsigned u32 b",
					   "a struct s b",
					   "a struct s b 0",
					   "a struct s b 4 c",
					   "a __data_loc char b",
					   "a __rel_loc char[4] b",
					   "a u32 b-c",
					   "enable u32 b" };
	struct reg one = { .size = sizeof(one), .bytes = 4, .addr = (unsigned long)&word };
	struct {
		struct reg reg;
		char more;
	} long_one = { .reg = one };

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (reg(bad[i], 0) != -EINVAL)
			put(bad[i]), sys_exit(1);
	CHECK(reg("a u32 b", 32) == -EINVAL && reg_at("a u32 b", &wide, 64, 8) == -EINVAL);
	CHECK(reg_at("a u32 b", &word, 0, 2) == -EINVAL);
	CHECK(reg_at("a u32 b", (char *)&word + 1, 0, 4) == -EINVAL);
	CHECK(reg_at("a u32 b", (void *)PAGE, 0, 4) == -EFAULT);
	CHECK(reg((char *)PAGE, 0) == -EFAULT);
	one.text = (unsigned long)"a u32 b";
	one.flags = 4;
	CHECK(CALL3(NR_IOCTL, data, REG, &one) == -EINVAL);
	one.flags = 0;
	one.size--;
	CHECK(CALL3(NR_IOCTL, data, REG, &one) == -EINVAL);
	one.size = PAGE + 1;
	CHECK(CALL3(NR_IOCTL, data, REG, &one) == -E2BIG);
	long_one.reg.text = one.text;
	long_one.reg.size = sizeof(long_one);
	long_one.more = 1;
	CHECK(CALL3(NR_IOCTL, data, REG, &long_one) == -E2BIG);
	long_one.more = 0;
	CHECK(!CALL3(NR_IOCTL, data, REG, &long_one) && !unreg(0));
	CHECK(CALL3(NR_IOCTL, data, 1, 0) == -ENOTTY && CALL3(NR_IOCTL, data, REG, 8) == -EFAULT);
	CHECK(CALL3(NR_IOCTL, data, DEL, "__none") == -ENOENT);
}

/* ---- Writing ---- */

static void test_writing(void)
{
	static const struct {
		unsigned int one, two;
	} values = { 1, 2 };
	int index = (int)reg("__tested u32 one; u32 two", 5);

	CHECK(index >= 0 && !word && emit(index, &values, sizeof(values)) == -EBADF);
	CHECK(!write_file(EVENTS "__tested/enable", "1"));
	CHECK(word == 1u << 5);
	CHECK(emit(index, &values, sizeof(values)) == sizeof(index) + sizeof(values));
	CHECK(emit(index, &values, sizeof(values) - 1) == -EINVAL);
	CHECK(emit(-1, &values, sizeof(values)) == -EINVAL &&
	      emit(99, &values, sizeof(values)) == -ENOENT);
	CHECK(emit(index, (void *)PAGE, sizeof(values)) == -EFAULT);
	CHECK(CALL3(NR_WRITE, data, &index, 2) == -EFAULT);
	/* A second bit is right from its beginning; one that is given back is 0. */
	CHECK(reg_at("__tested u32 one; u32 two", &wide, 63, 8) == index && wide == 1ul << 63);
	CHECK(!unreg_at(&wide, 63) && !wide && word == 1u << 5);
	CHECK(CALL3(NR_IOCTL, data, DEL, "__tested") == -EBUSY);
	CHECK(!write_file(EVENTS "__tested/enable", "0") && !word && !unreg(5));
}

/* Words that describe the values behind them. */
static void test_texts(void)
{
	struct {
		unsigned int word;
		char text[4];
	} rel = { 4 << 16, "abc" };
	int index = (int)reg("__texts __rel_loc char[] text", 6);
	int located = (int)reg("__located __data_loc char[] text", 7);

	CHECK(!write_file(EVENTS "__texts/enable", "1") &&
	      !write_file(EVENTS "__located/enable", "1"));
	CHECK(word == 3u << 6);
	CHECK(emit(index, &rel, sizeof(rel)) == 12);
	rel.word = 5 << 16;
	CHECK(emit(index, &rel, sizeof(rel)) == -EFAULT);
	rel.word = 4 << 16 | 1;
	CHECK(emit(index, &rel, sizeof(rel)) == -EFAULT);
	rel.word = 3 << 16;
	CHECK(emit(index, &rel, sizeof(rel)) == -EFAULT); /* no NUL at its end */
	rel.word = 4 << 16 | 12;
	CHECK(emit(located, &rel, sizeof(rel)) == 12);
	rel.word = 4 << 16 | 13;
	CHECK(emit(located, &rel, sizeof(rel)) == -EFAULT && emit(located, &rel, 3) == -EINVAL);
	CHECK(!write_file(EVENTS "__texts/enable", "0") &&
	      !write_file(EVENTS "__located/enable", "0"));
	CHECK(!word && !unreg(6) && !unreg(7));
}

/* ---- Address spaces ---- */

static void test_forks(void)
{
	int index = (int)reg("__tested u32 one; u32 two", 8), pid;

	pid = (int)CALL0(NR_FORK);
	if (!pid) {
		CHECK(!word && !write_file(EVENTS "__tested/enable", "1") && word == 1u << 8);
		CHECK(!unreg(8) && !word && unreg(8) == -ENOENT);
		sys_exit(0);
	}
	wait_for(pid);
	CHECK(word == 1u << 8); /* the parent has its own */
	CHECK(emit(index, "12345678", 8) == 12);
	pid = (int)CALL0(NR_FORK);
	if (!pid) {
		static char path[] = "/proc/self/exe", name[] = "user_events", arg[] = "nothing";
		char *argv[] = { name, arg, NULL };

		CHECK(word == 1u << 8);
		CALL3(NR_EXECVE, path, argv, NULL);
		sys_exit(1);
	}
	wait_for(pid);
	CHECK(!write_file(EVENTS "__tested/enable", "0") && !word && !unreg(8));
	/* Memory that has gone is none of an event's business. */
	CHECK(reg_at("__tested u32 one; u32 two", (void *)CALL4(NR_MMAP, 0, PAGE, 3, 0), 0, 4) < 0);
}

static void test_unmapped(void)
{
	char *page = (char *)syscall6(NR_MMAP, 0, PAGE, 3, 0x22, -1, 0);

	CHECK(reg_at("__tested u32 one; u32 two", page, 0, 4) >= 0);
	CHECK(!CALL2(NR_MUNMAP, page, PAGE));
	CHECK(!write_file(EVENTS "__tested/enable", "1") &&
	      !write_file(EVENTS "__tested/enable", "0"));
	CHECK(unreg_at(page, 0) == -EFAULT && unreg_at(page, 0) == -ENOENT);
}

/* Without references an event goes by itself: soon, as that is the work of another thread. */
static void end_tested(void)
{
	int fd;

	CALL1(NR_CLOSE, data);
	while ((fd = (int)open_file(EVENTS "__tested/enable", 0)) >= 0) {
		CALL1(NR_CLOSE, fd);
		CALL0(NR_SCHED_YIELD);
	}
}

static void test_ends(void)
{
	end_tested();
	data = (int)open_file(TRACING "user_events_data", 2);
	CHECK(reg("__tested s64 other", 9) == 0 && !unreg(9));
	end_tested(); /* or the next run finds it with these fields */
}

static void test_all(void)
{
	test_registering();
	test_mistakes();
	test_writing();
	test_texts();
	test_forks();
	test_unmapped();
	test_ends();
}

static void emit_some(const char *number)
{
	struct {
		unsigned int count;
		long left;
		char name[8];
		unsigned char mark;
		unsigned int word;
		char text[6];
	} __attribute__((packed)) values = { 0, 0, "name", 'x', 6 << 16, "texts" };
	int most = number[0] - '0';
	int index = (int)reg(
		"emitted u32 count; s64 left; char[8] name; u8 mark; __rel_loc char[] text", 0);

	for (int i = 0; i < most; i++) {
		values.count = (unsigned int)i;
		values.left = i - most;
		if (word)
			CHECK(emit(index, &values, sizeof(values)) ==
			      sizeof(index) + sizeof(values));
	}
}

void main_program(long *sp)
{
	char **argv = (char **)(sp + 1);

	data = (int)open_file(TRACING "user_events_data", 2);
	CHECK(data >= 0);
	if (*sp == 1)
		test_all();
	else if (text_equal(argv[1], "emit"))
		emit_some(argv[2]);
	sys_exit(0);
}

/*
 * The frame of programs that test threads: stacks for some, and the test that the argument names.
 */
#ifndef THREADS_TESTS_H
#define THREADS_TESTS_H

#include "threads.h"

static char stacks[8][8192] __attribute__((aligned(16)));
static int tids[8]; /* written by clone(), cleared at the end of the thread */
static int gate __attribute__((unused));

static inline long thread_of(int i, void (*fn)(long), long arg)
{
	return new_thread(stacks[i] + sizeof(stacks[i]), &tids[i], fn, arg);
}

static inline int word_now(int *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* A path with a number in it. */
static inline void put_path(char *to, const char *before, int number, const char *after)
{
	char digits[12];
	int nr = 0;

	while (*before)
		*to++ = *before++;
	do
		digits[nr++] = (char)('0' + number % 10);
	while (number /= 10);
	while (nr > 0)
		*to++ = digits[--nr];
	while ((*to++ = *after++))
		;
}

/* Its beginning, with a NUL behind. */
static inline long read_file(const char *path, char *to, long bytes)
{
	long fd = CALL3(NR_OPEN, path, 0, 0), got;

	if (fd < 0)
		return fd;
	got = CALL3(NR_READ, fd, to, bytes - 1);
	CALL1(NR_CLOSE, fd);
	to[got > 0 ? got : 0] = '\0';
	return got;
}

struct test {
	const char *name;
	void (*run)(void);
};

static inline void __attribute__((noreturn)) run_test(long *sp, const struct test *tests, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (!text_equal(sp[0] > 1 ? (const char *)sp[2] : "", tests[i].name))
			continue;
		tests[i].run();
		put(tests[i].name);
		put(" is right\n");
		sys_exit(0);
	}
	sys_exit(2);
}

#endif

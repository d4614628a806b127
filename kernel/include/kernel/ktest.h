/*
 * Unit tests that run inside the kernel: the shell command `ktest`.
 *
 * Context: thread. A test returns; failed checks are counted and printed.
 */
#ifndef KERNEL_KTEST_H
#define KERNEL_KTEST_H

#include <kernel/base.h>

struct ktest {
	const char *name;
	void (*fn)(void);
};

void ktest_check(bool ok, const char *file, int line, const char *text);
#define KTEST_CHECK(cond) ktest_check((cond), __FILE__, __LINE__, #cond)

/* Each test file's table ends with a NULL name. */
extern const struct ktest ktest_mm[];
extern const struct ktest ktest_lock[];
extern const struct ktest ktest_timer[];
extern const struct ktest ktest_thread[];

/*
 * Run tests whose name contains `filter` (NULL: all), telling `print` each result and at the end
 * "N passed, N failed". Returns the number of failed tests.
 */
int ktest_run(const char *filter, void (*print)(const char *line, void *arg), void *arg);

#endif

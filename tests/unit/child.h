/*
 * Tests that need a life of the library for themselves: each runs in a process of its own. To be
 * included by one test file, after unit.h.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Run `boot` as the only life of the library; it asserts, and exits with 0. */
static inline void in_child(void (*boot)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		/* Helpers that assert may not go on to the next test. */
		setenv("CMOCKA_TEST_ABORT", "1", 1);
		boot();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* cmocka's assertions end the test, not the process. */
#define EXPECT(cond)                                                                               \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                 \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#endif

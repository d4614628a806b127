/*
 * Memory that goes, changes its rights or is copied while other threads use it, on other CPUs. The argument names a test.
 * It ends with 0, or with the line of the check that failed; so it does on Linux.
 */
#include "threads_tests.h"

static char *volatile page;
static int stop_now, nr_forks, nr_seen, nr_faults;

static void on_fault(int sig)
{
	(void)sig;
	__atomic_add_fetch(&nr_faults, 1, __ATOMIC_RELAXED);
	CALL1(NR_EXIT, 0);
}

/* Writes until the page is gone, which is at once, on whatever CPU this runs. */
static void write_on(long i)
{
	char *at = page;

	__atomic_add_fetch(&gate, 1, __ATOMIC_SEQ_CST);
	for (;;)
		*(volatile char *)(at + i) =
			(char)(__atomic_add_fetch(&nr_seen, 1, __ATOMIC_RELAXED));
}

static void memory(void)
{
	set_handler(SIGSEGV, on_fault);
	for (int round = 0; round < 8; round++) {
		char *mine;

		gate = 0;
		page = (char *)syscall6(NR_MMAP, 0, 4096, 3, 0x22, -1, 0);
		for (int i = 0; i < 3; i++)
			thread_of(i, write_on, i);
		wait_for(&gate, 3);
		if (round % 2)
			CHECK(!CALL2(NR_MUNMAP, page, 4096));
		else
			CHECK(!CALL3(NR_MPROTECT, page, 4096, 1));
		/* Memory that may be the page that was given up: no late write comes into it. */
		mine = (char *)syscall6(NR_MMAP, 0x10000000, 65536, 3, 0x32, -1, 0);
		for (int i = 0; i < 65536; i += 4096)
			mine[i] = 0x77;
		for (int i = 0; i < 3; i++)
			wait_zero(&tids[i]);
		for (int i = 0; i < 65536; i++)
			CHECK(mine[i] == (i % 4096 ? 0 : 0x77));
		CALL2(NR_MUNMAP, mine, 65536);
		CALL2(NR_MUNMAP, page, 4096);
	}
	CHECK(nr_faults == 24);
}

static int words[1024];

static void touch_all(long arg)
{
	char *at = (char *)arg;

	__atomic_add_fetch(&gate, 1, __ATOMIC_SEQ_CST);
	while (word_now(&gate) < 4)
		;
	for (int i = 0; i < 256; i++)
		__atomic_add_fetch((int *)(at + i * 4096l), 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 1000; i++)
		__atomic_add_fetch(&words[i], 1, __ATOMIC_RELAXED);
}

/* Several threads touch new pages at once, then pages that a fork has left shared: no write is lost. */
static void faults(void)
{
	int status;

	for (int round = 0; round < 5; round++) {
		char *at = (char *)syscall6(NR_MMAP, 0, 256 * 4096, 3, 0x22, -1, 0);
		long child = CALL0(NR_FORK);

		if (!child)
			for (;;)
				sys_sleep_ms(10000);
		for (int again = 1; again < 3; again++) {
			gate = 0;
			for (int i = 0; i < 4; i++)
				thread_of(i, touch_all, (long)at);
			for (int i = 0; i < 4; i++)
				wait_zero(&tids[i]);
			for (int i = 0; i < 256; i++)
				CHECK(*(int *)(at + i * 4096l) == 4 * again);
		}
		CHECK(!CALL2(NR_KILL, child, SIGKILL) &&
		      CALL4(NR_WAIT4, child, &status, 0, 0) == child);
		CALL2(NR_MUNMAP, at, 256 * 4096);
	}
	for (int i = 0; i < 1000; i++)
		CHECK(words[i] == 40);
}

static void count_and_fork(long i)
{
	int status;
	long child;

	while (!word_now(&stop_now))
		if (i) {
			__atomic_add_fetch(&words[i], 1, __ATOMIC_RELAXED);
		} else {
			child = CALL0(NR_FORK);
			if (!child)
				sys_exit(7);
			CHECK(CALL4(NR_WAIT4, child, &status, 0, 0) == child && status == 7 << 8);
			nr_forks++;
		}
}

/* One forks while the others write. */
static void forks(void)
{
	for (int i = 0; i < 3; i++)
		thread_of(i, count_and_fork, i);
	while (word_now(&nr_forks) < 20 || !word_now(&words[1]) || !word_now(&words[2]))
		sys_sleep_ms(1);
	__atomic_store_n(&stop_now, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 3; i++)
		wait_zero(&tids[i]);
}

#define LONG_NAME                                                                                  \
	"/tmp/a-directory-with-a-name-that-is-rather-long-so-that-it-takes-a-while-to-copy"

static void change_directory(long unused)
{
	(void)unused;
	while (!word_now(&stop_now)) {
		CHECK(CALL1(NR_CHDIR, "/bin") == 0);
		CHECK(CALL1(NR_CHDIR, LONG_NAME) == 0);
	}
}

/* The current directory is one or the other, whenever it is read. */
static void directories(void)
{
	char now[256];

	CALL2(NR_MKDIR, "/tmp", 0777);
	CALL2(NR_MKDIR, LONG_NAME, 0777);
	CHECK(CALL1(NR_CHDIR, "/bin") == 0);
	thread_of(0, change_directory, 0);
	for (int i = 0; i < 3000; i++) {
		CHECK(CALL2(NR_GETCWD, now, sizeof(now)) > 0);
		CHECK(text_equal(now, "/bin") || text_equal(now, LONG_NAME));
	}
	__atomic_store_n(&stop_now, 1, __ATOMIC_SEQ_CST);
	wait_zero(&tids[0]);
}

void main_program(long *sp)
{
	static const struct test tests[] = { { "memory", memory },
					     { "faults", faults },
					     { "forks", forks },
					     { "directories", directories } };

	run_test(sp, tests, sizeof(tests) / sizeof(tests[0]));
}

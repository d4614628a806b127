/*
 * Threads as the kernel makes them, without a C library: clone(), clone3(), ids, ends, signals to one of several, stops,
 * execve() of one, memory that goes while others use it, locks of those that end. The argument names a test. It ends
 * with 0, or with the line of the check that failed; so it does on Linux.
 */
#include "threads.h"

static char stacks[8][8192] __attribute__((aligned(16)));
static int tids[8]; /* written by clone(), cleared at the end of the thread */
static int told[8];
static int gate;

static long thread_of(int i, void (*fn)(long), long arg)
{
	return new_thread(stacks[i] + sizeof(stacks[i]), &tids[i], fn, arg);
}

/* ---- Ids and ends ---- */

static void tell_ids(long i)
{
	told[i] = (int)CALL0(NR_GETTID) * 10 + (CALL0(NR_GETPID) == told[7]);
	CHECK(CALL1(NR_SET_TID_ADDRESS, &tids[i]) == CALL0(NR_GETTID));
}

static void ids(void)
{
	told[7] = (int)CALL0(NR_GETPID);
	for (int i = 0; i < 4; i++) {
		long tid = thread_of(i, tell_ids, i);

		CHECK(tid > told[7]);
		wait_zero(&tids[i]);
		CHECK(told[i] == tid * 10 + 1);
	}
	CHECK(CALL0(NR_GETTID) == told[7]);
	CHECK(CALL3(NR_TGKILL, told[7], told[0] / 10, 0) == -ESRCH); /* it has ended */
	CHECK(CALL3(NR_TGKILL, told[7] + 1, told[7], 0) == -ESRCH);
	CHECK(CALL3(NR_TGKILL, told[7], 0, 0) == -EINVAL);
	CHECK(!CALL3(NR_TGKILL, told[7], told[7], 0) && !CALL2(NR_TKILL, told[7], 0));
}

static void clone3s(void)
{
	unsigned long args[12] = { CLONE_THREAD_FLAGS, 0, (unsigned long)&tids[0],
				   (unsigned long)&tids[0] };
	unsigned long fork[8] = { 0x100000000, 0, 0, 0, 17 }; /* CLONE_CLEAR_SIGHAND */
	int status;

	args[5] = (unsigned long)stacks[0];
	args[6] = sizeof(stacks[0]);
	told[7] = (int)CALL0(NR_GETPID);
	CHECK(new_thread3(args, 64, tell_ids, 0) > 0);
	wait_zero(&tids[0]);
	CHECK(told[0] % 10 == 1);
	CHECK(CALL2(NR_CLONE3, args, 63) == -EINVAL);
	CHECK(CALL2(NR_CLONE3, args, 5000) == -E2BIG);
	CHECK(CALL2(NR_CLONE3, 8, 64) == -EFAULT);
	args[11] = 1; /* behind all that is known */
	CHECK(CALL2(NR_CLONE3, args, 96) == -E2BIG);
	args[4] = 17; /* a thread sends no signal */
	CHECK(CALL2(NR_CLONE3, args, 64) == -EINVAL);
	args[4] = 0;
	args[6] = 0; /* a stack has a size */
	CHECK(CALL2(NR_CLONE3, args, 64) == -EINVAL);
	status = (int)CALL2(NR_CLONE3, fork, 64);
	if (!status)
		sys_exit(5);
	CHECK(CALL4(NR_WAIT4, status, &status, 0, 0) > 0 && status == 5 << 8);
}

/* Flags that do not fit together. */
static void flags(void)
{
	CHECK(syscall6(NR_CLONE, 0x10000, 0, 0, 0, 0, 0) == -EINVAL); /* CLONE_THREAD alone */
	CHECK(syscall6(NR_CLONE, 0x10800, 0, 0, 0, 0, 0) ==
	      -EINVAL); /* with CLONE_SIGHAND, without CLONE_VM */
	CHECK(syscall6(NR_CLONE, 0x800, 0, 0, 0, 0, 0) == -EINVAL); /* CLONE_SIGHAND alone */
	CHECK(syscall6(NR_CLONE, CLONE_THREAD_FLAGS | 0x80000, (long)stacks[0], 0, 0, 1l << 62,
		       0) == -EPERM);
}

static void exit_after(long i)
{
	(void)i;
	while (!__atomic_load_n(&gate, __ATOMIC_RELAXED))
		;
	sys_sleep_ms(20);
	CALL1(NR_EXIT, 9);
}

/* The first thread ends first: the process lives on, and has the code of the last one. */
static void leader(void)
{
	long pid = CALL0(NR_FORK), before = now_ms();
	int status;

	if (!pid) {
		thread_of(0, exit_after, 0);
		gate = 1;
		CALL1(NR_EXIT, 3);
	}
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 9 << 8);
	CHECK(now_ms() - before >= 19);
}

static void spin(long i)
{
	__atomic_add_fetch(&gate, 1, __ATOMIC_SEQ_CST);
	while (i >= 0)
		__asm__ volatile("pause");
}

static void sleep_long(long i)
{
	(void)i;
	__atomic_add_fetch(&gate, 1, __ATOMIC_SEQ_CST);
	for (;;)
		sys_sleep_ms(10000);
}

static void exit_all(long i)
{
	(void)i;
	wait_for(&gate, 3);
	sys_exit(42);
}

/* Any thread ends them all: those that run, that sleep, and that wait for a futex. */
static void group(void)
{
	long pid = CALL0(NR_FORK);
	int status;

	if (!pid) {
		thread_of(0, spin, 0);
		thread_of(1, sleep_long, 0);
		thread_of(2, exit_all, 0);
		__atomic_add_fetch(&gate, 1, __ATOMIC_SEQ_CST);
		for (;;)
			futex(&told[0], FUTEX_WAIT, 0, 0);
	}
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 42 << 8);
	pid = CALL0(NR_FORK);
	if (!pid) {
		thread_of(0, spin, 0);
		thread_of(1, sleep_long, 0);
		for (;;)
			sys_sleep_ms(10000);
	}
	sys_sleep_ms(10);
	CHECK(!CALL2(NR_KILL, pid, SIGKILL));
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == SIGKILL);
}

/* ---- Signals ---- */

static volatile int taken_by;

static void take(int sig)
{
	(void)sig;
	taken_by = (int)CALL0(NR_GETTID);
}

static void wait_in_calls(long i)
{
	unsigned long mask = 1ul << (SIGUSR1 - 1);

	if (i == 1)
		CALL4(NR_RT_SIGPROCMASK, 0, &mask, 0, 8);
	told[i] = (int)CALL0(NR_GETTID);
	__atomic_add_fetch(&gate, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&gate, __ATOMIC_SEQ_CST) < 10)
		sys_sleep_ms(10000);
}

static int wait_taken(void)
{
	int by;

	for (int i = 0; i < 2000 && !taken_by; i++)
		sys_sleep_ms(1);
	by = taken_by;
	taken_by = 0;
	return by;
}

/* A signal for the process goes to a thread that does not block it; one for a thread to that. */
static void signals(void)
{
	unsigned long mask = 1ul << (SIGUSR1 - 1) | 1ul << (SIGUSR2 - 1), pending;
	int pid = (int)CALL0(NR_GETPID);

	set_handler(SIGUSR1, take);
	set_handler(SIGUSR2, take);
	CALL4(NR_RT_SIGPROCMASK, 0, &mask, 0, 8);
	mask = 1ul << (SIGUSR2 - 1);
	thread_of(1, wait_in_calls, 1); /* blocks both */
	wait_for(&gate, 1);
	CHECK(!CALL2(NR_KILL, pid, SIGUSR1)); /* all block it: it waits */
	sys_sleep_ms(5);
	CHECK(!taken_by && !CALL2(NR_RT_SIGPENDING, &pending, 8) &&
	      pending == 1ul << (SIGUSR1 - 1));
	CALL4(NR_RT_SIGPROCMASK, 2, &mask, 0, 8);
	CHECK(wait_taken() == pid);
	thread_of(2, wait_in_calls, 2);
	wait_for(&gate, 2);
	mask |= 1ul << (SIGUSR1 - 1);
	CALL4(NR_RT_SIGPROCMASK, 2, &mask, 0, 8);
	CHECK(!CALL2(NR_KILL, pid, SIGUSR1)); /* thread 2 alone does not block it */
	CHECK(wait_taken() == told[2]);
	CHECK(!CALL3(NR_TGKILL, pid, told[2], SIGUSR1));
	CHECK(wait_taken() == told[2]);
	CHECK(!CALL3(NR_TGKILL, pid, told[1], SIGUSR1)); /* it blocks it, and keeps it */
	sys_sleep_ms(5);
	CHECK(!taken_by && !CALL2(NR_RT_SIGPENDING, &pending, 8) && !pending);
}

static int shared_count(int *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void count_on(long at)
{
	for (;;)
		__atomic_add_fetch((int *)at, 1, __ATOMIC_RELAXED);
}

/* A stop stops all threads, and SIGCONT lets all go on. */
static void stop(void)
{
	int *counts = (int *)syscall6(NR_MMAP, 0, 4096, 3, 0x21, -1, 0);
	long pid = CALL0(NR_FORK);
	int status, seen;

	if (!pid) {
		thread_of(0, count_on, (long)&counts[0]);
		thread_of(1, count_on, (long)&counts[1]);
		for (;;)
			sys_sleep_ms(10000);
	}
	while (!shared_count(&counts[0]) || !shared_count(&counts[1]))
		sys_sleep_ms(1);
	CHECK(!CALL2(NR_KILL, pid, SIGSTOP));
	CHECK(CALL4(NR_WAIT4, pid, &status, 2, 0) == pid && status == (SIGSTOP << 8 | 0x7f));
	for (int i = 0; i < 2; i++) {
		seen = shared_count(&counts[i]);
		sys_sleep_ms(10);
		CHECK(seen == shared_count(&counts[i]));
	}
	CHECK(!CALL2(NR_KILL, pid, SIGCONT));
	CHECK(CALL4(NR_WAIT4, pid, &status, 8, 0) == pid && status == 0xffff);
	while (shared_count(&counts[1]) == seen)
		sys_sleep_ms(1);
	CALL2(NR_KILL, pid, SIGKILL);
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == SIGKILL);
	CALL2(NR_MUNMAP, counts, 4096);
}

/* ---- execve() by a thread that is not the first ---- */

static char digits[16];
static char *self_pid = digits + 15; /* in decimal */

static void exec_self(long i)
{
	const char *argv[] = { "threads", "executed", self_pid, 0 };

	(void)i;
	wait_for(&gate, 2);
	CALL3(NR_EXECVE, "/proc/self/exe", argv, 0);
	sys_exit(1);
}

static void exec(void)
{
	long pid = CALL0(NR_GETPID);

	for (; pid; pid /= 10)
		*--self_pid = (char)('0' + pid % 10);
	thread_of(0, spin, 0);
	thread_of(1, sleep_long, 0);
	thread_of(2, exec_self, 0);
	for (;;)
		sys_sleep_ms(10000);
}

/* The program that was executed has the pid of the process, and is one thread. */
static void executed(const char *pid)
{
	long number = 0;

	for (; *pid; pid++)
		number = number * 10 + *pid - '0';
	CHECK(CALL0(NR_GETPID) == number && CALL0(NR_GETTID) == number);
	CHECK(!CALL3(NR_TGKILL, CALL0(NR_GETPID), CALL0(NR_GETTID), 0));
}

/* ---- Memory ---- */

static char *volatile page;
static int stop_now, nr_seen, nr_faults;

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
	for (int round = 0; round < 20; round++) {
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
	CHECK(nr_faults == 60);
}

static int words[1024];

static void touch_all(long arg)
{
	char *at = (char *)arg;

	__atomic_add_fetch(&gate, 1, __ATOMIC_SEQ_CST);
	while (shared_count(&gate) < 4)
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

	while (!shared_count(&stop_now))
		if (i) {
			__atomic_add_fetch(&words[i], 1, __ATOMIC_RELAXED);
		} else {
			child = CALL0(NR_FORK);
			if (!child)
				sys_exit(7);
			CHECK(CALL4(NR_WAIT4, child, &status, 0, 0) == child && status == 7 << 8);
			told[0]++;
		}
}

/* One forks while the others write. */
static void forks(void)
{
	for (int i = 0; i < 3; i++)
		thread_of(i, count_and_fork, i);
	while (shared_count(&told[0]) < 20 || !shared_count(&words[1]) || !shared_count(&words[2]))
		sys_sleep_ms(1);
	__atomic_store_n(&stop_now, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 3; i++)
		wait_zero(&tids[i]);
}

void main_program(long *sp)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = { { "ids", ids },	    { "clone3", clone3s }, { "flags", flags },
		      { "leader", leader }, { "group", group },	   { "signals", signals },
		      { "stop", stop },	    { "exec", exec },	   { "memory", memory },
		      { "faults", faults }, { "forks", forks } };
	const char *name = sp[0] > 1 ? (const char *)sp[2] : "";

	if (text_equal(name, "executed")) {
		executed((const char *)sp[3]);
		put("executed is right\n");
		sys_exit(0);
	}
	for (unsigned int i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (!text_equal(name, tests[i].name))
			continue;
		tests[i].run();
		put(name);
		put(" is right\n");
		sys_exit(0);
	}
	sys_exit(2);
}

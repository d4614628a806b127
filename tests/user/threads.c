/*
 * Threads as the kernel makes them, without a C library: clone(), clone3(), ids, ends, signals to one of several, stops,
 * execve() of one, names. The argument names a test. It ends with 0, or with the line of the check that failed; so it
 * does on Linux.
 */
#include "threads_tests.h"

enum {
	NR_PRCTL = 157
};

static int told[8];

static int begins_with_number(const char *text, int number)
{
	int value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + *text++ - '0';
	return value == number && *text == ' ';
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

/* The directory of a thread that is not the first, by its tid: its own state, name and number, the process's threads. */
static void names_itself(long i)
{
	char path[32], text[80];
	int tid = (int)CALL0(NR_GETTID);

	CHECK(CALL2(NR_PRCTL, 15, "second") == 0); /* PR_SET_NAME */
	put_path(path, "/proc/", tid, "/comm");
	CHECK(read_file(path, text, sizeof(text)) > 0 && text_equal(text, "second\n"));
	put_path(path, "/proc/", tid, "/stat");
	CHECK(read_file(path, text, sizeof(text)) > 0 && begins_with_number(text, tid));
	put_path(path, "/proc/", told[7], "/stat");
	CHECK(read_file(path, text, sizeof(text)) > 0 && begins_with_number(text, told[7]));
	put_path(path, "/proc/", tid, "/task/");
	put_path(path + text_len(path), "", told[7], "/comm");
	CHECK(read_file(path, text, sizeof(text)) > 0 && !text_equal(text, "second\n"));
	told[i] = tid;
}

static void directories(void)
{
	char path[32], text[80];

	told[7] = (int)CALL0(NR_GETPID);
	thread_of(0, names_itself, 0);
	wait_zero(&tids[0]);
	CHECK(told[0]);
	put_path(path, "/proc/", told[0], "/stat");
	while (read_file(path, text, sizeof(text)) != -ENOENT)
		sys_sleep_ms(1);
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
	while (!word_now(&counts[0]) || !word_now(&counts[1]))
		sys_sleep_ms(1);
	CHECK(!CALL2(NR_KILL, pid, SIGSTOP));
	CHECK(CALL4(NR_WAIT4, pid, &status, 2, 0) == pid && status == (SIGSTOP << 8 | 0x7f));
	for (int i = 0; i < 2; i++) {
		seen = word_now(&counts[i]);
		sys_sleep_ms(10);
		CHECK(seen == word_now(&counts[i]));
	}
	CHECK(!CALL2(NR_KILL, pid, SIGCONT));
	CHECK(CALL4(NR_WAIT4, pid, &status, 8, 0) == pid && status == 0xffff);
	while (word_now(&counts[1]) == seen)
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

static void exec_nothing(long arg)
{
	const char *argv[] = { "threads", "nothing", 0 };

	(void)arg;
	CALL3(NR_EXECVE, "/proc/self/exe", argv, 0);
}

/* A child in the same memory tells that it has left it, by an execve as by its end. */
static void leaves(void)
{
	long *stack = (long *)(stacks[0] + sizeof(stacks[0])) - 4, child;
	int status;

	stack[0] = (long)exec_nothing;
	told[0] = 1;
	child = clone_thread(0x200100 | 17, stack, 0,
			     &told[0]); /* CLONE_VM, CLONE_CHILD_CLEARTID, SIGCHLD */
	CHECK(child > 0);
	wait_zero(&told[0]);
	CHECK(CALL4(NR_WAIT4, child, &status, 0, 0) == child && status == 2 << 8);
}

/* ---- Names ---- */

static void wait_for_gate(long i)
{
	(void)i;
	wait_for(&gate, 1);
}

/* "/proc/self/task/TID/FILE" */
static const char *task_path(int tid, const char *file)
{
	static char path[64];
	char *at = path + sizeof(path) - 1 - text_len(file);

	for (size_t i = 0; i < text_len(file); i++)
		at[i] = file[i];
	*--at = '/';
	for (; tid; tid /= 10)
		*--at = (char)('0' + tid % 10);
	for (const char *dir = "/proc/self/task/", *end = dir + 16; end > dir;)
		*--at = *--end;
	return at;
}

static const char *text_of(const char *path)
{
	static char text[1024];
	long fd = CALL3(NR_OPEN, path, 0, 0), len = CALL3(NR_READ, fd, text, sizeof(text) - 1);

	CALL1(NR_CLOSE, fd);
	text[len > 0 ? len : 0] = '\0';
	return text;
}

static int text_has(const char *text, const char *part)
{
	for (; *text; text++) {
		size_t i = 0;

		while (part[i] && text[i] == part[i])
			i++;
		if (!part[i])
			return 1;
	}
	return 0;
}

/* A thread has a directory in /proc, and a name of its own, which others of its program may change. */
static void names(void)
{
	long fd, tid = thread_of(0, wait_for_gate, 0);

	CHECK(text_equal(text_of(task_path((int)tid, "comm")), "threads\n"));
	fd = CALL3(NR_OPEN, task_path((int)tid, "comm"), 1, 0);
	CHECK(fd >= 0 && CALL3(NR_WRITE, fd, "a name that is too long", 23) == 23);
	CHECK(text_equal(text_of(task_path((int)tid, "comm")), "a name that is \n"));
	CHECK(CALL3(NR_WRITE, fd, "other", 5) == 5 && !CALL1(NR_CLOSE, fd));
	CHECK(text_equal(text_of(task_path((int)tid, "comm")), "other\n"));
	CHECK(text_has(text_of(task_path((int)tid, "stat")), " (other) "));
	CHECK(text_has(text_of(task_path((int)tid, "status")), "Threads:\t2\n"));
	CHECK(text_equal(text_of("/proc/self/comm"), "threads\n"));
	CHECK(text_equal(text_of("/proc/thread-self/comm"), "threads\n"));
	CHECK(CALL3(NR_OPEN, task_path(1, "comm"), 0, 0) == -ENOENT);
	CHECK(CALL3(NR_OPEN, task_path((int)tid, "task"), 0, 0) == -ENOENT);
	gate = 1;
	wait_zero(&tids[0]);
	while (CALL3(NR_OPEN, task_path((int)tid, "comm"), 0, 0) != -ENOENT)
		sys_sleep_ms(1);
}

static long cpu_ns(long clock)
{
	long time[2];

	CHECK(!CALL2(NR_CLOCK_GETTIME, clock, time));
	return time[0] * 1000000000 + time[1];
}

/* In the program and in the kernel: 0: of all threads; 1: of this one. */
static long usage_us(long who)
{
	long usage[18];

	CHECK(!CALL2(NR_GETRUSAGE, who, usage));
	return (usage[0] + usage[2]) * 1000000 + usage[1] + usage[3];
}

static long burnt_ns;

static void burn(long i)
{
	while ((burnt_ns = cpu_ns(3)) < 40000000)
		(void)i;
}

/* CPU time of the program is that of all its threads, of those too that have ended. */
static void times(void)
{
	long ticks[4], own = cpu_ns(3);

	thread_of(0, burn, 0);
	wait_zero(&tids[0]);
	CHECK(burnt_ns >= 40000000 && cpu_ns(3) - own < burnt_ns);
	CHECK(cpu_ns(2) >= burnt_ns + own);
	CHECK(usage_us(0) >= 40000 && usage_us(1) < 40000);
	CHECK(CALL1(NR_TIMES, ticks) >= 0 && ticks[0] + ticks[1] >= 3);
}

void main_program(long *sp)
{
	static const struct test tests[] = {
		{ "ids", ids },	      { "clone3", clone3s }, { "flags", flags },
		{ "leader", leader }, { "group", group },    { "signals", signals },
		{ "stop", stop },     { "exec", exec },	     { "leaves", leaves },
		{ "names", names },   { "times", times },    { "directories", directories },
	};

	if (sp[0] > 2 && text_equal((const char *)sp[2], "executed")) {
		executed((const char *)sp[3]);
		put("executed is right\n");
		sys_exit(0);
	}
	run_test(sp, tests, sizeof(tests) / sizeof(tests[0]));
}

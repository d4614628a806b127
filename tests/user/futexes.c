/*
 * futex() without a C library: each operation, its errors and times, words that processes share, locks of threads that
 * end. The argument names a test. It ends with 0, or with the line of the check that failed; so it does on Linux.
 */
#include "threads_tests.h"

#define FUTEX6(word, op, value, value2, word2, value3)                                             \
	syscall6(NR_FUTEX, (long)(word), op, value, (long)(value2), (long)(word2), value3)

static int word, other, nr_woken, nr_waiting;
static long results[8];

static void join(int nr)
{
	for (int i = 0; i < nr; i++)
		wait_zero(&tids[i]);
}

/* ---- Errors and times ---- */

static void errors(void)
{
	static char *bad = (char *)8;
	long time[2] = { 0, 1000000000 };

	CHECK(futex(&word, FUTEX_WAIT, 1, 0) == -EAGAIN);
	CHECK(futex((char *)&word + 1, FUTEX_WAIT, 0, 0) == -EINVAL);
	CHECK(futex(bad, FUTEX_WAIT, 0, 0) == -EFAULT);
	CHECK(futex(bad, FUTEX_WAKE, 1, 0) == -EFAULT);
	CHECK(futex(1ul << 63, FUTEX_WAIT, 0, 0) == -EFAULT);
	CHECK(futex(1ul << 63, FUTEX_WAKE | FUTEX_PRIVATE, 1, 0) == -EFAULT);
	CHECK(futex(&word, FUTEX_WAIT, 0, time) == -EINVAL);
	time[0] = -1;
	CHECK(futex(&word, FUTEX_WAIT, 0, time) == -EINVAL);
	CHECK(futex(&word, FUTEX_WAIT, 0, 1) == -EFAULT);
	CHECK(FUTEX6(&word, FUTEX_WAIT_BITSET, 0, 0, 0, 0) == -EINVAL);
	CHECK(FUTEX6(&word, FUTEX_WAKE_BITSET, 1, 0, 0, 0) == -EINVAL);
	CHECK(FUTEX6(&word, FUTEX_CMP_REQUEUE, 1, 1, &other, 1) == -EAGAIN);
	CHECK(FUTEX6(&word, FUTEX_CMP_REQUEUE, -1, 1, &other, 0) == -EINVAL);
	CHECK(FUTEX6(&word, FUTEX_REQUEUE, 1, -1, &other, 0) == -EINVAL);
	CHECK(FUTEX6(&word, FUTEX_REQUEUE, 1, 1, bad, 0) == -EFAULT);
	CHECK(FUTEX6(&word, FUTEX_REQUEUE, 1, 1, (char *)&other + 1, 0) == -EINVAL);
	CHECK(FUTEX6(&word, FUTEX_WAKE_OP, 1, 1, bad, 0) == -EFAULT);
	CHECK(FUTEX6(&word, FUTEX_WAKE_OP, 1, 1, main_program, 0) ==
	      -EFAULT); /* code, not to be written */
	CHECK(FUTEX6(&word, FUTEX_WAKE_OP, 1, 1, &other, 6l << 28) == -ENOSYS);
	CHECK(futex(&word, 99, 0, 0) == -ENOSYS);
	CHECK(futex(&word, FUTEX_WAKE | FUTEX_REALTIME, 1, 0) == -ENOSYS);
	CHECK(!futex(&word, FUTEX_WAKE, 1, 0));
}

static void times(void)
{
	long time[2] = { 0, 20000000 }, now[2], before = now_ms();

	CHECK(futex(&word, FUTEX_WAIT, 0, time) == -ETIMEDOUT);
	CHECK(now_ms() - before >= 20 && now_ms() - before < 15000);
	for (int clock = 0; clock < 2; clock++) {
		int op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE | (clock ? 0 : FUTEX_REALTIME);

		CALL2(NR_CLOCK_GETTIME, clock, now);
		before = now_ms();
		now[1] += 20000000;
		now[0] += now[1] / 1000000000;
		now[1] %= 1000000000;
		CHECK(FUTEX6(&word, op, 0, now, 0, -1) == -ETIMEDOUT);
		CHECK(now_ms() - before >= 19 && now_ms() - before < 15000);
		CHECK(FUTEX6(&word, op, 0, now, 0, -1) == -ETIMEDOUT); /* it is over */
	}
}

/* ---- Waking ---- */

static void wait_one(long i)
{
	__atomic_add_fetch(&nr_waiting, 1, __ATOMIC_SEQ_CST);
	results[i] = FUTEX6(&word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE, 0, 0, 0, 1 << i);
	__atomic_add_fetch(&nr_woken, 1, __ATOMIC_SEQ_CST);
}

static void begin_waiters(int nr)
{
	nr_waiting = nr_woken = 0;
	for (int i = 0; i < nr; i++) {
		CHECK(thread_of(i, wait_one, i) > 0);
		wait_for(&nr_waiting, i + 1);
		wait_asleep(&tids[i]);
	}
}

static void check_woken(int nr)
{
	wait_for(&nr_woken, nr);
	sys_sleep_ms(3);
	CHECK(nr_woken == nr);
}

static void wakes(void)
{
	begin_waiters(6);
	CHECK(futex(&other, FUTEX_WAKE | FUTEX_PRIVATE, 9, 0) == 0);
	CHECK(futex(&word, FUTEX_WAKE | FUTEX_PRIVATE, 2, 0) == 2);
	check_woken(2);
	CHECK(!tids[0] && !tids[1]); /* those that waited longest */
	CHECK(FUTEX6(&word, FUTEX_WAKE_BITSET | FUTEX_PRIVATE, 9, 0, 0, 1 << 4 | 1) == 1);
	check_woken(3);
	CHECK(!tids[4]);
	/* one is woken, two go to the other word, where the next wake-ups find them */
	CHECK(FUTEX6(&word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE, 1, 9, &other, 0) == 3);
	check_woken(4);
	CHECK(futex(&word, FUTEX_WAKE | FUTEX_PRIVATE, 9, 0) == 0);
	CHECK(futex(&other, FUTEX_WAKE | FUTEX_PRIVATE, 9, 0) == 2);
	check_woken(6);
	join(6);
	for (int i = 0; i < 6; i++)
		CHECK(!results[i]);
}

#define OP(op, arg, cmp, cmparg)                                                                   \
	((long)(op) << 28 | (long)(cmp) << 24 | ((arg)&0xfff) << 12 | ((cmparg)&0xfff))

static void wake_ops(void)
{
	static const struct {
		unsigned int op;
		int arg, result;
	} ops[] = { { 0, -5, -5 }, { 1, 3, 15 }, { 2, 3, 15 },
		    { 3, 4, 8 },   { 4, 5, 9 },	 { 9, 4, 28 } };
	static const int is[6][3] = { { 0, 1, 0 }, { 1, 0, 1 }, { 1, 0, 0 },
				      { 1, 1, 0 }, { 0, 0, 1 }, { 0, 1, 1 } };

	for (int i = 0; i < 6; i++) {
		other = 12;
		CHECK(!FUTEX6(&word, FUTEX_WAKE_OP, 1, 1, &other, OP(ops[i].op, ops[i].arg, 0, 0)));
		CHECK(other == ops[i].result);
	}
	for (int cmp = 0; cmp < 6; cmp++) {
		for (int i = 0; i < 3; i++) {
			begin_waiters(1);
			other = i - 1;
			/* the waiter is at the second word, and woken if the comparison with 0 holds */
			CHECK(FUTEX6(&other, FUTEX_WAKE_OP | FUTEX_PRIVATE, 1, 1, &word,
				     OP(1, 0, cmp, -(i - 1))) == is[cmp][i]);
			futex(&word, FUTEX_WAKE | FUTEX_PRIVATE, 1, 0);
			join(1);
		}
	}
	other = 0;
	begin_waiters(2);
	CHECK(FUTEX6(&word, FUTEX_WAKE_OP | FUTEX_PRIVATE, 9, 9, &other, OP(0, 1, 1, 0)) == 2);
	join(2);
}

/* ---- Signals ---- */

static void on_signal(int sig)
{
	(void)sig;
	nr_woken++;
}

/* For `ms` milliseconds; 0: for ever. */
static void wait_for_time(long ms)
{
	long time[2] = { ms / 1000, ms % 1000 * 1000000 };

	__atomic_add_fetch(&nr_waiting, 1, __ATOMIC_SEQ_CST);
	results[0] = futex(&word, FUTEX_WAIT, 0, ms ? time : 0);
}

/* A stop does not end a wait, and its time goes on. Returns whether it lasted for three of them. */
static int is_stopped_thrice(long ms)
{
	long before = now_ms(), pid = CALL0(NR_FORK);
	int status, nr;

	if (!pid) {
		wait_for_time(ms);
		sys_exit(results[0] == -ETIMEDOUT ? 4 : 5);
	}
	for (nr = 0; nr < 3; nr++) {
		sys_sleep_ms(5);
		CHECK(!CALL2(NR_KILL, pid, SIGSTOP) && CALL4(NR_WAIT4, pid, &status, 2, 0) == pid);
		if (status == 4 << 8)
			return 0;
		CHECK(status == (SIGSTOP << 8 | 0x7f) && !CALL2(NR_KILL, pid, SIGCONT));
	}
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 4 << 8);
	CHECK(now_ms() - before >= ms - 1);
	return 1;
}

static void interrupts(void)
{
	long ms = 60;

	set_handler(SIGUSR1, on_signal);
	for (int timed = 0; timed < 2; timed++) {
		nr_waiting = nr_woken = 0;
		thread_of(0, wait_for_time, timed * 15000);
		wait_for(&nr_waiting, 1);
		wait_asleep(&tids[0]);
		CHECK(!CALL3(NR_TGKILL, CALL0(NR_GETPID), tids[0], SIGUSR1));
		join(1);
		CHECK(nr_woken == 1 && results[0] == -EINTR);
	}
	while (!is_stopped_thrice(ms)) /* a busy machine may let the time pass first */
		CHECK((ms *= 2) < 60000);
}

/* ---- Between processes ---- */

/* A lock of three states: free, taken, taken and waited for. */
static void take(int *lock)
{
	int seen = 0;

	if (__atomic_compare_exchange_n(lock, &seen, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_SEQ_CST))
		futex(lock, FUTEX_WAIT, 2, 0);
}

static void give(int *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_SEQ_CST) == 2)
		futex(lock, FUTEX_WAKE, 1, 0);
}

static void processes(void)
{
	int *at = (int *)syscall6(NR_MMAP, 0, 4096, 3, 0x21, -1, 0), *view;
	int status;

	for (int i = 0; i < 3; i++) {
		if (CALL0(NR_FORK))
			continue;
		/* at another address, too, it is the same word */
		view = (int *)syscall6(NR_MREMAP, (long)at, 4096, 4096, 3,
				       (long)at - (i + 1) * 65536, 0);
		CHECK(view != at);
		for (int n = 0; n < 2000; n++) {
			take(&view[0]);
			*(volatile int *)&view[1] = view[1] + 1;
			give(&view[0]);
		}
		sys_exit(0);
	}
	for (int i = 0; i < 3; i++)
		CHECK(CALL4(NR_WAIT4, -1, &status, 0, 0) > 0 && !status);
	CHECK(at[1] == 6000);
	CALL2(NR_MUNMAP, at, 4096);
}

/* ---- Locks of threads that end ---- */

static struct lock {
	struct lock *next;
	int word;
} locks[3], *head[3]; /* the list's first entry, the way to a word, an entry that is on its way */

static void die_with_locks(long is_loop)
{
	int tid = (int)CALL0(NR_GETTID);

	CHECK(CALL2(NR_SET_ROBUST_LIST, head, 23) == -EINVAL);
	CHECK(!CALL2(NR_SET_ROBUST_LIST, head, 24));
	head[0] = &locks[0];
	head[1] = (struct lock *)8;
	head[2] = &locks[2];
	locks[0].next = &locks[1];
	locks[1].next = is_loop ? &locks[0] : (struct lock *)head;
	locks[0].word = tid | (int)0x80000000;
	locks[1].word = tid + 1; /* another's */
	locks[2].word = tid;
	results[1] = tid;
	__atomic_add_fetch(&nr_waiting, 1, __ATOMIC_SEQ_CST);
	wait_for(&nr_waiting, 2);
	sys_sleep_ms(5);
}

static void wait_for_lock(long i)
{
	wait_for(&nr_waiting, 1);
	nr_waiting = 2;
	results[i] = futex(&locks[0].word, FUTEX_WAIT, (long)locks[0].word, 0);
}

static void robust(void)
{
	unsigned long at = 0, bytes = 0;

	for (int is_loop = 0; is_loop < 2; is_loop++) {
		nr_waiting = 0;
		thread_of(0, wait_for_lock, 0);
		thread_of(1, die_with_locks, is_loop);
		join(2);
		CHECK(!results[0] || results[0] == -EAGAIN);
		CHECK(locks[0].word == (int)0xc0000000 && locks[1].word == results[1] + 1);
		CHECK(locks[2].word == 0x40000000);
	}
	CHECK(!CALL2(NR_SET_ROBUST_LIST, 8, 24)); /* which nothing is read from before the end */
	CHECK(!CALL3(NR_GET_ROBUST_LIST, 0, &at, &bytes) && at == 8 && bytes == 24);
	CHECK(CALL3(NR_GET_ROBUST_LIST, 0, 8, &bytes) == -EFAULT);
	CHECK(CALL3(NR_GET_ROBUST_LIST, 0x7fffffff, &at, &bytes) == -ESRCH);
}

void main_program(long *sp)
{
	static const struct test tests[] = {
		{ "errors", errors },	  { "times", times },		{ "wakes", wakes },
		{ "wake_ops", wake_ops }, { "interrupts", interrupts }, { "processes", processes },
		{ "robust", robust },
	};

	run_test(sp, tests, sizeof(tests) / sizeof(tests[0]));
}

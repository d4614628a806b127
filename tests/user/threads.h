/*
 * Threads and futexes for the programs of tests/user: new_thread() and the calls with which threads wait for each
 * other.
 */
#ifndef THREADS_H
#define THREADS_H

#include "clones.h"
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_RT_SIGACTION = 13,
	NR_RT_SIGPROCMASK = 14,
	NR_NANOSLEEP = 35,
	NR_CLONE = 56,
	NR_EXIT = 60,
	NR_KILL = 62,
	NR_GETCWD = 79,
	NR_CHDIR = 80,
	NR_MKDIR = 83,
	NR_GETRUSAGE = 98,
	NR_TIMES = 100,
	NR_RT_SIGPENDING = 127,
	NR_GETTID = 186,
	NR_TKILL = 200,
	NR_FUTEX = 202,
	NR_SET_TID_ADDRESS = 218,
	NR_CLOCK_GETTIME = 228,
	NR_TGKILL = 234,
	NR_SET_ROBUST_LIST = 273,
	NR_GET_ROBUST_LIST = 274,
	NR_CLONE3 = 435
};

enum {
	EPERM = 1,
	ENOENT = 2,
	ESRCH = 3,
	EINTR = 4,
	E2BIG = 7,
	EAGAIN = 11,
	EFAULT = 14,
	EINVAL = 22,
	ENOSYS = 38,
	ETIMEDOUT = 110
};

enum {
	SIGKILL = 9,
	SIGUSR1 = 10,
	SIGSEGV = 11,
	SIGUSR2 = 12,
	SIGCONT = 18,
	SIGSTOP = 19
};

enum {
	FUTEX_WAIT = 0,
	FUTEX_WAKE = 1,
	FUTEX_REQUEUE = 3,
	FUTEX_CMP_REQUEUE = 4,
	FUTEX_WAKE_OP = 5,
	FUTEX_LOCK_PI = 6,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAKE_BITSET = 10,
	FUTEX_PRIVATE = 128,
	FUTEX_REALTIME = 256
};

#define futex(word, op, value, time) syscall6(NR_FUTEX, (long)(word), op, value, (long)(time), 0, 0)

/* The same by clone3(): its arguments have the stack's address and length. */
static inline long new_thread3(unsigned long *args, unsigned long size, void (*fn)(long), long arg)
{
	long *stack = (long *)(args[5] + args[6]) - 2, result;

	stack[0] = (long)fn;
	stack[1] = arg;
	args[6] -= 16;
	result = clone_thread3(args, size);
	args[6] += 16;
	return result;
}

static inline void sys_sleep_ms(long ms)
{
	long time[2] = { ms / 1000, ms % 1000 * 1000000 };

	CALL2(NR_NANOSLEEP, time, 0);
}

static inline long now_ms(void)
{
	long time[2];

	CALL2(NR_CLOCK_GETTIME, 1, time);
	return time[0] * 1000 + time[1] / 1000000;
}

/* Until the thread has ended whose tid the word has. */
static inline void wait_zero(int *word)
{
	int seen;

	while ((seen = __atomic_load_n(word, __ATOMIC_SEQ_CST)))
		futex(word, FUTEX_WAIT, seen, 0);
}

/* The state of the thread of this process, as its file of /proc has it; 0: it has ended. */
static inline char state_of(int tid)
{
	char path[48] = "/proc/self/task/", digits[12], text[80] = { 0 },
	     *at = path + text_len(path);
	int nr = 0;
	long fd;

	for (int left = tid; left; left /= 10)
		digits[nr++] = (char)('0' + left % 10);
	while (nr > 0)
		*at++ = digits[--nr];
	for (const char *rest = "/stat"; *rest;)
		*at++ = *rest++;
	*at = 0;
	fd = CALL3(NR_OPEN, path, 0, 0);
	if (fd < 0)
		return 0;
	CALL3(NR_READ, fd, text, sizeof(text) - 1);
	CALL1(NR_CLOSE, fd);
	for (at = text; *at && *at != ')';)
		at++;
	return *at ? at[2] : 0;
}

/* Until the thread whose tid the word has sleeps: from its own last word on, it has nothing to wait for but the call under test. */
static inline void wait_asleep(int *tid)
{
	while (state_of(__atomic_load_n(tid, __ATOMIC_SEQ_CST)) != 'S')
		sys_sleep_ms(1);
}

static inline void wait_for(int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) < value)
		sys_sleep_ms(1);
}

__asm__("restore: mov $15, %eax\n syscall\n");
void restore(void);

static inline void set_handler(int sig, void (*handler)(int))
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = { handler, 0x04000000, restore, 0 };

	CHECK(!CALL4(NR_RT_SIGACTION, sig, &action, 0, 8));
}

#endif

/*
 * Tests of calls that wait for files: select(), pselect6(), ppoll() on pipes, with times and masks; and of
 * splice(), through a pipe from a file to another; of pipes that never wait, and of wait4() without children.
 * Ends with 0, or with the line of the check that failed.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_RT_SIGPROCMASK = 14,
	NR_PIPE = 22,
	NR_SELECT = 23,
	NR_KILL = 62,
	NR_FCNTL = 72,
	NR_GETPPID = 110,
	NR_CLOCK_GETTIME = 228,
	NR_PSELECT6 = 270,
	NR_PPOLL = 271,
	NR_SPLICE = 275,
	NR_PIPE2 = 293
};

enum {
	EINTR = 4,
	EBADF = 9,
	ESRCH = 3,
	ECHILD = 10,
	EAGAIN = 11,
	EFAULT = 14,
	EINVAL = 22,
	ESPIPE = 29,
	EPIPE = 32
};

#define MS		  1000000l
#define SIGUSR1_BIT	  (1ul << 9)
#define SPLICE_F_NONBLOCK 2
#define O_NONBLOCK	  04000
#define F_GETFL		  3
#define F_SETFL		  4
#define SELECT(n, in, out, ex, time)                                                               \
	syscall6(NR_SELECT, n, (long)(in), (long)(out), (long)(ex), (long)(time), 0)
#define SPLICE(from, from_pos, to, to_pos, len, flags)                                             \
	syscall6(NR_SPLICE, from, (long)(from_pos), to, (long)(to_pos), len, flags)

struct poll {
	int fd;
	short events, revents;
};

static int ends[2];
static char big[70000];

static long now_ms(void)
{
	long time[2];

	CALL2(NR_CLOCK_GETTIME, 1, time);
	return time[0] * 1000 + time[1] / MS;
}

static void selects(void)
{
	unsigned long in = 1ul << ends[0], out = 1ul << ends[1], ex = in;
	long time[2] = { 0, 30000 }, begin = now_ms();

	CHECK(SELECT(64, &in, 0, 0, time) == 0 && !in && now_ms() - begin >= 29);
	CHECK(!time[0] && time[1] < 30000);
	time[1] = 30000;
	in = 1ul << ends[0];
	CHECK(SELECT(64, &in, &out, &ex, time) == 1 && !in && out == 1ul << ends[1] && !ex);
	CALL3(NR_WRITE, ends[1], "x", 1);
	in = 1ul << ends[0];
	CHECK(SELECT(ends[1] + 1, &in, &out, 0, 0) == 2 && in == 1ul << ends[0]);
	in = 1ul << ends[0];
	CHECK(SELECT(ends[0], &in, 0, 0, time) == 0); /* just below it */
	in = 1ul << 40;
	CHECK(SELECT(64, &in, 0, 0, time) == -EBADF && in == 1ul << 40);
	CHECK(SELECT(-1, 0, 0, 0, time) == -EINVAL);
	CHECK(SELECT(64, 1, 0, 0, time) == -EFAULT);
	CHECK(SELECT(0, 0, 0, 0, 1) == -EFAULT);
	time[0] = -1;
	CHECK(SELECT(0, 0, 0, 0, time) == -EINVAL);
	CHECK(CALL3(NR_READ, ends[0], big, 1) == 1);
}

/* A signal that only the wait lets through has its handler called: the call ends with EINTR. */
static volatile int nr_signals;

static void on_signal(int sig)
{
	(void)sig;
	nr_signals++;
}

__asm__("restore: mov $15, %eax\n syscall\n");
void restore(void);

static void masks(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = { on_signal, 0x04000000, restore, 0 };
	unsigned long blocked = SIGUSR1_BIT, none = 0, was = 0;
	unsigned long pair[2] = { (unsigned long)&none, 8 };
	struct poll poll = { ends[0], 1, 0 };
	long time[2] = { 0, 20 * MS };

	CHECK(!CALL4(13, 10, &action, 0, 8) && !CALL4(NR_RT_SIGPROCMASK, 0, &blocked, 0, 8));
	CHECK(!CALL2(NR_KILL, CALL0(NR_GETPID), 10) && !nr_signals);
	CHECK(syscall6(NR_PSELECT6, 0, 0, 0, 0, (long)time, 0) == 0 && !nr_signals);
	CHECK(syscall6(NR_PSELECT6, 0, 0, 0, 0, 0, (long)pair) == -EINTR && nr_signals == 1);
	CALL4(NR_RT_SIGPROCMASK, 0, 0, &was, 8);
	CHECK(was == SIGUSR1_BIT);
	CHECK(!CALL2(NR_KILL, CALL0(NR_GETPID), 10) && nr_signals == 1);
	CHECK(syscall6(NR_PPOLL, (long)&poll, 1, 0, (long)&none, 8, 0) == -EINTR &&
	      nr_signals == 2);
	CHECK(syscall6(NR_PPOLL, (long)&poll, 1, (long)time, (long)&none, 8, 0) == 0);
	CALL4(NR_RT_SIGPROCMASK, 0, 0, &was, 8);
	CHECK(was == SIGUSR1_BIT);
	pair[1] = 4;
	CHECK(syscall6(NR_PSELECT6, 0, 0, 0, 0, (long)time, (long)pair) == -EINVAL);
	CHECK(syscall6(NR_PPOLL, (long)&poll, 1, (long)time, (long)&none, 4, 0) == -EINVAL);
	CHECK(syscall6(NR_PPOLL, (long)&poll, 1, 1, 0, 8, 0) == -EFAULT);
}

static void splices(void)
{
	int from = (int)CALL3(NR_OPEN, "/tmp/waits", 0102, 0600);
	int to = (int)CALL3(NR_OPEN, "/tmp/waits2", 01102, 0600);
	long pos = 10, end = 5, got, done = 0;

	for (unsigned int i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 7 + i / 256);
	CHECK(CALL3(NR_WRITE, from, big, sizeof(big)) == sizeof(big));
	CHECK(SPLICE(from, 0, to, 0, 10, 0) == -EINVAL); /* no pipe */
	CHECK(SPLICE(ends[1], 0, to, 0, 10, 0) == -EBADF);
	CHECK(SPLICE(from, 0, 99, 0, 10, 0) == -EBADF);
	CHECK(SPLICE(ends[0], 0, to, 0, 10, SPLICE_F_NONBLOCK) == -EAGAIN);
	CHECK(SPLICE(ends[0], &pos, to, 0, 10, SPLICE_F_NONBLOCK) == -ESPIPE);
	CHECK(SPLICE(from, 1, ends[1], 0, 10, 0) == -EFAULT);
	/* all of the file from byte 10 on, to byte 5 of the other, as much as the pipe takes at a time */
	while ((got = SPLICE(from, &pos, ends[1], 0, sizeof(big), SPLICE_F_NONBLOCK)) > 0) {
		done += got;
		for (long left = got; left > 0; left -= got) {
			got = SPLICE(ends[0], 0, to, &end, left, 0);
			CHECK(got > 0);
		}
	}
	CHECK(got == 0 && done == sizeof(big) - 10 && pos == sizeof(big) && end == done + 5);
	for (long at = 0; at < done; at += 1000) {
		char part[1000];
		long len = done - at < 1000 ? done - at : 1000;

		CHECK(CALL4(NR_PREAD, to, part, len, at + 5) == len);
		for (long i = 0; i < len; i++)
			CHECK(part[i] == big[at + 10 + i]);
	}
	CALL1(NR_UNLINK, "/tmp/waits");
	CALL1(NR_UNLINK, "/tmp/waits2");
}

static const struct {
	unsigned long handler, flags, restorer, mask;
} ignored = { .handler = 1 };

/* Pipes that are told not to wait, at their making and afterwards. */
static void pipes_that_never_wait(void)
{
	long done = 0, got;
	int fds[2];

	CHECK(CALL2(NR_PIPE2, fds, O_NONBLOCK | 0x40000000) == -EINVAL);
	CHECK(!CALL2(NR_PIPE2, fds, O_NONBLOCK) &&
	      CALL3(NR_FCNTL, fds[0], F_GETFL, 0) == O_NONBLOCK);
	CHECK(CALL3(NR_READ, fds[0], big, 10) == -EAGAIN);
	while ((got = CALL3(NR_WRITE, fds[1], big, sizeof(big))) > 0)
		done += got;
	CHECK(got == -EAGAIN && done >= 8192 && CALL3(NR_WRITE, fds[1], big, 4096) == -EAGAIN);
	while ((got = CALL3(NR_READ, fds[0], big, sizeof(big))) > 0)
		done -= got;
	CHECK(got == -EAGAIN && done == 0);
	CHECK(!CALL1(NR_CLOSE, fds[1]) && CALL3(NR_READ, fds[0], big, 10) == 0);
	CHECK(!CALL1(NR_CLOSE, fds[0]) && !CALL2(NR_PIPE2, fds, 0));
	CHECK(!CALL3(NR_FCNTL, fds[0], F_SETFL, O_NONBLOCK));
	CHECK(CALL3(NR_READ, fds[0], big, 10) == -EAGAIN);
	CHECK(SPLICE(fds[0], 0, ends[1], 0, 10, 0) == -EAGAIN);
	CHECK(!CALL3(NR_FCNTL, fds[1], F_SETFL, O_NONBLOCK) && !CALL1(NR_CLOSE, fds[0]));
	CHECK(CALL4(13, 13, &ignored, 0, 8) == 0 && CALL3(NR_WRITE, fds[1], big, 10) == -EPIPE);
	CHECK(!CALL1(NR_CLOSE, fds[1]));
}

static void children(void)
{
	CHECK(CALL4(NR_WAIT4, -1, 0, 0, 0) == -ECHILD);
	CHECK(CALL4(NR_WAIT4, -0x7fffffffl - 1, 0, 0, 0) == -ESRCH);
}

void main_program(long *sp)
{
	(void)sp;
	children();
	CHECK(!CALL1(NR_PIPE, ends));
	pipes_that_never_wait();
	selects();
	masks();
	splices();
	put("waits are as they should be\n");
	sys_exit(0);
}

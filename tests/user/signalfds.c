/*
 * Tests of signalfd(): signals that are blocked, read from a file. Ends with 0, or with the line of the check that failed.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_POLL = 7,
	NR_RT_SIGPROCMASK = 14,
	NR_NANOSLEEP = 35,
	NR_KILL = 62,
	NR_RT_SIGQUEUEINFO = 129,
	NR_SIGNALFD = 282,
	NR_SIGNALFD4 = 289
};

enum {
	EBADF = 9,
	EAGAIN = 11,
	EINVAL = 22,
	O_NONBLOCK = 04000,
	O_CLOEXEC = 02000000
};
enum {
	SIGUSR1 = 10,
	SIGUSR2 = 12,
	SIGCHLD = 17,
	SIGRT = 40
};

#define BIT(sig) (1ul << ((sig)-1))

struct info {
	uint32_t signo;
	int32_t error, code;
	uint32_t pid, uid;
	uint32_t unused[5];
	int32_t status, value_int;
	uint64_t value_ptr;
	uint64_t rest[9];
};

static struct info infos[4];

static long open_for(uint64_t mask, int flags)
{
	return CALL4(NR_SIGNALFD4, -1, &mask, 8, flags);
}

static int is_readable(long fd, int wait_msecs)
{
	struct {
		int32_t fd;
		int16_t events, revents;
	} poll = { (int32_t)fd, 1, 0 };

	return CALL3(NR_POLL, &poll, 1, wait_msecs) == 1 && poll.revents == 1;
}

static void test_arguments(void)
{
	uint64_t mask = BIT(SIGUSR1);

	CHECK(CALL4(NR_SIGNALFD4, -1, &mask, 4, 0) == -EINVAL);
	CHECK(CALL4(NR_SIGNALFD4, -1, &mask, 8, 1) == -EINVAL);
	CHECK(CALL4(NR_SIGNALFD4, 99, &mask, 8, 0) == -EBADF);
	CHECK(CALL4(NR_SIGNALFD4, 0, &mask, 8, 0) == -EINVAL);
}

/* Those of the mask alone, in order; the others stay pending. */
static void test_reading(void)
{
	long fd = open_for(BIT(SIGUSR1) | BIT(SIGRT), O_NONBLOCK | O_CLOEXEC),
	     pid = CALL0(NR_GETPID);
	int32_t queued[32] = { SIGRT, 0, -1, 0, 0, 0, 77 };
	uint64_t mask = BIT(SIGUSR2);

	CHECK(fd >= 0 && CALL3(NR_READ, fd, infos, sizeof(infos)) == -EAGAIN &&
	      !is_readable(fd, 0));
	CHECK(CALL2(NR_KILL, pid, SIGUSR2) == 0 && !is_readable(fd, 0));
	queued[4] = (int32_t)pid;
	CHECK(CALL3(NR_RT_SIGQUEUEINFO, pid, SIGRT, queued) == 0);
	CHECK(CALL2(NR_KILL, pid, SIGUSR1) == 0 && is_readable(fd, 0));
	CHECK(CALL3(NR_READ, fd, infos, 127) == -EINVAL);
	CHECK(CALL3(NR_READ, fd, infos, sizeof(infos)) == 256);
	CHECK(infos[0].signo == SIGUSR1 && infos[0].code == 0 && infos[0].pid == pid);
	CHECK(infos[1].signo == SIGRT && infos[1].code == -1 && infos[1].value_int == 77);
	CHECK(CALL3(NR_READ, fd, infos, 128) == -EAGAIN);
	CHECK(CALL3(NR_SIGNALFD, fd, &mask, 8) == fd && is_readable(fd, 0));
	CHECK(CALL3(NR_READ, fd, infos, 128) == 128 && infos[0].signo == SIGUSR2);
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

/* A reader that waits, and one that polls, hear of a child's end. */
static void test_waiting(void)
{
	static const uint64_t time[2] = { 0, 20000000 };
	long fd = open_for(BIT(SIGCHLD), 0), pid;

	for (int polls = 0; polls < 2; polls++) {
		pid = CALL0(NR_FORK);
		if (!pid) {
			CALL2(NR_NANOSLEEP, time, 0);
			sys_exit(5);
		}
		CHECK(!polls || is_readable(fd, -1));
		CHECK(CALL3(NR_READ, fd, infos, sizeof(infos)) == 128 && infos[0].signo == SIGCHLD);
		CHECK(infos[0].pid == pid && infos[0].status == 5 && infos[0].code == 1);
		CHECK(CALL4(NR_WAIT4, pid, 0, 0, 0) == pid);
	}
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

void main_program(long *sp)
{
	const uint64_t blocked = BIT(SIGUSR1) | BIT(SIGUSR2) | BIT(SIGCHLD) | BIT(SIGRT);

	(void)sp;
	CHECK(CALL4(NR_RT_SIGPROCMASK, 0, &blocked, 0, 8) == 0);
	test_arguments();
	test_reading();
	test_waiting();
	put("signalfds are as they should be\n");
	sys_exit(0);
}

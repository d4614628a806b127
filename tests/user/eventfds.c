/*
 * Tests of files that are counters, timers and sets of descriptors, and of close_range(). Ends with 0, or with
 * the line of the check that failed; so it does on Linux.
 */
#include "threads_tests.h"

enum {
	NR_POLL = 7,
	NR_PIPE = 22,
	NR_DUP2 = 33,
	NR_FCNTL = 72,
	NR_TIMERFD_CREATE = 283,
	NR_EVENTFD = 284,
	NR_TIMERFD_SETTIME = 286,
	NR_TIMERFD_GETTIME = 287,
	NR_EVENTFD2 = 290,
	NR_EPOLL_WAIT = 232,
	NR_EPOLL_CTL = 233,
	NR_EPOLL_PWAIT = 281,
	NR_EPOLL_CREATE1 = 291,
	NR_CLOSE_RANGE = 436,
	NR_EPOLL_PWAIT2 = 441
};

enum {
	EBADF = 9,
	EEXIST = 17,
	NONBLOCK = 04000,
	CLOEXEC = 02000000
};

static unsigned long value;
static int fd;

static long read_value(void)
{
	value = 0;
	return CALL3(NR_READ, fd, &value, 8);
}

static long write_value(unsigned long number)
{
	return CALL3(NR_WRITE, fd, &number, 8);
}

static int is_ready(int events)
{
	struct {
		int fd;
		short events, revents;
	} poll = { fd, (short)events, 0 };

	return (int)CALL3(NR_POLL, &poll, 1, 0);
}

static void write_later(long number)
{
	sys_sleep_ms(10);
	CHECK(write_value((unsigned long)number) == 8);
}

static void counters(void)
{
	CHECK(CALL2(NR_EVENTFD2, 0, 64) == -EINVAL);
	fd = (int)CALL2(NR_EVENTFD2, 5, NONBLOCK | CLOEXEC);
	CHECK(fd > 2 && CALL2(NR_FCNTL, fd, 1) == 1 && is_ready(1));
	CHECK(CALL3(NR_READ, fd, &value, 7) == -EINVAL &&
	      CALL3(NR_WRITE, fd, &value, 7) == -EINVAL);
	CHECK(read_value() == 8 && value == 5);
	CHECK(!is_ready(1) && read_value() == -EAGAIN);
	CHECK(write_value(-1ul) == -EINVAL && write_value(7) == 8 && write_value(0) == 8);
	CHECK(write_value(-9ul) == 8 && write_value(1) == -EAGAIN); /* it would be too much */
	CHECK(read_value() == 8 && value == -2ul);
	CALL1(NR_CLOSE, fd);
	fd = (int)CALL1(NR_EVENTFD, 0);
	CHECK(thread_of(0, write_later, 3) > 0 && read_value() == 8 && value == 3);
	wait_zero(&tids[0]);
	CALL1(NR_CLOSE, fd);
	fd = (int)CALL2(NR_EVENTFD2, 2, 1 | NONBLOCK);
	CHECK(read_value() == 8 && value == 1 && read_value() == 8 && value == 1 &&
	      read_value() == -EAGAIN);
	CALL1(NR_CLOSE, fd);
}

static long set_timer(int flags, long first_ms, long every_ms, long *old)
{
	long times[4] = { every_ms / 1000, every_ms % 1000 * 1000000, first_ms / 1000,
			  first_ms % 1000 * 1000000 };

	return CALL4(NR_TIMERFD_SETTIME, fd, flags, times, old);
}

static void set_later(long ms)
{
	sys_sleep_ms(10);
	CHECK(!set_timer(0, ms, 0, 0));
}

static void timers(void)
{
	long now[2], old[4] = { 1, 1, 1, 1 }, begin = now_ms();

	CHECK(CALL2(NR_TIMERFD_CREATE, 99, 0) == -EINVAL &&
	      CALL2(NR_TIMERFD_CREATE, 1, 1) == -EINVAL);
	fd = (int)CALL2(NR_TIMERFD_CREATE, 1, NONBLOCK);
	CHECK(fd > 2 && read_value() == -EAGAIN && !is_ready(1));
	CHECK(set_timer(0, 100020, 0, old) == 0 && !old[0] && !old[1] && !old[2] && !old[3]);
	CHECK(read_value() == -EAGAIN);
	CHECK(!CALL2(NR_TIMERFD_GETTIME, fd, old) && old[2] > 0 && old[2] <= 100 && old[3] >= 0);
	CHECK(old[2] < 100 || old[3] <= 20000000);
	begin = now_ms();
	CHECK(set_timer(0, 20, 0, old) == 0 && !old[0] && !old[1] && old[2] > 0);
	while (!is_ready(1))
		sys_sleep_ms(1);
	CHECK(now_ms() - begin >= 20 && CALL3(NR_READ, fd, &value, 7) == -EINVAL);
	CHECK(read_value() == 8 && value == 1 && read_value() == -EAGAIN);
	CHECK(!CALL2(NR_TIMERFD_GETTIME, fd, old) && !old[2] && !old[3]);
	CHECK(!set_timer(0, 5, 5, 0));
	sys_sleep_ms(23);
	CHECK(read_value() == 8 && value >= 4);
	CHECK(!CALL2(NR_TIMERFD_GETTIME, fd, old) && old[1] == 5000000 && old[3] > 0);
	CHECK(!set_timer(0, 0, 0, 0) && read_value() == -EAGAIN);
	CHECK(set_timer(0, 0, -1, 0) == -EINVAL && set_timer(8, 1, 0, 0) == -EINVAL);
	CHECK(CALL4(NR_TIMERFD_SETTIME, fd, 0, 8, 0) == -EFAULT);
	CALL1(NR_CLOSE, fd);
	CHECK(set_timer(0, 1, 0, 0) == -EBADF);
	fd = 1;
	CHECK(set_timer(0, 1, 0, 0) == -EINVAL);
	for (int clock = 0; clock < 2; clock++) {
		fd = (int)CALL2(NR_TIMERFD_CREATE, clock, 0);
		CALL2(NR_CLOCK_GETTIME, clock, now);
		begin = now_ms();
		CHECK(!set_timer(1, now[0] * 1000 + now[1] / 1000000 + 20, 0, 0));
		CHECK(read_value() == 8 && value == 1 && now_ms() - begin >= 18 &&
		      now_ms() - begin < 2000);
		CHECK(!set_timer(1, 1, 0, 0) && read_value() == 8 && value == 1); /* it is over */
		CHECK(thread_of(0, set_later, 1) > 0 && read_value() == 8 &&
		      value == 1); /* set while another waits */
		wait_zero(&tids[0]);
		CALL1(NR_CLOSE, fd);
	}
}

/* ---- Sets of descriptors ---- */

enum {
	ADD = 1,
	DEL = 2,
	MOD = 3,
	IN = 1,
	OUT = 4,
	ONESHOT = 1 << 30
};
#define EDGE (1u << 31)

struct event {
	unsigned int events;
	unsigned long data;
} __attribute__((packed));

static int set;
static struct event events[8];

static long control(int op, int of, unsigned int what, unsigned long data)
{
	struct event event = { what, data };

	return CALL4(NR_EPOLL_CTL, set, op, of, &event);
}

static long wait_in_set(int max, long ms)
{
	events[0] = events[1] = (struct event){ 0, 0 };
	return CALL4(NR_EPOLL_WAIT, set, events, max, ms);
}

static void sets(void)
{
	int ends[2], other, file;
	long begin = now_ms(), time[2] = { 0, 5000000 };

	CHECK(CALL1(NR_EPOLL_CREATE1, 1) == -EINVAL && !CALL1(NR_PIPE, ends));
	set = (int)CALL1(NR_EPOLL_CREATE1, CLOEXEC);
	file = (int)CALL3(NR_OPEN, "/tmp/eventfds", 0102, 0600);
	fd = (int)CALL2(NR_EVENTFD2, 0, NONBLOCK);
	CHECK(set > 2 && file > 2 && control(ADD, file, IN, 0) == -EPERM &&
	      control(ADD, 99, IN, 0) == -EBADF);
	CHECK(control(ADD, set, IN, 0) == -EINVAL && control(9, fd, IN, 0) == -EINVAL);
	CHECK(CALL4(NR_EPOLL_CTL, file, ADD, fd, events) == -EINVAL &&
	      CALL4(NR_EPOLL_CTL, set, ADD, fd, 8) == -EFAULT);
	CHECK(control(MOD, fd, IN, 0) == -ENOENT && control(DEL, fd, IN, 0) == -ENOENT);
	CHECK(!control(ADD, fd, IN, 11) && control(ADD, fd, IN, 0) == -EEXIST &&
	      !control(ADD, ends[0], IN, 22));
	CHECK(wait_in_set(0, 0) == -EINVAL && CALL4(NR_EPOLL_WAIT, file, events, 1, 0) == -EINVAL);
	CHECK(wait_in_set(8, 0) == 0 && wait_in_set(8, 20) == 0 && now_ms() - begin >= 20);
	CHECK(thread_of(0, write_later, 1) > 0 && wait_in_set(8, -1) == 1);
	wait_zero(&tids[0]);
	CHECK(events[0].events == IN && events[0].data == 11);
	CHECK(CALL3(NR_WRITE, ends[1], "x", 1) == 1 && wait_in_set(8, 0) == 2);
	CHECK(events[0].data + events[1].data == 33);
	/* with room for one, each has its turn */
	CHECK(wait_in_set(1, 0) == 1);
	other = (int)events[0].data;
	CHECK(wait_in_set(1, 0) == 1 && (int)events[0].data == 33 - other);
	CHECK(!control(DEL, ends[0], 0, 0) && wait_in_set(8, 0) == 1 && events[0].data == 11);
	CHECK(!control(MOD, fd, IN | ONESHOT, 12) && wait_in_set(8, 0) == 1 &&
	      events[0].data == 12);
	CHECK(wait_in_set(8, 0) == 0 && !control(MOD, fd, OUT | EDGE, 13));
	CHECK(wait_in_set(8, 0) == 1 && events[0].events == OUT && wait_in_set(8, 0) == 0);
	CHECK(CALL4(NR_EPOLL_WAIT, set, 8, 1, 0) == 0 && !control(MOD, fd, IN, 14));
	CHECK(CALL4(NR_EPOLL_WAIT, set, 8, 1, 0) == -EFAULT);
	/* the descriptor of another file is not that which was in the set */
	CALL1(NR_CLOSE, fd);
	CHECK(wait_in_set(8, 0) == 0 && (int)CALL2(NR_EVENTFD2, 5, NONBLOCK) == fd &&
	      wait_in_set(8, 0) == 0);
	CHECK(!control(ADD, fd, IN, 15) && wait_in_set(8, 0) == 1 && events[0].data == 15);
	CHECK(read_value() == 8 &&
	      syscall6(NR_EPOLL_PWAIT2, set, (long)events, 8, (long)time, 0, 8) == 0);
	CHECK(syscall6(NR_EPOLL_PWAIT, set, (long)events, 8, 0, (long)&value, 4) == -EINVAL);
	CALL1(NR_CLOSE, set);
	CHECK(wait_in_set(8, 0) == -EBADF);
	CALL1(NR_UNLINK, "/tmp/eventfds");
}

static void ranges(void)
{
	for (int i = 50; i < 60; i++)
		CHECK(CALL2(NR_DUP2, 1, i) == i);
	CHECK(CALL3(NR_CLOSE_RANGE, 54, 53, 0) == -EINVAL &&
	      CALL3(NR_CLOSE_RANGE, 1, 2, 64) == -EINVAL);
	CHECK(!CALL3(NR_CLOSE_RANGE, 52, 53, 0) && !CALL3(NR_CLOSE_RANGE, 58, -1u, 0));
	CHECK(!CALL3(NR_CLOSE_RANGE, 54, 55, 4));
	for (int i = 50; i < 60; i++)
		CHECK(CALL2(NR_FCNTL, i, 1) ==
		      (i == 52 || i == 53 || i >= 58 ? -EBADF : i / 2 == 27));
	CHECK(!CALL3(NR_CLOSE_RANGE, 3, -1u, 0));
}

void main_program(long *sp)
{
	static const struct test tests[] = { { "counters", counters },
					     { "timers", timers },
					     { "sets", sets },
					     { "ranges", ranges } };

	run_test(sp, tests, sizeof(tests) / sizeof(tests[0]));
}

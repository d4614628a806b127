/*
 * Tests of files that are counters and timers, eventfd() and timerfd_create(), and of close_range(). Ends with 0, or with
 * the line of the check that failed; so it does on Linux.
 */
#include "threads_tests.h"

enum {
	NR_POLL = 7,
	NR_DUP2 = 33,
	NR_FCNTL = 72,
	NR_TIMERFD_CREATE = 283,
	NR_EVENTFD = 284,
	NR_TIMERFD_SETTIME = 286,
	NR_TIMERFD_GETTIME = 287,
	NR_EVENTFD2 = 290,
	NR_CLOSE_RANGE = 436
};

enum {
	EBADF = 9,
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
	CHECK(set_timer(0, 20, 0, old) == 0 && !old[0] && !old[1] && !old[2] && !old[3]);
	CHECK(read_value() == -EAGAIN);
	CHECK(!CALL2(NR_TIMERFD_GETTIME, fd, old) && !old[2] && old[3] > 0 && old[3] <= 20000000);
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
					     { "ranges", ranges } };

	run_test(sp, tests, sizeof(tests) / sizeof(tests[0]));
}

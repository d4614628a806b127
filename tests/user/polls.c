/*
 * Tests of waiting for files: a wait is woken by each kind of change, and looks only then. Ends with 0, or with the line
 * of the check that failed; so it does on Linux.
 */
#include "threads_tests.h"

enum {
	NR_POLL = 7,
	NR_PIPE = 22,
	NR_SELECT = 23,
	NR_EPOLL_WAIT = 232,
	NR_EPOLL_CTL = 233,
	NR_TIMERFD_CREATE = 283,
	NR_TIMERFD_SETTIME = 286,
	NR_SIGNALFD4 = 289,
	NR_EVENTFD2 = 290,
	NR_EPOLL_CREATE1 = 291
};

enum {
	IN = 1,
	OUT = 4,
	ERR = 8,
	HUP = 16
};

enum {
	RUSAGE_THREAD = 1,
	ADD = 1,
	MOD = 3,
	WAIT_MS = 60,
	SWITCHES_MAX = 20, /* looks once a millisecond would be three times as many */
	MANY = 20	   /* more than a table of the kernel has room for in itself */
};

static int ends[2], set;

struct pollfd {
	int fd;
	short events, revents;
};

struct event {
	unsigned int events;
	unsigned long data;
} __attribute__((packed));

/* How often this thread has given up its CPU. */
static long switches(void)
{
	long usage[18];

	CHECK(!CALL2(NR_GETRUSAGE, RUSAGE_THREAD, usage));
	return usage[16];
}

static long poll_for(int fd, int events, long ms, int *out_revents)
{
	struct pollfd poll = { fd, (short)events, 0 };
	long nr = CALL3(NR_POLL, &poll, 1, ms);

	*out_revents = poll.revents;
	return nr;
}

static int revents_now(int fd, int events)
{
	int found;

	CHECK(poll_for(fd, events, 0, &found) == (found != 0));
	return found;
}

/* `change` is made by another thread while this one waits for `events`, and wakes it. */
static void wakes(int fd, int events, void (*change)(long), int expected)
{
	long before = switches();
	int found;

	CHECK(!revents_now(fd, events) && thread_of(0, change, 0) > 0);
	CHECK(poll_for(fd, events, -1, &found) == 1 && found == expected);
	CHECK(switches() - before < SWITCHES_MAX);
	wait_zero(&tids[0]);
}

static void write_byte(long unused)
{
	(void)unused;
	sys_sleep_ms(WAIT_MS);
	CHECK(CALL3(NR_WRITE, ends[1], "x", 1) == 1);
}

static void read_all(long unused)
{
	static char bytes[65536];

	(void)unused;
	sys_sleep_ms(WAIT_MS);
	CHECK(CALL3(NR_READ, ends[0], bytes, sizeof(bytes)) > 0);
}

static void close_end(long end)
{
	sys_sleep_ms(WAIT_MS);
	CHECK(!CALL1(NR_CLOSE, ends[end]));
}

static void close_writer(long unused)
{
	(void)unused;
	close_end(1);
}

static void close_reader(long unused)
{
	(void)unused;
	close_end(0);
}

static void fill(void)
{
	static char bytes[4096];

	while (revents_now(ends[1], OUT))
		CHECK(CALL3(NR_WRITE, ends[1], bytes, sizeof(bytes)) == sizeof(bytes));
}

static void pipes(void)
{
	CHECK(!CALL1(NR_PIPE, ends) && revents_now(ends[1], IN | OUT) == OUT);
	wakes(ends[0], IN, write_byte, IN);
	fill();
	wakes(ends[1], OUT, read_all, OUT);
	if (revents_now(ends[0], IN))
		read_all(0);
	wakes(ends[0], IN, close_writer, HUP);
	CHECK(!CALL1(NR_CLOSE, ends[0]) && !CALL1(NR_PIPE, ends));
	CHECK(CALL3(NR_WRITE, ends[1], "x", 1) == 1 && !CALL1(NR_CLOSE, ends[1]));
	CHECK(revents_now(ends[0], IN) == (IN | HUP) && revents_now(ends[0], 0) == HUP);
	CHECK(!CALL1(NR_CLOSE, ends[0]) && !CALL1(NR_PIPE, ends));
	fill();
	wakes(ends[1], 0, close_reader, ERR);
}

/* ---- Files that are no pipes ---- */

static int fd;

static void add_one(long unused)
{
	unsigned long one = 1;

	(void)unused;
	sys_sleep_ms(WAIT_MS);
	CHECK(CALL3(NR_WRITE, fd, &one, 8) == 8);
}

static void set_timer(long unused)
{
	long times[4] = { 0, 0, 0, 1000000 };

	(void)unused;
	sys_sleep_ms(WAIT_MS);
	CHECK(!CALL4(NR_TIMERFD_SETTIME, fd, 0, times, 0));
}

static void raise_signal(long unused)
{
	(void)unused;
	sys_sleep_ms(WAIT_MS);
	CHECK(!CALL2(NR_KILL, CALL0(NR_GETPID), SIGUSR1));
}

static void others(void)
{
	unsigned long mask = 1ul << (SIGUSR1 - 1);
	long times[4] = { 0, 0, 0, WAIT_MS * 1000000 }, before;
	int found;

	fd = (int)CALL2(NR_EVENTFD2, 0, 0);
	wakes(fd, IN, add_one, IN);
	fd = (int)CALL2(NR_TIMERFD_CREATE, 1, 0);
	wakes(fd, IN, set_timer, IN);
	before = switches();
	CHECK(!CALL4(NR_TIMERFD_SETTIME, fd, 0, times, 0)); /* it rings, and no call wakes */
	CHECK(poll_for(fd, IN, -1, &found) == 1 && switches() - before < SWITCHES_MAX);
	CHECK(!CALL4(NR_RT_SIGPROCMASK, 0, &mask, 0, 8));
	fd = (int)CALL4(NR_SIGNALFD4, -1, &mask, 8, 0);
	wakes(fd, IN, raise_signal, IN);
}

/* ---- Sets ---- */

static long control(int op, int of, unsigned int what)
{
	struct event event = { what, (unsigned long)of };

	return CALL4(NR_EPOLL_CTL, set, op, of, &event);
}

static void change_item(long unused)
{
	(void)unused;
	sys_sleep_ms(WAIT_MS);
	CHECK(!control(MOD, ends[1], OUT));
}

static void sets(void)
{
	struct event event;
	long before;
	int found;

	set = (int)CALL1(NR_EPOLL_CREATE1, 0);
	CHECK(!CALL1(NR_PIPE, ends) && !control(ADD, ends[0], IN) && !control(ADD, ends[1], 0));
	wakes(set, IN, write_byte, IN);
	CHECK(CALL4(NR_EPOLL_WAIT, set, &event, 1, 0) == 1 && event.data == (unsigned long)ends[0]);
	CHECK(!control(MOD, ends[0], 0) && !CALL4(NR_EPOLL_WAIT, set, &event, 1, 0));
	/* An item that is changed while a thread waits. */
	CHECK(thread_of(0, change_item, 0) > 0);
	before = switches();
	CHECK(CALL4(NR_EPOLL_WAIT, set, &event, 1, -1) == 1 && event.events == OUT);
	CHECK(switches() - before < SWITCHES_MAX && !control(MOD, ends[1], 0));
	wait_zero(&tids[0]);
	/* A thread that waits in a set does not keep the files of it open: the reader sees the end. */
	read_all(0);
	CHECK(thread_of(0, close_writer, 0) > 0);
	CHECK(CALL4(NR_EPOLL_WAIT, set, &event, 1, 1000) == 1 && event.events == HUP);
	wait_zero(&tids[0]);
	CHECK(poll_for(ends[0], IN, 1000, &found) == 1 && found == HUP);
}

/* Many files at once, with poll() and select(); the last one has the event. */
static void many(void)
{
	struct pollfd polls[MANY];
	unsigned long bits[16] = { 0 };
	long before;

	for (int i = 0; i < MANY; i++) {
		polls[i] = (struct pollfd){ (int)CALL2(NR_EVENTFD2, 0, 0), IN, 0 };
		CHECK(polls[i].fd > 2 && polls[i].fd < 64);
		bits[0] |= 1ul << polls[i].fd;
	}
	fd = polls[MANY - 1].fd;
	before = switches();
	CHECK(thread_of(0, add_one, 0) > 0 && CALL3(NR_POLL, polls, MANY, -1) == 1);
	CHECK(polls[MANY - 1].revents == IN && switches() - before < SWITCHES_MAX);
	wait_zero(&tids[0]);
	fd = polls[0].fd;
	CHECK(CALL3(NR_READ, polls[MANY - 1].fd, bits + 8, 8) == 8);
	before = switches();
	CHECK(thread_of(0, add_one, 0) > 0);
	CHECK(syscall6(NR_SELECT, 64, (long)bits, 0, 0, 0, 0) == 1 && bits[0] == 1ul << fd);
	CHECK(switches() - before < SWITCHES_MAX);
	wait_zero(&tids[0]);
}

void main_program(long *sp)
{
	static const struct test tests[] = {
		{ "pipes", pipes }, { "others", others }, { "sets", sets }, { "many", many }
	};

	run_test(sp, tests, sizeof(tests) / sizeof(tests[0]));
}

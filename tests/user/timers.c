/*
 * Tests of timer_create() and what there is for its timers. Ends with 0, or with the line of the check that failed.
 */
#include "nolib.h"

enum {
	NR_RT_SIGPROCMASK = 14,
	NR_NANOSLEEP = 35,
	NR_RT_SIGTIMEDWAIT = 128,
	NR_GETTID = 186,
	NR_TIMER_CREATE = 222,
	NR_TIMER_SETTIME = 223,
	NR_TIMER_GETTIME = 224,
	NR_TIMER_GETOVERRUN = 225,
	NR_TIMER_DELETE = 226,
	NR_CLOCK_GETTIME = 228
};

enum {
	EAGAIN = 11,
	EFAULT = 14,
	EINVAL = 22
};
enum {
	SIGALRM = 14,
	SIGRT = 40
};
enum {
	SIGEV_SIGNAL = 0,
	SIGEV_NONE = 1,
	SIGEV_THREAD_ID = 4
};

#define MONOTONIC 1
#define ABSTIME	  1
#define SI_TIMER  (-2)
#define MS	  1000000l
#define BAD	  ((void *)16)

struct time {
	long sec, nsec;
};
struct setting {
	struct time interval, value;
};
struct event {
	unsigned long value;
	int signo, notify, tid;
	char unused[44];
};
struct info {
	int signo, error, code, pad;
	int timer, overrun;
	unsigned long value;
	char unused[96];
};

static int made(const struct event *event)
{
	int id = -1;

	CHECK(CALL3(NR_TIMER_CREATE, MONOTONIC, event, &id) == 0);
	return id;
}

static void set(int id, long value_ns, long interval_ns)
{
	struct setting setting = { { 0, interval_ns }, { 0, value_ns } };

	CHECK(CALL4(NR_TIMER_SETTIME, id, 0, &setting, 0) == 0);
}

static struct setting got(int id)
{
	struct setting setting;

	CHECK(CALL2(NR_TIMER_GETTIME, id, &setting) == 0);
	return setting;
}

static void sleep_ms(long ms)
{
	struct time time = { 0, ms * MS };

	CHECK(CALL2(NR_NANOSLEEP, &time, 0) == 0);
}

/* Wait for a signal up to `ms`; its number or -EAGAIN. */
static long taken(int signo, long ms, struct info *out_info)
{
	struct time time = { 0, ms * MS };
	unsigned long set = 1ul << (signo - 1);

	return CALL4(NR_RT_SIGTIMEDWAIT, &set, out_info, &time, 8);
}

static void test_errors(void)
{
	struct event event = { .signo = SIGRT, .notify = SIGEV_SIGNAL };
	struct setting setting = { { 0, 0 }, { 0, 1000 * MS } }; /* too many ns */
	int id;

	CHECK(CALL3(NR_TIMER_CREATE, 99, 0, &id) == -EINVAL);
	CHECK(CALL3(NR_TIMER_CREATE, MONOTONIC, BAD, &id) == -EFAULT);
	CHECK(CALL3(NR_TIMER_CREATE, MONOTONIC, 0, BAD) == -EFAULT);
	event.signo = 65;
	CHECK(CALL3(NR_TIMER_CREATE, MONOTONIC, &event, &id) == -EINVAL);
	event.signo = SIGRT;
	event.notify = 3;
	CHECK(CALL3(NR_TIMER_CREATE, MONOTONIC, &event, &id) == -EINVAL);
	event.notify = SIGEV_THREAD_ID;
	event.tid = 1; /* of another process */
	CHECK(CALL3(NR_TIMER_CREATE, MONOTONIC, &event, &id) == -EINVAL);
	id = made(0);
	CHECK(CALL4(NR_TIMER_SETTIME, id, 0, 0, 0) == -EINVAL);
	CHECK(CALL4(NR_TIMER_SETTIME, id, 0, BAD, 0) == -EFAULT);
	CHECK(CALL4(NR_TIMER_SETTIME, id, 0, &setting, 0) == -EINVAL);
	setting.value = (struct time){ 1, 0 };
	CHECK(CALL4(NR_TIMER_SETTIME, id, 0, &setting, BAD) == -EFAULT);
	CHECK(CALL2(NR_TIMER_GETTIME, id, BAD) == -EFAULT);
	CHECK(CALL1(NR_TIMER_DELETE, id) == 0);
	CHECK(CALL1(NR_TIMER_DELETE, id) == -EINVAL);
	CHECK(CALL2(NR_TIMER_GETTIME, id, &setting) == -EINVAL);
	CHECK(CALL4(NR_TIMER_SETTIME, id, 0, &setting, 0) == -EINVAL);
	CHECK(CALL1(NR_TIMER_GETOVERRUN, id) == -EINVAL);
}

/* One ring, with the defaults: SIGALRM with the timer's id. */
static void test_once(void)
{
	int id = made(0);
	struct info info;

	set(id, MS, 0);
	CHECK(taken(SIGALRM, 900, &info) == SIGALRM);
	CHECK(info.code == SI_TIMER && info.timer == id && info.overrun == 0);
	CHECK((int)info.value == id);
	CHECK(got(id).value.sec == 0 && got(id).value.nsec == 0);
	CHECK(taken(SIGALRM, 3, &info) == -EAGAIN);
	CHECK(CALL1(NR_TIMER_DELETE, id) == 0);
}

/* Rings while its signal waits are missed ones, counted when it is taken. */
static void test_interval(int notify)
{
	struct event event = { .value = 0x1234567890ul, .signo = SIGRT, .notify = notify };
	struct info info;
	int id;

	event.tid = (int)CALL0(NR_GETTID);
	id = made(&event);
	set(id, 2 * MS, 2 * MS);
	CHECK(got(id).interval.nsec == 2 * MS && got(id).value.nsec > 0);
	CHECK(got(id).value.nsec <= 2 * MS);
	sleep_ms(30);
	CHECK(taken(SIGRT, 0, &info) == SIGRT);
	CHECK(info.code == SI_TIMER && info.timer == id && info.value == event.value);
	CHECK(info.overrun >= 13 && CALL1(NR_TIMER_GETOVERRUN, id) == info.overrun);
	CHECK(taken(SIGRT, 900, &info) == SIGRT && info.timer == id);
	set(id, 0, 0);
	CHECK(got(id).value.nsec == 0);
	CHECK(taken(SIGRT, 0, &info) == -EAGAIN || taken(SIGRT, 0, &info) == -EAGAIN);
	CHECK(CALL1(NR_TIMER_DELETE, id) == 0);
}

/* Without a signal: only asked for its time. Not the child's. */
static void test_none(void)
{
	struct event event = { .notify = SIGEV_NONE };
	struct setting setting;
	int id = made(&event), status;
	long pid;

	set(id, MS, 0);
	sleep_ms(3);
	CHECK(got(id).value.nsec == 0);
	set(id, MS, 500 * MS);
	sleep_ms(3);
	CHECK(got(id).value.nsec > 0 && got(id).value.nsec <= 500 * MS);
	pid = CALL0(NR_FORK);
	if (!pid)
		sys_exit(CALL2(NR_TIMER_GETTIME, id, &setting) != -EINVAL);
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 0);
	CHECK(CALL1(NR_TIMER_DELETE, id) == 0);
}

/* At a time of the clock, also one that has passed; the old setting is told. */
static void test_absolute(void)
{
	struct setting setting = { { 0, 0 }, { 0, 1 } }, old;
	int id = made(0);
	struct info info;

	CHECK(CALL4(NR_TIMER_SETTIME, id, ABSTIME, &setting, 0) == 0);
	CHECK(taken(SIGALRM, 900, &info) == SIGALRM && info.overrun == 0);
	CHECK(CALL2(NR_CLOCK_GETTIME, MONOTONIC, &setting.value) == 0);
	setting.value.sec += 100;
	setting.interval.sec = 7;
	CHECK(CALL4(NR_TIMER_SETTIME, id, ABSTIME, &setting, &old) == 0);
	CHECK(old.value.sec == 0 && old.value.nsec == 0 && old.interval.sec == 0);
	CHECK(CALL4(NR_TIMER_SETTIME, id, ABSTIME, &setting, &old) == 0);
	CHECK(old.value.sec > 0 && old.value.sec <= 100 && old.interval.sec == 7);
}

void main_program(long *sp)
{
	const unsigned long blocked = 1ul << (SIGRT - 1) | 1ul << (SIGALRM - 1);

	(void)sp;
	CHECK(CALL4(NR_RT_SIGPROCMASK, 0, &blocked, 0, 8) == 0);
	test_errors();
	test_once();
	test_interval(SIGEV_SIGNAL);
	test_interval(SIGEV_THREAD_ID);
	test_none();
	test_absolute();
	put("timers are as they should be\n");
	sys_exit(0);
}

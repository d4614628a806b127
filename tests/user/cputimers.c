/*
 * Tests of timers that count processor time: setitimer(), timer_create(), RLIMIT_CPU (with the argument "limit", which takes a
 * second). Ends with 0, or with the line of the check that failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("failed: line %d (errno %d): %s\n", __LINE__, errno, #cond);        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static volatile sig_atomic_t rings[65];

static void note(int signal)
{
	rings[signal]++;
}

static long cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Work until the signal has come so often. */
static void spin_until(int signal, int times)
{
	long end = cpu_us() + 2000000;

	while (rings[signal] < times)
		CHECK(cpu_us() < end);
}

static void sleep_ms(long ms)
{
	struct timespec left = { 0, ms * 1000000 };

	while (nanosleep(&left, &left))
		;
}

static void test_once(int which, int signal)
{
	const struct itimerval once = { .it_value = { 0, 30000 } }, off = { 0 };
	struct itimerval left;
	long begin = cpu_us();

	CHECK(setitimer(which, &once, NULL) == 0 && getitimer(which, &left) == 0);
	CHECK(left.it_value.tv_usec > 0 && left.it_value.tv_usec <= 40000 && !left.it_value.tv_sec);
	sleep_ms(60);
	CHECK(rings[signal] == 0); /* sleep costs no processor time */
	spin_until(signal, 1);
	CHECK(cpu_us() - begin >= 30000);
	CHECK(getitimer(which, &left) == 0 && !left.it_value.tv_sec && !left.it_value.tv_usec);
	CHECK(setitimer(which, &once, NULL) == 0 && setitimer(which, &off, &left) == 0);
	CHECK(left.it_value.tv_usec > 0);
	CHECK(getitimer(which, &left) == 0 && !left.it_value.tv_usec && rings[signal] == 1);
}

static void test_again(void)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } }, off = { 0 };
	long begin = cpu_us();
	int status;
	pid_t pid;

	rings[SIGPROF] = 0;
	CHECK(setitimer(ITIMER_PROF, &often, NULL) == 0);
	pid = fork();
	if (!pid) { /* a child has no timers */
		struct itimerval left;

		_exit(getitimer(ITIMER_PROF, &left) || left.it_value.tv_usec);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	spin_until(SIGPROF, 4);
	CHECK(cpu_us() - begin >= 40000);
	CHECK(setitimer(ITIMER_PROF, &off, NULL) == 0);
}

static void test_wrong(void)
{
	const struct itimerval wrong = { .it_value = { 0, 1000000 } };
	struct itimerval left;

	CHECK(setitimer(ITIMER_PROF, &wrong, NULL) == -1 && errno == EINVAL);
	CHECK(setitimer(3, NULL, NULL) == -1 && errno == EINVAL);
	CHECK(getitimer(-1, &left) == -1 && errno == EINVAL);
}

static void test_clock(clockid_t clock)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	const struct itimerspec often = { { 0, 10000000 }, { 0, 20000000 } };
	struct itimerspec until = { { 0, 0 }, { 0, 0 } }, left;
	struct timespec now;
	timer_t timer;

	rings[SIGRTMIN] = 0;
	CHECK(timer_create(clock, &event, &timer) == 0);
	CHECK(timer_settime(timer, 0, &often, NULL) == 0 && timer_gettime(timer, &left) == 0);
	CHECK(left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 20000000 &&
	      left.it_interval.tv_nsec == 10000000);
	sleep_ms(50);
	CHECK(rings[SIGRTMIN] == 0);
	spin_until(SIGRTMIN, 3);
	CHECK(clock_gettime(clock, &now) == 0);
	until.it_value = (struct timespec){ now.tv_sec, now.tv_nsec + 20000000 };
	if (until.it_value.tv_nsec >= 1000000000)
		until.it_value =
			(struct timespec){ now.tv_sec + 1, until.it_value.tv_nsec - 1000000000 };
	CHECK(timer_settime(timer, TIMER_ABSTIME, &until, NULL) == 0);
	rings[SIGRTMIN] = 0;
	spin_until(SIGRTMIN, 1);
	CHECK(clock_gettime(clock, &now) == 0 &&
	      (now.tv_sec > until.it_value.tv_sec ||
	       (now.tv_sec == until.it_value.tv_sec && now.tv_nsec >= until.it_value.tv_nsec)));
	CHECK(timer_delete(timer) == 0);
}

/* Other processes and threads have clocks of their own, by number. */
static void test_numbers(void)
{
	struct timespec own, same, other;
	clockid_t clock;

	CHECK(clock_getcpuclockid(0, &clock) == 0 && clock_gettime(clock, &own) == 0);
	CHECK(clock_getcpuclockid(getpid(), &clock) == 0 && clock_gettime(clock, &same) == 0);
	CHECK(own.tv_sec * 1000000000 + own.tv_nsec <= same.tv_sec * 1000000000 + same.tv_nsec);
	CHECK(clock_getcpuclockid(getppid(), &clock) == 0 || getppid() == 0);
	CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0 &&
	      clock_gettime(clock, &other) == 0);
	CHECK(other.tv_sec * 1000000000 + other.tv_nsec > 0);
	CHECK(clock_getcpuclockid(999999, &clock) != 0);
}

static void test_limit(void)
{
	const struct rlimit second = { 1, 3 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		CHECK(setrlimit(RLIMIT_CPU, &second) == 0);
		spin_until(SIGXCPU, 1);
		CHECK(cpu_us() >= 1000000 && cpu_us() < 1500000);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv)
{
	static const int signals[] = { SIGPROF, SIGVTALRM, SIGXCPU };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], note);
	signal(SIGRTMIN, note);
	if (argc > 1 && strcmp(argv[1], "limit") == 0) {
		test_limit();
	} else {
		test_once(ITIMER_PROF, SIGPROF);
		test_once(ITIMER_VIRTUAL, SIGVTALRM);
		test_again();
		test_wrong();
		test_clock(CLOCK_PROCESS_CPUTIME_ID);
		test_clock(CLOCK_THREAD_CPUTIME_ID);
		test_numbers();
	}
	puts("cputimers are as they should be");
	return 0;
}

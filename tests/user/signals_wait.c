/*
 * signals_wait NAME: a test of calls that wait, children, groups or execve with signals; says "NAME is right",
 * or what is not.
 */
#include "signals.h"

static void wait_calls(void)
{
	unsigned long of = BIT(SIGUSR1) | BIT(SIGALRM), none = 0;
	struct info info;
	long time[2] = { 0, 20000000 };

	mask(0, BIT(SIGUSR1) | BIT(SIGALRM) | BIT(SIGUSR2));
	CHECK(CALL4(NR_RT_SIGTIMEDWAIT, &of, &info, time, 8) == -EAGAIN);
	kill_self(SIGUSR1);
	CHECK(CALL4(NR_RT_SIGTIMEDWAIT, &of, &info, 0, 8) == SIGUSR1 && info.signo == SIGUSR1);
	long timer[4] = { 0, 0, 0, 20000 };
	CHECK(CALL3(NR_SETITIMER, 0, timer, 0) == 0);
	CHECK(CALL4(NR_RT_SIGTIMEDWAIT, &of, &info, 0, 8) == SIGALRM);
	set(SIGALRM, note, 0);
	CALL3(NR_SETITIMER, 0, timer, 0);
	none = BIT(SIGUSR2);
	CHECK(CALL2(NR_RT_SIGSUSPEND, &none, 8) == -EINTR && nr_seen == 1);
	unsigned long old = 0;
	CALL4(NR_RT_SIGPROCMASK, 0, 0, &old, 8);
	CHECK(old == (BIT(SIGUSR1) | BIT(SIGALRM) | BIT(SIGUSR2)));
	mask(1, BIT(SIGALRM));
	long every[4] = { 0, 5000, 0, 5000 }; /* one may come before the call that it is to end */
	CALL3(NR_SETITIMER, 0, every, 0);
	CHECK(CALL0(NR_PAUSE) == -EINTR && nr_seen >= 2);
	while (nr_seen < 6)
		CALL0(NR_PAUSE);
	every[1] = every[3] = 0;
	CALL3(NR_SETITIMER, 0, every, timer);
	CHECK(timer[1] == 5000 && timer[3] > 0);
	CHECK(CALL1(NR_ALARM, 100) == 0 && CALL1(NR_ALARM, 0) == 100);
}

/* SIGALRM after each so many microseconds, as the first may come before the call that it is to end; 0: no more. */
static void alarm_every(long us)
{
	long timer[4] = { 0, us, 0, us };

	CHECK(CALL3(NR_SETITIMER, 0, timer, 0) == 0);
}

/* Stopped and continued while it sleeps, a child sleeps on, and ends with 0. Returns whether it slept long enough for that. */
static int sleeps_on(long ms)
{
	long time[2] = { ms / 1000, ms % 1000 * 1000000 }, child = CALL0(NR_FORK);
	int status;

	if (!child)
		sys_exit(CALL2(NR_NANOSLEEP, time, 0) == 0 ? 5 : 6);
	sleep_ms(30);
	CALL2(NR_KILL, child, SIGSTOP);
	CHECK(wait_for(child, 2, &status) == child);
	if (status == 5 << 8)
		return 0;
	CHECK(status == (SIGSTOP << 8 | 0x7f));
	CALL2(NR_KILL, child, SIGCONT);
	CHECK(wait_for(child, 8, &status) == child && status == 0xffff);
	CHECK(wait_for(child, 0, &status) == child && status == 5 << 8);
	return 1;
}

/* A read is ended by a handler, or begun again; a sleep goes on where no handler is called. */
static void restart(void)
{
	long once[4] = { 0, 0, 0, 20000 }, time[2] = { 100, 0 }, rest[2] = { 0, 0 }, ms = 200;
	int fds[2], status, nr;
	char byte;

	CALL1(NR_PIPE, fds);
	set(SIGALRM, note, 0);
	alarm_every(20000);
	CHECK(CALL3(NR_READ, fds[0], &byte, 1) == -EINTR && nr_seen >= 1);
	alarm_every(0);
	set(SIGALRM, note, SA_RESTART);
	nr = nr_seen;
	CALL3(NR_SETITIMER, 0, once, 0); /* before the child's time begins */
	long child = CALL0(NR_FORK);
	if (!child) {
		sleep_ms(150);
		CALL3(NR_WRITE, fds[1], "x", 1);
		sys_exit(0);
	}
	CHECK(CALL3(NR_READ, fds[0], &byte, 1) == 1 && nr_seen == nr + 1);
	CHECK(wait_for(child, 0, &status) == child);
	while (!sleeps_on(ms)) /* on a busy machine its time may be over before */
		CHECK((ms *= 2) < 60000);
	alarm_every(20000);
	CHECK(CALL2(NR_NANOSLEEP, time, rest) == -EINTR && rest[0] < 100 && rest[0] >= 0 &&
	      rest[0] + rest[1] > 0);
	alarm_every(0);
}

/* A call that waits for events ends by a signal, and is not begun again, whatever the handler says. No event is on. */
static void traces(void)
{
	long text = CALL3(NR_OPEN, "/sys/kernel/tracing/trace_pipe", 0, 0);
	long raw = CALL3(NR_OPEN, "/sys/kernel/tracing/per_cpu/cpu0/trace_pipe_raw", 0, 0);
	static char page[4096];
	int fds[2];

	CHECK(text >= 0 && raw >= 0 && CALL1(NR_PIPE, fds) == 0);
	set(SIGALRM, note, SA_RESTART);
	alarm_every(20000);
	CHECK(CALL3(NR_READ, text, page, sizeof(page)) == -EINTR);
	CHECK(CALL3(NR_READ, raw, page, sizeof(page)) == -EINTR);
	CHECK(syscall6(NR_SPLICE, raw, 0, fds[1], 0, sizeof(page), 0) == -EINTR);
	alarm_every(0);
}

/* A parent that waits in vfork() dies of SIGKILL, though its child goes on. */
static void vforks(void)
{
	int fds[2], status;
	long child, grandchild;

	CALL1(NR_PIPE, fds);
	child = CALL0(NR_FORK);
	if (!child) {
		if (CALL0(NR_VFORK))
			sys_exit(0);
		grandchild = CALL0(NR_GETPID);
		CALL3(NR_WRITE, fds[1], &grandchild, sizeof(grandchild));
		for (;;)
			CALL0(NR_PAUSE);
	}
	CHECK(CALL3(NR_READ, fds[0], &grandchild, sizeof(grandchild)) == sizeof(grandchild));
	CALL2(NR_KILL, child, SIGUSR1); /* it would die of this, too, but not before its child */
	CHECK(wait_for(child, 1, &status) == 0);
	CALL2(NR_KILL, child, SIGKILL);
	CHECK(wait_for(child, 0, &status) == child && status == SIGKILL);
	CHECK(CALL2(NR_KILL, grandchild, SIGKILL) == 0);
}

static void children(void)
{
	int status;
	struct info info;

	set(SIGCHLD, note, 0);
	long child = CALL0(NR_FORK);
	if (!child)
		sys_exit(3);
	while (!nr_seen)
		sleep_ms(1000);
	CHECK(codes[0] == 1 && (int)values[0] == 3);
	CHECK(CALL2(NR_KILL, child, 0) == 0); /* a zombie is there */
	CHECK(syscall6(NR_WAITID, 1, child, (long)&info, 4 | 0x01000000, 0, 0) == 0 &&
	      info.pid == child);
	CHECK(syscall6(NR_WAITID, 1, child, (long)&info, 4, 0, 0) == 0 && info.code == 1);
	CHECK(CALL2(NR_KILL, child, 0) == -ESRCH && wait_for(child, 0, &status) == -ECHILD);
	nr_seen = 0;
	set(SIGCHLD, note, SA_NOCLDSTOP);
	child = CALL0(NR_FORK);
	if (!child)
		for (;;)
			sleep_ms(1000);
	CALL2(NR_KILL, child, SIGSTOP);
	CHECK(wait_for(child, 2, &status) == child && !nr_seen);
	CHECK(wait_for(child, 2 | 1, &status) == 0); /* it is told once */
	CALL2(NR_KILL, child, SIGUSR1);		     /* it stays stopped, */
	sleep_ms(20);
	CHECK(wait_for(child, 1, &status) == 0);
	CALL2(NR_KILL, child, SIGKILL); /* but for this */
	while (wait_for(child, 0, &status) == -EINTR)
		;
	CHECK(status == SIGKILL || status == SIGUSR1);
	set(SIGCHLD, note, SA_NOCLDWAIT);
	child = CALL0(NR_FORK);
	if (!child)
		sys_exit(0);
	CHECK(wait_for(-1, 0, &status) == -ECHILD || wait_for(-1, 0, &status) == -ECHILD);
}

/* A SIGCONT right behind a SIGSTOP continues the child, wherever that is at the moment. */
static void stops(void)
{
	int status;
	long child = CALL0(NR_FORK);

	if (!child)
		for (;;)
			CALL0(NR_GETPID);
	for (int i = 0; i < 300; i++) {
		CALL2(NR_KILL, child, SIGSTOP);
		for (int spin = 0; spin < i * 20; spin++)
			__asm__ volatile("pause");
		CALL2(NR_KILL, child, SIGCONT);
	}
	CALL2(NR_KILL, child, SIGTERM);
	CHECK(wait_for(child, 0, &status) == child && status == SIGTERM);
}

static void groups(void)
{
	int status;
	long self = CALL0(NR_GETPID), first = CALL0(NR_FORK), second;

	if (!first)
		for (;;)
			CALL0(NR_PAUSE);
	CHECK(CALL2(NR_SETPGID, first, 0) == 0 && CALL1(NR_GETPGID, first) == first);
	second = CALL0(NR_FORK);
	if (!second)
		for (;;)
			CALL0(NR_PAUSE);
	CHECK(CALL2(NR_SETPGID, second, first) == 0);
	CHECK(CALL2(NR_SETPGID, self, first + 5000) == -EPERM &&
	      CALL2(NR_SETPGID, 1 << 20, 0) == -ESRCH);
	CHECK(wait_for(0, 1, &status) == -ECHILD && wait_for(-first, 1, &status) == 0);
	CHECK(CALL2(NR_KILL, -first, SIGTERM) == 0);
	CHECK(wait_for(-first, 0, &status) > 0 && status == SIGTERM);
	CHECK(wait_for(-first, 0, &status) > 0 && status == SIGTERM);
	CHECK(CALL2(NR_KILL, -first, SIGTERM) == -ESRCH && CALL2(NR_KILL, self, 65) == -EINVAL);
	/* SIGPIPE */
	int fds[2];
	CALL1(NR_PIPE, fds);
	CALL1(3, fds[0]);
	set(SIGPIPE, note, 0);
	CHECK(CALL3(NR_WRITE, fds[1], "x", 1) == -32 && nr_seen == 1 && seen[0] == SIGPIPE);
}

/* exec resets handlers, keeps what is ignored, the mask, and what is pending. */
static void exec(void)
{
	static char *argv[] = { 0, "executed", 0 };

	set(SIGUSR1, note, 0);
	set(SIGUSR2, (void *)1, 0);
	mask(0, BIT(SIGTERM));
	kill_self(SIGTERM);
	argv[0] = "signals_wait";
	CALL3(NR_EXECVE, "/bin/signals_wait", argv, 0);
}

static void executed(void)
{
	struct action now;
	unsigned long pending = 0;

	CALL4(NR_RT_SIGACTION, SIGUSR1, 0, &now, 8);
	CHECK(now.handler == 0);
	CALL4(NR_RT_SIGACTION, SIGUSR2, 0, &now, 8);
	CHECK(now.handler == (void *)1);
	CALL2(NR_RT_SIGPENDING, &pending, 8);
	CHECK(pending == BIT(SIGTERM));
}

void main_program(long *sp)
{
	static const struct signal_test tests[] = {
		{ "wait", wait_calls },	  { "restart", restart },
		{ "children", children }, { "stops", stops },
		{ "groups", groups },	  { "vforks", vforks },
		{ "traces", traces },	  { "exec", exec },
		{ "executed", executed }, { 0, 0 }
	};

	run_test(tests, ((char **)(sp + 1))[1]);
}

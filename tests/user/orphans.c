/*
 * Tests of the first program, as which it is started: signals that do not end it, and processes whose parents
 * have ended before them. Ends with 0, or with the line of the check that failed.
 */
#include "signals.h"

static int gate[2], way_out[2];

static long next_child(int *status)
{
	return CALL4(NR_WAIT4, -1, status, 0, 0);
}

/* A signal of which it has no handler does nothing to the first program, and ends others. */
static void test_signals(void)
{
	static const int signals[] = { SIGHUP, SIGTERM, SIGUSR1, SIGALRM, SIGKILL };
	int status;
	long pid;

	CHECK(CALL0(NR_GETPPID) == 0);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		CHECK(CALL2(NR_KILL, CALL0(NR_GETPID), signals[i]) == 0);
		pid = CALL0(NR_FORK);
		if (!pid) {
			for (;;)
				CALL0(NR_PAUSE);
		}
		CHECK(CALL2(NR_KILL, pid, signals[i]) == 0);
		CHECK(next_child(&status) == pid && status == signals[i]);
	}
	CHECK(set(SIGTERM, note, 0) == 0 && CALL2(NR_KILL, CALL0(NR_GETPID), SIGTERM) == 0);
	CHECK(nr_seen == 1 && seen[0] == SIGTERM);
}

/* A process with a child that waits at the gate, perhaps in a group of its own; it tells the child's number, and ends. */
static long start_orphan(int code, int has_group)
{
	char byte;
	long pid = CALL0(NR_FORK), orphan = 0;

	if (!pid) {
		orphan = CALL0(NR_FORK);
		if (!orphan) {
			CALL3(NR_READ, gate[0], &byte, 1);
			sys_exit(code);
		}
		if (has_group)
			CALL2(NR_SETPGID, orphan, orphan);
		CALL3(NR_WRITE, way_out[1], &orphan, sizeof(orphan));
		sys_exit(0);
	}
	CHECK(CALL3(NR_READ, way_out[0], &orphan, sizeof(orphan)) == sizeof(orphan));
	return orphan;
}

/* Of a parent that ends one signal comes, and none of its child, which lives; that child's own end comes later. */
static void test_orphans(void)
{
	unsigned long chld = 1ul << (SIGCHLD - 1);
	struct info info;
	long orphan, pid;
	int status;

	CHECK(CALL4(NR_RT_SIGPROCMASK, 0, &chld, 0, 8) == 0);
	orphan = start_orphan(7, 0);
	pid = next_child(&status);
	CHECK(pid > 0 && pid != orphan && status == 0);
	CHECK(CALL4(NR_RT_SIGTIMEDWAIT, &chld, &info, 0, 8) == SIGCHLD && info.pid == pid);
	CHECK(CALL4(NR_WAIT4, -1, &status, 1, 0) == 0); /* it lives */
	CHECK(CALL3(NR_WRITE, gate[1], "x", 1) == 1);
	CHECK(next_child(&status) == orphan && status == 7 << 8);
	CHECK(CALL4(NR_RT_SIGTIMEDWAIT, &chld, &info, 0, 8) == SIGCHLD && info.pid == orphan);
	CHECK(next_child(&status) == -ECHILD);
}

/* A group whose last keeper ends gets SIGHUP only if a member is stopped. */
static void test_groups(void)
{
	long orphan = start_orphan(9, 1), pid;
	int status;

	pid = next_child(&status);
	CHECK(pid > 0 && pid != orphan && status == 0);
	CHECK(CALL3(NR_WRITE, gate[1], "x", 1) == 1);
	CHECK(next_child(&status) == orphan && status == 9 << 8);
}

/* Those of a program that ignores the ends of its children go by themselves, when they end and not before. */
static void test_ignored(void)
{
	long orphan;
	int status;

	CHECK(set(SIGCHLD, (void (*)(int, void *, void *))1, 0) == 0);
	orphan = start_orphan(8, 0);
	while (CALL4(NR_WAIT4, orphan, &status, 1, 0) == -ECHILD)
		; /* its parent has not ended */
	CHECK(CALL4(NR_WAIT4, orphan, &status, 1, 0) == 0 && CALL2(NR_KILL, orphan, 0) == 0);
	CHECK(CALL3(NR_WRITE, gate[1], "x", 1) == 1);
	CHECK(next_child(&status) == -ECHILD && CALL2(NR_KILL, orphan, 0) == -ESRCH);
}

void main_program(long *sp)
{
	(void)sp;
	CHECK(CALL1(NR_PIPE, gate) == 0 && CALL1(NR_PIPE, way_out) == 0);
	test_signals();
	test_orphans();
	test_groups();
	test_ignored();
	put("orphans are as they should be\n");
	sys_exit(0);
}

/*
 * Tests of tracers and their tracees by ptrace(): threads, children and programs that begin; attaching, stops of whole processes, and the
 * ends of both sides. The name of a test is the argument. Ends with 0, or with the line of the check that failed.
 */
#include "ptraces.h"

enum {
	NR_CLONE = 56
};

/* ---- Threads, children, programs ---- */

static char stack[4096] __attribute__((aligned(16)));

static void be_thread(void)
{
	CALL1(60, 3);
}

static void make_thread(void)
{
	static volatile int lives = 1;
	unsigned long *top = (unsigned long *)(stack + sizeof(stack) - 16);
	register volatile int *at_end __asm__("r10") = &lives; /* 0 is written there */
	long tid;

	top[0] = (unsigned long)be_thread;
	__asm__ volatile("syscall\n\t"
			 "test %%eax, %%eax\n\t"
			 "jnz 1f\n\t"
			 "ret\n"
			 "1:"
			 : "=a"(tid)
			 : "a"((long)NR_CLONE), "D"(0x210f00l), "S"(top), "d"(0l), "r"(at_end)
			 : "rcx", "r11", "memory");
	CHECK(tid > 0);
	while (lives)
		CALL0(NR_GETPPID);
	if (CALL0(NR_FORK) == 0)
		sys_exit(4);
	CALL4(NR_WAIT4, -1, 0, 0, 0);
	CALL3(NR_EXECVE, "/proc/self/exe", ((const char *[]){ "ptraces", "quiet", 0 }), 0);
	sys_exit(9);
}

static void events(void)
{
	long pid = tracee(make_thread), message, found;
	long wanted =
		OPTION(EVENT_FORK) | OPTION(EVENT_CLONE) | OPTION(EVENT_EXEC) | OPTION(EVENT_EXIT);
	unsigned int seen = 0;
	int status;

	CHECK(ptrace(SETOPTIONS, pid, 0, (void *)-1) == -EINVAL);
	CHECK(ptrace(SETOPTIONS, pid, 0, (void *)wanted) == 0 && ptrace(CONT, pid, 0, 0) == 0);
	while ((found = syscall6(NR_WAIT4, -1, (long)&status, WALL, 0, 0, 0)) > 0) {
		if ((status & 0xff) != 0x7f) {
			CHECK(status == 3 << 8 || status == 4 << 8 ||
			      (found == pid && status == 6 << 8));
			seen |= status == 3 << 8 ? 0x10u : status == 4 << 8 ? 0x20u : 0x40u;
			continue;
		}
		CHECK(ptrace(GETEVENTMSG, found, 0, &message) == 0);
		if (status == STOPPED_BY(EVENT_CLONE)) {
			seen |= message > pid ? 1 : 0;
		} else if (status == STOPPED_BY(EVENT_FORK)) {
			seen |= message > pid ? 2 : 0;
		} else if (status == STOPPED_BY(EVENT_EXEC)) {
			CHECK(message == pid);
			seen |= 4;
		} else if (status == STOPPED_BY(EVENT_EXIT)) {
			seen |= message == 4 << 8 ? 8u : 0;
		} else {
			CHECK(status == STOPPED(SIGSTOP) || status == STOPPED(SIGCHLD));
		}
		CHECK(ptrace(CONT, found, 0,
			     (void *)(status == STOPPED(SIGCHLD) ? (long)SIGCHLD : 0)) == 0);
	}
	CHECK(found == -ECHILD && seen == 0x7f);
}

/* ---- Attaching ---- */

static void spin(void)
{
	for (;;)
		CALL0(NR_GETPPID);
}

static long child_of(void (*work)(void))
{
	long pid = CALL0(NR_FORK);

	if (!pid) {
		work();
		sys_exit(0);
	}
	return pid;
}

static void attach(void)
{
	long pid = child_of(spin);

	CHECK(ptrace(CONT, pid, 0, 0) == -ESRCH && ptrace(ATTACH, 999999, 0, 0) == -ESRCH);
	CHECK(ptrace(ATTACH, get_pid(), 0, 0) == -EPERM);
	CHECK(ask(ATTACH, pid, 0) == STOPPED(SIGSTOP));
	CHECK(ptrace(ATTACH, pid, 0, 0) == -EPERM && ptrace(INTERRUPT, pid, 0, 0) == -EIO);
	CHECK(ptrace(CONT, pid, 0, 0) == 0 && ptrace(GETREGS, pid, 0, 0) == -ESRCH);
	CALL2(NR_KILL, pid, SIGUSR1);
	CHECK(status_of(pid) == STOPPED(SIGUSR1));
	CHECK(ptrace(DETACH, pid, 0, (void *)SIGSTOP) == 0);
	/* It is a child again like others. */
	CHECK(syscall6(NR_WAIT4, pid, 0, WUNTRACED, 0, 0, 0) == pid);
	CALL2(NR_KILL, pid, SIGKILL);
	CHECK(status_of(pid) == SIGKILL);
}

static void seize(void)
{
	long pid = child_of(spin);
	const int group_stop = STOPPED(SIGSTOP | EVENT_STOP << 8);

	CHECK(ptrace(SEIZE, pid, 0, (void *)2) == 0 &&
	      ask(INTERRUPT, pid, 0) == STOPPED_BY(EVENT_STOP));
	CHECK(ptrace(CONT, pid, 0, 0) == 0);
	CALL2(NR_KILL, pid, SIGSTOP);
	CHECK(status_of(pid) == STOPPED(SIGSTOP));
	CHECK(ptrace(LISTEN, pid, 0, 0) == -EIO);
	CHECK(ask(CONT, pid, (void *)SIGSTOP) == group_stop);
	CHECK(ptrace(LISTEN, pid, 0, 0) == 0 && ptrace(CONT, pid, 0, 0) == -ESRCH);
	CHECK(syscall6(NR_WAIT4, pid, 0, WALL | WNOHANG, 0, 0, 0) == 0);
	CALL2(NR_KILL, pid, SIGCONT);
	CHECK(status_of(pid) == STOPPED_BY(EVENT_STOP));
	CHECK(ask(CONT, pid, 0) == STOPPED(SIGCONT));
	/* It is in a stop of the whole process, and its tracer leaves: it stays there. */
	CHECK(ptrace(CONT, pid, 0, 0) == 0);
	CALL2(NR_KILL, pid, SIGSTOP);
	CHECK(status_of(pid) == STOPPED(SIGSTOP) && ask(CONT, pid, (void *)SIGSTOP) == group_stop);
	CHECK(ptrace(DETACH, pid, 0, 0) == 0);
	CHECK(syscall6(NR_WAIT4, pid, 0, WUNTRACED, 0, 0, 0) == pid);
	CALL2(NR_KILL, pid, SIGKILL);
	CHECK(status_of(pid) == SIGKILL);
}

/* A tracer that is not the parent, and ends. */
static void tracers_end(void)
{
	long pid = child_of(spin), tracer = CALL0(NR_FORK);
	int status;

	if (!tracer) {
		CHECK(ask(ATTACH, pid, 0) == STOPPED(SIGSTOP));
		sys_exit(0);
	}
	CHECK(status_of(tracer) == 0);
	/* The signal that it was stopped for is done: it stops once more, as a child like others. */
	CHECK(syscall6(NR_WAIT4, pid, (long)&status, WUNTRACED, 0, 0, 0) == pid &&
	      status == STOPPED(SIGSTOP));
	CALL2(NR_KILL, pid, SIGCONT);
	tracer = CALL0(NR_FORK);
	if (!tracer) {
		CHECK(ptrace(SEIZE, pid, 0, (void *)OPTION_EXITKILL) == 0);
		CALL2(NR_KILL, pid, SIGUSR1);
		CHECK(status_of(pid) == STOPPED(SIGUSR1));
		CHECK(ptrace(CONT, pid, 0, (void *)SIGUSR1) ==
		      0); /* it dies, which its parent hears second */
		CHECK(syscall6(NR_WAIT4, pid, (long)&status, WALL, 0, 0, 0) == pid &&
		      status == SIGUSR1);
		sys_exit(0);
	}
	CHECK(status_of(pid) == SIGUSR1 && status_of(tracer) == 0);
	pid = child_of(spin);
	tracer = CALL0(NR_FORK);
	if (!tracer) { /* with a signal of the tracee in its hands */
		CHECK(ptrace(SEIZE, pid, 0, 0) == 0);
		CALL2(NR_KILL, pid, SIGUSR1);
		CHECK(status_of(pid) == STOPPED(SIGUSR1));
		sys_exit(0);
	}
	CHECK(status_of(tracer) == 0 && status_of(pid) == SIGUSR1);
	pid = child_of(spin);
	tracer = CALL0(NR_FORK);
	if (!tracer) {
		CHECK(ptrace(SEIZE, pid, 0, (void *)OPTION_EXITKILL) == 0);
		sys_exit(0);
	}
	CHECK(status_of(pid) == SIGKILL && status_of(tracer) == 0);
}

void main_program(long *sp)
{
	static const struct test tests[] = { { "events", events },
					     { "attach", attach },
					     { "seize", seize },
					     { "ends", tracers_end },
					     { 0, 0 } };
	const char *name = sp[2] ? (const char *)sp[2] : "";

	if (text_equal(name, "quiet"))
		sys_exit(6);
	run_tests(tests, name);
	sys_exit(1);
}

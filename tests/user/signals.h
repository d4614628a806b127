/*
 * Signals for the programs of tests/user: numbers, structures of Linux, calls, a handler that notes what it
 * gets, and the start of a program whose argument names one of its tests.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include "nolib.h"

#define NR_RT_SIGACTION	   13
#define NR_RT_SIGPROCMASK  14
#define NR_RT_SIGRETURN	   15
#define NR_PIPE		   22
#define NR_PAUSE	   34
#define NR_NANOSLEEP	   35
#define NR_ALARM	   37
#define NR_SETITIMER	   38
#define NR_KILL		   62
#define NR_SETPGID	   109
#define NR_GETPPID	   110
#define NR_GETPGID	   121
#define NR_RT_SIGPENDING   127
#define NR_RT_SIGTIMEDWAIT 128
#define NR_RT_SIGQUEUEINFO 129
#define NR_RT_SIGSUSPEND   130
#define NR_SIGALTSTACK	   131
#define NR_TGKILL	   234
#define NR_WAITID	   247
#define NR_SPLICE	   275

#define SIGHUP	1
#define SIGINT	2
#define SIGILL	4
#define SIGTRAP 5
#define SIGFPE	8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20

#define SA_NOCLDSTOP 0x1ul
#define SA_NOCLDWAIT 0x2ul
#define SA_SIGINFO   0x4ul
#define SA_RESTORER  0x04000000ul
#define SA_ONSTACK   0x08000000ul
#define SA_RESTART   0x10000000ul
#define SA_NODEFER   0x40000000ul
#define SA_RESETHAND 0x80000000ul

#define EINTR  4
#define EAGAIN 11
#define ENOMEM 12
#define ECHILD 10
#define ESRCH  3
#define EPERM  1
#define EINVAL 22

struct action {
	void (*handler)(int, void *, void *);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};
struct info {
	int signo, error, code, pad;
	int pid;
	unsigned int uid;
	long value; /* or the status of a child, in its lower half */
	long rest[12];
};
struct stack {
	char *sp;
	int flags, pad;
	unsigned long size;
};
struct context { /* ucontext, as the frame has it */
	unsigned long flags, link;
	struct stack stack;
	unsigned long r[16]; /* r8 to r15, di, si, bp, bx, dx, ax, cx, sp */
	unsigned long ip, eflags;
	unsigned short cs, gs, fs, ss;
	unsigned long err, trapno, oldmask, cr2;
	unsigned char *fpu;
	unsigned long reserved[8];
	unsigned long mask;
};

void restorer(void);
/* The place that a handler returns to. */
__asm__("restorer: mov $15, %eax\n syscall\n");

static volatile __attribute__((unused)) int nr_seen, seen[64], codes[64];
static volatile __attribute__((unused)) long values[64];
static struct context *volatile last_context __attribute__((unused));
static volatile __attribute__((unused)) unsigned long stack_seen, mask_wanted;

static inline void note(int sig, void *info, void *context)
{
	struct info *from = info;

	values[nr_seen] = from->value;
	codes[nr_seen] = from->code;
	seen[nr_seen++] = sig;
	last_context = context;
	stack_seen = (unsigned long)__builtin_frame_address(0);
}

static inline long set(int sig, void (*handler)(int, void *, void *), unsigned long flags)
{
	struct action action = { handler, flags | SA_SIGINFO | SA_RESTORER, restorer, 0 };

	return CALL4(NR_RT_SIGACTION, sig, &action, 0, 8);
}

static inline long mask(int how, unsigned long set_of)
{
	return CALL4(NR_RT_SIGPROCMASK, how, &set_of, 0, 8);
}

static inline void kill_self(int sig)
{
	CALL2(NR_KILL, CALL0(NR_GETPID), sig);
}

static inline void sleep_ms(long ms)
{
	long time[2] = { ms / 1000, ms % 1000 * 1000000 };

	CALL2(NR_NANOSLEEP, time, 0);
}

static inline long wait_for(long pid, int options, int *status)
{
	return CALL4(NR_WAIT4, pid, status, options, 0);
}

#define BIT(sig) (1ul << ((sig)-1))

struct signal_test {
	const char *name;
	void (*run)(void);
};

/* Run the test of that name, and say that it is right. */
static inline void __attribute__((noreturn))
run_test(const struct signal_test *tests, const char *name)
{
	for (; tests->name; tests++)
		if (text_equal(name, tests->name))
			tests->run();
	put(name);
	put(" is right\n");
	sys_exit(0);
}

#endif

/*
 * Signals as programs see them: numbers, codes, flags and structures of Linux on x86-64.
 */
#ifndef KERNEL_PROCESS_SIGNAL_ABI_H
#define KERNEL_PROCESS_SIGNAL_ABI_H

#include <kernel/base.h>

#define SIGHUP	  1
#define SIGINT	  2
#define SIGQUIT	  3
#define SIGILL	  4
#define SIGTRAP	  5
#define SIGBUS	  7
#define SIGFPE	  8
#define SIGKILL	  9
#define SIGSEGV	  11
#define SIGPIPE	  13
#define SIGALRM	  14
#define SIGTERM	  15
#define SIGCHLD	  17
#define SIGCONT	  18
#define SIGSTOP	  19
#define SIGTSTP	  20
#define SIGTTIN	  21
#define SIGTTOU	  22
#define SIGURG	  23
#define SIGXCPU	  24
#define SIGXFSZ	  25
#define SIGVTALRM 26
#define SIGPROF	  27
#define SIGWINCH  28
#define SIGRTMIN  32 /* from here on each one is queued */
#define NSIG	  64

/* Codes: where a signal comes from. A program may give only negative ones to another. */
#define SI_USER	      0	   /* kill() */
#define SI_KERNEL     0x80 /* the kernel, without more to say */
#define SI_TIMER      (-2)
#define SI_TKILL      (-6)
#define SEGV_MAPERR   1
#define SEGV_ACCERR   2
#define BUS_ADRERR    2
#define CLD_EXITED    1
#define CLD_KILLED    2
#define CLD_TRAPPED   4
#define CLD_STOPPED   5
#define CLD_CONTINUED 6

#define SA_NOCLDSTOP 0x00000001ul
#define SA_NOCLDWAIT 0x00000002ul
#define SA_SIGINFO   0x00000004ul
#define SA_RESTORER  0x04000000ul
#define SA_ONSTACK   0x08000000ul
#define SA_RESTART   0x10000000ul
#define SA_NODEFER   0x40000000ul
#define SA_RESETHAND 0x80000000ul
#define SA_KEPT                                                                                    \
	(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_RESTORER | SA_ONSTACK | SA_RESTART |        \
	 SA_NODEFER | SA_RESETHAND)

#define SIG_DFL 0
#define SIG_IGN 1

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SS_ONSTACK    1u
#define SS_DISABLE    2u
#define SS_AUTODISARM (1u << 31)
#define MINSIGSTKSZ   2048u

struct user_sigaction {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

/* The part of the program's 128 bytes that has a meaning: those behind it are 0, see copy_siginfo_to_user(). */
struct user_siginfo {
	int32_t signo, error, code, pad;
	union {
		struct {
			int32_t pid;
			uint32_t uid;
			uint64_t value;
		} from; /* a program */
		struct {
			int32_t pid;
			uint32_t uid;
			int32_t status, pad;
			int64_t utime, stime;
		} child;
		struct {
			uint64_t addr;
		} fault;
		uint8_t bytes[32];
	};
};

struct user_sigevent {
	uint64_t value;
	int32_t signo, notify, tid;
	uint8_t unused[44];
};

struct user_itimerval {
	int64_t interval_sec, interval_usec;
	int64_t value_sec, value_usec;
};

#endif

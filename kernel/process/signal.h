/*
 * Signals: sent to a process or to one thread, kept until it takes them, delivered on its way back to
 * the program.
 *
 *   kill(), faults, timers, ends of children
 *          |
 *   send_signal() --> task->signals.pending      of one thread   \   not blocked: the thread is
 *                 --> process->signals.shared    of the process  /   interrupted, a wait ends
 *          |
 *   do_signal() --> get_signal() --> handler: setup_rt_frame(), and rt_sigreturn() afterwards
 *                                --> none: the process ends, stops, or nothing is done
 *
 * A signal below SIGRTMIN is pending once or not at all; of the others each one is queued.
 *
 * Context:   sending: any but NMI. All else: thread.
 * Locking:   signals.lock guards the pending signals and masks of a process and its threads, and struct sighand.
 *            Masks are changed by their own thread only, which reads them without it.
 * Ownership: a queued signal belongs to its queue.
 */
#ifndef KERNEL_PROCESS_SIGNAL_H
#define KERNEL_PROCESS_SIGNAL_H

#include <arch/user_signal.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/timer.h>
#include "signal_abi.h"

struct process;
struct task;

/* Results of a call that a signal has ended. do_signal() makes -EINTR of them, or begins it again. */
#define ERESTARTSYS	      512 /* again, if the handler has SA_RESTART or there is none */
#define ERESTARTNOHAND	      514 /* again, if there is no handler */
#define ERESTART_RESTARTBLOCK 516 /* the same, by restart_syscall() */

#define SIGQUEUE_MAX 4096u /* signals with their information that wait in the whole system */

struct sigpending {
	struct list queue;	/* struct sigqueue, oldest first */
	uint64_t signals;	/* a bit each */
	struct sigqueue *spare; /* for the next signal; NULL: it is allocated */
};

struct task_signals {
	struct sigpending pending;
	uint64_t blocked;
	uint64_t real_blocked; /* while rt_sigtimedwait() unblocks some: those that were blocked */
	uint64_t saved;	       /* the mask before rt_sigsuspend() */
	bool restores_saved;
	struct arch_signal_stack stack;			/* sigaltstack() */
	uint64_t fault_vector, fault_error, fault_addr; /* of the newest, for frames */
	long (*restart)(void *args);			/* restart_syscall(); NULL: none */
	uint64_t restart_args[4];
	bool must_end;	  /* its process ends, or another thread of it executes a program */
	bool has_stopped; /* it has taken part in the stop of its process */
};

/*
 * Actions of signals, in common to processes that clone() makes with CLONE_SIGHAND. The lock is for those that read or
 * write more than one word of an action; it is taken inside signals.lock.
 */
struct sighand {
	_Atomic uint32_t uses; /* of processes, those that have ended among them */
	struct spinlock lock;
	struct user_sigaction actions[NSIG]; /* of signal n at n - 1 */
};

/* Timers of setitimer() that count the time of a process, in its program alone or in all. */
enum cpu_itimer_kind {
	CPU_ITIMER_VIRTUAL,
	CPU_ITIMER_PROF,
	CPU_NR_ITIMERS
};
struct cpu_itimer {
	uint64_t next_ns;     /* when it rings, in the process's time; 0: never */
	uint64_t interval_ns; /* 0: once */
};

struct process_signals {
	struct spinlock lock;
	struct sighand *sighand; /* replaced by execve() */
	struct sigpending shared;
	struct list tasks; /* its threads that live, the oldest first */
	uint32_t nr_tasks;
	struct waitq readers;	/* of a signalfd: woken by each signal */
	struct waitq alone;	/* the one that waits until it is the only task */
	struct task *exec_task; /* it executes a program, and the others end */
	bool is_ending;		/* all are to end; the exit code is decided */
	int exit_signal;	/* for the parent, at the end; 0: none */
	bool takes_stop;	/* it has taken a stop signal, and no SIGCONT has come since */
	bool is_stopping;	/* its threads stop, or have: nr_to_stop have not yet */
	uint32_t nr_to_stop;
	bool is_stopped;
	bool tells_continued; /* the parent is to hear that it goes on */
	bool was_continued;   /* wait4() with WCONTINUED has not said so yet */
	int stop_code;	      /* the signal that has stopped it, until wait4() has said so */
	int stop_signal;      /* the same, which stays */
	struct waitq
		stopped; /* its threads that wait for SIGKILL or something else: a stop, vfork() */
	struct timer alarm;	    /* setitimer(ITIMER_REAL) */
	uint64_t alarm_ns;	    /* when it rings; 0: never */
	uint64_t alarm_interval_ns; /* 0: once */
	struct cpu_itimer cpu_itimers[CPU_NR_ITIMERS];
	_Atomic bool has_cpu_timers; /* the tick has to look, see cpu_timer.c */
	struct list timers;	     /* struct posix_timer, see posix_timer.h */
	uint32_t nr_timers, next_timer_id;
};

static inline uint64_t sigmask(int sig)
{
	return 1ull << (sig - 1);
}
#define SIGMASK_UNBLOCKABLE (sigmask(SIGKILL) | sigmask(SIGSTOP))
#define SIGMASK_STOP	    (sigmask(SIGSTOP) | sigmask(SIGTSTP) | sigmask(SIGTTIN) | sigmask(SIGTTOU))
/* Those that are ignored by default. */
#define SIGMASK_IGNORE (sigmask(SIGCONT) | sigmask(SIGCHLD) | sigmask(SIGWINCH) | sigmask(SIGURG))
/* Those that an instruction of the program causes. */
#define SIGMASK_SYNCHRONOUS                                                                        \
	(sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) | sigmask(SIGTRAP) | sigmask(SIGFPE))

static inline bool is_valid_signal(int sig)
{
	return sig >= 1 && sig <= NSIG;
}

/* sighand.c. With one use; NULL when out of memory. */
struct sighand *sighand_create(void);
struct sighand *sighand_copy(struct sighand *from);
/* One use more, or less; NULL is allowed for the latter. */
struct sighand *sighand_share(struct sighand *sighand);
void sighand_put(struct sighand *sighand);
bool sighand_is_shared(const struct sighand *sighand);
/* Handlers go; signals that are ignored stay so. signals.lock of its only process is held, unless that has not begun. */
void sighand_reset(struct sighand *sighand);

/* signal_queue.c: pending signals. The lock is held, but for the first two. */
void sigpending_init(struct sigpending *pending);
/* The process or thread is gone, and its signals with it. */
void sigpending_free(struct sigpending *pending);
/* The fate of a signal that was sent, as the event signal_generate tells it. */
enum signal_result {
	TRACE_SIGNAL_DELIVERED,
	TRACE_SIGNAL_IGNORED,
	TRACE_SIGNAL_ALREADY_PENDING,
	TRACE_SIGNAL_OVERFLOW_FAIL, /* not pending: a queued one for which there was no memory */
	TRACE_SIGNAL_LOSE_INFO	    /* pending, without its information */
};
/* Make a signal pending; `info` may be NULL. */
enum signal_result sigpending_add(struct sigpending *pending, int sig,
				  const struct user_siginfo *info);
/* Drop those of the mask. */
void flush_sigqueue_mask(struct sigpending *pending, uint64_t mask);
/* The next one of those in `mask`: taken out, with its information; 0: none. */
int sigpending_take(struct sigpending *pending, uint64_t mask, struct user_siginfo *out_info);

/* signal_send.c */
void signals_init(struct process *process);
void task_signals_init(struct task *task);
/* Information of a signal from a program (SI_USER, SI_TKILL), and of one from the kernel. */
struct user_siginfo siginfo_from_user(int sig, int code);
/* May the running program send it this signal, or none (0)? 0 or -EPERM. */
int check_kill_permission(const struct process *process, int sig, const struct user_siginfo *info);
struct user_siginfo siginfo_from_kernel(int sig);
/* To and from the 128 bytes of a program. 0 or -EFAULT. */
int copy_siginfo_to_user(void *to, const struct user_siginfo *from);
int copy_siginfo_from_user(struct user_siginfo *to, const void *from);
/*
 * Send a signal, also 0, which only asks: to the process, where a thread takes it that does not block it; or to `task`
 * alone. `info` NULL: from the kernel, with no memory needed. 0; -EAGAIN: a real-time signal for which there is no
 * room. One that has ended takes none.
 */
int send_signal(struct process *process, struct task *task, int sig,
		const struct user_siginfo *info);
/* The same for the thread `tid` of the process. -ESRCH: it has none. */
int send_signal_to(struct process *process, int32_t tid, int sig, const struct user_siginfo *info);
/* Has the thread to end, whatever else there is for it? */
bool signal_must_end(const struct task *task);
/* To the running process, as if it had sent it itself. */
void kill_self(int sig);
int send_signal_locked(struct process *process, struct task *task, int sig,
		       const struct user_siginfo *info);
/* Drop signals of the mask that wait for the process and for its threads. Lock held. */
void signals_flush(struct process_signals *signals, uint64_t mask);
/* All threads but `task` are to end. Lock held. */
void signals_end_others(struct process_signals *signals, const struct task *task);
/* Those that wait for the process and not for `task` alone, in `mask`: other threads take them. Lock held. */
void retarget_shared_pending(struct task *task, uint64_t mask);
/* Interrupt the running thread if it has something to take, and only then. Lock held. */
void recalc_sigpending(struct task *task);
/* Set the mask of the running thread. */
void set_current_blocked(uint64_t blocked);
/* A signal that the running thread has caused: it is taken, whether blocked or ignored. */
void force_sig_info(const struct user_siginfo *info);
void force_sig(int sig);
/* SIGSEGV, of which a program that has no stack for its handler dies. */
void force_sigsegv(int sig);

/* signal_deliver.c. What waits for the running thread before it goes on with its program. */
void do_signal(struct trap_frame *regs);
/* Take one of the running thread's signals that are not in `blocked`; 0: none. Lock held. */
int dequeue_signal(struct task *task, uint64_t blocked, struct user_siginfo *out_info);

/* signal_notify.c; process_lock is held. The child has ended. True: the parent does not want to know. */
bool do_notify_parent(struct process *child);
void do_notify_parent_cldstop(struct process *child, int code);
/* SIGCHLD about a stop or its end, if the process wants that, and its wait4() looks again. */
void signal_tell_stop(struct process *process, const struct user_siginfo *info);
/* The information about a process that has ended, or a thread of it. */
struct user_siginfo siginfo_of_end(const struct process *child);
/* Has no member of the group a parent in another group of its session, which could continue it? */
bool is_orphaned_pgrp(int32_t pgid);
/* `process` ends: groups that it alone has kept from being orphaned are told. */
void kill_orphaned_pgrps(struct process *process);

/*
 * cpu_timer.c: setitimer() of processor time. Times are in ns, 0 for none. With cpu_timers_arm() the tick looks at all timers of
 * processor time and at RLIMIT_CPU; any context.
 */
void cpu_itimer_get(struct process *process, enum cpu_itimer_kind kind, uint64_t *out_left_ns,
		    uint64_t *out_interval_ns);
void cpu_itimer_set(struct process *process, enum cpu_itimer_kind kind, uint64_t ns,
		    uint64_t interval_ns);
void cpu_timers_arm(struct process_signals *signals);
/* alarm.c: the timer of setitimer(ITIMER_REAL). Times are in ns, 0 for none. */
void alarm_get(struct process *process, uint64_t *out_left_ns, uint64_t *out_interval_ns);
void alarm_set(struct process *process, uint64_t ns, uint64_t interval_ns);

#endif

/*
 * Timers of programs, by timer_create(). See posix_timer.c; the calls are in syscall/timers.c.
 *
 * Context:   thread.
 * Locking:   posix_timer_lock is held to make, set and delete them, so that none goes while another call uses it.
 *            signals.lock of the process, inside, guards their members: ringing and taking a signal need that alone.
 * Ownership: a timer belongs to its process, which deletes it when it ends or executes another program.
 */
#ifndef KERNEL_PROCESS_POSIX_TIMER_H
#define KERNEL_PROCESS_POSIX_TIMER_H

#include <kernel/base.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/timer.h>

struct process;
struct process_signals;
struct user_siginfo;

/* Clocks of timers, by Linux's numbers; what else counts as ktime_get_ns() does, too. */
#define POSIX_CLOCK_REAL    0
#define POSIX_CLOCK_PROCESS 2
#define POSIX_CLOCK_THREAD  3

/* How a program hears of a ring: sigev_notify. */
#define SIGEV_SIGNAL	0
#define SIGEV_NONE	1
#define SIGEV_THREAD	2 /* the C library makes it of a signal */
#define SIGEV_THREAD_ID 4 /* by a signal to one thread */

struct posix_timer {
	struct list link;
	struct timer timer;
	struct process *process;
	int32_t id;
	int clock;	   /* POSIX_CLOCK_* */
	int32_t clock_tid; /* the thread whose time counts, of POSIX_CLOCK_THREAD */
	int notify, signo;
	int32_t tid; /* the thread that gets the signal; 0: any */
	uint64_t value;
	uint64_t next_ns;     /* when it rings, as posix_timer_now() counts; 0: it is off */
	uint64_t interval_ns; /* 0: it rings once */
	int32_t overrun;      /* rings that were missed when the last signal was taken */
	bool is_sent;	      /* its signal waits to be taken, and it does not run */
};

extern struct mutex posix_timer_lock;

/* Give it an id and add it to its process. 0 or -EAGAIN. */
int posix_timer_add(struct posix_timer *timer);
/* Remove and free it. */
void posix_timer_delete(struct posix_timer *timer);
/* Have it ring at `next_ns`, 0 for never, as posix_timer_now() counts. */
void posix_timer_set(struct posix_timer *timer, uint64_t next_ns, uint64_t interval_ns);

/* signals.lock is held for these. NULL: there is none of that id. */
struct posix_timer *posix_timer_find(struct process_signals *signals, int32_t id);
/* The time by which it rings: ktime_get_ns(), or that of its process or thread. */
uint64_t posix_timer_now(const struct posix_timer *timer);
/* Let those ring that count processor time, `both_ns` in the process. True: one is on. irq. */
bool posix_timers_check_cpu(struct process_signals *signals, uint64_t both_ns);
/* Time up to its next ring, 0 if it is off. */
uint64_t posix_timer_left(struct posix_timer *timer);
/* A signal of one is taken: `info` gets the number of rings that were missed. */
void posix_timer_taken(struct process_signals *signals, struct user_siginfo *info);

/* All of a process. The lock is not held. */
void posix_timers_delete(struct process *process);

#endif

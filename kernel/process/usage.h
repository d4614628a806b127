/*
 * The processor's time and other things that programs have used: getrusage(), times(), wait4(), /proc/PID/stat.
 *
 * Time is measured at each switch of threads. How much of it was in the kernel is told by the tick, which counts where it
 * comes: so a program that runs for less than a tick has been in itself alone.
 *
 * Context:   thread.
 * Locking:   inside, where nothing else is said.
 * Ownership: the caller's structures.
 */
#ifndef KERNEL_PROCESS_USAGE_H
#define KERNEL_PROCESS_USAGE_H

#include <kernel/base.h>

struct mm;
struct process;
struct thread;

/* All but the last are sums. None ever becomes less. */
struct usage {
	uint64_t user_ns, kernel_ns;
	uint64_t nr_faults;	 /* pages that were made, or found, for an access */
	uint64_t nr_voluntary;	 /* times that a thread slept or yielded */
	uint64_t nr_involuntary; /* times that it was preempted */
	uint64_t max_pages;	 /* the most that one of the address spaces has had */
};

void usage_of_thread(const struct thread *thread, struct usage *out);
/* Of all threads, those that have ended included. */
void usage_of_process(struct process *process, struct usage *out);
void usage_of_process_locked(struct process *process, struct usage *out); /* signals.lock is held */
/* The same with those that the address space, which is the thread's, has had. */
void usage_add_mm(struct usage *usage, const struct mm *mm);
/* The running thread, the last of its process, is about to leave an address space. */
void usage_keep_mm(struct process *process, const struct mm *mm);
/* A thread ends: its process keeps what it has used. signals.lock is held. */
void usage_keep(struct process *process, const struct thread *thread);
/* Of children that were waited for, and theirs. */
void usage_of_children(const struct process *process, struct usage *out);
/* A child was waited for. process_lock is held. */
void usage_of_child(struct process *parent, struct process *child, struct usage *out);
/* Both, as struct rusage, to memory of the program. 0 or -EFAULT. */
int usage_give(const struct usage *usage, void *to);

#endif

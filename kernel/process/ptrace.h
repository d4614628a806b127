/*
 * Tracing of programs by programs: what strace and debuggers do.
 *
 *   tracer: sys_ptrace()          tracee, one thread:
 *     attach, seize  ------------>  struct ptrace of its task
 *                                   signal, system call, fork, exec, exit ...
 *     wait4()  <------------------  ptrace_stop(): the stop and its code; it sleeps there
 *     reads, changes registers, memory
 *     continue, step  ----------->  goes on, with a signal if the tracer says so
 *
 * The tracer is a process: each of its threads may ask. What it traces goes on without it at its end.
 * A stop of the whole process, as SIGSTOP makes it, is a stop for the tracer, too, and the tracer may let the
 * thread go on while the process counts as stopped.
 *
 * System calls of all programs go through syscall_ptraced() while there is a tracee, and pay nothing otherwise.
 *
 * Context:   thread.
 * Locking:   tracers and their lists: process_lock. Stops and what they tell: signals.lock of the tracee's process;
 *            what a stopped tracee has, such as its registers: process_lock, with which the stop cannot end
 *            but by SIGKILL, after which no instruction of the program is executed.
 * Ownership: a tracer holds the threads that it traces, also when they have ended and it has not asked yet.
 */
#ifndef KERNEL_PROCESS_PTRACE_H
#define KERNEL_PROCESS_PTRACE_H

#include <arch/user.h>
#include <kernel/base.h>
#include <kernel/list.h>
#include "ptrace_abi.h"
#include "signal.h"

struct process;
struct task;

enum ptrace_mode {
	PTRACE_RUNS,
	PTRACE_TO_CALL, /* up to the next begin or end of a system call */
	PTRACE_STEPS,
};

struct ptrace {
	uint8_t fpu[USER_FPU_BYTES]
		__attribute__((aligned(64))); /* as it is, or is to be after the stop */
	struct process *tracer;		      /* NULL: none, and all else is 0 */
	struct list link;		      /* in tracer->tracees */
	struct user_siginfo info;
	uint64_t message;
	uint32_t options;      /* PTRACE_O_* and events */
	enum ptrace_mode mode; /* how it goes on, or did last */
	int code; /* of the stop: signal, and event << 8; when it has ended, as wait4() tells it */
	int signal; /* to go on with */
	bool is_seized;
	bool forces_step;  /* the trap flag in its registers is the tracer's */
	bool wants_trap;   /* it stops as soon as it can */
	bool has_news;	   /* its process has stopped or gone on, which a seized one tells */
	bool is_stopped;   /* it sleeps in ptrace_stop() */
	bool is_told;	   /* wait4() has told of the stop */
	bool is_listening; /* it goes on by news alone */
	bool is_group; /* the stop is one of the whole process, of which there is no information */
	bool has_ended;
	bool was_first; /* it had the pid of its process when it ended */
	bool has_new_fpu;
};

/* ptrace.c: the tracer's side. process_lock is held, unless said. */
/*
 * May the running thread see and change all of that process? It is its own, or one of the same user, whose program
 * has given up no rights; or any. Lock not held: the answer may be old.
 */
bool ptrace_may_access(struct process *process);
/*
 * Its memory with one user more, if that is allowed; for mm_put(). An execve() takes rights first and memory then, so the answer
 * is about this memory. NULL with *out_err set: -EPERM; -ESRCH: it has ended. Lock not held.
 */
struct mm *ptrace_get_mm(struct process *process, int *out_err);
/* The running thread's program may not get more rights than its tracer has. */
bool ptrace_limits_exec(void);
/* Trace a thread from now on. -EPERM: it is traced, has ended, is the caller's own, or that of another user. Lock not held. */
int ptrace_attach(struct task *task, bool seizes, uint32_t options);
/* The running thread is traced by its process's parent. Lock not held. */
int ptrace_traceme(void);
/* Leave it; one that is stopped goes on with the signal. The caller has a reference to the thread. */
void ptrace_detach(struct task *task, int signal);
/* Is that thread a tracee of the running process, stopped, so that its registers may be seen? */
bool ptrace_is_held(const struct task *task);
void ptrace_resume(struct task *task, enum ptrace_mode mode, int signal);
/* The answer to wait4() about a tracee: false: it has nothing to tell. One that has ended is left, and its process with it. */
bool ptrace_take_news(struct task *task, int options, int *out_code);
/*
 * A new task, which is not running: is it traced, too? The number of the event for its parent; 0: none. Lock not held.
 */
int ptrace_new_task(struct task *child, uint64_t clone_flags);
/* The running thread has taken the pid of its process for an execve. Lock not held. */
void ptrace_took_pid(struct task *task);
/* The thread runs no instruction any more; the process has ended, and its tracer is told. Locks: not held; held. */
void ptrace_thread_ended(struct task *task);
void ptrace_tell_end(struct process *process);
/* The process ends: what it traces goes on, or dies. Lock not held. */
void ptrace_tracer_ends(struct process *tracer);
/* Of the tracer of a thread; 0: none. Lock not held. */
int32_t ptrace_tracer_pid(const struct task *task);

/* ptrace_stop.c: the tracee's side, the running thread. */
/* Stop for PTRACE_INTERRUPT, or because the process has stopped or gone on. */
void ptrace_trap(void);
/* Stop for a signal that was taken. The one that is to be done, with its information; 0: none. */
int ptrace_signal(int signal, struct user_siginfo *info);
/* Stop for an event, if the tracer wants that. */
void ptrace_event(int event, uint64_t message);
/* Stop before and after a system call, whose number and result are in the frame. */
void ptrace_syscall_stop(struct trap_frame *regs, int kind);
/* A handler is about to be called: true: the tracer steps, and is told by ptrace_step_done() when it is at its first instruction. */
bool ptrace_end_step(struct trap_frame *regs);
void ptrace_step_done(void);
/* Has it to stop before it goes on? signals.lock, or a look without. */
static inline bool ptrace_is_pending(const struct ptrace *trace)
{
	return trace->wants_trap || trace->has_news;
}

/*
 * ptrace_mem.c: memory of any program, whatever the program itself may do with it but reading none at all. A page of a file gets a
 * copy before it is written to. The bytes that were copied.
 */
struct mm;
size_t ptrace_read_memory(struct mm *mm, uintptr_t from, void *to, size_t bytes);
size_t ptrace_write_memory(struct mm *mm, uintptr_t to, const void *from, size_t bytes);

/* kernel/syscall/syscall_trace.c. There are tracees, or none any more. */
void syscall_set_ptraced(bool is_on);

#endif

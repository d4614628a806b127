/*
 * Processes: what the threads of one program share, and their births and deaths.
 *
 *   struct thread ---> struct task ---> struct process ---> struct files, struct fs, signals
 *                           |               |    \
 *                           '--> struct mm  |     '--> parent, children
 *                                           '--> ends: zombie until the parent has asked
 *
 * Context:   thread.
 * Locking:   parents, children, groups, sessions and their states: process_lock. Files and directories: locks of
 *            their own. Signals: signals.lock, see signal.h.
 * Ownership: a process is held by its task, by its place in its parent's list, and by who runs it from
 *            the kernel's shell.
 */
#ifndef KERNEL_PROCESS_PROCESS_H
#define KERNEL_PROCESS_PROCESS_H

#include <arch/user.h>
#include <kernel/cred.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/process.h>
#include <kernel/rlimit.h>
#include <kernel/thread.h>
#include "abi.h"
#include "creds.h"
#include "files.h"
#include "fs.h"
#include "mm.h"
#include "ptrace.h"
#include "signal.h"
#include "usage.h"

#define SYSCALL_MAX 512 /* numbers of calls are below */

/* A limit that is in force, and how high it may be set. RLIM_INFINITY: there is none. */
struct rlimit {
	uint64_t cur, max;
};

/* The wait of a vfork()ing thread for its child, on its stack. */
struct birth {
	_Atomic bool is_done;
	struct waitq *queue;
};

struct process {
	_Atomic uint32_t refs;
	int32_t pid;
	int32_t pgid, sid;	/* group and session */
	bool is_init;		/* the first program: signals without a handler do nothing to it */
	bool has_execed;	/* its parent may not change its group any more */
	uint64_t tty_id;	/* of its controlling terminal, see tty.h; 0: it has none */
	struct list all_link;	/* in the list of pid.c */
	struct process *parent; /* NULL: the kernel */
	_Atomic int32_t ppid;	/* its pid, or 0; read without the lock */
	struct list children;
	struct list sibling;
	struct list tracees;	   /* struct ptrace of threads that it traces */
	struct process *traced_by; /* the tracer of its first thread, until that hears of its end */
	struct waitq child_waitq;  /* woken when a child ends or stops */
	bool is_zombie;
	int exit_code;		 /* as wait4() tells it */
	struct birth *born;	 /* a vfork()ing parent waits until this one has its own program */
	struct completion ended; /* the last thread has given up all that the process had */
	struct files
		*files; /* NULL, like mm, when it has ended; both are replaced under process_lock */
	struct mm *mm;	/* held by its tasks */
	uint64_t start_ns;	    /* ktime_get_ns() */
	char comm[THREAD_NAME_LEN]; /* the name of its first thread, when that has ended */
	struct usage
		ended_usage; /* of threads that have ended; guarded by signals.lock, as the next */
	uint64_t told_user_ns, told_kernel_ns; /* the most that usage_of_process() has told */
	struct usage children_usage;	       /* of children that it has waited for */
	uint32_t personality;		       /* 0 or ADDR_NO_RANDOMIZE */
	struct cred cred;		       /* that one of its threads had last */
	struct rlimit limits[NR_RLIMITS];
	struct process_signals signals;
	struct fs *fs;
	uint64_t unknown[SYSCALL_MAX / 64]; /* calls without a handler that were logged */
};

struct task { /* a page */
	struct arch_user arch;
	struct ptrace trace; /* aligned as the one before */
	struct thread *thread;
	struct process *process;
	struct mm *mm;	  /* one use is the task's */
	struct list link; /* in process->signals.tasks, while it lives; guarded by signals.lock */
	struct task_signals signals;
	struct cred cred;
	uintptr_t robust_list;	   /* the program's list of locks that the thread holds; 0: none */
	uintptr_t set_child_tid;   /* where a new thread writes its pid; 0: nowhere */
	uintptr_t clear_child_tid; /* where 0 is written at its end */
	int (*begin)(void *arg);   /* before the program: 0, or the thread ends */
	void *arg;
	int exit_code; /* that of the process, if it is the last */
};

static inline struct task *current_task(void)
{
	return current_thread()->task;
}
static inline struct process *current_process(void)
{
	return current_task()->process;
}
/* The registers of the program of a thread. */
static inline struct trap_frame *task_frame(const struct task *task)
{
	return arch_user_frame((uintptr_t)task->thread->stack + STACK_BYTES);
}

extern struct mutex process_lock;
/* NULL: the kernel. The lock is held. */
static inline void process_set_parent(struct process *child, struct process *parent)
{
	child->parent = parent;
	atomic_store_explicit(&child->ppid, parent ? parent->pid : 0, memory_order_relaxed);
}
/* The parent of those that have lost theirs, when the kernel runs a program in place of its shell. */
extern struct process *process_init_program;

/* Tables that a process begins with, each with one use for it; NULL: there was no memory for it. */
struct process_tables {
	struct files *files;
	struct fs *fs;
	struct sighand *sighand;
};

/* process.c. A process with one reference, the caller's; the tables are taken over. NULL: no memory. */
struct process *process_create(struct process_tables tables);
void process_get(struct process *process);
void process_put(struct process *process);
/*
 * A thread that will call begin(arg) and then go to the program in its frame. The references to process
 * and mm are taken over, also on failure. It runs after task_link() and wake_up_new_thread(). NULL: no memory.
 */
struct thread *task_create(const char *name, struct process *process, struct mm *mm,
			   int (*begin)(void *arg), void *arg);
/*
 * Let a new task be one of its process: the first one gives it its pid and its address space. If the process is
 * about to end, so is the task.
 */
void task_link(struct task *task);
/*
 * The running task is none of its process any more: no signal comes to it. True: it was the last one. `out_stops`: the
 * others have all stopped, and it was the last one that a stop has waited for.
 */
bool task_unlink(struct task *task, bool *out_stops);
/* A thread of the process that lives, with a reference: `tid`, 0: the oldest. NULL: there is none. */
struct thread *process_get_thread(struct process *process, int32_t tid);
/* The tid of its thread with that number; 0 behind the last one. */
int32_t process_nth_tid(struct process *process, uint32_t index);
/* The process of the thread `tid`, which lives, with a reference; NULL: there is none. */
struct process *process_of_thread(int32_t tid);
/* CPU time of all threads. */
uint64_t process_cpu_ns(struct process *process);
/* May others of its user look into its memory? See struct mm; yes, if it has ended. */
bool process_is_dumpable(struct process *process);
/* Its address space with one more user; NULL: it has ended. */
struct mm *process_get_mm(struct process *process);
/* The running thread, the last of its process, has another address space from now on. The old one is let go. */
void process_set_mm(struct mm *mm);
/* The running thread has none any more. `is_last`: nor has its process. */
void task_drop_mm(struct task *task, bool is_last);
/* Let a vfork()ing parent go on. */
void process_born(struct process *process);

/* rlimit.c, see <kernel/rlimit.h>. */
void rlimits_init(struct process *process);
/* Do they allow its user one thread more? */
bool may_add_task(void);

/* The arguments of clone(); addresses are the program's, 0: none. */
struct kernel_clone_args {
	uint64_t flags; /* CLONE_*, and the signal for the parent */
	uintptr_t stack;
	uintptr_t parent_tid, child_tid; /* places for the child's pid */
	uintptr_t tls;
};

/* clone.c. A child of the running thread, or one thread more: its pid, or -errno. */
long do_clone(const struct trap_frame *regs, const struct kernel_clone_args *args);
/* Registers and mask of a new task of either kind: those of the running one, with its own stack and places. */
void clone_copy_task(struct task *child, const struct trap_frame *regs,
		     const struct kernel_clone_args *args);
/* The first thing that each does, with its own memory. */
int clone_begins(void *arg);

/* fork.c, for clone.c: flags that fit a process. The pid of the child, or -errno. */
long process_fork(const struct trap_frame *regs, const struct kernel_clone_args *args);
/*
 * The child is about to return 0 from its parent's call, of which it has seen no beginning: the events of
 * the call's end, for the tracer. kernel/syscall/syscall_trace.c.
 */
void syscall_exit_to_child(struct trap_frame *regs);

/* exit.c. Take one that has ended out of its parent's list, which holds it. process_lock is held. */
void process_forget(struct process *process);
/* Its parent hears that it has ended; if there is none, or it does not care, it is forgotten. process_lock is held. */
void exit_tell_parent(struct process *process);
/*
 * The running thread leaves its memory, by its end or an execve: locks and waiters in it hear of that, if others have it,
 * too.
 */
void exit_mm_release(struct task *task);
/* A bit of thread.samples_due: call trace_userstack_return(). The others are for trace_sample_return(). */
#define THREAD_STACKS_DUE 0x80000000u
/* user_return.c: stacks of the running program that samples and events wait for. No lock held. Not traced. */
void user_return_stacks(void);
/* End the process with a code as wait4() tells it. */
void do_group_exit(int exit_code) __attribute__((noreturn));
/* End the running thread alone; `exit_code` is the process's if it is the last one. */
void do_thread_exit(int exit_code) __attribute__((noreturn));
/*
 * End all other threads of the process, for an execve, and take its pid. 0; -EAGAIN: the process ends, or another
 * thread does the same.
 */
int end_other_threads(struct task *task);
/*
 * wait.c. Wait for children: `pid` of one, -1: any, 0: of the own group, -pgid: of that group. `options`: WEXITED,
 * WUNTRACED, WCONTINUED; WNOHANG, WNOWAIT. The pid of one that has something to tell, and a code as wait4()
 * has it; one that has ended is forgotten then. 0: none, with WNOHANG; or -errno. out_usage: of one that has ended, zero of others.
 */
long do_wait(int32_t pid, int options, int *out_exit_code, struct usage *out_usage);
#define WAIT_CODE_CONTINUED 0xffff
#define WAIT_CODE_TRAPPED   (0x7f | 1 << 30) /* a stop for a tracer; the bit is do_wait()'s own */
#define WAIT_CODE_MASK	    0xffffff

/* pid.c */
void process_list_add(struct process *process);
/* The pid of the process with that number in the list; 0 behind the last one. */
int32_t process_nth_pid(uint32_t index);
void process_list_remove(struct process *process);
/* With one reference; NULL: there is none. */
struct process *process_find(int32_t pid);
/* Call fn for each process of a group. A lock is held, interrupts are off. */
void process_each_in_group(int32_t pgid, void (*fn)(struct process *process, void *arg), void *arg);
bool process_group_is_in_session(int32_t pgid, int32_t sid);
/* Call fn for each process. A lock is held, interrupts are off. */
void process_each(void (*fn)(struct process *process, void *arg), void *arg);
/* The processes of the session have no terminal any more. */
void forget_session_tty(int32_t sid);
/* Signals for all of a group, and for all but the caller and the first program. 0, -ESRCH, -EAGAIN. */
int kill_pgrp(int32_t pgid, int sig, const struct user_siginfo *info);
/* For all of a session whose terminal is the console. */
void kill_session(int32_t sid, int sig, const struct user_siginfo *info);
int kill_all_others(int sig, const struct user_siginfo *info);
/* setpgid() and setsid(). */
int process_set_group(int32_t pid, int32_t pgid);
int process_begin_session(void);

/*
 * uprobe_host.c. The running program is about to get a signal, for a fault or another: take it out of a slot of uprobe.h, if it
 * is in one.
 */
void uprobe_leave_slot(struct trap_frame *regs, bool is_fault);
/* uprobe_call.c. The work of the system call: -ENXIO when it does not come from a trampoline. */
long uprobe_call(struct trap_frame *frame);

/* fault.c. A signal for an exception of the running program, with the address that it tells. */
void force_sig_fault(struct trap_frame *regs, int signal, int code, uintptr_t addr);

#endif

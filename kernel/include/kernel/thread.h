/*
 * Threads: kernel mode only, preemptive, one run queue per CPU.
 *
 *   new --> RUNNING (on a run queue or a CPU) --> DEAD --> freed by its last reference
 *              ^  |
 *         wake |  v schedule() in another state
 *          INTERRUPTIBLE, UNINTERRUPTIBLE
 *
 * Interrupted means: thread_interrupt() was called (Ctrl-C, kill); interruptible waits end with
 * -EINTR until thread_clear_interrupt().
 *
 * Context:   thread, unless said.
 * Ownership: thread_create() hands the caller one reference, thread_join() or thread_put() gives it
 *            back. THREAD_DETACHED threads hand out none.
 */
#ifndef KERNEL_THREAD_H
#define KERNEL_THREAD_H

#include <stdatomic.h>
#include <arch/cpu_local.h>
#include <arch/switch.h>
#include <kernel/base.h>
#include <kernel/heap.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/preempt.h>
#include <trace/thread.h>

#define THREAD_NAME_LEN 16 /* NUL included */
#define THREAD_ANY_CPU	UINT64_MAX

enum thread_state {
	THREAD_RUNNING = 0,
	THREAD_INTERRUPTIBLE = 1,
	THREAD_UNINTERRUPTIBLE = 2,
	THREAD_DEAD = 4,
};

/* Numbers as in Linux. */
enum thread_policy {
	THREAD_NORMAL = 0,
	THREAD_FIFO = 1, /* real time: runs until it sleeps, yields or a more urgent one comes */
	THREAD_RR = 2,	 /* real time: the same in turns with those of its priority */
};
#define THREAD_RT_PRIO_MAX 99 /* real-time priorities: 1, least urgent, to 99 */

/* Flags of thread_create(). */
#define THREAD_DETACHED 0x1u /* nobody joins it */
#define THREAD_SERVICE	0x2u /* belongs to the kernel: cannot be killed */
#define THREAD_IDLE	0x4u /* of the scheduler itself */

struct thread {
	struct arch_context context; /* saved registers */
	int32_t pid;		     /* 0: idle */
	char name[THREAD_NAME_LEN];
	struct trace_thread trace;
	uint32_t flags;
	_Atomic uint32_t state;	      /* enum thread_state */
	_Atomic uint32_t interrupted; /* 0 or 1 */
	_Atomic uint32_t refs;
	void *stack; /* lowest address; NULL for the boot context */
	int (*fn)(void *arg);
	void *arg;
	int exit_status;
	struct completion exited;
	int32_t group;	      /* Ctrl-C goes to a group; inherited; own pid to start one */
	void *user;	      /* the shell's context of this thread; inherited, not owned */
	struct list all_link; /* guarded by thread_list_lock */
	struct held_locks held_mutexes; /* debug */

	/*
	 * Scheduling; guarded by the lock of the run queue of `cpu`, or by wake_lock when asleep.
	 */
	struct spinlock wake_lock;
	_Atomic uint32_t cpu;
	_Atomic uint32_t on_cpu;   /* its registers are live */
	_Atomic uint32_t on_queue; /* runnable: queued or running */
	uint64_t affinity;	   /* bit per CPU */
	uint8_t policy;		   /* enum thread_policy; inherited, but not by services */
	uint8_t rt_priority;	   /* 1 to 99; 0 for THREAD_NORMAL */
	bool keeps_turn;	   /* real time: goes in front of those of its priority */
	struct heap_node run_node; /* normal: key is vruntime_ns */
	struct list run_link;
	uint64_t vruntime_ns;
	uint64_t exec_start_ns;
	uint64_t runtime_ns;
	uint64_t slice_start_ns;
	_Atomic uint64_t nr_voluntary; /* passed voluntary switches */
	uint64_t nr_involuntary;
};

static TRACE_ALWAYS_INLINE struct thread *current_thread(void)
{
	return cpu_local_read(current);
}

/*
 * Start fn(arg) in a new thread on any CPU. NULL when out of memory. With THREAD_DETACHED the
 * result says only "started": do not dereference it.
 */
struct thread *thread_create(const char *name, int (*fn)(void *arg), void *arg, uint32_t flags);
/* The same on the CPUs of `affinity` only. */
struct thread *thread_create_on(uint64_t affinity, const char *name, int (*fn)(void *arg),
				void *arg, uint32_t flags);
/* Made, not started: start it with wake_up_new_thread(), so that fields can be set before. */
struct thread *thread_prepare(const char *name, int (*fn)(void *arg), void *arg, uint32_t flags);
void wake_up_new_thread(struct thread *thread);
void thread_exit(int status) __attribute__((noreturn));
/* Wait for its end, give the reference back. 0, or -EINTR (then the reference is kept). */
int thread_join(struct thread *thread, int *out_status);
/* The same, not interruptible. Returns its exit status. */
int thread_join_wait(struct thread *thread);
void thread_get(struct thread *thread);
void thread_put(struct thread *thread);

/* 0, or -EINTR when interrupted before. */
int thread_sleep_ns(uint64_t ns);
/* The same, not interruptible. */
void thread_pause_ns(uint64_t ns);
/* Give up the CPU; other runnable threads go first. */
void yield(void);
/* At every round of a loop that may run long without sleeping: lets others run when they should. */
void cond_resched(void);
/* Switch to the next thread; the caller has set its state. Preemption and interrupts on. */
void schedule(void);
static TRACE_ALWAYS_INLINE void set_current_state(uint32_t state)
{
	atomic_store(&current_thread()->state, state);
}
/*
 * schedule(), but wake up by oneself at `deadline_ns` (WAIT_FOREVER: never). True when it passed.
 */
bool schedule_until(uint64_t deadline_ns);

/* Any context but NMI. True when it was woken by this call. */
bool wake_up_process(struct thread *thread);
/* Any context but NMI. */
void thread_interrupt(struct thread *thread);
/* Everyone whose group is `group`. Thread, softirq. */
void thread_interrupt_group(int32_t group);
static TRACE_ALWAYS_INLINE bool thread_interrupted(void) /* the calling thread */
{
	return atomic_load(&current_thread()->interrupted);
}
void thread_clear_interrupt(void);
/* Interrupt by pid: 0, -ESRCH, -EPERM for idle and kernel service threads. */
int thread_kill(int32_t pid);

void thread_set_name(struct thread *thread, const char *name);
/*
 * 0; -EINVAL unless rt_priority fits the policy; -EPERM for idle threads. It holds from now on,
 * also for a thread that runs or waits.
 */
int thread_set_policy(struct thread *thread, enum thread_policy policy, uint32_t rt_priority);
/*
 * Of each period real-time threads get at most the runtime on each CPU, when others want it too;
 * -1: no limit. Microseconds. Set: 0, or -EINVAL unless 0 < period and -1 <= runtime <= period.
 */
int sched_rt_period_us(void);
int sched_rt_runtime_us(void);
int sched_rt_set_period_us(int us);
int sched_rt_set_runtime_us(int us);
/* 0; -EINVAL when no online CPU is in `affinity`. The thread moves when it runs next. */
int thread_set_affinity(struct thread *thread, uint64_t affinity);

/* A reference to the thread, or NULL. */
struct thread *thread_find(int32_t pid);
/*
 * Copy the name (THREAD_NAME_LEN) of thread `pid`; false when there is none. Without `may_wait` any
 * context, and false when the list is busy.
 */
bool thread_name(int32_t pid, bool may_wait, char *out_name);
/* For every thread, idle ones included; list lock held, preemption off: fn must not block. */
void thread_each(void (*fn)(struct thread *thread, void *arg), void *arg);
/*
 * trace_plat_each_stack(): the functions of `look` run with interrupts off. Thread, interrupts on.
 */
struct trace_plat_look;
void thread_each_stack(const struct trace_plat_look *look);
const char *thread_state_name(const struct thread *thread); /* "R", "S", "D", "Z", "I" */

/*
 * Return when every preempt-off section that ran at the call has ended, on every CPU. Every 10 s
 * the log names who is still inside.
 */
void synchronize_preempt(void);

struct sched_cpu_stats {
	uint64_t nr_switches;
	uint64_t nr_wakeups;
	uint64_t nr_migrations;
	uint64_t idle_ns;
	uint32_t nr_running;
};
void sched_cpu_stats_get(uint32_t cpu, struct sched_cpu_stats *out);

#endif

/*
 * Threads: preemptive, one run queue per CPU. They run in the kernel; those of a program run that, too.
 *
 *   new --> RUNNING (on a run queue or a CPU) --> DEAD --> freed by its last reference
 *              ^  |
 *         wake |  v schedule() in another state
 *          INTERRUPTIBLE, UNINTERRUPTIBLE
 *
 * A thread is interrupted when thread_interrupt() was called for it (Ctrl-C, kill). From then on
 * its interruptible waits end with -EINTR, until thread_clear_interrupt().
 *
 * Context:   thread, unless said.
 * Locking:   inside.
 * Ownership: thread_create() hands the caller one reference, thread_join() or thread_put() gives it
 *            back. For THREAD_DETACHED threads the caller gets none.
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
	THREAD_RR = 2,	 /* real time: as THREAD_FIFO, but takes turns with those of its priority */
};
#define THREAD_RT_PRIO_MAX 99			 /* real-time priorities: 1, least urgent, to 99 */
#define THREAD_SLICE_NS	   (4 * NSEC_PER_MSEC)	 /* a turn of normal threads */
#define THREAD_RR_TURN_NS  (100 * NSEC_PER_MSEC) /* of those of THREAD_RR */
#define THREAD_NICE_MIN	   (-20)
#define THREAD_NICE_MAX	   19

/* Flags of thread_create(). */
#define THREAD_DETACHED 0x1u /* it is never joined */
#define THREAD_SERVICE	0x2u /* belongs to the kernel: cannot be killed */
#define THREAD_IDLE	0x4u /* the idle thread of a CPU; only the scheduler makes these */
#define THREAD_USER	0x8u /* runs a program, once its function has returned 0; see process.h */

struct shell;
struct task;

enum thread_tick {
	THREAD_TICK_USER,
	THREAD_TICK_KERNEL,
	NR_THREAD_TICKS
};

struct thread {
	struct arch_context context; /* saved registers */
	int32_t pid;		     /* 0: idle */
	int32_t tgid;		     /* of its process, from before it runs on; 0: it has none */
	char name[THREAD_NAME_LEN];
	struct trace_thread trace;
	uint32_t flags;
	_Atomic uint32_t state; /* enum thread_state */
	union {
		struct {
			_Atomic uint32_t interrupted; /* 0 or 1 */
			_Atomic uint32_t samples_due; /* bits for user_return_stacks() */
		};
		_Atomic uint64_t
			return_work; /* both: not 0 when there is work before a program goes on */
	};
	_Atomic uint32_t refs;
	void *stack; /* lowest address; NULL for the boot context */
	int (*fn)(void *arg);
	void *arg;
	struct completion exited;
	int exit_status;
	int32_t group;	   /* Ctrl-C goes to a whole group; inherited, or its first thread's pid */
	uint64_t session;  /* inherited; 0: of the console. Its end interrupts all its threads */
	struct task *task; /* of a program; NULL for others */
	const struct shell *shell; /* that runs a command in this thread; NULL: none does */
	uint32_t counted; /* number of the count, <kernel/count.h>, that it belongs to; 0: none */
	uint32_t counted_row;		/* there, if rows are threads */
	struct list all_link;		/* guarded by thread_list_lock */
	struct held_locks held_mutexes; /* debug */

	/*
	 * Scheduling; guarded by the lock of the run queue of `cpu`, or by wake_lock when asleep.
	 */
	struct spinlock wake_lock;
	_Atomic uint32_t cpu;	   /* where it runs or waits to run, or did last */
	_Atomic uint32_t on_cpu;   /* its registers are in the CPU, not in `context` */
	_Atomic uint32_t on_queue; /* ON_QUEUE_* of sched.h: is it runnable? */
	uint64_t affinity;	   /* CPUs that it may use, a bit each */
	uint8_t policy;		   /* enum thread_policy; inherited, but not by services */
	uint8_t rt_priority;	   /* 1 to 99; 0 for THREAD_NORMAL */
	int8_t nice;	 /* THREAD_NICE_MIN to _MAX; as `policy`, and kept when that changes */
	bool keeps_turn; /* real time: goes in front of those of its priority */
	bool has_turn;	 /* real time: runs now as an urgent one, ahead of its place */
	struct heap_node run_node; /* normal: key is vruntime_ns */
	struct list run_link;	   /* waits to run: in a list of the run queue; dead: for kreaper */
	uint64_t vruntime_ns;	   /* normal: the one with the least runs next */
	uint64_t exec_start_ns;	   /* its run time is counted up to here */
	uint64_t runtime_ns;	   /* CPU time so far */
	uint64_t slice_start_ns;   /* when it was switched to last */
	/* Reasons for which it is urgent, see thread_urgent_begin(); and until when it is without one. */
	_Atomic uint64_t urgent_until_ns;
	_Atomic uint32_t nr_held_up; /* mutexes that it holds and an urgent thread waits for */
	_Atomic uint32_t nr_urgent;
	/* it has become urgent, and looks again for the thread that it waits for */
	_Atomic bool is_pressed_anew;
	_Atomic bool sleeps_in_waitq;
	bool is_blocked; /* its sleep cannot be interrupted; set while tracers listen for sleeps */
	/* For tracers: when a wait or sleep began. 0 without one, or if no tracer listened then. */
	uint64_t waits_since_ns;       /* it waits on a run queue */
	uint64_t sleeps_since_ns;      /* it is on no run queue */
	_Atomic uint64_t nr_voluntary; /* times that it gave the CPU up: slept or yielded */
	uint64_t nr_involuntary;       /* times that it was preempted */
	uint32_t nr_ticks
		[NR_THREAD_TICKS];  /* ticks that have found it in its program, and in the kernel */
	_Atomic uint64_t nr_faults; /* page faults of its program that have ended well */
};

static TRACE_ALWAYS_INLINE struct thread *current_thread(void)
{
	return cpu_local_read(current);
}

/*
 * Start fn(arg) in a new thread on any CPU; when fn returns, the thread ends with that status. The
 * name is cut to THREAD_NAME_LEN. NULL when out of memory. With THREAD_DETACHED the result says
 * only whether it was started: it must not be dereferenced.
 */
struct thread *thread_create(const char *name, int (*fn)(void *arg), void *arg, uint32_t flags);
/* The same on the CPUs of `affinity` only. */
struct thread *thread_create_on(uint64_t affinity, const char *name, int (*fn)(void *arg),
				void *arg, uint32_t flags);
/*
 * Make a thread that does not run yet, so that the caller can set fields. It runs after
 * wake_up_new_thread().
 */
struct thread *kernel_clone(const char *name, int (*fn)(void *arg), void *arg, uint32_t flags);
void wake_up_new_thread(struct thread *thread);
/* End the calling thread. */
void do_exit(int status) __attribute__((noreturn));
/*
 * Wait until the thread ends, and give the reference back. 0; or -EINTR when the caller is
 * interrupted, who then keeps the reference. `out_status` may be NULL.
 */
int thread_join(struct thread *thread, int *out_status);
/* The same, not interruptible. Returns the thread's exit status. */
int thread_join_wait(struct thread *thread);
void thread_get(struct thread *thread);
void thread_put(struct thread *thread);
/*
 * Give back the references that ended threads had to themselves. Returns when that is done for all
 * that ended before the call: each of them that was joined is freed, and in no list any more.
 */
void thread_reap(void);

/* Sleep for at least `ns`. 0, or -EINTR as soon as the thread is interrupted. */
int thread_sleep_ns(uint64_t ns);
/* Sleep for `ns`, interrupted or not; only wake_up_process() ends it before. */
void thread_pause_ns(uint64_t ns);
/* Let another runnable thread go first; for a real-time thread, those of its priority. */
void yield(void);
/* For every round of a loop that may run long without sleeping: lets others run if they should. */
void cond_resched(void);
/*
 * Switch to the next thread. The caller has set its own state: unless that is THREAD_RUNNING it
 * sleeps until it is woken. Preemption and interrupts on.
 */
void schedule(void);
/* `state`: enum thread_state. */
static TRACE_ALWAYS_INLINE void set_current_state(uint32_t state)
{
	atomic_store(&current_thread()->state, state);
}
/*
 * As schedule(), with a timer that wakes the thread at `deadline_ns`, as ktime_get_ns() counts
 * (WAIT_FOREVER: never). True when the timer has fired.
 */
bool schedule_until(uint64_t deadline_ns);

/* Make a sleeping thread run again. True when it slept. Any context but NMI. */
bool wake_up_process(struct thread *thread);
/* Interrupt the thread; if it sleeps interruptibly, wake it. Any context but NMI. */
void thread_interrupt(struct thread *thread);
/* Interrupt all threads of the group but those of THREAD_SERVICE and of programs. Thread, softirq. */
void thread_interrupt_group(int32_t group);
/* The same for all threads of the session, whatever their groups; its programs are killed. */
void thread_interrupt_session(uint64_t session);
static TRACE_ALWAYS_INLINE bool thread_interrupted(void) /* the calling thread */
{
	return atomic_load(&current_thread()->interrupted);
}
void thread_clear_interrupt(void);
/* Interrupt by pid, or end the program: 0, -ESRCH, -EPERM for idle and kernel service threads. */
int thread_kill(int32_t pid);

void thread_set_name(struct thread *thread, const char *name);
/* The running thread gets that pid; the ended thread that may still have it gets its old one. */
void thread_take_pid(struct thread *thread, int32_t pid);
/*
 * 0; -EINVAL unless rt_priority fits the policy (0 for THREAD_NORMAL, otherwise 1 to 99); -EPERM
 * for idle threads. It holds from now on, also for a thread that runs or waits.
 */
int thread_set_policy(struct thread *thread, enum thread_policy policy, uint32_t rt_priority);
/*
 * How a normal thread shares a CPU with others: of two whose numbers differ by one, that with the
 * smaller number gets a quarter more. 0; -EPERM for idle threads. `nice` has to be in its range.
 */
int thread_set_nice(struct thread *thread, int nice);
/*
 * The limit of real-time threads: on each CPU they get at most the runtime out of each period when
 * normal threads want to run there, too. Both are in microseconds. There is no limit when the
 * runtime is -1, 0 or the whole period. Setting one returns 0, or -EINVAL unless 0 < period and
 * -1 <= runtime <= period.
 */
int sched_rt_period_us(void);
int sched_rt_runtime_us(void);
int sched_rt_set_period_us(int us);
int sched_rt_set_runtime_us(int us);
/*
 * Set the CPUs that the thread may use, a bit each. 0; -EINVAL when none of them is online. If it
 * runs on another CPU, it leaves that soon, not before the return.
 */
int thread_set_affinity(struct thread *thread, uint64_t affinity);

/*
 * From begin to end the calling thread is urgent. Real-time threads that keep a normal urgent thread
 * from running have to share the CPU with it: they run for 10 ms on end, it for 30 ms. Without this
 * it would wait for the end of their share, for nearly a second again and again. When they have no
 * limit they do not share. Pairs may be nested. Threads of THREAD_SERVICE are always urgent.
 *
 * A thread that an urgent or a real-time thread waits for is urgent, too: the holder of a mutex, a
 * thread that is joined, and one that stands in code that is to go. A real-time thread shares as a
 * normal one does when it holds a mutex or is to leave code, and goes behind its like after that.
 */
void thread_urgent_begin(void);
void thread_urgent_end(void);
/* Is it urgent, or real-time? */
bool thread_is_pressing(const struct thread *thread);
/*
 * The same for `thread`, which the calling one waits for. It cannot be freed meanwhile. Any context
 * but NMI; it may be woken.
 */
void thread_press(struct thread *thread);
void thread_unpress(struct thread *thread);

/* A reference to the thread, for thread_put(); NULL when there is none of that pid. */
struct thread *thread_find(int32_t pid);
/*
 * Copy the name (THREAD_NAME_LEN bytes) of thread `pid`; false when there is none. Without
 * `may_wait` it works in any context, and the answer is also false when the list is locked.
 */
bool thread_name(int32_t pid, bool may_wait, char *out_name);
/* The pid of its process, its own if it has no program, 0 when there is none; likewise. */
int32_t thread_tgid(int32_t pid, bool may_wait);
/* Call fn for every thread, idle ones included. A lock is held, interrupts are off: no blocking. */
void thread_each(void (*fn)(struct thread *thread, void *arg), void *arg);
/*
 * The work of trace_plat_each_stack(), see <trace/platform_ops.h>. The functions of `look` run with
 * interrupts off. Thread context, interrupts on.
 */
struct trace_plat_look;
void thread_each_stack(const struct trace_plat_look *look);
/*
 * R runs or is ready to, S sleeps interruptibly, D sleeps uninterruptibly, T stopped by a signal, Z dead, I idle thread.
 */
const char *thread_state_name(const struct thread *thread);

/*
 * Return when every preempt-off section that ran at the call has ended, on every CPU. If one lasts
 * long, a warning every 10 s names its CPU and thread. Preemption and interrupts on.
 */
void synchronize_preempt(void);

struct sched_cpu_stats {
	uint64_t nr_switches;	/* from one thread to another */
	uint64_t nr_wakeups;	/* threads that were put on the run queue because they woke */
	uint64_t nr_migrations; /* threads that came from another CPU's run queue */
	uint64_t idle_ns;
	uint64_t nr_ticks[NR_THREAD_TICKS]; /* while a thread ran, by where it was */
	uint32_t nr_running; /* runnable now, the running one included, without idle */
};
void sched_cpu_stats_get(uint32_t cpu, struct sched_cpu_stats *out);

#endif

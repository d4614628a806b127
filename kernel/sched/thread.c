/* Threads: birth, death and the list of all of them; see <kernel/thread.h>. */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <arch/trap.h>
#include <kernel/count.h>
#include <kernel/mm.h>
#include <kernel/process.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/upcall.h>
#include <trace/fmt.h>
#include <trace/trace.h>
#include <trace/events/task.h>
#include "kernel_init.h"
#include "sched.h"
#include "thread_list.h"

static struct slab_cache *thread_cache;
static struct thread boot_thread; /* the boot context, idle thread of CPU 0 */

/* Threads that have ended. kreaper gives their own references back. */
static struct {
	struct spinlock lock;
	struct list dead;   /* linked by run_link, in the order of their ends; guarded by lock */
	struct waitq waitq; /* woken when one of them has left its CPU */
	struct mutex one_at_a_time; /* held by the thread that reaps */
} reaper = { .dead = LIST_INIT(reaper.dead) };

static void thread_setup(struct thread *thread, const char *name, uint32_t flags)
{
	memset(thread, 0, sizeof(*thread));
	strlcpy(thread->name, name, sizeof(thread->name));
	thread->flags = flags;
	thread->affinity = THREAD_ANY_CPU;
	list_init(&thread->run_link);
	list_init(&thread->all_link);
}

static void thread_start(void *arg)
{
	struct thread *thread = arg;

	int status;

	sched_thread_begins();
	status = thread->fn(thread->arg);
	if (thread->flags & THREAD_USER && !status)
		return; /* to user_start, and so to the program */
	do_exit(status);
}

/* Above all frames of a program's thread there is room for that of its traps. */
static uintptr_t thread_first_frame(const struct thread *thread)
{
	uintptr_t top = (uintptr_t)thread->stack + STACK_BYTES;

	return thread->flags & THREAD_USER ? top - sizeof(struct trap_frame) : top;
}

struct thread *kernel_clone(const char *name, int (*fn)(void *arg), void *arg, uint32_t flags)
{
	struct thread *thread = kmem_cache_alloc(thread_cache);

	if (!thread)
		return NULL;
	thread_setup(thread, name, flags);
	thread->stack = stack_alloc();
	if (!thread->stack) {
		kmem_cache_free(thread_cache, thread);
		return NULL;
	}
	stack_set_owner(thread->stack, &thread->trace);
	thread->fn = fn;
	thread->arg = arg;
	thread->session = current_thread()->session;
	if (flags & THREAD_SERVICE) {
		atomic_store(&thread->nr_urgent, 1);
	} else {
		thread->policy = current_thread()->policy;
		thread->rt_priority = current_thread()->rt_priority;
		thread->nice = current_thread()->nice;
	}
	/* One reference belongs to the thread, and one to the caller if it is not detached. */
	atomic_store(&thread->refs, flags & THREAD_DETACHED ? 1 : 2);
	atomic_store(&thread->state, THREAD_UNINTERRUPTIBLE);
	arch_thread_init(&thread->context, thread_first_frame(thread), thread_start, thread);
	thread_list_add(thread);
	thread->group = current_thread()->pid ? current_thread()->group : thread->pid;
	count_inherit(thread, current_thread());
	trace_thread_created(current_thread()->pid, thread->pid, &thread->trace);
	trace_thread_named(thread->pid, thread->name);
	if (trace_sched_process_fork_enabled())
		sched_tell_fork(thread);
	return thread;
}

struct thread *thread_create_on(uint64_t affinity, const char *name, int (*fn)(void *arg),
				void *arg, uint32_t flags)
{
	struct thread *thread = kernel_clone(name, fn, arg, flags);

	if (thread) {
		thread->affinity = affinity;
		wake_up_new_thread(thread);
	}
	return thread;
}

struct thread *thread_create(const char *name, int (*fn)(void *arg), void *arg, uint32_t flags)
{
	return thread_create_on(THREAD_ANY_CPU, name, fn, arg, flags);
}

static void thread_free(struct thread *thread)
{
	if (trace_sched_process_free_enabled())
		sched_tell_free(thread);
	thread_list_remove(thread);
	if (thread->task)
		task_free(thread->task);
	stack_free(thread->stack);
	kmem_cache_free(thread_cache, thread);
}

void thread_get(struct thread *thread)
{
	atomic_fetch_add(&thread->refs, 1);
}

void thread_put(struct thread *thread)
{
	if (thread && atomic_fetch_sub(&thread->refs, 1) == 1)
		thread_free(thread);
}

static void thread_leave_to_reaper(struct thread *thread)
{
	uint64_t flags = spin_lock_irqsave(&reaper.lock);

	list_add_tail(&reaper.dead, &thread->run_link);
	spin_unlock_irqrestore(&reaper.lock, flags);
}

void thread_left_cpu(void)
{
	waitq_wake_all(&reaper.waitq);
}

/*
 * The lock keeps out wakers and interrupters of the thread: one may have seen it in a sleeping
 * state, and would set it to THREAD_RUNNING after we have made it THREAD_DEAD.
 */
static void thread_be_dead(struct thread *thread)
{
	uint64_t flags = spin_lock_irqsave(&thread->wake_lock);

	atomic_store(&thread->state, THREAD_DEAD);
	spin_unlock_irqrestore(&thread->wake_lock, flags);
}

void do_exit(int status)
{
	struct thread *thread = current_thread();

	if (thread->task)
		task_exit(thread->task);
	thread->exit_status = status;
	if (trace_sched_process_exit_enabled())
		sched_tell_exit(thread);
	trace_thread_exited(thread->pid, thread->name);
	/*
	 * From here on thread_reap() may wait for us to leave the CPU: preemption would delay that.
	 */
	preempt_disable();
	thread_leave_to_reaper(thread);
	complete_all(&thread->exited);
	thread_be_dead(thread);
	sched_switch(false);
	panic("dead thread %s runs", thread->name);
}

struct join {
	struct thread *thread;
	bool is_pressed; /* it is urgent because its end is waited for */
};

static bool thread_has_ended(void *arg)
{
	struct join *join = arg;

	if (atomic_load(&join->thread->exited.done))
		return true;
	if (!join->is_pressed && thread_is_pressing(current_thread())) {
		thread_press(join->thread);
		join->is_pressed = true;
	}
	return false;
}

/* 0, or -EINTR when the caller is interrupted. */
static int thread_wait_end(struct thread *thread, bool interruptible)
{
	struct join join = { .thread = thread };
	int err;

	if (trace_sched_process_wait_enabled())
		sched_tell_wait(thread);
	err = waitq_wait(&thread->exited.queue, thread_has_ended, &join, interruptible,
			 WAIT_FOREVER);
	if (join.is_pressed)
		thread_unpress(thread);
	return err;
}

int thread_join(struct thread *thread, int *out_status)
{
	int err = thread_wait_end(thread, true);

	if (err)
		return err;
	if (out_status)
		*out_status = thread->exit_status;
	thread_put(thread);
	return 0;
}

int thread_join_wait(struct thread *thread)
{
	int status;

	thread_wait_end(thread, false);
	status = thread->exit_status;
	thread_put(thread);
	return status;
}

static bool thread_has_dead(void *arg)
{
	uint64_t flags = spin_lock_irqsave(&reaper.lock);
	bool has = !list_empty(&reaper.dead);

	(void)arg;
	spin_unlock_irqrestore(&reaper.lock, flags);
	return has;
}

static struct thread *thread_take_dead(void)
{
	struct thread *thread = NULL;
	uint64_t flags = spin_lock_irqsave(&reaper.lock);

	if (!list_empty(&reaper.dead)) {
		thread = list_entry(reaper.dead.next, struct thread, run_link);
		list_remove(&thread->run_link);
	}
	spin_unlock_irqrestore(&reaper.lock, flags);
	return thread;
}

/* Has this dead thread left its CPU? Its stack is in use until then. */
static bool thread_has_left_cpu(void *arg)
{
	struct thread *thread = arg;

	return atomic_load(&thread->state) == THREAD_DEAD && !atomic_load(&thread->on_cpu);
}

void thread_reap(void)
{
	struct thread *thread;

	mutex_lock(&reaper.one_at_a_time);
	while ((thread = thread_take_dead())) {
		waitq_wait(&reaper.waitq, thread_has_left_cpu, thread, false, WAIT_FOREVER);
		thread_put(thread);
	}
	mutex_unlock(&reaper.one_at_a_time);
}

static int kreaper(void *arg)
{
	for (;;) {
		waitq_wait(&reaper.waitq, thread_has_dead, arg, true, WAIT_FOREVER);
		thread_reap();
	}
	return 0;
}

void thread_set_name(struct thread *thread, const char *name)
{
	trace_task_rename(thread->pid, thread->name, name);
	strlcpy(thread->name, name, sizeof(thread->name));
	trace_thread_named(thread->pid, thread->name);
}

void threads_start_reaper(void)
{
	if (!thread_create("kreaper", kreaper, NULL, THREAD_DETACHED | THREAD_SERVICE))
		panic("out of memory for kreaper");
}

void threads_init(void)
{
	thread_cache = kmem_cache_create("thread", sizeof(struct thread));
	if (!thread_cache)
		panic("out of memory for threads");
	thread_setup(&boot_thread, "swapper/0", THREAD_IDLE | THREAD_SERVICE);
	stack_set_owner(NULL, &boot_thread.trace);
	atomic_store(&boot_thread.refs, 1);
	atomic_store(&boot_thread.on_queue, ON_QUEUE_YES);
	sched_init_cpu(0, &boot_thread, cpu_local_read(self));
	atomic_store(&cpu_active_mask, 1);
	thread_list_add_idle(&boot_thread);
	sched_balance_init();
}

int upcall_ap_prepare(uint32_t cpu, struct cpu_local *local)
{
	struct thread *idle = run_queues[cpu].idle;
	char name[THREAD_NAME_LEN];

	if (!idle) { /* a CPU that did not answer may be tried again */
		idle = kmem_cache_alloc(thread_cache);
		if (!idle)
			return -ENOMEM;
		trace_snprintf(name, sizeof(name), "swapper/%u", cpu);
		thread_setup(idle, name, THREAD_IDLE | THREAD_SERVICE);
		idle->stack = stack_alloc();
		if (!idle->stack) {
			kmem_cache_free(thread_cache, idle);
			return -ENOMEM;
		}
		stack_set_owner(idle->stack, &idle->trace);
		atomic_store(&idle->refs, 1);
		atomic_store(&idle->on_queue, ON_QUEUE_YES);
		thread_list_add_idle(idle);
		trace_thread_created(0, 0, &idle->trace);
	}
	(void)trace_cpu_prepare(cpu); /* without memory it runs all the same, untraced */
	sched_init_cpu(cpu, idle, local);
	return 0;
}

void upcall_ap_main(uint32_t cpu)
{
	ASSERT(cpu == cpu_local_read(id));
	sched_idle_loop();
}

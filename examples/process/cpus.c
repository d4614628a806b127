/*
 * Threads as CPUs: their start and end, signals as their interrupts, and the library's questions
 * about all of them. cpu_call() lets another CPU run a function by sending it a signal, as a kernel
 * does by an interrupt.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace/arch_host.h>
#include <trace/arch_probe.h>
#include <trace/ftrace.h>
#include <trace/trace.h>
#include <ucontext.h>
#include <unistd.h>
#include "cpu.h"
#include "process.h"

#define LOOK_NS 20000u

enum cpu_state {
	CPU_FREE,
	CPU_STARTS,
	CPU_ONLINE,
	CPU_ENDED /* cpu_join() makes it free */
};

static struct process_cpu cpus[PROCESS_CPUS];
static struct cpu_start {
	_Atomic enum cpu_state state;
	pthread_t thread;
	void (*fn)(void *arg);
	void *arg;
	int32_t parent_pid;
	uint64_t blocked; /* the signals that the parent has blocked */
} starts[PROCESS_CPUS];

/* While it is held, no CPU comes or goes. No other lock is taken under it. */
static pthread_mutex_t cpus_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_online(uint32_t cpu)
{
	return atomic_load(&starts[cpu].state) == CPU_ONLINE;
}

uint32_t cpus_online(void)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < PROCESS_CPUS; i++)
		nr += is_online(i);
	return nr;
}

/* ---- Signals ---- */

#define BIT(signal) (1ull << ((signal)-1))
/* Those that trap.c handles are never blocked; 32 and 33 are the C library's. */
#define ALL_SIGNALS ~(BIT(SIGTRAP) | BIT(SIGSEGV) | BIT(SIGBUS) | BIT(32) | BIT(33))

static void (*signal_fns[_NSIG])(int signal);

uint64_t process_signals_block(void)
{
	uint64_t all = ALL_SIGNALS, blocked = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &blocked, sizeof(blocked));
	return blocked;
}

void process_signals_restore(uint64_t blocked)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof(blocked));
}

/* The count tells the library that this is a signal, which may have interrupted code of its own. */
static void on_signal(int signal)
{
	THIS_CPU(preempt_count) += PROCESS_IN_SIGNAL;
	signal_fns[signal](signal);
	THIS_CPU(preempt_count) -= PROCESS_IN_SIGNAL;
}

int cpu_on_signal(int signal, void (*fn)(int signal))
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	trap_block_others(&action.sa_mask);
	signal_fns[signal] = fn;
	return sigaction(signal, &action, NULL) ? -errno : 0;
}

/* ---- Calls of another CPU ---- */

#define CALL_SIGNAL SIGRTMIN

static struct {
	void (*fn)(void *arg);
	void *arg;
	_Atomic bool is_done;
} call; /* cpus_lock */

static void on_call(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	THIS_CPU(preempt_count) += PROCESS_IN_SIGNAL;
	THIS_CPU(interrupted) = (const uintptr_t *)((ucontext_t *)context)->uc_mcontext.gregs;
	call.fn(call.arg);
	THIS_CPU(preempt_count) -= PROCESS_IN_SIGNAL;
	atomic_store(&call.is_done, true);
}

/*
 * Run fn(arg) on an online CPU, with all its signals blocked, and wait for that. It may be this
 * CPU. The lock is held.
 */
static void cpu_call(uint32_t cpu, void (*fn)(void *arg), void *arg)
{
	call.fn = fn;
	call.arg = arg;
	atomic_store(&call.is_done, false);
	if (syscall(SYS_tgkill, getpid(), cpus[cpu].pid, CALL_SIGNAL))
		die("CPU %u is gone", cpu);
	while (!atomic_load(&call.is_done))
		trace_plat_pause(LOOK_NS, false);
}

int trace_plat_on_cpu(uint32_t cpu, void (*fn)(void *arg), void *arg)
{
	int err = 0;

	pthread_mutex_lock(&cpus_lock);
	if (is_online(cpu))
		cpu_call(cpu, fn, arg);
	else
		err = -ENODEV;
	pthread_mutex_unlock(&cpus_lock);
	return err;
}

/* ---- Start and end ---- */

/* Make the running thread CPU `id`: from then on it may call traced functions. */
static void cpu_enter(uint32_t id)
{
	struct process_cpu *cpu = &cpus[id];
	pthread_attr_t attr;
	size_t stack_bytes;
	void *stack;

	cpu->self = cpu;
	cpu->id = id;
	cpu->pid = (int32_t)gettid();
	cpu->preempt_count = PROCESS_NO_RESCHED;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &stack, &stack_bytes);
	pthread_attr_destroy(&attr);
	cpu->stack_low = (uintptr_t)stack;
	cpu->stack_top = (uintptr_t)stack + stack_bytes;
	pthread_setname_np(pthread_self(), cpu->name);
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, cpu))
		die("cannot set GS");
	atomic_store(&starts[id].state, CPU_ONLINE);
}

void cpus_init(void)
{
	struct sigaction action = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_RESTART };

	trap_block_others(&action.sa_mask);
	sigaction(CALL_SIGNAL, &action, NULL);
	strcpy(cpus[0].name, "main");
	cpu_enter(0);
}

/*
 * While the thread is no CPU its signals are blocked, because handlers call traced functions.
 * Before it ends they are blocked under the lock: cpu_call(), whose caller has the lock, must not
 * wait for a CPU that will not answer any more.
 */
static void *cpu_main(void *arg)
{
	struct cpu_start *start = arg;
	uint32_t id = (uint32_t)(start - starts);

	pthread_mutex_lock(&cpus_lock);
	cpu_enter(id);
	pthread_mutex_unlock(&cpus_lock);
	process_signals_restore(start->blocked);
	trace_thread_created(start->parent_pid, cpus[id].pid, &cpus[id].thread);
	start->fn(start->arg);
	trace_thread_exited(cpus[id].pid, cpus[id].name);
	pthread_mutex_lock(&cpus_lock);
	process_signals_block();
	atomic_store(&start->state, CPU_ENDED);
	pthread_mutex_unlock(&cpus_lock);
	return NULL;
}

static struct cpu_start *find_free(void)
{
	for (uint32_t i = 0; i < PROCESS_CPUS; i++) {
		enum cpu_state free = CPU_FREE;

		if (atomic_compare_exchange_strong(&starts[i].state, &free, CPU_STARTS))
			return &starts[i];
	}
	return NULL;
}

int cpu_start(const char *name, void (*fn)(void *arg), void *arg)
{
	struct cpu_start *start = find_free();
	struct process_cpu *cpu;
	int err;

	if (!start)
		return -EAGAIN;
	cpu = &cpus[start - starts];
	memset(cpu, 0, sizeof(*cpu));
	snprintf(cpu->name, sizeof(cpu->name), "%s", name);
	start->fn = fn;
	start->arg = arg;
	start->parent_pid = THIS_CPU(pid);
	(void)trace_cpu_prepare((uint32_t)(start - starts)); /* without memory it runs untraced */
	start->blocked = process_signals_block();
	err = pthread_create(&start->thread, NULL, cpu_main, start);
	process_signals_restore(start->blocked);
	if (err) {
		atomic_store(&start->state, CPU_FREE);
		return -err;
	}
	while (atomic_load(&start->state) == CPU_STARTS)
		trace_plat_pause(LOOK_NS, false);
	return (int)(start - starts);
}

void cpu_join(int cpu)
{
	pthread_join(starts[cpu].thread, NULL);
	atomic_store(&starts[cpu].state, CPU_FREE);
}

/* ---- Functions of <trace/platform.h> ---- */

uint32_t trace_plat_nr_cpus(void)
{
	return PROCESS_CPUS;
}

bool trace_plat_cpu_online(uint32_t cpu)
{
	return cpu < PROCESS_CPUS && is_online(cpu);
}

bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm)
{
	(void)may_wait;
	for (uint32_t i = 0; i < PROCESS_CPUS; i++) {
		if (!is_online(i) || cpus[i].pid != pid)
			continue;
		memcpy(out_comm, cpus[i].name, PROCESS_NAME_LEN);
		return true;
	}
	return false;
}

void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg)
{
	pthread_mutex_lock(&cpus_lock);
	for (uint32_t i = 0; i < PROCESS_CPUS; i++) {
		if (is_online(i))
			fn(cpus[i].pid, &cpus[i].thread, arg);
	}
	pthread_mutex_unlock(&cpus_lock);
}

static void wait_until(uint32_t cpu, const volatile uint32_t *count, uint32_t wanted)
{
	while (is_online(cpu) && *count != wanted)
		trace_plat_pause(LOOK_NS, false);
}

/*
 * After the barrier every thread sees what the caller has removed. A thread that has preemption off
 * then may have had it off before, and have seen it: wait for a moment when it is on. The same with
 * one that answers an int3.
 */
void trace_plat_synchronize_preempt(void)
{
	process_sync_cores();
	pthread_mutex_lock(&cpus_lock);
	for (uint32_t i = 0; i < PROCESS_CPUS; i++) {
		if (i != THIS_CPU(id)) {
			wait_until(i, &cpus[i].preempt_count, PROCESS_NO_RESCHED);
			wait_until(i, &cpus[i].nr_traps, 0);
		}
	}
	pthread_mutex_unlock(&cpus_lock);
}

/* ---- Stacks ---- */

/* Is this a frame of the program or the library? They link their frames by rbp. */
static bool is_frame(const uintptr_t *frame, const uintptr_t *above, const uintptr_t *top)
{
	return frame >= above && frame + 2 < top && !((uintptr_t)frame % sizeof(uintptr_t)) &&
	       trace_arch_is_text(frame[1]);
}

/* Is it the frame of a trampoline, or of a function that a site calls directly? */
static bool is_called_by_site(const uintptr_t *frame)
{
	uintptr_t site = frame[1] - TRACE_INSN_SIZE;

	return ftrace_location(site) == site;
}

/*
 * How many words behind this frame may be return addresses. A function that a call site calls makes
 * its frame before the traced function has one: behind the return to the site is that of the traced
 * function. A probe's detour may be called anywhere in a function, and what a trampoline calls may
 * have no frame: then it can be any word.
 */
static size_t nr_returns(const uintptr_t *frame, const uintptr_t *top)
{
	const uintptr_t *next = (const uintptr_t *)frame[0];

	if (next > frame + 1 && next + 2 < top &&
	    (trace_probe_is_detour(frame[1]) || is_called_by_site(next)))
		return (size_t)(next - (frame + 1));
	return is_called_by_site(frame) ? 2 : 1;
}

/*
 * Show the library the stack from `at` on: of the program's frames the return addresses; from the
 * first frame on that may be one of the C library, all words. `found` is what was found before.
 */
static void show_frames(const struct trace_plat_look *look, const uintptr_t *at,
			const uintptr_t *frame, uint32_t found)
{
	struct process_cpu *cpu = THIS_CPU(self);
	const uintptr_t *top = (const uintptr_t *)cpu->stack_top;

	for (; is_frame(frame, at, top); frame = (const uintptr_t *)frame[0]) {
		found |= look->find(&cpu->thread, frame + 1, nr_returns(frame, top), look->arg);
		at = frame + 2;
	}
	found |= look->find(&cpu->thread, at, (size_t)(top - at), look->arg);
	look->seen(&cpu->thread, found, look->arg);
}

/*
 * A thread shows its stack, in the handler of the signal: where it was, or was about to jump to;
 * all words of the innermost frame; then the other frames. A thread that has switched to a stack
 * which we do not know is left out.
 */
static void show_stack(void *arg)
{
	const struct trace_plat_look *look = arg;
	struct process_cpu *cpu = THIS_CPU(self);
	const uintptr_t *regs = cpu->interrupted;
	const uintptr_t next[] = { regs[REG_RIP], regs[REG_RAX], regs[REG_RCX], regs[REG_R11] };
	const uintptr_t *at = (const uintptr_t *)regs[REG_RSP];
	const uintptr_t *frame = (const uintptr_t *)regs[REG_RBP];
	uint32_t found;

	if ((uintptr_t)at < cpu->stack_low || (uintptr_t)at >= cpu->stack_top)
		return;
	found = look->find(&cpu->thread, next, sizeof(next) / sizeof(next[0]), look->arg);
	if (is_frame(frame, at, (const uintptr_t *)cpu->stack_top))
		found |= look->find(&cpu->thread, at, (size_t)(frame - at), look->arg);
	show_frames(look, at, frame, found);
}

/*
 * Of the caller only return addresses are shown: its frames have the addresses that it asks about
 * as data, too.
 */
void trace_plat_each_stack(const struct trace_plat_look *look)
{
	const uintptr_t *frame = __builtin_frame_address(0);

	pthread_mutex_lock(&cpus_lock);
	for (uint32_t i = 0; i < PROCESS_CPUS; i++) {
		if (i == THIS_CPU(id))
			show_frames(look, frame, frame, 0);
		else if (is_online(i))
			cpu_call(i, show_stack, (void *)(uintptr_t)look);
	}
	pthread_mutex_unlock(&cpus_lock);
}

bool trace_plat_stack_find(uintptr_t addr, struct trace_stack *out_stack)
{
	uintptr_t low = THIS_CPU(stack_low), top = THIS_CPU(stack_top);

	*out_stack = (struct trace_stack){
		.kind = TRACE_STACK_THREAD, .lo = low, .hi = top, .base = top
	};
	return addr >= low && addr < top;
}

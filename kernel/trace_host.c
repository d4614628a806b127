/*
 * The functions that trace/ asks of its host in <trace/platform.h>, but for the inline half. Each
 * is made of something that the kernel has anyway. No call sites, because probes reach some of
 * them.
 */
#include <stdatomic.h>
#include <arch/nofault.h>
#include <arch/percpu.h>
#include <arch/sections.h>
#include <arch/smp.h>
#include <arch/static_branch.h>
#include <trace/arch_text.h>
#include <trace/arch_trampoline.h>
#include <kernel/lock.h>
#include <kernel/btf.h>
#include <kernel/cpu.h>
#include <kernel/mm.h>
#include <kernel/preempt.h>
#include <kernel/printk.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/text.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/upcall.h>
#include <kernel/whynot.h>
#include <kernel/work.h>
#include <trace/arch_host.h>
#include <trace/fmt.h>
#include <trace/ftrace.h>
#include <trace/platform.h>
#include <trace/static_key.h>

#define LOG_LINE_MAX 256
#define SMALL_BYTES  2048u /* more than that takes whole pages */
/* More than that takes pages from anywhere, each mapped; freeing those interrupts every CPU. */
#define MEDIUM_BYTES (4 * PAGE_SIZE)
#define WAIT_STEP_NS (10 * NSEC_PER_MSEC)

_Static_assert(sizeof(struct mutex) <= sizeof(struct trace_plat_lock), "lock has room");
_Static_assert(sizeof(struct waitq) <= sizeof(struct trace_plat_waitq), "queue has room");
_Static_assert(sizeof(struct symbols_cursor) <= sizeof(struct trace_symbol_cursor), "cursor fits");
_Static_assert(KSYM_NAME_LEN == TRACE_SYM_LEN && THREAD_NAME_LEN == TRACE_COMM_LEN, "names fit");

extern void __fentry__(void);

struct mutex text_mutex;

/* ---- Memory, CPUs, clocks ---- */

/* The order of the block of pages that has room for so many bytes. */
static unsigned int trace_order_of(size_t bytes)
{
	unsigned int order = 0;

	while (PAGE_SIZE << order < bytes)
		order++;
	return order;
}

static bool trace_is_mapped(const void *memory)
{
	return (uintptr_t)memory >= VMAP_BASE && (uintptr_t)memory < VMAP_END;
}

void *trace_plat_alloc(size_t bytes)
{
	void *memory = NULL;

	if (bytes <= SMALL_BYTES)
		return kzalloc(bytes);
	if (bytes <= MEDIUM_BYTES)
		memory = page_alloc_zeroed(trace_order_of(bytes));
	return memory || bytes <= PAGE_SIZE ? memory : vmalloc(bytes);
}

void trace_plat_free(void *memory, size_t bytes)
{
	if (bytes <= SMALL_BYTES)
		kfree(memory);
	else if (trace_is_mapped(memory))
		vfree(memory);
	else
		free_pages(memory, trace_order_of(bytes));
}

uint32_t trace_plat_nr_cpus(void)
{
	return smp_nr_cpus();
}

bool trace_plat_cpu_online(uint32_t cpu)
{
	return cpu_active(cpu);
}

int trace_plat_on_cpu(uint32_t cpu, void (*fn)(void *arg), void *arg)
{
	return smp_call_function_single(cpu, fn, arg);
}

void trace_plat_preempt_schedule(void)
{
	preempt_schedule_notrace();
}

/* ---- Text, symbols ---- */

const uintptr_t *trace_plat_sites(size_t *out_nr)
{
	const uintptr_t *first = __start_mcount_loc;

	while ((uintptr_t)first < (uintptr_t)__stop_mcount_loc && *first == 0)
		first++; /* a call in dead code: tools/sites cleared its entry */
	*out_nr = ((uintptr_t)__stop_mcount_loc - (uintptr_t)first) / sizeof(*first);
	return first;
}

int trace_plat_poke_batch(const struct trace_poke *pokes, size_t nr,
			  struct trace_poke_error *out_error)
{
	int err;

	mutex_lock(&text_mutex);
	err = text_poke_batch(pokes, nr, out_error);
	mutex_unlock(&text_mutex);
	return err;
}

int trace_plat_trampoline_create(const struct trace_trampoline_call *calls, size_t nr,
				 bool with_regs, struct trace_trampoline *out_trampoline)
{
	int err;

	mutex_lock(&text_mutex);
	err = trampoline_create(calls, nr, with_regs, out_trampoline);
	mutex_unlock(&text_mutex);
	return err;
}

int trace_plat_trampoline_retarget(struct trace_trampoline *tramp, uint32_t index, uintptr_t func)
{
	int err;

	mutex_lock(&text_mutex);
	err = trampoline_retarget(tramp, index, func);
	mutex_unlock(&text_mutex);
	return err;
}

void trace_plat_trampoline_destroy(struct trace_trampoline *tramp)
{
	mutex_lock(&text_mutex);
	trampoline_destroy(tramp);
	mutex_unlock(&text_mutex);
}

uintptr_t trace_plat_fentry(void)
{
	return (uintptr_t)__fentry__;
}

bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	static const char trampoline[] = "ftrace_trampoline"; /* the name of all of them */

	if (trampoline_name(addr, out_start, out_size)) {
		memcpy(out_name, trampoline, sizeof(trampoline));
		return true;
	}
	return symbols_lookup(addr, out_name, out_start, out_size);
}

uintptr_t trace_plat_symbol_find(const char *name)
{
	return symbols_find(name);
}

size_t trace_plat_symbol_next(struct trace_symbol_cursor *cursor, uintptr_t addr, char *out_name)
{
	return symbols_next_at((struct symbols_cursor *)cursor, addr, out_name);
}

int trace_plat_why_not(const char *name, char *out_text, size_t len)
{
	return whynot_lookup(name, out_text, len) < 0 ? -ENOENT : 0;
}

bool trace_plat_is_irq_entry(uint32_t packed_ip)
{
	return arch_is_irq_entry(trace_plat_ip_unpack(packed_ip));
}

/* ---- Memory ---- */

const void *trace_plat_btf(size_t *out_bytes)
{
	*out_bytes = btf_bytes();
	return *out_bytes ? &btf_blob : NULL;
}

const char *trace_plat_thread_type(size_t *out_offset)
{
	*out_offset = offsetof(struct thread, trace);
	return "thread";
}

bool trace_plat_read(void *to, const void *from, size_t bytes)
{
	return arch_read_nofault(to, from, bytes);
}

/* ---- Stacks ---- */

bool trace_plat_stack_find(uintptr_t addr, struct trace_stack *out_stack)
{
	uintptr_t irq_top = cpu_local_read(irq_stack_top);
	const char *name = cpu_trap_stack_of(addr, &out_stack->lo, &out_stack->hi);

	if (name) {
		out_stack->kind = name[0] == '#' ? TRACE_STACK_FAULT : TRACE_STACK_NMI;
	} else if (upcall_stack_range(addr, &out_stack->lo, &out_stack->hi)) {
		out_stack->kind = TRACE_STACK_THREAD;
	} else {
		return false;
	}
	out_stack->base = out_stack->hi;
	if (out_stack->kind == TRACE_STACK_THREAD && addr < irq_top && irq_top <= out_stack->hi) {
		out_stack->kind = TRACE_STACK_IRQ;
		out_stack->base = irq_top;
	}
	return true;
}

/* ---- Threads ---- */

void trace_plat_lock(struct trace_plat_lock *lock)
{
	mutex_lock((struct mutex *)lock);
}

void trace_plat_unlock(struct trace_plat_lock *lock)
{
	mutex_unlock((struct mutex *)lock);
}

int trace_plat_wait(struct trace_plat_waitq *queue, bool (*done)(void *arg), void *arg)
{
	int err;

	do
		err = waitq_wait((struct waitq *)queue, done, arg, true, WAIT_STEP_NS);
	while (err == -ETIMEDOUT);
	return err;
}

int trace_plat_pause(uint64_t ns, bool may_interrupt)
{
	if (may_interrupt)
		return thread_sleep_ns(ns);
	thread_pause_ns(ns);
	return 0;
}

void trace_plat_wake(struct trace_plat_waitq *queue)
{
	waitq_wake_all((struct waitq *)queue);
}

void trace_plat_synchronize_preempt(void)
{
	synchronize_preempt();
}

bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm)
{
	return thread_name(pid, may_wait, out_comm);
}

int32_t trace_plat_thread_tgid(int32_t pid, bool may_wait)
{
	return thread_tgid(pid, may_wait);
}

void trace_plat_current_comm(char *out_comm)
{
	__builtin_memcpy(out_comm, current_thread()->name, TRACE_COMM_LEN);
}

struct each_thread {
	void (*fn)(int32_t pid, struct trace_thread *thread, void *arg);
	void *arg;
};

static void call_for_thread(struct thread *thread, void *arg)
{
	const struct each_thread *each = arg;

	each->fn(thread->pid, &thread->trace, each->arg);
}

void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg)
{
	struct each_thread each = { .fn = fn, .arg = arg };

	thread_each(call_for_thread, &each);
}

void trace_plat_each_stack(const struct trace_plat_look *look)
{
	thread_each_stack(look);
}

struct later {
	struct delayed_work work; /* first: run_later() gets a pointer to its work */
	void (*fn)(void);
	_Atomic bool is_asked; /* a call of fn() was asked for and has not begun */
	bool is_ready;	       /* written by who has set is_asked */
};
_Static_assert(sizeof(struct later) <= sizeof(struct trace_plat_later), "later has room");

static void run_later(struct work *work)
{
	struct later *later = (struct later *)work;

	atomic_store(&later->is_asked, false);
	later->fn();
}

void trace_plat_call_later(struct trace_plat_later *later, void (*fn)(void), uint64_t delay_ns)
{
	struct later *own = (struct later *)later;

	if (atomic_exchange(&own->is_asked, true))
		/* queued again, the call would come later than the first request asked for */
		return;
	if (!own->is_ready) {
		delayed_work_init(&own->work, run_later);
		own->fn = fn;
		own->is_ready = true;
	}
	queue_delayed_work(&own->work, delay_ns);
}

int trace_plat_static_branches_update(void)
{
	int err;

	mutex_lock(&text_mutex);
	err = static_branch_update();
	mutex_unlock(&text_mutex);
	if (err)
		trace_plat_bug("trace: the static branches of the kernel cannot be switched");
	return err;
}

size_t trace_plat_static_branches_list(struct trace_poke *pokes, size_t room)
{
	size_t nr;

	mutex_lock(&text_mutex);
	nr = static_branch_list(pokes, room);
	mutex_unlock(&text_mutex);
	return nr;
}

/* ---- <trace/arch_host.h> ---- */

void trace_arch_cpus_hold(void)
{
	smp_hotplug_lock();
}

void trace_arch_cpus_release(void)
{
	smp_hotplug_unlock();
}

void trace_arch_sync_cores(void)
{
	smp_sync_cores();
}

int trace_arch_call_cpus(void (*fn)(void *arg), void *arg)
{
	smp_hotplug_lock();
	on_each_cpu(fn, arg, true);
	smp_hotplug_unlock();
	return 0;
}

bool trace_arch_is_emulated(void)
{
	return cpu_features.hypervisor;
}

void trace_arch_broken(const char *what)
{
	panic("%s", what);
}

/*
 * A function whose return is hooked has returned, and its real return address is not known. No
 * function calls this: the hook returns into it.
 */
void trace_plat_lost(void)
{
	panic("fgraph: the return address of a hooked function is lost");
}

/* ---- Messages ---- */

static void log_line(enum log_level level, const char *fmt, va_list args)
{
	char line[LOG_LINE_MAX];

	trace_vsnprintf(line, sizeof(line), fmt, args);
	printk(level, "%s\n", line);
}

void trace_plat_log(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(LOG_INFO, fmt, args);
	va_end(args);
}

void trace_plat_alert(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(LOG_ERR, fmt, args);
	va_end(args);
}

void trace_plat_log_event(const char *line, size_t len)
{
	printk_from_probe(line, len);
}

void trace_plat_panic(const char *fmt, ...)
{
	char line[LOG_LINE_MAX];
	va_list args;

	va_start(args, fmt);
	trace_vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	panic("%s", line);
}

void trace_plat_bug(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(LOG_ERR, fmt, args);
	va_end(args);
	ftrace_kill();
}

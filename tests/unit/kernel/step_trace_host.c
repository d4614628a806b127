/*
 * The kernel's answers to <trace/platform.h>: each is made of something that the kernel has, under the
 * lock that it needs.
 *
 * links: kernel/trace_host.c kernel/trace_probes.c
 */
#include "unit.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <asm/prctl.h>
#include <arch/cpu.h>
#include <arch/nofault.h>
#include <arch/paging.h>
#include <arch/percpu.h>
#include <arch/smp.h>
#include <arch/static_branch.h>
#include <arch/trap.h>
#include <kernel/mm.h>
#include <kernel/printk.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/text.h>
#include <kernel/thread.h>
#include <kernel/upcall.h>
#include <kernel/whynot.h>
#include <kernel/work.h>
#include <trace/arch_host.h>
#include <trace/arch_probe.h>
#include <trace/arch_text.h>
#include <trace/arch_trampoline.h>
#include <trace/fmt.h>
#include <trace/ftrace.h>
#include <trace/platform.h>
#include <trace/static_key.h>
#include "fast.h"

/* ---- Symbols of the linker: two calls in dead code, three others; code, a part of it without probes ---- */

__asm__(".data\n.balign 8\n.globl __start_mcount_loc, __stop_mcount_loc\n"
	"__start_mcount_loc: .quad 0, 0, 0x11000, 0x12000, 0x13000\n__stop_mcount_loc:\n"
	".globl text_start, text_end, __notrace_text_start, __notrace_text_end\n"
	".set text_start, 0x10000\n.set text_end, 0x20000\n"
	".set __notrace_text_start, 0x18000\n.set __notrace_text_end, 0x19000\n"
	".globl rodata_start, rodata_end, data_start, bss_end, irq_entry_start, irq_entry_end\n"
	".set rodata_start, 0x30000\n.set rodata_end, 0x40000\n.set data_start, 0x40000\n"
	".set bss_end, 0x50000\n.set irq_entry_start, 0x14000\n.set irq_entry_end, 0x14100\n"
	".globl __fentry__, btf_blob\n.set __fentry__, 0x15000\n"
	"btf_blob: .long 0, 24, 0, 0, 100, 7\n.text\n");

/* ---- Locks ---- */

static const struct mutex *held;
static uint32_t nr_holds;

void mutex_lock(struct mutex *mutex)
{
	assert_null(held);
	held = mutex;
	nr_holds++;
}

void mutex_unlock(struct mutex *mutex)
{
	assert_ptr_equal(held, mutex);
	held = NULL;
}

/* Something that needs the lock of all code; the number that it returns. */
static int with_text_lock(void)
{
	assert_ptr_equal(held, &text_mutex);
	return 7;
}

/* It was called once, with the lock, which is free again. */
#define CHECK_LOCKED(call)                                                                         \
	do {                                                                                       \
		uint32_t before = nr_holds, calls = nr_calls;                                      \
		call;                                                                              \
		assert_true(nr_holds == before + 1 && nr_calls == calls + 1 && !held);             \
	} while (0)

static uint32_t nr_calls;
static void *arguments[3];

static int note(const void *a, const void *b, const void *c)
{
	nr_calls++;
	arguments[0] = (void *)(uintptr_t)a;
	arguments[1] = (void *)(uintptr_t)b;
	arguments[2] = (void *)(uintptr_t)c;
	return with_text_lock();
}

int text_poke_batch(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *out_error)
{
	return note(pokes, (void *)nr, out_error);
}

int trampoline_create(const struct trace_trampoline_call *calls, size_t nr, bool with_regs,
		      struct trace_trampoline *out)
{
	assert_true(with_regs);
	return note(calls, (void *)nr, out);
}

int trampoline_retarget(struct trace_trampoline *tramp, uint32_t index, uintptr_t func)
{
	return note(tramp, (void *)(uintptr_t)index, (void *)func);
}

void trampoline_destroy(struct trace_trampoline *tramp)
{
	note(tramp, NULL, NULL);
}

int trace_probe_create(struct trace_plat_probe *probe, uintptr_t addr, bool with_post)
{
	return note(probe, (void *)addr, with_post ? probe : NULL);
}

int trace_probe_jump_create(struct trace_plat_probe *probe, size_t bytes)
{
	return note(probe, (void *)bytes, NULL);
}

void trace_probe_destroy(struct trace_plat_probe *probe)
{
	note(probe, NULL, NULL);
}

static int update_error;

int static_branch_update(void)
{
	note(NULL, NULL, NULL);
	return update_error;
}

size_t static_branch_list(struct trace_poke *pokes, size_t room)
{
	return (size_t)note(pokes, (void *)room, NULL);
}

static void check_arguments(const void *a, uintptr_t b, const void *c)
{
	assert_ptr_equal(arguments[0], a);
	assert_ptr_equal(arguments[1], b);
	assert_ptr_equal(arguments[2], c);
}

static bool is_killed;

void ftrace_kill(void)
{
	is_killed = true;
}

static void test_code_changes_under_its_lock(void **state)
{
	static struct trace_poke pokes[2];
	struct trace_poke_error error;
	struct trace_trampoline tramp;
	struct trace_plat_probe *probe = (struct trace_plat_probe *)(void *)pokes;
	int result = 0;

	(void)state;
	CHECK_LOCKED(result = trace_plat_poke_batch(pokes, 2, &error));
	check_arguments(pokes, 2, &error);
	assert_int_equal(result, 7);
	CHECK_LOCKED(result = trace_plat_trampoline_create((void *)pokes, 3, true, &tramp));
	check_arguments(pokes, 3, &tramp);
	assert_int_equal(result, 7);
	CHECK_LOCKED(result = trace_plat_trampoline_retarget(&tramp, 4, 0x1234));
	check_arguments(&tramp, 4, (void *)0x1234);
	assert_int_equal(result, 7);
	CHECK_LOCKED(trace_plat_trampoline_destroy(&tramp));
	check_arguments(&tramp, 0, NULL);
	CHECK_LOCKED(result = trace_plat_probe_create(probe, 0x4321, true));
	check_arguments(probe, 0x4321, probe);
	assert_int_equal(result, 7);
	CHECK_LOCKED(result = trace_plat_probe_jump_create(probe, 9));
	check_arguments(probe, 9, NULL);
	assert_int_equal(result, 7);
	CHECK_LOCKED(trace_plat_probe_destroy(probe));
	check_arguments(probe, 0, NULL);
	CHECK_LOCKED(result = (int)trace_plat_static_branches_list(pokes, 5));
	check_arguments(pokes, 5, NULL);
	assert_int_equal(result, 7);
}

static uint32_t nr_printed;

static void test_static_branches(void **state)
{
	int result = 1;

	(void)state;
	CHECK_LOCKED(result = trace_plat_static_branches_update());
	assert_true(result == 0 && !is_killed && !nr_printed);
	update_error = -EINVAL;
	CHECK_LOCKED(result = trace_plat_static_branches_update());
	assert_true(result == -EINVAL && is_killed && nr_printed == 1);
	update_error = 0;
}

static void test_locks(void **state)
{
	static struct trace_plat_lock lock;

	(void)state;
	trace_plat_lock(&lock);
	assert_ptr_equal(held, &lock);
	trace_plat_unlock(&lock);
	assert_null(held);
}

/* ---- Code and names ---- */

static void test_sites(void **state)
{
	const uintptr_t *first;
	size_t nr = 0;

	(void)state;
	first = trace_plat_sites(&nr);
	assert_int_equal(nr, 3); /* behind those in dead code */
	assert_int_equal(first[0], 0x11000);
	assert_int_equal(first[2], 0x13000);
	assert_int_equal(trace_plat_fentry(), 0x15000);
	assert_true(trace_plat_is_irq_entry(0x14000) && trace_plat_is_irq_entry(0x140ff));
	assert_false(trace_plat_is_irq_entry(0x13fff) || trace_plat_is_irq_entry(0x14100));
}

bool trampoline_name(uintptr_t addr, uintptr_t *out_start, size_t *out_size)
{
	*out_start = 0x60000;
	*out_size = 64;
	return addr - 0x60000 < 64;
}

/* Functions of 16 bytes, but for the last 16 of each 256. */
bool symbols_lookup(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	if (addr % 256 >= 240)
		return false;
	sprintf(out_name, addr & 0x1000 ? "func_%lx.cold" : "func_%lx", addr & ~15ul);
	*out_start = addr & ~15ul;
	if (out_size)
		*out_size = 16;
	return true;
}

uintptr_t symbols_find(const char *name)
{
	if (strncmp(name, "func_", 5) != 0 || strchr(name, '.'))
		return 0;
	return strtoul(name + 5, NULL, 16) & 0x800 ? 0 : strtoul(name + 5, NULL, 16) ^ 0x1000;
}

size_t symbols_next_at(struct symbols_cursor *cursor, uintptr_t addr, char *out_name)
{
	(void)cursor;
	return (size_t)sprintf(out_name, "at %lx", addr);
}

int whynot_lookup(const char *name, char *buf, size_t len)
{
	return name[0] == 'k' ? snprintf(buf, len, "known") : name[0] == 'z' ? 0 : -ENOENT;
}

static void test_names(void **state)
{
	struct trace_symbol_cursor cursor = { 0 };
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t size;

	(void)state;
	assert_true(trace_plat_symbol(0x10005, name, &start, &size));
	assert_string_equal(name, "func_10000");
	assert_true(start == 0x10000 && size == 16);
	assert_true(trace_plat_symbol(0x60005, name, &start, &size));
	assert_string_equal(name, "ftrace_trampoline");
	assert_true(start == 0x60000 && size == 64);
	assert_false(trace_plat_symbol(0x100f5, name, &start, &size));
	assert_int_equal(trace_plat_symbol_find("func_10000"), 0x11000);
	assert_int_equal(trace_plat_symbol_next(&cursor, 0x55, name), 5);
	assert_int_equal(trace_plat_why_not("known", name, sizeof(name)), 0);
	assert_int_equal(trace_plat_why_not("zero", name, sizeof(name)), 0);
	assert_int_equal(trace_plat_why_not("other", name, sizeof(name)), -ENOENT);
}

static uintptr_t branch;

bool static_branch_overlaps(uintptr_t addr, size_t len)
{
	return branch - addr < len;
}

/* Functions that tracers may be in: those below 0x14000. */
uintptr_t ftrace_location(uintptr_t ip)
{
	return ip < 0x14000 ? ip : 0;
}

static void check_refusal(uintptr_t addr, const char *why)
{
	const char *got = trace_plat_probe_refusal(addr, 5);

	if (why ? !got || !strstr(got, why) : got != NULL)
		fail_msg("%#lx: %s", addr, got ? got : "not refused");
}

static void test_places_of_probes(void **state)
{
	(void)state;
	check_refusal(0x10010, NULL);
	check_refusal(0xffff, "user space");
	check_refusal(0x20000, "user space");
	check_refusal(0xffff900000000000, "not in the kernel's code");
	check_refusal(0x17fef, "notrace");
	check_refusal(0x18000, "itself");
	check_refusal(0x18fff, "itself");
	check_refusal(0x19000, "notrace");
	check_refusal(0x100f5, "between");
	check_refusal(0x14000, "notrace");
	/* A part that was moved away belongs to its function; one of which that is not known stands for itself. */
	check_refusal(0x15010, "notrace");
	check_refusal(0x13010, NULL);
	check_refusal(0x13810, NULL);
	branch = 0x10014;
	check_refusal(0x10010, "static branch");
	check_refusal(0x1000f, NULL);
	branch = 0;
}

/* ---- Places of watchpoints ---- */

bool cpu_local_overlaps(uintptr_t addr, size_t len)
{
	return addr == 0x100 && len == 8;
}

bool cpu_tables_overlap(uintptr_t addr, size_t len)
{
	return addr == 0x200 && len == 8;
}

bool trap_table_overlaps(uintptr_t addr, size_t len)
{
	return addr == 0x300 && len == 8;
}

const char *cpu_trap_stack_of(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi)
{
	*out_lo = addr & ~0xffful;
	*out_hi = *out_lo + 0x1000;
	return addr >> 12 == 4 ? "#DF" : addr >> 12 == 5 ? "NMI" : NULL;
}

bool upcall_stack_range(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi)
{
	*out_lo = addr & ~0xffful;
	*out_hi = *out_lo + 0x1000;
	return addr >> 12 == 6;
}

static void test_places_of_watchpoints(void **state)
{
	static const struct {
		uintptr_t addr;
		const char *why;
	} places[] = { { 0x100, "never end" },
		       { 0x200, "processor itself reads" },
		       { 0x300, "processor itself reads" },
		       { 0x4010, "stack" },
		       { 0x5010, "stack" },
		       { 0x6010, "stack" },
		       { EXEC_BASE, "code" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *why = trace_plat_watch_refusal(places[i].addr, 8);

		assert_true(why && strstr(why, places[i].why));
	}
	assert_null(trace_plat_watch_refusal(0x7000, 8));
}

static struct cpu_local cpu;

static void check_stack(uintptr_t addr, enum trace_stack_kind kind, uintptr_t base)
{
	struct trace_stack stack;

	assert_true(trace_plat_stack_find(addr, &stack));
	assert_int_equal(stack.kind, kind);
	assert_int_equal(stack.lo, addr & ~0xffful);
	assert_int_equal(stack.hi, (addr & ~0xffful) + 0x1000);
	assert_int_equal(stack.base, base);
}

static void test_stacks(void **state)
{
	struct trace_stack stack;

	(void)state;
	cpu.irq_stack_top = 0;
	check_stack(0x4010, TRACE_STACK_FAULT, 0x5000);
	check_stack(0x5010, TRACE_STACK_NMI, 0x6000);
	check_stack(0x6010, TRACE_STACK_THREAD, 0x7000);
	assert_false(trace_plat_stack_find(0x8010, &stack));
	cpu.irq_stack_top = 0x6800; /* an interrupt that uses the stack of its thread */
	check_stack(0x6010, TRACE_STACK_IRQ, 0x6800);
	check_stack(0x6800, TRACE_STACK_THREAD, 0x7000);
	check_stack(0x5010, TRACE_STACK_NMI, 0x6000);
	cpu.irq_stack_top = 0x7000;
	check_stack(0x6ff8, TRACE_STACK_IRQ, 0x7000);
	cpu.irq_stack_top = 0x7001; /* on another one */
	check_stack(0x6010, TRACE_STACK_THREAD, 0x7000);
}

/* ---- Registers ---- */

#define EACH_REGISTER(x)                                                                           \
	x(r15) x(r14) x(r13) x(r12) x(r11) x(r10) x(rbx) x(rflags) x(rsp) x(r9) x(r8) x(rdi)       \
		x(rsi) x(rdx) x(rcx) x(rax) x(rbp)
#define SET(reg)   frame.reg = ++value;
#define CHECK(reg) assert_int_equal(regs.reg, ++value);
#define BACK(reg)  assert_int_equal(frame.reg, ++value);

static void test_registers(void **state)
{
	struct ftrace_regs regs = { .rip = 0x999 };
	struct trap_frame frame = { 0 };
	uint64_t value = 100;

	(void)state;
	EACH_REGISTER(SET)
	value = 100;
	trace_arch_frame_load(&frame, &regs);
	EACH_REGISTER(CHECK)
	memset(&frame, 0, sizeof(frame));
	value = 100;
	trace_arch_frame_store(&frame, &regs);
	EACH_REGISTER(BACK)
	assert_int_equal(frame.rip, 0x999);
	assert_true(trace_arch_has_frames());
}

/* ---- Memory ---- */

static char small[1], pages[1], mapped[1];
static unsigned int last_order;
static size_t last_bytes;
static bool has_pages = true;
static const void *freed;

void *kzalloc(size_t bytes)
{
	last_bytes = bytes;
	return small;
}

void kfree(void *memory)
{
	freed = memory;
}

void *page_alloc_zeroed(unsigned int order)
{
	last_order = order;
	return has_pages ? pages : NULL;
}

void free_pages(void *memory, unsigned int order)
{
	freed = memory;
	last_order = order;
}

void *vmalloc(size_t bytes)
{
	last_bytes = bytes;
	return mapped;
}

void vfree(void *memory)
{
	freed = memory;
}

static void test_memory(void **state)
{
	(void)state;
	assert_ptr_equal(trace_plat_alloc(2048), small);
	assert_ptr_equal(trace_plat_alloc(2049), pages);
	assert_int_equal(last_order, 0);
	assert_ptr_equal(trace_plat_alloc(4096), pages);
	assert_int_equal(last_order, 0);
	assert_ptr_equal(trace_plat_alloc(4097), pages);
	assert_int_equal(last_order, 1);
	assert_ptr_equal(trace_plat_alloc(4 * 4096), pages);
	assert_int_equal(last_order, 2);
	assert_ptr_equal(trace_plat_alloc(4 * 4096 + 1), mapped);
	assert_int_equal(last_bytes, 4 * 4096 + 1);
	/* Without pages in a row those from anywhere do, unless it is but one. */
	has_pages = false;
	assert_ptr_equal(trace_plat_alloc(4097), mapped);
	assert_null(trace_plat_alloc(4096));
	has_pages = true;
	trace_plat_free(small, 2048);
	assert_ptr_equal(freed, small);
	trace_plat_free(pages, 4097);
	assert_true(freed == pages && last_order == 1);
	trace_plat_free((void *)VMAP_BASE, 4097);
	assert_ptr_equal(freed, VMAP_BASE);
	trace_plat_free((void *)(VMAP_END - 1), 1 << 20);
	assert_ptr_equal(freed, VMAP_END - 1);
}

bool arch_read_nofault(void *to, const void *from, size_t bytes)
{
	return from && memcpy(to, from, bytes);
}

static void test_reading(void **state)
{
	char text[4];
	size_t nr;

	(void)state;
	assert_true(trace_plat_read(text, "abc", 4));
	assert_string_equal(text, "abc");
	assert_false(trace_plat_read(text, NULL, 4));
	assert_non_null(trace_plat_btf(&nr));
	assert_int_equal(nr, 24 + 100 + 7);
	assert_string_equal(trace_plat_thread_type(&nr), "thread");
	assert_int_equal(nr, offsetof(struct thread, trace));
}

/* ---- CPUs ---- */

uint32_t smp_nr_cpus(void)
{
	return 6;
}

bool smp_cpu_online(uint32_t nr)
{
	return nr == 3;
}

static bool is_held; /* no CPU comes or goes */

void smp_hotplug_lock(void)
{
	assert_false(is_held);
	is_held = true;
}

void smp_hotplug_unlock(void)
{
	assert_true(is_held);
	is_held = false;
}

static uint32_t nr_syncs;

void smp_sync_cores(void)
{
	nr_syncs++;
}

int smp_call_function_single(uint32_t nr, void (*fn)(void *arg), void *arg)
{
	if (nr != 3)
		return -ENODEV;
	fn(arg);
	return 0;
}

void on_each_cpu(void (*fn)(void *arg), void *arg, bool wait)
{
	assert_true(is_held && wait);
	fn(arg);
}

static void add_one(void *arg)
{
	++*(int *)arg;
}

static void test_cpus(void **state)
{
	int nr = 0;

	(void)state;
	assert_int_equal(trace_plat_nr_cpus(), 6);
	assert_true(trace_plat_cpu_online(3) && !trace_plat_cpu_online(2));
	assert_int_equal(trace_plat_on_cpu(3, add_one, &nr), 0);
	assert_int_equal(trace_plat_on_cpu(2, add_one, &nr), -ENODEV);
	assert_int_equal(nr, 1);
	assert_int_equal(trace_arch_call_cpus(add_one, &nr), 0);
	assert_true(nr == 2 && !is_held);
	trace_arch_cpus_hold();
	assert_true(is_held);
	trace_arch_cpus_release();
	assert_false(is_held);
	trace_arch_sync_cores();
	assert_int_equal(nr_syncs, 1);
}

/* ---- Threads ---- */

static int nr_timeouts;
static bool is_interrupted;
static uint64_t slept, paused;
static const void *woken;

int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns)
{
	(void)queue;
	assert_true(interruptible && timeout_ns == 10000000);
	if (nr_timeouts-- > 0)
		return -ETIMEDOUT;
	return is_interrupted ? -EINTR : done(arg) ? 0 : -EIO;
}

void waitq_wake_all_waiters(struct waitq *queue)
{
	woken = queue;
}

int thread_sleep_ns(uint64_t ns)
{
	slept = ns;
	return -EINTR;
}

void thread_pause_ns(uint64_t ns)
{
	paused = ns;
}

static uint32_t nr_grace, nr_preempt;

void synchronize_preempt(void)
{
	nr_grace++;
}

void preempt_schedule_notrace(void)
{
	nr_preempt++;
}

bool thread_name(int32_t pid, bool may_wait, char *out_name)
{
	sprintf(out_name, "pid %d", pid);
	return may_wait;
}

int32_t thread_tgid(int32_t pid, bool may_wait)
{
	return may_wait ? pid + 1 : 0;
}

_Atomic uint64_t cpu_active_mask = 1 << 3;

static struct thread threads[2] = { { .pid = 4, .name = "four" }, { .pid = 5, .name = "five" } };

void thread_each(void (*fn)(struct thread *thread, void *arg), void *arg)
{
	fn(&threads[0], arg);
	fn(&threads[1], arg);
}

static const void *looked;

void thread_each_stack(const struct trace_plat_look *look)
{
	looked = look;
}

static void see_thread(int32_t pid, struct trace_thread *thread, void *arg)
{
	assert_ptr_equal(thread, &threads[pid - 4].trace);
	*(int *)arg += pid;
}

static bool is_done(void *arg)
{
	return *(int *)arg;
}

static void test_threads(void **state)
{
	static struct trace_plat_waitq queue;
	static struct waiter waiter;
	char comm[TRACE_COMM_LEN];
	int nr = 0, done = 1;

	(void)state;
	nr_timeouts = 3;
	assert_int_equal(trace_plat_wait(&queue, is_done, &done), 0);
	assert_int_equal(nr_timeouts, -1);
	is_interrupted = true;
	assert_int_equal(trace_plat_wait(&queue, is_done, &done), -EINTR);
	((struct waitq *)(void *)&queue)->first = &waiter;
	trace_plat_wake(&queue);
	assert_ptr_equal(woken, &queue);
	assert_int_equal(trace_plat_pause(5, true), -EINTR);
	assert_int_equal(trace_plat_pause(6, false), 0);
	assert_true(slept == 5 && paused == 6);
	trace_plat_synchronize_preempt();
	trace_plat_preempt_schedule();
	assert_true(nr_grace == 1 && nr_preempt == 1);
	assert_true(trace_plat_thread_comm(7, true, comm) && !strcmp(comm, "pid 7"));
	assert_false(trace_plat_thread_comm(7, false, comm));
	cpu.current = &threads[1];
	trace_plat_current_comm(comm);
	assert_string_equal(comm, "five");
	trace_plat_each_thread(see_thread, &nr);
	assert_int_equal(nr, 9);
	trace_plat_each_stack((const void *)&nr);
	assert_ptr_equal(looked, &nr);
}

/* ---- Later ---- */

static struct delayed_work *queued;
static uint64_t queued_ns;
static uint32_t nr_inits, nr_queued, nr_runs;

void delayed_work_init(struct delayed_work *work, void (*fn)(struct work *work))
{
	nr_inits++;
	work->work.fn = fn;
}

void queue_delayed_work(struct delayed_work *work, uint64_t delay_ns)
{
	queued = work;
	queued_ns = delay_ns;
	nr_queued++;
}

static struct trace_plat_later later;

static void run_and_ask_again(void)
{
	if (!nr_runs++)
		trace_plat_call_later(&later, run_and_ask_again, 30);
}

/* One request at a time: a second one does not put the first off; one in the call itself counts. */
static void test_later(void **state)
{
	(void)state;
	trace_plat_call_later(&later, run_and_ask_again, 10);
	assert_true(nr_inits == 1 && nr_queued == 1 && queued_ns == 10);
	trace_plat_call_later(&later, run_and_ask_again, 20);
	assert_true(nr_queued == 1 && queued_ns == 10);
	queued->work.fn(&queued->work);
	assert_true(nr_runs == 1 && nr_inits == 1 && nr_queued == 2 && queued_ns == 30);
	queued->work.fn(&queued->work);
	assert_true(nr_runs == 2 && nr_queued == 2);
	trace_plat_call_later(&later, run_and_ask_again, 40);
	assert_true(nr_queued == 3 && queued_ns == 40 && nr_inits == 1);
}

/* ---- Messages ---- */

static char printed[400];
static enum log_level level;

void printk(enum log_level its, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(printed, sizeof(printed), fmt, args);
	va_end(args);
	level = its;
	nr_printed++;
}

void printk_from_probe(const char *line, size_t len)
{
	snprintf(printed, sizeof(printed), "%.*s", (int)len, line);
}

int trace_vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	return vsnprintf(buf, size, fmt, args);
}

void panic(const char *fmt, ...)
{
	(void)fmt;
	abort();
}

size_t strlcpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
	return strlen(from);
}

static void test_messages(void **state)
{
	char text[400];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	trace_plat_log("%d %s", 7, "things");
	assert_string_equal(printed, "7 things\n");
	assert_int_equal(level, LOG_INFO);
	trace_plat_alert("%d", 8);
	assert_string_equal(printed, "8\n");
	assert_int_equal(level, LOG_ERR);
	trace_plat_log("%s", text);
	assert_int_equal(strlen(printed), 256);
	trace_plat_log_event("line\nmore", 5);
	assert_string_equal(printed, "line\n");
	is_killed = false;
	trace_plat_bug("%s", "a bug");
	assert_string_equal(printed, "a bug\n");
	assert_true(is_killed && level == LOG_ERR);
}

struct cpu_features cpu_features;

static int start(void **state)
{
	(void)state;
	syscall(SYS_arch_prctl, ARCH_SET_GS, &cpu);
	cpu.current = &threads[0];
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_changes_under_its_lock),
		cmocka_unit_test(test_static_branches),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_places_of_probes),
		cmocka_unit_test(test_places_of_watchpoints),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_messages),
	};

	fast_init();
	return cmocka_run_group_tests(tests, start, NULL);
}

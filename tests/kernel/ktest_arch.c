/* Page tables and their rights, executable memory, accesses that may fault, backtraces. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/nofault.h>
#include <arch/paging.h>
#include <arch/sections.h>
#include <arch/smp.h>
#include <arch/unwind.h>
#include <kernel/ktest.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/ftrace.h>

#define TEST_VIRT (VMAP_END - (64 << 20)) /* far from what vmalloc() hands out */

static uint8_t some_data = 0xc3;
static const uint8_t some_constant = 0x55;

/* True when `addr` can be read and not written. */
static bool is_read_only(const void *addr)
{
	uint8_t byte;

	return arch_read_nofault(&byte, addr, 1) && !arch_write_nofault((void *)addr, &byte, 1);
}

static void test_rights(void)
{
	const void *text = (const void *)test_rights;

	KTEST_CHECK(is_read_only(text));
	KTEST_CHECK(is_read_only(&some_constant));
	KTEST_CHECK(is_read_only((const void *)EXEC_BASE));
	KTEST_CHECK(is_read_only(arch_phys_to_virt(arch_virt_to_phys(text))));
	KTEST_CHECK(is_read_only(arch_phys_to_virt(arch_virt_to_phys(&some_constant))));
	KTEST_CHECK(is_read_only(arch_phys_to_virt(arch_virt_to_phys(exec_pool_start))));
	KTEST_CHECK(!is_read_only(&some_data));
	KTEST_CHECK(!is_read_only(arch_phys_to_virt(arch_virt_to_phys(&some_data))));
	KTEST_CHECK(arch_check_wx() == 0);
}

static void test_guard_pages(void)
{
	uint8_t byte;

	KTEST_CHECK(!arch_read_nofault(&byte, boot_stack_guard, 1));
	KTEST_CHECK(!arch_read_nofault(&byte, boot_stack_guard + 4095, 1));
	KTEST_CHECK(arch_read_nofault(&byte, boot_stack, 1));
	KTEST_CHECK(!arch_read_nofault(&byte, (const void *)CPU_STACK_BASE, 1));
	KTEST_CHECK(!arch_read_nofault(&byte, NULL, 1));
	KTEST_CHECK(!arch_read_nofault(&byte, (const void *)0x100000, 1)); /* boot/ is gone */
}

/* The walk finds a second, writable mapping of text: it is not right just because it is silent. */
static void test_wx_check_finds(void)
{
	uint64_t text = arch_virt_to_phys((const void *)text_start);

	if (!KTEST_NEED(arch_map(TEST_VIRT, text, PAGE_WRITE) == 0))
		return;
	KTEST_CHECK(arch_check_wx() == 1);
	arch_unmap(TEST_VIRT);
	KTEST_CHECK(arch_check_wx() == 0);
}

static void test_map(void)
{
	void *page = page_alloc(0);
	uint64_t phys;

	if (!KTEST_NEED(page != NULL))
		return;
	KTEST_CHECK(arch_map(TEST_VIRT, arch_virt_to_phys(page), PAGE_WRITE | PAGE_EXEC) ==
		    -EINVAL);
	KTEST_CHECK(arch_map(0x400000, arch_virt_to_phys(page), PAGE_WRITE) == -EINVAL);
	KTEST_CHECK(!arch_lookup(TEST_VIRT, &phys));

	KTEST_CHECK(arch_map(TEST_VIRT, arch_virt_to_phys(page), PAGE_WRITE) == 0);
	KTEST_CHECK(arch_map(TEST_VIRT, arch_virt_to_phys(page), 0) == -EEXIST);
	KTEST_CHECK(arch_lookup(TEST_VIRT + 5, &phys) && phys == arch_virt_to_phys(page) + 5);
	*(volatile uint32_t *)TEST_VIRT = 0x12345678;
	KTEST_CHECK(*(volatile uint32_t *)page == 0x12345678);

	arch_unmap(TEST_VIRT);
	arch_flush_tlb_all_cpus(TEST_VIRT, 1);
	KTEST_CHECK(!arch_lookup(TEST_VIRT, &phys));
	KTEST_CHECK(!arch_read_nofault(&phys, (const void *)TEST_VIRT, 1));
	page_free(page, 0);
}

static void test_alias(void)
{
	uintptr_t code = arch_exec_alloc(1);
	uint8_t ret = 0xc3, before = 0;
	bool could_write, could_read_closed;
	uint64_t irqs, root;

	if (!KTEST_NEED(code != 0))
		return;
	KTEST_CHECK(!arch_read_nofault(&before, arch_alias_of(code), 1));
	irqs = arch_irq_save();
	root = arch_alias_enter();
	could_read_closed = arch_read_nofault(&before, arch_alias_of(code), 1);
	arch_alias_open();
	arch_read_nofault(&before, arch_alias_of(code), 1);
	could_write = arch_write_nofault(arch_alias_of(code), &ret, 1);
	arch_alias_leave(root);
	arch_irq_restore(irqs);
	KTEST_CHECK(!could_read_closed);
	KTEST_CHECK(could_write);
	KTEST_CHECK(*(volatile uint8_t *)code == ret);
	((void (*)(void))code)();

	arch_write_nofault((void *)code, &before, 1);
	KTEST_CHECK(*(volatile uint8_t *)code == ret); /* only through the alias */
	irqs = arch_irq_save();
	root = arch_alias_enter();
	arch_write_nofault(arch_alias_of(code), &before, 1);
	arch_alias_leave(root);
	arch_alias_close();
	arch_irq_restore(irqs);
	KTEST_CHECK(*(volatile uint8_t *)code == before);
	arch_exec_free(code, 1);
}

static void test_exec_alloc(void)
{
	static const size_t sizes[] = { 1, 64, 65, 128, 4096, 5000 };
	uintptr_t got[ARRAY_SIZE(sizes)];
	size_t before = arch_exec_used();

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		got[i] = arch_exec_alloc(sizes[i]);
		KTEST_CHECK(got[i] != 0 && got[i] % EXEC_UNIT == 0);
		KTEST_CHECK(arch_exec_contains(got[i]) &&
			    arch_exec_contains(got[i] + sizes[i] - 1));
		for (size_t k = 0; k < i; k++)
			KTEST_CHECK(got[i] + sizes[i] <= got[k] || got[k] + sizes[k] <= got[i]);
	}
	KTEST_CHECK(arch_exec_used() - before == (1 + 1 + 2 + 2 + 64 + 79) * EXEC_UNIT);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		arch_exec_free(got[i], sizes[i]);
	KTEST_CHECK(arch_exec_used() == before);
	KTEST_CHECK(arch_exec_alloc(0) == 0);
	KTEST_CHECK(arch_exec_alloc(EXEC_BYTES + 1) == 0);
	KTEST_CHECK(arch_exec_alloc(SIZE_MAX - 10) == 0);
}

/* ---- Backtraces ---- */

#define MAX_FRAMES 16

static struct {
	uintptr_t addr[MAX_FRAMES];
	size_t nr;
} trace;

/* True when frame `index` lies in `fn`, as the kernel's symbols have it. */
static bool frame_in(size_t index, void (*fn)(void))
{
	char name[KSYM_NAME_LEN];
	uintptr_t start;

	return index < trace.nr && symbols_lookup(trace.addr[index], name, &start, NULL) &&
	       start == (uintptr_t)fn;
}

static TRACE_NOINLINE void backtrace_leaf(void)
{
	trace.nr = arch_backtrace_here(trace.addr, MAX_FRAMES);
	__asm__ volatile("" : : : "memory"); /* no tail calls here and below */
}

static TRACE_NOINLINE void backtrace_middle(void)
{
	backtrace_leaf();
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOINLINE void backtrace_outer(void)
{
	backtrace_middle();
	__asm__ volatile("" : : : "memory");
}

static void test_backtrace(void)
{
	backtrace_outer();
	KTEST_CHECK(trace.nr >= 5 && trace.nr < MAX_FRAMES);
	KTEST_CHECK(frame_in(0, backtrace_leaf));
	KTEST_CHECK(frame_in(1, backtrace_middle));
	KTEST_CHECK(frame_in(2, backtrace_outer));
	KTEST_CHECK(frame_in(3, test_backtrace));
	for (size_t i = 0; i < trace.nr; i++)
		KTEST_CHECK(arch_is_text(trace.addr[i]));
}

static void take_backtrace(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	trace.nr = arch_backtrace_here(trace.addr, MAX_FRAMES);
}

static TRACE_NOINLINE void backtrace_traced(void)
{
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOINLINE void backtrace_parent(void)
{
	backtrace_traced();
	__asm__ volatile("" : : : "memory");
}

/* Through the trampoline of a single ops: the traced function, and its caller, which has no frame
 * between them. */
static void test_backtrace_trampoline(void)
{
	static struct ftrace_ops ops = { .func = take_backtrace };
	size_t at = 0;

	KTEST_CHECK(ftrace_set_filter_ip(&ops, (uintptr_t)backtrace_traced, false, true) == 0);
	if (!KTEST_NEED(register_ftrace_function(&ops) == 0))
		return;
	trace.nr = 0;
	backtrace_parent();
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);

	while (at < trace.nr && !arch_exec_contains(trace.addr[at]))
		at++;
	KTEST_CHECK(frame_in(at + 1, backtrace_traced));
	KTEST_CHECK(frame_in(at + 2, backtrace_parent));
	KTEST_CHECK(frame_in(at + 3, test_backtrace_trampoline));
}

/* Frame pointers from anywhere: the walk ends, and touches nothing that is not a stack. */
static void test_backtrace_garbage(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), seed = 1;
	uintptr_t own_stack[100]; /* linked to itself */

	for (size_t i = 0; i < ARRAY_SIZE(own_stack); i++)
		own_stack[i] = (uintptr_t)own_stack + i * 37 % sizeof(own_stack);
	for (uint32_t round = 0; round < 20000; round++) {
		const uintptr_t places[] = {
			here - 8192 + seed % 16384,
			(uintptr_t)own_stack + seed % sizeof(own_stack),
			(uintptr_t)boot_stack - 4096 + seed % 24576,
			CPU_STACK_BASE + seed % 0x20000,
			seed,
		};
		size_t nr;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		nr = arch_backtrace(seed >> 5, places[round % ARRAY_SIZE(places)], trace.addr,
				    MAX_FRAMES);
		KTEST_CHECK(nr <= MAX_FRAMES);
	}
}

/* ---- Backtraces from any instruction: NMIs into a chain of calls ---- */

#define NR_SAMPLES  1500
#define MIN_SAMPLES 20
#define SAMPLE_NS                                                                                  \
	(600 * NSEC_PER_MSEC) /* at most this long: an NMI may take a while to emulate             \
			       */

static void chain_loop(void);
static TRACE_NOINLINE int chain_leaf(int x);
static TRACE_NOINLINE int chain_middle(int x);
static TRACE_NOINLINE int chain_outer(int x);

static struct {
	_Atomic bool stop;
	volatile int sink;
	uint32_t nr_samples; /* that lay in the chain */
	uint32_t nr_bad;
	uintptr_t bad[MAX_FRAMES];
} chain;

static TRACE_NOINLINE int chain_leaf(int x)
{
	return x & 1 ? chain.sink + x : x;
}

static TRACE_NOINLINE int chain_middle(int x)
{
	if (x % 5 == 0)
		return x; /* before the frame, with a compiler that likes it so */
	return chain_leaf(x) + chain_leaf(x + 1);
}

static TRACE_NOINLINE int chain_outer(int x)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += chain_middle(x + i);
	return sum;
}

static TRACE_NOINLINE void chain_loop(void)
{
	while (!atomic_load(&chain.stop)) {
		for (int i = 0; i < 100; i++)
			chain.sink = chain_outer(i);
		cond_resched();
	}
}

static int chain_thread(void *arg)
{
	(void)arg;
	chain_loop();
	return 0;
}

/* On the CPU that runs the chain, NMI: from the first frame in the chain, all must follow. */
static void sample_chain(const struct trap_frame *regs, void *arg)
{
	void (*const order[])(void) = { (void (*)(void))chain_leaf, (void (*)(void))chain_middle,
					(void (*)(void))chain_outer, chain_loop };
	size_t at, next;

	(void)arg;
	trace.nr = arch_backtrace_trap(regs, trace.addr, MAX_FRAMES);
	for (at = 0; at < trace.nr; at++) {
		for (next = 0; next < ARRAY_SIZE(order) && !frame_in(at, order[next]);)
			next++;
		if (next < ARRAY_SIZE(order))
			break;
	}
	if (at == trace.nr)
		return;
	chain.nr_samples++;
	while (next < ARRAY_SIZE(order) && frame_in(at, order[next])) {
		at++;
		next++;
	}
	if (next == ARRAY_SIZE(order))
		return;
	if (chain.nr_bad++ == 0)
		memcpy(chain.bad, trace.addr, sizeof(chain.bad));
}

static void ignore_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
}

static void sample_chains(void)
{
	struct thread *runner;
	uint64_t others = smp_online_mask() & ~1ull, until_ns;

	chain.nr_samples = chain.nr_bad = 0;
	atomic_store(&chain.stop, false);
	runner = thread_create_on(others & -others, "chain", chain_thread, NULL, 0);
	if (!KTEST_NEED(runner != NULL))
		return;
	until_ns = ktime_ns() + SAMPLE_NS;
	for (uint32_t i = 0;
	     i < NR_SAMPLES && (ktime_ns() < until_ns || chain.nr_samples < MIN_SAMPLES); i++) {
		smp_nmi_call_others(sample_chain, NULL);
		if (i % 64 == 0)
			thread_sleep_ns(NSEC_PER_MSEC / 10);
	}
	atomic_store(&chain.stop, true);
	thread_join_wait(runner);
	KTEST_CHECK(chain.nr_samples >= MIN_SAMPLES);
	KTEST_CHECK(chain.nr_bad == 0);
	for (size_t i = 0; chain.nr_bad && i < 6; i++)
		pr_err("frame %zu: %pS\n", i, (void *)chain.bad[i]);
}

/* With call sites off, and with a tracer on them: then NMIs also land in its trampoline. */
static void test_backtrace_anywhere(void)
{
	static struct ftrace_ops ops = { .func = ignore_call };

	if (smp_nr_online() < 2 || thread_set_affinity(current_thread(), 1) != 0)
		return;
	sample_chains();
	KTEST_CHECK(ftrace_set_filter(&ops, "chain_*", 7, true) == 0);
	if (KTEST_NEED(register_ftrace_function(&ops) == 0)) {
		sample_chains();
		unregister_ftrace_function(&ops);
	}
	ftrace_free_filter(&ops);
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
}

const struct ktest ktest_arch[] = {
	{ "arch_rights", test_rights },
	{ "arch_guard_pages", test_guard_pages },
	{ "arch_wx_walk_reports_a_breach", test_wx_check_finds },
	{ "arch_map", test_map },
	{ "arch_alias", test_alias },
	{ "arch_exec_alloc", test_exec_alloc },
	{ "arch_backtrace", test_backtrace },
	{ "arch_backtrace_trampoline", test_backtrace_trampoline },
	{ "arch_backtrace_garbage", test_backtrace_garbage },
	{ "arch_backtrace_anywhere", test_backtrace_anywhere },
	{ 0 },
};

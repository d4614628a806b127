/*
 * NMIs that come while an NMI is handled: each handler calls a traced function whose site is being
 * patched, so it hits int3s, whose IRET lets the next NMI in. One CPU sends, one is hit, one
 * patches.
 *
 * Also NMIs at single instructions of the entry code, made by hand on this CPU: INT 2 does what an
 * NMI does, but for holding back the next one.
 */
#include <stdatomic.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/nofault.h>
#include <arch/percpu.h>
#include <arch/smp.h>
#include <arch/trap.h>
#include "ktest.h"
#include <kernel/preempt.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/ftrace.h>

#define VICTIM 1u
#define SENDER 2u
#define ROUNDS 15u /* `make soak` runs all tests several times */

/* The frame that the CPU pushes. */
struct nmi_frame {
	uint64_t rip, cs, rflags, rsp, ss;
};

static struct {
	_Atomic bool stop;
	_Atomic uint64_t nr_sent;
	_Atomic uint64_t nr_handled; /* runs of the handler on the victim */
	_Atomic uint64_t nr_traced;  /* calls that the tracer saw */
	_Atomic uint32_t nr_inside;  /* handlers running now: more than one is wrong */
	_Atomic uint32_t nr_wrong;
	volatile uint64_t work; /* done by the victim's thread */
} storm;

static TRACE_NOINLINE void storm_target(void)
{
	__asm__ volatile("" : : : "memory");
}

/* NMI, on the victim only. */
static void storm_nmi(struct trap_frame *regs)
{
	(void)regs;
	if (cpu_local_read(id) != VICTIM || atomic_fetch_add(&storm.nr_inside, 1) != 0)
		atomic_fetch_add(&storm.nr_wrong, 1);
	for (int i = 0; i < 20; i++)
		storm_target();
	atomic_fetch_add(&storm.nr_handled, 1);
	atomic_fetch_sub(&storm.nr_inside, 1);
}

static TRACE_NOTRACE void storm_callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					 struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	atomic_fetch_add_explicit(&storm.nr_traced, 1, memory_order_relaxed);
}

static int victim_thread(void *arg)
{
	uint64_t sum = 0;

	(void)arg;
	for (uint64_t i = 0; !atomic_load(&storm.stop); i++) {
		storm_target();
		sum += i;
		if (sum != i * (i + 1) / 2) /* registers survive */
			atomic_fetch_add(&storm.nr_wrong, 1);
		storm.work = i;
		cond_resched();
	}
	return 0;
}

static int sender_thread(void *arg)
{
	uint32_t apic_id = cpu_local_of(VICTIM)->apic_id;

	(void)arg;
	while (!atomic_load(&storm.stop)) {
		uint64_t handled = atomic_load(&storm.nr_handled);

		apic_send_nmi(apic_id);
		atomic_fetch_add(&storm.nr_sent, 1);
		/* Often the next comes while this one is handled, but the victim also gets on. */
		for (int i = 0; i < 2000 && atomic_load(&storm.nr_handled) == handled; i++)
			arch_cpu_relax();
		cond_resched();
	}
	return 0;
}

static void switch_on_and_off(void)
{
	static struct ftrace_ops ops = { .func = storm_callback };

	KTEST_CHECK(ftrace_set_filter_ip(&ops, (uintptr_t)storm_target, false, true) == 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (!KTEST_NEED(register_ftrace_function(&ops) == 0))
			break;
		unregister_ftrace_function(&ops);
	}
	ftrace_free_filter(&ops);
}

static void test_storm(void)
{
	struct thread *victim, *sender;
	trap_fn before;

	if (smp_nr_online() < 3 || thread_set_affinity(current_thread(), 1) != 0)
		return;
	atomic_store(&storm.stop, false);
	atomic_store(&storm.nr_sent, 0);
	atomic_store(&storm.nr_handled, 0);
	atomic_store(&storm.nr_traced, 0);
	before = arch_nmi_register(storm_nmi);
	victim = thread_create_on(1ull << VICTIM, "victim", victim_thread, NULL, 0);
	sender = thread_create_on(1ull << SENDER, "sender", sender_thread, NULL, 0);
	if (KTEST_NEED(victim && sender))
		switch_on_and_off();
	atomic_store(&storm.stop, true);
	if (sender)
		thread_join_wait(sender);
	if (victim)
		thread_join_wait(victim);
	thread_sleep_ns(20 * NSEC_PER_MSEC); /* the last NMI is not left to the usual handler */
	arch_nmi_register(before);
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);

	KTEST_CHECK(atomic_load(&storm.nr_handled) > ROUNDS);
	KTEST_CHECK(atomic_load(&storm.nr_handled) <= atomic_load(&storm.nr_sent));
	KTEST_CHECK(atomic_load(&storm.nr_traced) > 0);
	KTEST_CHECK(atomic_load(&storm.nr_wrong) == 0 && atomic_load(&storm.nr_inside) == 0);
	KTEST_CHECK(storm.work > 0);
}

/* ---- At single instructions ---- */

extern const uint8_t nmi_entry[], nmi_entry_end[];

/*
 * As if the first NMI, whose frame is at `frame` and then returns to here, were at `rip` in its
 * entry code, and the second came: the CPU pushes below `ist`.
 */
void nmi_second_at(uintptr_t rip, struct nmi_frame *frame, uintptr_t ist);
__asm__(".pushsection .text\n"
	".type nmi_second_at, @function\n"
	"nmi_second_at:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	pushfq\n	pop %rcx\n	mov %cs, %r8d\n	mov %ss, %r9d\n"
	"	movq $1f, (%rsi)\n	mov %r8, 8(%rsi)\n	mov %rcx, 16(%rsi)\n"
	"	mov %rsp, 24(%rsi)\n	mov %r9, 32(%rsi)\n"
	"	lea -40(%rdx), %rsp\n"
	"	mov %rdi, (%rsp)\n	mov %r8, 8(%rsp)\n	mov %rcx, 16(%rsp)\n"
	"	mov %rsi, 24(%rsp)\n	mov %r9, 32(%rsp)\n"
	"	jmp nmi_entry\n"
	"1:	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	"
	"pop %rbp\n	ret\n"
	".size nmi_second_at, .-nmi_second_at\n"
	".popsection\n");

#define NMI_ENTRY_BYTES 256ul /* nmi_entry.asm: of a stack, at its top; then comes the frame */

static struct {
	uint32_t cpu;
	uint32_t nr_runs;
	uint32_t nr_again; /* INT 2 from within the handler, so many times */
	uint32_t nr_wrong;
	bool does_fault;
	struct nmi_frame *frame;
} by_hand;

static void int_2(void)
{
	__asm__ volatile("int $2" : : : "memory");
}

static void by_hand_nmi(struct trap_frame *regs)
{
	uint8_t byte;

	if (cpu_local_read(id) != by_hand.cpu)
		return;
	by_hand.nr_runs++;
	by_hand.frame = (struct nmi_frame *)(void *)&regs->rip;
	if (regs->vector != TRAP_NMI || !in_nmi())
		by_hand.nr_wrong++;
	if (by_hand.does_fault && arch_read_nofault(&byte, (const void *)8, 1))
		by_hand.nr_wrong++;
	if (by_hand.nr_again) {
		by_hand.nr_again--;
		int_2(); /* nested: noted, and run when this one is done */
		int_2();
	}
}

/* The instruction at the end of the first part: its IRET. */
static uintptr_t iret_of_nmi(void)
{
	const uint8_t *at = nmi_entry;

	while (at + 1 < nmi_entry_end && !(at[0] == 0x48 && at[1] == 0xcf))
		at++;
	return (uintptr_t)at;
}

/* The second NMI comes at `rip`; returns how often the handler runs because of it. */
static uint32_t runs_of_second_at(uintptr_t rip)
{
	uintptr_t ist;

	by_hand.nr_runs = 0;
	ist = (uintptr_t)by_hand.frame + sizeof(struct nmi_frame) + NMI_ENTRY_BYTES - 16;
	nmi_second_at(rip, by_hand.frame, ist);
	return by_hand.nr_runs;
}

/* The first one has looked whether there is another, and is about to return. */
static void check_window(void)
{
	uintptr_t iret = iret_of_nmi();

	by_hand.nr_runs = 0;
	int_2(); /* where are the frames? */
	KTEST_CHECK(by_hand.nr_runs == 1);
	KTEST_CHECK(runs_of_second_at(iret) == 1);
	/* After a note that was taken there is none left. */
	by_hand.nr_runs = 0;
	int_2();
	KTEST_CHECK(by_hand.nr_runs == 1);
}

/* Two that come while one is handled are one more run. */
static void check_notes(void)
{
	by_hand.nr_runs = 0;
	by_hand.nr_again = 1;
	int_2();
	KTEST_CHECK(by_hand.nr_runs == 2);
	by_hand.nr_runs = 0;
	by_hand.nr_again = 3;
	int_2();
	KTEST_CHECK(by_hand.nr_runs == 4);
}

/* Between a page fault and its handler's first look at cr2 an NMI may come, and fault itself. */
static void check_cr2(void)
{
	by_hand.does_fault = true;
	write_cr2(0x1234000);
	int_2();
	KTEST_CHECK(read_cr2() == 0x1234000);
	by_hand.does_fault = false;
}

static void test_by_hand(void)
{
	uint64_t flags = arch_irq_save();
	uint32_t count = preempt_count();
	trap_fn before;

	by_hand.cpu = cpu_local_read(id);
	by_hand.nr_wrong = 0;
	before = arch_nmi_register(by_hand_nmi);
	check_window();
	check_notes();
	check_cr2();
	arch_nmi_register(before);
	KTEST_CHECK(by_hand.nr_wrong == 0 && preempt_count() == count);
	arch_irq_restore(flags);
}

const struct ktest ktest_nmi[] = {
	{ "nmi_storm", test_storm },
	{ "nmi_by_hand", test_by_hand },
	{ 0 },
};

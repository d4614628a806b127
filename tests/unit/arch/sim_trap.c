/*
 * The way of each trap: gates, the order of consumers, the state that interrupts and NMIs leave as
 * they found it.
 *
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <arch/cpu.h>
#include "sim.h"

#include "../../../arch/x86_64/trap.c" /* its table of gates */

#define VECTOR 0x55u

/* The calls that a trap led to, in order: names, separated by blanks. */
static char told[256];
static bool is_listening, is_answered, is_fixup;
static struct trap_frame frame;
static uint64_t trap_rip;    /* where the trap comes */
static void (*inside)(void); /* runs in the handler */

const char trap_stubs[TRAP_NR_VECTORS * TRAP_STUB_SIZE];
const char trap_breakpoint[1], nmi_entry[1], trap_entry_end[1], nmi_entry_end[1];
const char trap_debug[16], trap_debug_end[1], trap_double_fault[1], trap_machine_check[1];

static void tell(const char *word)
{
	if (*told)
		strcat(told, " ");
	strcat(told, word);
}

bool sim_tracepoint_wanted(const char *name)
{
	return is_listening && name;
}

void sim_tracepoint_call(const char *name, unsigned long parent)
{
	assert_int_equal(parent, 0);
	tell(name);
}

bool trace_breakpoint_dispatch(uintptr_t *rip, uintptr_t *rsp, void *regs)
{
	assert_true(rip == &frame.rip && rsp == &frame.rsp && regs == &frame);
	tell("breakpoint");
	return is_answered;
}

#define IN_COPY	 0x60000123ul /* of a probed instruction */
#define ORIGINAL 0x1000ul

uintptr_t trace_probe_original(uintptr_t addr)
{
	return addr == IN_COPY ? ORIGINAL : addr;
}

bool fixup_apply(struct trap_frame *regs)
{
	assert_ptr_equal(regs, &frame);
	assert_true(regs->rip == trap_rip || (trap_rip == IN_COPY && regs->rip == ORIGINAL));
	tell("fixup");
	return is_fixup;
}

void trap_fatal(struct trap_frame *regs)
{
	assert_ptr_equal(regs, &frame);
	panic("fatal");
}

void upcall_irq_exit(void)
{
	assert_int_equal(cpu_local_read(preempt_count) & IN_IRQ_MASK, 0);
	tell("exit");
}

/* ---- Gates ---- */

static uintptr_t target_of(const struct gate *gate)
{
	return gate->offset_low | (uintptr_t)gate->offset_mid << 16 |
	       (uintptr_t)gate->offset_high << 32;
}

static void test_gates(void **state)
{
	(void)state;
	trap_init();
	for (unsigned int v = 0; v < TRAP_NR_VECTORS; v++) {
		const char *entry = v == TRAP_NMI	      ? nmi_entry
				    : v == TRAP_DEBUG	      ? trap_debug
				    : v == TRAP_BREAKPOINT    ? trap_breakpoint
				    : v == TRAP_DOUBLE_FAULT  ? trap_double_fault
				    : v == TRAP_MACHINE_CHECK ? trap_machine_check
							      : trap_stubs + v * 16ul;
		int ist = v == 1    ? IST_DEBUG
			  : v == 2  ? IST_NMI
			  : v == 8  ? IST_DOUBLE_FAULT
			  : v == 18 ? IST_MACHINE_CHECK
				    : 0;

		assert_int_equal(target_of(&traps.idt[v]), (uintptr_t)entry);
		assert_int_equal(traps.idt[v].ist, ist);
		assert_int_equal(traps.idt[v].type, v == 3 ? 0xee : 0x8e); /* user mode has int3 */
		assert_int_equal(traps.idt[v].selector, KERNEL_CS);
		assert_int_equal(traps.idt[v].reserved, 0);
	}
	set_gate(7, (const char *)0xfedcba9876543210, IST_NMI);
	assert_int_equal(target_of(&traps.idt[7]), 0xfedcba9876543210);
	set_gate(7, trap_stubs + 7 * TRAP_STUB_SIZE, IST_NONE);
}

/* ---- Exceptions ---- */

static void trap(uint64_t vector)
{
	told[0] = '\0';
	frame = (struct trap_frame){ .vector = vector, .rip = trap_rip, .rflags = RFLAGS_IF };
	trap_dispatch(&frame);
}

static void exceptions(void)
{
	is_answered = true;
	is_fixup = false;
	trap(TRAP_BREAKPOINT);
	assert_string_equal(told, "breakpoint");
	is_answered = false;
	is_fixup = true;
	trap(TRAP_BREAKPOINT);
	assert_string_equal(told, "breakpoint fixup");
	trap(TRAP_PAGE_FAULT);
	assert_string_equal(told, "fixup");
	trap_rip = IN_COPY; /* reported, and fixed up, as if the instruction had been where it is */
	trap(TRAP_PAGE_FAULT);
	assert_string_equal(told, "fixup");
	assert_int_equal(frame.rip, ORIGINAL);
	trap_rip = 0;
	trap(TRAP_NR_EXCEPTIONS - 1);
	assert_string_equal(told, "fixup");
	assert_int_equal(cpu_local_read(preempt_count), 0);
}

static void fatal(void)
{
	is_answered = is_fixup = false;
	trap(TRAP_PROTECTION);
}

static void test_exceptions(void **state)
{
	(void)state;
	sim_alone(exceptions);
	assert_non_null(strstr(sim_panics(fatal), "fatal"));
	assert_string_equal(told, "fixup");
}

/* ---- Interrupts ---- */

static void handler(struct trap_frame *regs)
{
	uint32_t count = cpu_local_read(preempt_count);

	tell("handler");
	assert_int_equal(count & TRACE_HARDIRQ_MASK, HARDIRQ_ONE * (1 + (regs != &frame)));
	assert_int_equal(cpu_local_read(irq_stack_top), (uintptr_t)(&frame + 1));
	if (inside) {
		void (*fn)(void) = inside;

		inside = NULL;
		fn();
		tell("back");
	}
}

/* Another interrupt in the handler: the stack began where the outer one came. */
static void nested_irq(void)
{
	struct trap_frame nested = { .vector = VECTOR, .rflags = 0 };

	trap_dispatch(&nested);
	assert_int_equal(cpu_local_read(irq_stack_top), (uintptr_t)(&frame + 1));
}

/* ... and one that came while they were on. */
static void nested_irq_on(void)
{
	struct trap_frame nested = { .vector = VECTOR, .rflags = RFLAGS_IF };

	trap_dispatch(&nested);
}

static void irq(uint64_t rflags, uint32_t preempt_count, const char *expected)
{
	cpu_local_write(preempt_count, preempt_count);
	told[0] = '\0';
	frame = (struct trap_frame){ .vector = VECTOR, .rflags = rflags };
	trap_dispatch(&frame);
	assert_string_equal(told, expected);
	assert_int_equal(cpu_local_read(preempt_count), preempt_count);
	assert_int_equal(cpu_local_read(irq_stack_top), 0);
	cpu_local_write(preempt_count, 0);
}

static void irqs(void)
{
	is_listening = false;
	irq(RFLAGS_IF, 0, "handler exit");
	irq(RFLAGS_IF, 1, "handler exit");
	irq(RFLAGS_IF, PREEMPT_NO_RESCHED, "handler exit");
	irq(0, 0, "handler");
	irq(RFLAGS_IF, TRACE_SOFTIRQ_SERVING, "handler exit");
	irq(RFLAGS_IF, NMI_ONE, "handler");
	inside = nested_irq;
	irq(RFLAGS_IF, 0, "handler handler back exit");
	inside = nested_irq_on;
	irq(RFLAGS_IF, 0, "handler handler back exit");
}

static void irqs_with_listeners(void)
{
	is_listening = true;
	irq(RFLAGS_IF, 0, "irq_disable preempt_disable handler preempt_enable exit irq_enable");
	irq(RFLAGS_IF, PREEMPT_NO_RESCHED,
	    "irq_disable preempt_disable handler preempt_enable exit irq_enable");
	irq(RFLAGS_IF, 1, "irq_disable handler exit irq_enable");
	irq(0, 0, "preempt_disable handler preempt_enable");
	irq(0, 1, "handler");
	inside = nested_irq;
	irq(RFLAGS_IF, 0,
	    "irq_disable preempt_disable handler handler back preempt_enable exit irq_enable");
	is_listening = false;
}

static void irq_without_handler(void)
{
	uint64_t printed = sim_nr_printed();

	for (int i = 0; i < 3; i++)
		trap(VECTOR + 1);
	assert_string_equal(told, "exit");
	trap(TRAP_NR_EXCEPTIONS); /* the first that is no exception; it has one */
	assert_string_equal(told, "handler exit");
	assert_int_equal(sim_nr_printed() - printed, 1);
	assert_string_equal(sim_last_printed(), "trap: interrupt vector 86 has no handler");
	for (int i = 0; i < 2; i++)
		trap(VECTOR + 2);
	assert_int_equal(sim_nr_printed() - printed, 2);
	assert_string_equal(sim_last_printed(), "trap: interrupt vector 87 has no handler");
}

static void test_interrupts(void **state)
{
	(void)state;
	assert_int_equal(arch_irq_register(TRAP_NR_EXCEPTIONS - 1, handler), -EINVAL);
	assert_int_equal(arch_irq_register(VECTOR, handler), 0);
	assert_int_equal(arch_irq_register(VECTOR, handler), -EBUSY);
	assert_int_equal(arch_irq_register(TRAP_NR_EXCEPTIONS, handler), 0);
	sim_alone(irqs);
	sim_alone(irqs_with_listeners);
	sim_alone(irq_without_handler);
}

/* ---- NMI ---- */

static bool faults;

static void nmi_fn_of_test(struct trap_frame *regs)
{
	assert_ptr_equal(regs, &frame);
	assert_int_equal(cpu_local_read(preempt_count), NMI_ONE + HARDIRQ_ONE + 2);
	if (faults)
		write_cr2(0xdead000);
	tell("nmi");
}

static void nmis(void)
{
	uint64_t printed = sim_nr_printed();

	frame = (struct trap_frame){ .vector = TRAP_NMI };
	told[0] = '\0';
	cpu_local_write(preempt_count, 2);
	write_cr2(0x1000);
	assert_null(arch_nmi_register(nmi_fn_of_test));
	trap_nmi(&frame);
	faults = true;
	trap_nmi(&frame);
	assert_string_equal(told, "nmi nmi");
	assert_int_equal(read_cr2(), 0x1000);
	assert_int_equal(cpu_local_read(preempt_count), 2);
	assert_int_equal(sim_nr_printed(), printed);
	assert_ptr_equal(arch_nmi_register(NULL), nmi_fn_of_test);
	trap_nmi(&frame);
	assert_string_equal(sim_last_printed(), "trap: NMI without a handler");
	assert_int_equal(sim_nr_printed(), printed + 1);
	cpu_local_write(preempt_count, 0);
}

static void test_nmi(void **state)
{
	(void)state;
	sim_alone(nmis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_nmi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

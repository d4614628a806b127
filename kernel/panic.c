/* The end of the kernel: panic(), and faults without a handler. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/power.h>
#include <arch/smp.h>
#include <arch/tsc.h>
#include <arch/trap.h>
#include <arch/uart.h>
#include <arch/unwind.h>
#include <kernel/console.h>
#include <kernel/params.h>
#include <kernel/preempt.h>
#include <kernel/printk.h>
#include <kernel/pstore.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/upcall.h>
#include <trace/events/error_report.h>
#include <trace/events/exceptions.h>
#include <trace/fmt.h>
#include <trace/trace.h>
#include "kernel_init.h"

#define MAX_DEPTH 640 /* entries of a backtrace: enough for a stack that is full */
#define EXIT_CODE 1
#define NOBODY	  UINT32_MAX
#define TEXT_MAX  256

static _Atomic uint32_t panic_cpu = NOBODY;
static long reboot_seconds; /* 0: no reboot; below 0: at once */

static uintptr_t trace[MAX_DEPTH]; /* a backtrace; used by the one CPU that panics */

static void panic_print_backtrace(size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t first = i;

		/* The first is the address that the CPU is at, the others are return addresses. */
		pr_err(i ? "  [<%016lx>] %pB\n" : "  [<%016lx>] %pS\n", trace[i], (void *)trace[i]);
		while (i + 1 < nr && trace[i + 1] == trace[first])
			i++;
		if (i > first)
			pr_err("  ... the same %zu times more\n", i - first);
	}
}

static void panic_print_cpu_header(uint32_t cpu)
{
	struct cpu_local *local = cpu_local_of(cpu);
	struct thread *thread = local ? local->current : NULL;

	pr_err("CPU %u: %s pid %d, preempt_count 0x%08x\n", cpu, thread ? thread->name : "?",
	       thread ? thread->pid : -1, local ? local->preempt_count & PREEMPT_CONTEXT_MASK : 0);
}

static void panic_print_this_cpu(const struct trap_frame *regs)
{
	panic_print_cpu_header(cpu_local_read(id));
	if (regs)
		arch_dump_registers(regs);
	arch_dump_control_registers();
	panic_print_backtrace(regs ? arch_backtrace_trap(regs, trace, MAX_DEPTH)
				   : arch_backtrace_here(trace, MAX_DEPTH));
}

static void panic_print_other_cpus(void)
{
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		const struct trap_frame *regs = smp_stopped_frame(cpu);

		if (cpu == cpu_local_read(id) || !smp_cpu_online(cpu))
			continue;
		panic_print_cpu_header(cpu);
		if (!regs) {
			pr_err("  did not answer\n");
			continue;
		}
		arch_dump_registers(regs);
		panic_print_backtrace(arch_backtrace_trap(regs, trace, MAX_DEPTH));
	}
}

/* In steps of a second, because many seconds in nanoseconds would overflow. */
static void panic_delay_seconds(uint64_t seconds)
{
	for (; seconds; seconds--)
		tsc_delay_ns(NSEC_PER_SEC);
}

void panic_init(void)
{
	reboot_seconds = boot_param_number("panic", INT32_MIN, INT32_MAX, 0);
}

/* End as the boot parameters say: `exit` ends QEMU, panic=SECONDS reboots; otherwise halt. */
static void __attribute__((noreturn)) panic_end_machine(void)
{
	uart_flush(UART_COM1);
	if (boot_param_is_set("exit"))
		power_debug_exit(EXIT_CODE);
	if (reboot_seconds > 0)
		panic_delay_seconds((uint64_t)reboot_seconds);
	if (reboot_seconds)
		power_reboot();
	power_halt();
}

/*
 * Only the first CPU that panics returns from here; others halt. If that CPU panics again while it
 * prints, the machine is ended at once.
 */
static void panic_claim(void)
{
	uint32_t nobody = NOBODY, cpu = cpu_local_read(id);

	arch_irq_disable();
	if (atomic_compare_exchange_strong(&panic_cpu, &nobody, cpu))
		return;
	if (nobody == cpu) {
		console_panic_write("PANIC: again, while printing\n", 29);
		panic_end_machine();
	}
	arch_halt_forever(); /* until the first CPU's NMI stops this one */
}

static void __attribute__((noreturn)) die(const char *text, const struct trap_frame *regs)
{
	tracing_off(); /* so that the panic does not overwrite the events that led here */
	smp_stop_others_nmi();
	pstore_panic_begin();
	console_panic_begin();
	pr_err("PANIC: %s\n", text);
	panic_print_this_cpu(regs);
	panic_print_other_cpus();
	trace_dump_on_oops(cpu_local_read(id));
	pr_err("---[ end of panic ]---\n");
	panic_end_machine();
}

void panic(const char *fmt, ...)
{
	static char text[TEXT_MAX];
	va_list args;

	panic_claim();
	trace_error_report_end(ERROR_DETECTOR_PANIC, (unsigned long)__builtin_return_address(0));
	va_start(args, fmt);
	trace_vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	die(text, NULL);
}

void upcall_fault(struct trap_frame *regs, const char *what)
{
	static char text[TEXT_MAX];

	panic_claim();
	if (regs->vector == TRAP_PAGE_FAULT)
		trace_page_fault_kernel(read_cr2(), regs->rip, regs->error);
	trace_error_report_end(ERROR_DETECTOR_PANIC, regs->rip);
	trace_snprintf(text, sizeof(text), "%s at %pS", what, (void *)regs->rip);
	die(text, regs);
}

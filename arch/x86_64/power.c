/*
 * Ending the machine. See <arch/power.h>.
 */
#include <arch/acpi.h>
#include <arch/cpu.h>
#include <arch/paging.h>
#include <arch/power.h>
#include <arch/tsc.h>
#include <arch/uart.h>
#include <kernel/base.h>

#define PM1_SCI_ENABLED	  0x0001u
#define PM1_SLP_TYP_SHIFT 10
#define PM1_SLP_TYP_MASK  0x1c00u
#define PM1_SLP_ENABLE	  0x2000u

#define RESET_CONTROL	 0xcf9
#define RESET_FULL	 0x02
#define RESET_GO	 0x04
#define KEYBOARD_COMMAND 0x64
#define KEYBOARD_BUSY	 0x02
#define KEYBOARD_RESET	 0xfe
#define DEBUG_EXIT	 0xf4

#define EACH_WAY_NS  50000000ull
#define ACPI_MODE_NS 100000000ull

static volatile uint8_t *reset_register; /* if it lies in memory; set by power_init() */

static bool power_is_port(const struct acpi_reg *reg)
{
	return reg->addr != 0 && reg->space == ACPI_SPACE_IO && reg->addr <= UINT16_MAX;
}

/* Let the firmware give up its power registers, if it has not done so. */
static void power_enter_acpi_mode(const struct acpi_info *info)
{
	uint64_t start = rdtsc(), patience = tsc_cycles_of_ns(ACPI_MODE_NS);
	uint16_t control = (uint16_t)info->pm1a_cnt.addr;

	if (inw(control) & PM1_SCI_ENABLED || !info->smi_cmd || info->smi_cmd > UINT16_MAX ||
	    !info->acpi_enable)
		return;
	outb((uint16_t)info->smi_cmd, info->acpi_enable);
	while (!(inw(control) & PM1_SCI_ENABLED) && rdtsc() - start < patience)
		arch_cpu_relax();
}

static void power_write_sleep(uint16_t control, uint16_t type)
{
	uint16_t value = inw(control) & (uint16_t) ~(PM1_SLP_TYP_MASK | PM1_SLP_ENABLE);

	value |= (uint16_t)(type << PM1_SLP_TYP_SHIFT & PM1_SLP_TYP_MASK);
	outw(control, value);
	outw(control, value | PM1_SLP_ENABLE);
}

void power_init(void)
{
	const struct acpi_reg *reset = &acpi_info()->reset;

	if (reset->addr != 0 && reset->space == ACPI_SPACE_MEMORY)
		reset_register = arch_map_device(reset->addr, 1);
}

static void power_begin(void)
{
	arch_irq_disable();
	uart_flush(UART_COM1);
	uart_flush(UART_COM2);
}

void power_halt(void)
{
	arch_halt_forever();
}

void power_off(void)
{
	const struct acpi_info *info = acpi_info();

	power_begin();
	if (info->has_s5 && power_is_port(&info->pm1a_cnt)) {
		power_enter_acpi_mode(info);
		power_write_sleep((uint16_t)info->pm1a_cnt.addr, info->s5_typ_a);
		if (power_is_port(&info->pm1b_cnt))
			power_write_sleep((uint16_t)info->pm1b_cnt.addr, info->s5_typ_b);
		tsc_delay_ns(EACH_WAY_NS);
	}
	pr_err("power: this machine does not turn itself off\n");
	power_halt();
}

static void power_reset_by_acpi(const struct acpi_info *info)
{
	if (power_is_port(&info->reset))
		outb((uint16_t)info->reset.addr, info->reset_value);
	else if (reset_register)
		*reset_register = info->reset_value;
	else
		return;
	tsc_delay_ns(EACH_WAY_NS);
}

static void power_reset_by_keyboard(void)
{
	int polls;

	for (polls = 0; polls < 10000 && inb(KEYBOARD_COMMAND) & KEYBOARD_BUSY; polls++)
		arch_cpu_relax();
	outb(KEYBOARD_COMMAND, KEYBOARD_RESET);
	tsc_delay_ns(EACH_WAY_NS);
}

void power_reboot(void)
{
	const struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) empty_idt = { 0, 0 };

	power_begin();
	power_reset_by_acpi(acpi_info());
	outb(RESET_CONTROL, RESET_FULL);
	outb(RESET_CONTROL, RESET_FULL | RESET_GO);
	tsc_delay_ns(EACH_WAY_NS);
	power_reset_by_keyboard();
	__asm__ volatile("lidt %0; int3" : : "m"(empty_idt));
	power_halt();
}

void power_debug_exit(uint32_t code)
{
	power_begin();
	outl(DEBUG_EXIT, code);
	power_off();
}

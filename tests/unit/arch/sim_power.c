/*
 * A reset register that lies in memory: a reboot may come when no lock and no memory can be had.
 *
 * links: arch/x86_64/power.c arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <arch/acpi.h>
#include <arch/paging.h>
#include <arch/power.h>
#include <arch/tsc.h>
#include <arch/uart.h>
#include <kernel/base.h>
#include "sim.h"

#define REGISTER_PHYS 0xfed00008ul
#define RESET_VALUE   0x5a

static struct acpi_info info;
static uint8_t reset_register;
static uint32_t nr_maps;

const struct acpi_info *acpi_info(void)
{
	return &info;
}

void *arch_map_device(uint64_t phys, size_t bytes)
{
	assert_int_equal(phys, REGISTER_PHYS);
	assert_int_equal(bytes, 1);
	nr_maps++;
	return &reset_register;
}

void uart_flush(unsigned int port)
{
	(void)port;
}

/* The machine has this long to reset. */
void tsc_delay_ns(uint64_t ns)
{
	(void)ns;
	panic(reset_register == RESET_VALUE ? "reset" : "the register was not written");
}

static void test_reboot_maps_nothing(void **state)
{
	(void)state;
	info = (struct acpi_info){ .reset = { .addr = REGISTER_PHYS, .space = ACPI_SPACE_MEMORY },
				   .reset_value = RESET_VALUE };
	power_init();
	assert_int_equal(nr_maps, 1);
	assert_int_equal(reset_register, 0);
	assert_string_equal(sim_panics(power_reboot), "reset");
	assert_int_equal(nr_maps, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_reboot_maps_nothing) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

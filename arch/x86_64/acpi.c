/*
 * ACPI tables as this kernel reaches them. See <arch/acpi.h>.
 */
#include "acpi_parse.h"
#include <arch/paging.h>
#include <kernel/base.h>

static struct acpi_info acpi;

const struct acpi_info *acpi_info(void)
{
	return &acpi;
}

static const void *acpi_map_table(uint64_t phys, uint32_t bytes)
{
	return arch_map_firmware(phys, bytes);
}

int acpi_init(const void *rsdp, uint32_t len)
{
	int err = acpi_parse(&acpi, rsdp, len, acpi_map_table);

	if (err)
		return err;
	pr_info("ACPI: %u CPUs, %u IO APICs, %s%s%s\n", acpi.nr_cpus, acpi.nr_ioapics,
		acpi.has_s5 ? "soft off" : "no soft off", acpi.pm_timer.addr ? ", PM timer" : "",
		acpi.hpet_phys ? ", HPET" : "");
	if (!acpi.has_madt)
		pr_warn("ACPI: no MADT: one CPU, no interrupt controllers\n");
	return 0;
}

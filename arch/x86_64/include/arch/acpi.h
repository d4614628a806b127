/*
 * The facts about this machine in the firmware's ACPI tables, copied out once at boot.
 *
 *   RSDP -> RSDT | XSDT -> MADT  CPUs, interrupt controllers, their wiring
 *                       -> FADT  power control ports, reset register, PM timer; DSDT for \_S5
 *                       -> HPET  address of the timer block
 *
 * The firmware's tables are not trusted: lengths and checksums are checked. A bad table is reported
 * and ignored, and so are the tables that only it points to.
 *
 * Context:   acpi_init - boot CPU, after the page allocator works. acpi_info - any, after it.
 * Locking:   none: written once, before other CPUs run.
 * Ownership: everything is copied; the tables are not read again after acpi_init().
 */
#ifndef ARCH_ACPI_H
#define ARCH_ACPI_H

#include <stdbool.h>
#include <stdint.h>

#define ACPI_MAX_CPUS	   256 /* more than MAX_CPUS: so that those left out can be counted */
#define ACPI_MAX_IOAPICS   8
#define ACPI_MAX_OVERRIDES 24

#define ACPI_SPACE_MEMORY 0
#define ACPI_SPACE_IO	  1

struct acpi_ioapic {
	uint64_t phys;
	uint32_t gsi_base;
	uint8_t id;
};

/* The input that an ISA interrupt arrives at where that is not the one with its own number. */
struct acpi_override {
	uint32_t gsi;
	uint8_t isa_irq;
	bool active_low;
	bool level; /* level triggered; false: by edges */
};

/* A register that the FADT names. `addr` is a port or a physical address; 0 when there is none. */
struct acpi_reg {
	uint64_t addr;
	uint8_t space; /* ACPI_SPACE_* */
};

struct acpi_info {
	bool has_madt;
	bool has_fadt;
	bool has_s5;
	bool has_8259;
	uint32_t nr_cpus; /* enabled ones */
	uint32_t apic_ids[ACPI_MAX_CPUS];
	uint64_t lapic_phys;
	bool has_lapic_nmi; /* local interrupt pin lapic_nmi_lint of every CPU is its NMI */
	uint8_t lapic_nmi_lint;
	uint32_t nr_ioapics;
	struct acpi_ioapic ioapics[ACPI_MAX_IOAPICS];
	uint32_t nr_overrides;
	struct acpi_override overrides[ACPI_MAX_OVERRIDES];
	struct acpi_reg pm1a_cnt;
	struct acpi_reg pm1b_cnt;
	uint16_t s5_typ_a; /* SLP_TYP values of \_S5 */
	uint16_t s5_typ_b;
	uint32_t smi_cmd;    /* port; 0 when the machine has no SMI command */
	uint8_t acpi_enable; /* to be written there: the firmware gives up its power registers */
	struct acpi_reg reset;
	uint8_t reset_value;
	struct acpi_reg pm_timer;
	bool pm_timer_32bit;
	uint64_t hpet_phys;
};

/*
 * Read all tables, starting at the RSDP copy `rsdp` of `len` bytes. -ENODEV when there is no usable
 * RSDP or root table; a missing MADT or FADT shows in acpi_info() only.
 */
int acpi_init(const void *rsdp, uint32_t len);
const struct acpi_info *acpi_info(void);

#endif

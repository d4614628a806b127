/*
 * MADT: CPUs, IO APICs and interrupt wiring. See <arch/acpi.h>.
 */
#include "acpi_parse.h"
#include <kernel/base.h>

#define MADT_LAPIC_ADDR	 36
#define MADT_FLAGS	 40
#define MADT_ENTRIES	 44
#define MADT_PCAT_COMPAT 1u

#define CPU_ENABLED 1u

/* Types of entries (ACPI 6.4, "Interrupt Controller Structure Types"). */
enum madt_type {
	MADT_LAPIC = 0,
	MADT_IOAPIC = 1,
	MADT_OVERRIDE = 2,
	MADT_LAPIC_NMI = 4,
	MADT_LAPIC_ADDRESS = 5,
	MADT_X2APIC = 9,
	MADT_NR_TYPES
};

/* The least length of an entry of each type; 0: the type is not read. */
static const uint8_t least_len[MADT_NR_TYPES] = {
	[MADT_LAPIC] = 8,     [MADT_IOAPIC] = 12,	 [MADT_OVERRIDE] = 10,
	[MADT_LAPIC_NMI] = 6, [MADT_LAPIC_ADDRESS] = 12, [MADT_X2APIC] = 16,
};

static void acpi_add_cpu(struct acpi_info *info, uint32_t apic_id, uint32_t flags)
{
	uint32_t i;

	if (!(flags & CPU_ENABLED))
		return;
	for (i = 0; i < info->nr_cpus; i++) {
		if (info->apic_ids[i] == apic_id)
			return; /* listed twice: as MADT_LAPIC and as MADT_X2APIC */
	}
	if (info->nr_cpus == ACPI_MAX_CPUS) {
		pr_warn("ACPI: more than %u CPUs, APIC id %u left out\n", ACPI_MAX_CPUS, apic_id);
		return;
	}
	info->apic_ids[info->nr_cpus++] = apic_id;
}

static void acpi_add_ioapic(struct acpi_info *info, const uint8_t *entry)
{
	struct acpi_ioapic *io;

	if (info->nr_ioapics == ACPI_MAX_IOAPICS) {
		pr_warn("ACPI: more than %u IO APICs\n", ACPI_MAX_IOAPICS);
		return;
	}
	io = &info->ioapics[info->nr_ioapics++];
	io->id = entry[2];
	io->phys = acpi_read32(entry + 4);
	io->gsi_base = acpi_read32(entry + 8);
}

/*
 * In the flags, bits 0-1 are polarity, 2-3 trigger mode. 0 means as ISA has it: active high, edge.
 */
static void acpi_add_override(struct acpi_info *info, const uint8_t *entry)
{
	uint16_t flags = acpi_read16(entry + 8);
	struct acpi_override *over;

	if (info->nr_overrides == ACPI_MAX_OVERRIDES) {
		pr_warn("ACPI: more than %u interrupt overrides\n", ACPI_MAX_OVERRIDES);
		return;
	}
	over = &info->overrides[info->nr_overrides++];
	over->isa_irq = entry[3];
	over->gsi = acpi_read32(entry + 4);
	over->active_low = (flags & 3) == 3;
	over->level = (flags >> 2 & 3) == 3;
}

static void acpi_read_entry(struct acpi_info *info, const uint8_t *entry)
{
	switch (entry[0]) {
	case MADT_LAPIC:
		acpi_add_cpu(info, entry[3], acpi_read32(entry + 4));
		break;
	case MADT_X2APIC:
		acpi_add_cpu(info, acpi_read32(entry + 4), acpi_read32(entry + 8));
		break;
	case MADT_IOAPIC:
		acpi_add_ioapic(info, entry);
		break;
	case MADT_OVERRIDE:
		acpi_add_override(info, entry);
		break;
	case MADT_LAPIC_NMI:
		info->has_lapic_nmi = true;
		info->lapic_nmi_lint = entry[5] & 1;
		break;
	case MADT_LAPIC_ADDRESS:
		info->lapic_phys = acpi_read64(entry + 4);
		break;
	default:
		break;
	}
}

void acpi_parse_madt(struct acpi_info *info, const uint8_t *table, uint32_t len)
{
	uint32_t pos = MADT_ENTRIES;

	if (len < MADT_ENTRIES) {
		pr_warn("ACPI: MADT of %u bytes is too short\n", len);
		return;
	}
	info->has_madt = true;
	info->lapic_phys = acpi_read32(table + MADT_LAPIC_ADDR);
	info->has_8259 = acpi_read32(table + MADT_FLAGS) & MADT_PCAT_COMPAT;
	while (len - pos >= 2) {
		const uint8_t *entry = table + pos;
		uint8_t entry_len = entry[1];

		if (entry_len < 2 || entry_len > len - pos) {
			pr_warn("ACPI: MADT entry at %u has length %u\n", pos, entry_len);
			return;
		}
		if (entry[0] < MADT_NR_TYPES && entry_len < least_len[entry[0]])
			pr_warn("ACPI: MADT entry at %u is too short for its type\n", pos);
		else
			acpi_read_entry(info, entry);
		pos += entry_len;
	}
}

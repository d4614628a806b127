/*
 * The part of ACPI that only reads bytes: it knows nothing of page tables, so that it runs on the
 * build host too, where it is tested and fuzzed.
 */
#ifndef ACPI_PARSE_H
#define ACPI_PARSE_H

#include <arch/acpi.h>
#include <stddef.h>

/* `bytes` of physical memory as they are, readable until the next call; NULL when unreachable. */
typedef const void *(*acpi_map_fn)(uint64_t phys, uint32_t bytes);

/* Fill `info` from the RSDP copy on. Reports and result as acpi_init(). */
int acpi_parse(struct acpi_info *info, const void *rsdp, uint32_t len, acpi_map_fn map);

/* SLP_TYP values of \_S5 in the AML byte code `aml`; false when there is no such package. */
bool acpi_parse_s5(const uint8_t *aml, uint32_t len, uint16_t *out_typ_a, uint16_t *out_typ_b);

/* One table's body, its header checked by the caller; acpi_madt.c. */
void acpi_parse_madt(struct acpi_info *info, const uint8_t *table, uint32_t len);

static inline uint16_t acpi_read16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t acpi_read32(const uint8_t *bytes)
{
	return acpi_read16(bytes) | (uint32_t)acpi_read16(bytes + 2) << 16;
}

static inline uint64_t acpi_read64(const uint8_t *bytes)
{
	return acpi_read32(bytes) | (uint64_t)acpi_read32(bytes + 4) << 32;
}

#endif

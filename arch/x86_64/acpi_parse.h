/*
 * The part of ACPI that only reads bytes. It knows nothing of page tables, so it also runs on the
 * build host, where it is tested and fuzzed.
 *
 * Context: boot CPU, from acpi_init().
 */
#ifndef ACPI_PARSE_H
#define ACPI_PARSE_H

#include <arch/acpi.h>
#include <stddef.h>

/* Make `bytes` of physical memory readable, until the next call. NULL when that is not possible. */
typedef const void *(*acpi_map_fn)(uint64_t phys, uint32_t bytes);

/* Fill `info`, starting at the RSDP copy. Reports bad tables. Returns as acpi_init() does. */
int acpi_parse(struct acpi_info *info, const void *rsdp, uint32_t len, acpi_map_fn map);

/* SLP_TYP values of \_S5 in the AML byte code `aml`; false when there is no such package. */
bool acpi_parse_s5(const uint8_t *aml, uint32_t len, uint16_t *out_typ_a, uint16_t *out_typ_b);

/* In acpi_madt.c: read the MADT, a table whose length and checksum are right. */
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

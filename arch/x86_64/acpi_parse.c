/*
 * RSDP, RSDT or XSDT, FADT, HPET, and \_S5 in the byte code. See <arch/acpi.h>.
 */
#include "acpi_parse.h"
#include <kernel/base.h>

#define RSDP_V1_LEN  20
#define RSDP_V2_LEN  36
#define HEADER_LEN   36
#define MAX_TABLE    (1u << 20)
#define MAX_TABLES   128
#define GAS_LEN	     12
#define HPET_ADDRESS 40

/* Offsets into the FADT (ACPI 6.4, table 5.9). */
enum fadt {
	FADT_DSDT = 40,
	FADT_SMI_CMD = 48,
	FADT_ACPI_ENABLE = 52,
	FADT_PM1A_CNT = 64,
	FADT_PM1B_CNT = 68,
	FADT_PM_TIMER = 76,
	FADT_FLAGS = 112,
	FADT_V1_END = 116,
	FADT_RESET = 116,
	FADT_RESET_VALUE = 128,
	FADT_X_DSDT = 140,
	FADT_X_PM1A_CNT = 172,
	FADT_X_PM1B_CNT = 184,
	FADT_X_PM_TIMER = 208,
};

#define FADT_TIMER_32BIT (1u << 8)
#define FADT_HAS_RESET	 (1u << 10)

/* AML op codes. */
#define AML_ONE	    0x01
#define AML_NAME    0x08
#define AML_BYTE    0x0a
#define AML_WORD    0x0b
#define AML_DWORD   0x0c
#define AML_PACKAGE 0x12

static bool acpi_is_signature(const uint8_t *bytes, const char *signature)
{
	int i;

	for (i = 0; i < 4; i++) {
		if (bytes[i] != (uint8_t)signature[i])
			return false;
	}
	return true;
}

static bool acpi_is_sum_zero(const uint8_t *bytes, uint32_t len)
{
	uint8_t sum = 0;

	while (len--)
		sum = (uint8_t)(sum + *bytes++);
	return sum == 0;
}

/* The table at `phys`, if length and checksum are right; otherwise NULL, with the reason logged. */
static const uint8_t *acpi_parse_table(acpi_map_fn map, uint64_t phys, uint32_t *out_len)
{
	const uint8_t *table = phys ? map(phys, HEADER_LEN) : NULL;
	uint32_t len;

	if (!table) {
		pr_warn("ACPI: no table at 0x%llx\n", (unsigned long long)phys);
		return NULL;
	}
	len = acpi_read32(table + 4);
	if (len < HEADER_LEN || len > MAX_TABLE) {
		pr_warn("ACPI: table at 0x%llx has length %u\n", (unsigned long long)phys, len);
		return NULL;
	}
	table = map(phys, len);
	if (!table || !acpi_is_sum_zero(table, len)) {
		pr_warn("ACPI: table at 0x%llx is damaged\n", (unsigned long long)phys);
		return NULL;
	}
	*out_len = len;
	return table;
}

/* Read an integer constant. Returns the number of its bytes, 0 if it is something else. */
static uint32_t acpi_aml_integer(const uint8_t *aml, uint32_t len, uint16_t *out_value)
{
	*out_value = 0;
	if (len >= 1 && aml[0] <= AML_ONE) { /* the op codes 0 and 1 are these numbers */
		*out_value = aml[0];
		return 1;
	}
	if (len >= 2 && aml[0] == AML_BYTE) {
		*out_value = aml[1];
		return 2;
	}
	if (len >= 3 && aml[0] == AML_WORD) {
		*out_value = acpi_read16(aml + 1);
		return 3;
	}
	if (len >= 5 && aml[0] == AML_DWORD) {
		*out_value = acpi_read16(aml + 1);
		return 5;
	}
	return 0;
}

/*
 * At `aml`, behind the name, come the package op code, its length, element count, SLP_TYPa,
 * SLP_TYPb.
 */
static bool acpi_read_s5_package(const uint8_t *aml, uint32_t len, uint16_t *out_a, uint16_t *out_b)
{
	uint32_t pos, used;

	if (len < 3 || aml[0] != AML_PACKAGE)
		return false;
	pos = 2u + (aml[1] >> 6); /* one length byte, and as many as its top bits say */
	if (pos >= len || aml[pos] < 2)
		return false;
	pos++;
	used = acpi_aml_integer(aml + pos, len - pos, out_a);
	if (!used)
		return false;
	pos += used;
	return acpi_aml_integer(aml + pos, len - pos, out_b) != 0;
}

bool acpi_parse_s5(const uint8_t *aml, uint32_t len, uint16_t *out_typ_a, uint16_t *out_typ_b)
{
	uint32_t pos;

	for (pos = 1; pos + 4 < len; pos++) {
		bool named;

		if (!acpi_is_signature(aml + pos, "_S5_"))
			continue;
		named = aml[pos - 1] == AML_NAME ||
			(pos >= 2 && aml[pos - 1] == '\\' && aml[pos - 2] == AML_NAME);
		if (named &&
		    acpi_read_s5_package(aml + pos + 4, len - pos - 4, out_typ_a, out_typ_b))
			return true;
	}
	return false;
}

static void acpi_find_s5(struct acpi_info *info, uint64_t phys, acpi_map_fn map)
{
	uint32_t len;
	const uint8_t *table = acpi_parse_table(map, phys, &len);

	if (table && !info->has_s5)
		info->has_s5 = acpi_parse_s5(table + HEADER_LEN, len - HEADER_LEN, &info->s5_typ_a,
					     &info->s5_typ_b);
}

/*
 * A register: from the newer field of GAS_LEN bytes at `x_offset`, or the old 32-bit port if that
 * is 0.
 */
static struct acpi_reg acpi_fadt_reg(const uint8_t *fadt, uint32_t len, uint32_t offset,
				     uint32_t x_offset)
{
	struct acpi_reg reg = { .addr = acpi_read32(fadt + offset), .space = ACPI_SPACE_IO };

	if (len >= x_offset + GAS_LEN && acpi_read64(fadt + x_offset + 4) != 0) {
		reg.space = fadt[x_offset];
		reg.addr = acpi_read64(fadt + x_offset + 4);
	}
	return reg;
}

static void parse_fadt(struct acpi_info *info, const uint8_t *fadt, uint32_t len, acpi_map_fn map)
{
	uint64_t dsdt;
	uint32_t flags;

	if (len < FADT_V1_END) {
		pr_warn("ACPI: FADT of %u bytes is too short\n", len);
		return;
	}
	info->has_fadt = true;
	info->smi_cmd = acpi_read32(fadt + FADT_SMI_CMD);
	info->acpi_enable = fadt[FADT_ACPI_ENABLE];
	info->pm1a_cnt = acpi_fadt_reg(fadt, len, FADT_PM1A_CNT, FADT_X_PM1A_CNT);
	info->pm1b_cnt = acpi_fadt_reg(fadt, len, FADT_PM1B_CNT, FADT_X_PM1B_CNT);
	info->pm_timer = acpi_fadt_reg(fadt, len, FADT_PM_TIMER, FADT_X_PM_TIMER);
	flags = acpi_read32(fadt + FADT_FLAGS);
	info->pm_timer_32bit = flags & FADT_TIMER_32BIT;
	if (flags & FADT_HAS_RESET && len > FADT_RESET_VALUE) {
		info->reset.space = fadt[FADT_RESET];
		info->reset.addr = acpi_read64(fadt + FADT_RESET + 4);
		info->reset_value = fadt[FADT_RESET_VALUE];
	}
	dsdt = acpi_read32(fadt + FADT_DSDT);
	if (len >= FADT_X_DSDT + 8 && acpi_read64(fadt + FADT_X_DSDT) != 0)
		dsdt = acpi_read64(fadt + FADT_X_DSDT);
	acpi_find_s5(info, dsdt, map); /* at the end: its map() makes `fadt` unreadable */
}

static void parse_hpet(struct acpi_info *info, const uint8_t *hpet, uint32_t len)
{
	if (len < HPET_ADDRESS + GAS_LEN || hpet[HPET_ADDRESS] != ACPI_SPACE_MEMORY)
		pr_warn("ACPI: HPET table not understood\n");
	else
		info->hpet_phys = acpi_read64(hpet + HPET_ADDRESS + 4);
}

static void parse_table(struct acpi_info *info, uint64_t phys, acpi_map_fn map)
{
	uint32_t len;
	const uint8_t *table = acpi_parse_table(map, phys, &len);

	if (!table)
		return;
	if (acpi_is_signature(table, "APIC"))
		acpi_parse_madt(info, table, len);
	else if (acpi_is_signature(table, "FACP"))
		parse_fadt(info, table, len, map);
	else if (acpi_is_signature(table, "HPET"))
		parse_hpet(info, table, len);
	else if (acpi_is_signature(table, "SSDT"))
		acpi_find_s5(info, phys, map);
}

/*
 * The root table lists the others. The list is copied, because it is readable until the next
 * map().
 */
static int parse_root(struct acpi_info *info, uint64_t phys, uint32_t entry_len, acpi_map_fn map)
{
	static uint64_t tables[MAX_TABLES];
	uint32_t len, i, nr;
	const uint8_t *root = acpi_parse_table(map, phys, &len);

	if (!root || !acpi_is_signature(root, entry_len == 8 ? "XSDT" : "RSDT"))
		return -ENODEV;
	nr = (len - HEADER_LEN) / entry_len;
	if (nr > MAX_TABLES) {
		pr_warn("ACPI: %u tables, reading %u\n", nr, MAX_TABLES);
		nr = MAX_TABLES;
	}
	for (i = 0; i < nr; i++) {
		const uint8_t *entry = root + HEADER_LEN + (size_t)i * entry_len;

		tables[i] = entry_len == 8 ? acpi_read64(entry) : acpi_read32(entry);
	}
	for (i = 0; i < nr; i++)
		parse_table(info, tables[i], map);
	return 0;
}

int acpi_parse(struct acpi_info *info, const void *rsdp, uint32_t len, acpi_map_fn map)
{
	const uint8_t *bytes = rsdp;
	bool is_v2;

	*info = (struct acpi_info){ 0 };
	if (!rsdp || len < RSDP_V1_LEN || !acpi_is_signature(bytes, "RSD ") ||
	    !acpi_is_signature(bytes + 4, "PTR ") || !acpi_is_sum_zero(bytes, RSDP_V1_LEN)) {
		pr_warn("ACPI: no valid root pointer\n");
		return -ENODEV;
	}
	is_v2 = bytes[15] >= 2 && len >= RSDP_V2_LEN && acpi_is_sum_zero(bytes, RSDP_V2_LEN);
	if (is_v2 && parse_root(info, acpi_read64(bytes + 24), 8, map) == 0)
		return 0;
	if (parse_root(info, acpi_read32(bytes + 16), 4, map) == 0)
		return 0;
	pr_warn("ACPI: no valid root table\n");
	return -ENODEV;
}

/*
 * Memory that the page allocator never gets, so that its contents survive a warm reset.
 *
 *   reserve_mem=12M:4096:trace   12 MiB at a multiple of 4096, under the name `trace`
 *
 * SIZE may end in K, M or G, and so may ALIGN, a power of two; both are rounded up to pages.
 * The parameter may come several times. The places depend on nothing but these parameters, see
 * memory_reserve().
 */
#include <arch/memory.h>
#include <arch/paging.h>
#include <kernel/mm.h>
#include <kernel/params.h>
#include <kernel/printk.h>
#include <kernel/string.h>
#include "reserve.h"

#define MAX_RESERVES 8u
#define NAME_BYTES   16u
#define NUMBER_BYTES 24u
#define MAX_BYTES    (1ull << 40)

struct reserve {
	char name[NAME_BYTES];
	struct memory_range range;
};

/* Written on the boot CPU alone, before there are threads. */
static struct reserve reserves[MAX_RESERVES];
static size_t nr_reserves;

/* A number with K, M or G behind it, up to the colon. Returns the text behind that; NULL: no size. */
static const char *reserve_size(const char *text, uint64_t *out_bytes)
{
	static const char units[] = "KMG";
	char digits[NUMBER_BYTES];
	const char *colon = strchr(text, ':'), *unit;
	size_t len = colon ? (size_t)(colon - text) : 0;
	unsigned int shift = 0;

	if (!len || len >= sizeof(digits))
		return NULL;
	strlcpy(digits, text, len + 1);
	unit = strchr(units, digits[len - 1] & ~0x20);
	if (unit && *unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		digits[len - 1] = '\0';
	}
	if (str_to_u64(digits, 0, out_bytes) || *out_bytes > MAX_BYTES >> shift)
		return NULL;
	*out_bytes <<= shift;
	return colon + 1;
}

static struct reserve *reserve_find(const char *name)
{
	for (size_t i = 0; i < nr_reserves; i++) {
		if (strcmp(reserves[i].name, name) == 0)
			return &reserves[i];
	}
	return NULL;
}

/* The reason why SIZE:ALIGN:NAME cannot be carried out; NULL: it was. */
static const char *reserve_take(const char *text)
{
	struct reserve *reserve = &reserves[nr_reserves];
	uint64_t bytes, align;
	const char *name;

	name = reserve_size(text, &bytes);
	name = name ? reserve_size(name, &align) : NULL;
	if (!name || !bytes)
		return "not SIZE:ALIGN:NAME";
	if (align < PAGE_SIZE)
		align = PAGE_SIZE;
	if (align & (align - 1))
		return "ALIGN is no power of two";
	if (!*name || strlen(name) >= NAME_BYTES)
		return "NAME has to have 1 to 15 characters";
	if (reserve_find(name))
		return "there is that name already";
	if (nr_reserves == MAX_RESERVES)
		return "too many";
	if (memory_reserve(ALIGN_UP(bytes, PAGE_SIZE), align, &reserve->range))
		return "no such piece of memory is free";
	strlcpy(reserve->name, name, sizeof(reserve->name));
	nr_reserves++;
	return NULL;
}

void reserve_init(void)
{
	const char *text, *why;
	size_t index = 0;

	while ((text = boot_param_next("reserve_mem", &index))) {
		why = reserve_take(text);
		if (why)
			pr_warn("Boot parameter reserve_mem=%s: %s, ignored\n", text, why);
		else
			pr_info("Memory: %luK at %#lx set aside for %s\n",
				(reserves[nr_reserves - 1].range.end -
				 reserves[nr_reserves - 1].range.start) >>
					10,
				reserves[nr_reserves - 1].range.start,
				reserves[nr_reserves - 1].name);
	}
}

void *mm_reserved(const char *name, size_t *out_bytes)
{
	const struct reserve *reserve = reserve_find(name);

	*out_bytes = reserve ? reserve->range.end - reserve->range.start : 0;
	return reserve ? arch_phys_to_virt(reserve->range.start) : NULL;
}

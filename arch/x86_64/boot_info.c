/* The boot loader's information, copied out of its memory: see <arch/boot_info.h>. */
#include <arch/boot_info.h>
#include <arch/handover.h>
#include <kernel/base.h>

enum tag_type {
	TAG_END = 0,
	TAG_CMDLINE = 1,
	TAG_MODULE = 3,
	TAG_MEMORY_MAP = 6,
	TAG_RSDP_OLD = 14,
	TAG_RSDP_NEW = 15,
};

struct info_header {
	uint32_t total_bytes;
	uint32_t reserved;
};

struct tag {
	uint32_t type;
	uint32_t bytes; /* header included; the next tag follows at the next multiple of 8 */
	uint8_t data[];
};

struct module_tag {
	uint32_t start, end; /* physical */
};

struct memory_map_tag {
	uint32_t entry_bytes;
	uint32_t version;
	uint8_t entries[];
};

struct map_entry {
	uint64_t start;
	uint64_t bytes;
	uint32_t kind;
	uint32_t reserved;
};

/* The same information from Xen's PVH, and QEMU's -kernel: struct hvm_start_info, version 1. */
struct pvh_start {
	uint32_t magic;
	uint32_t version;
	uint32_t flags;
	uint32_t nr_modules;
	uint64_t modules_phys;
	uint64_t cmdline_phys; /* ends with a NUL; 0 when there is none */
	uint64_t rsdp_phys;
	uint64_t map_phys;
	uint32_t nr_map;
	uint32_t reserved;
};

struct pvh_module {
	uint64_t phys;
	uint64_t bytes;
	uint64_t cmdline_phys;
	uint64_t reserved;
};

#define RSDP_OLD_BYTES	 20u
#define RSDP_AT_REVISION 15
#define RSDP_AT_BYTES	 20 /* u32, since revision 2 */

#define MAX_MAP_ENTRIES 256
#define MAX_RSDP	64
#define MAX_INFO_BYTES	(1u << 20) /* a larger size is taken for damage */

static struct {
	char cmdline[BOOT_CMDLINE_MAX];
	struct memory_map_entry map[MAX_MAP_ENTRIES];
	size_t nr_map;
	uint8_t rsdp[MAX_RSDP];
	size_t rsdp_bytes;
	struct memory_range module;
} info;

static void boot_info_copy_cmdline(const uint8_t *text, size_t max_len)
{
	size_t i;

	for (i = 0; i + 1 < BOOT_CMDLINE_MAX && i < max_len && text[i]; i++)
		info.cmdline[i] = (char)text[i];
	info.cmdline[i] = '\0';
}

static void boot_info_add_to_map(const struct map_entry *e)
{
	if (e->bytes == 0 || e->start + e->bytes < e->start)
		return;
	info.map[info.nr_map++] = (struct memory_map_entry){
		.range = { .start = e->start, .end = e->start + e->bytes },
		.kind = e->kind >= MEMORY_USABLE && e->kind <= MEMORY_BAD ? e->kind
									  : MEMORY_RESERVED,
	};
}

static void boot_info_copy_map(const struct tag *tag)
{
	const struct memory_map_tag *map = (const void *)tag->data;
	size_t left = tag->bytes - sizeof(*tag), pos = 0;

	if (left < sizeof(*map) || map->entry_bytes < sizeof(struct map_entry) ||
	    map->entry_bytes % 8 != 0)
		return;
	left -= sizeof(*map);
	for (; left >= map->entry_bytes && info.nr_map < MAX_MAP_ENTRIES;
	     left -= map->entry_bytes, pos += map->entry_bytes)
		boot_info_add_to_map((const void *)(map->entries + pos));
}

static void boot_info_copy_rsdp(const uint8_t *rsdp, size_t bytes)
{
	if (bytes > MAX_RSDP)
		bytes = MAX_RSDP;
	for (size_t i = 0; i < bytes; i++)
		info.rsdp[i] = rsdp[i];
	info.rsdp_bytes = bytes;
}

static void boot_info_set_module(uint64_t start, uint64_t end)
{
	if (!info.module.end && start < end)
		info.module = (struct memory_range){ .start = start, .end = end };
}

static void boot_info_take_module(const struct tag *tag)
{
	const struct module_tag *module = (const void *)tag->data;

	if (tag->bytes - sizeof(*tag) >= sizeof(*module))
		boot_info_set_module(module->start, module->end);
}

static void boot_info_take_tag(const struct tag *tag)
{
	switch (tag->type) {
	case TAG_CMDLINE:
		boot_info_copy_cmdline(tag->data, tag->bytes - sizeof(*tag));
		break;
	case TAG_MODULE:
		boot_info_take_module(tag);
		break;
	case TAG_MEMORY_MAP:
		boot_info_copy_map(tag);
		break;
	case TAG_RSDP_OLD:
		if (info.rsdp_bytes == 0)
			boot_info_copy_rsdp(tag->data, tag->bytes - sizeof(*tag));
		break;
	case TAG_RSDP_NEW:
		boot_info_copy_rsdp(tag->data, tag->bytes - sizeof(*tag));
		break;
	default:
		break;
	}
}

static void boot_info_clear(void)
{
	info.nr_map = info.rsdp_bytes = 0;
	info.cmdline[0] = '\0';
	info.module = (struct memory_range){ 0 };
}

int boot_info_from_multiboot(const void *mbi)
{
	const struct info_header *header = mbi;
	const uint8_t *start = mbi;
	uint32_t pos = sizeof(*header);

	boot_info_clear();
	if (header->total_bytes < sizeof(*header) || header->total_bytes > MAX_INFO_BYTES)
		return -EINVAL;
	while (pos + sizeof(struct tag) <= header->total_bytes) {
		const struct tag *tag = (const void *)(start + pos);

		if (tag->bytes < sizeof(*tag) || tag->bytes > header->total_bytes - pos)
			return -EINVAL;
		if (tag->type == TAG_END)
			return info.nr_map > 0 ? 0 : -EINVAL;
		boot_info_take_tag(tag);
		pos += ALIGN_UP(tag->bytes, 8u);
	}
	return -EINVAL;
}

static size_t boot_info_rsdp_bytes(const uint8_t *rsdp)
{
	if (rsdp[RSDP_AT_REVISION] < 2)
		return RSDP_OLD_BYTES;
	return *(const uint32_t *)(const void *)(rsdp + RSDP_AT_BYTES);
}

int boot_info_from_pvh(uint64_t start_phys, const void *(*at)(uint64_t phys))
{
	const struct pvh_start *start = at(start_phys);
	const struct map_entry *map;

	boot_info_clear();
	if (start->magic != PVH_MAGIC || start->version < 1 || !start->map_phys)
		return -EINVAL;
	map = at(start->map_phys);
	for (uint32_t i = 0; i < start->nr_map && info.nr_map < MAX_MAP_ENTRIES; i++)
		boot_info_add_to_map(&map[i]);
	if (start->cmdline_phys)
		boot_info_copy_cmdline(at(start->cmdline_phys), BOOT_CMDLINE_MAX);
	if (start->nr_modules && start->modules_phys) {
		const struct pvh_module *module = at(start->modules_phys);

		boot_info_set_module(module->phys, module->phys + module->bytes);
	}
	if (start->rsdp_phys)
		boot_info_copy_rsdp(at(start->rsdp_phys),
				    boot_info_rsdp_bytes(at(start->rsdp_phys)));
	return info.nr_map > 0 ? 0 : -EINVAL;
}

const char *boot_info_cmdline(void)
{
	return info.cmdline;
}

const struct memory_map_entry *boot_info_memory_map(size_t *out_nr)
{
	*out_nr = info.nr_map;
	return info.map;
}

struct memory_range boot_info_module(void)
{
	return info.module;
}

const void *boot_info_rsdp(size_t *out_bytes)
{
	*out_bytes = info.rsdp_bytes;
	return info.rsdp_bytes ? info.rsdp : NULL;
}

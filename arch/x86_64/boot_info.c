/* The multiboot2 information, copied out: see <arch/boot_info.h>. */
#include <arch/boot_info.h>
#include <kernel/base.h>

enum tag_type {
	TAG_END = 0,
	TAG_CMDLINE = 1,
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

#define MAX_CMDLINE	8192 /* more than kernel/ keeps, so that it notices a longer line */
#define MAX_MAP_ENTRIES 256
#define MAX_RSDP	64
#define MAX_INFO_BYTES	(1u << 20) /* a larger size is taken for damage */

static struct {
	char cmdline[MAX_CMDLINE];
	struct memory_map_entry map[MAX_MAP_ENTRIES];
	size_t nr_map;
	uint8_t rsdp[MAX_RSDP];
	size_t rsdp_bytes;
} info;

static void boot_info_copy_cmdline(const struct tag *tag)
{
	size_t len = tag->bytes - sizeof(*tag), i;

	for (i = 0; i + 1 < MAX_CMDLINE && i < len && tag->data[i]; i++)
		info.cmdline[i] = (char)tag->data[i];
	info.cmdline[i] = '\0';
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
	     left -= map->entry_bytes, pos += map->entry_bytes) {
		const struct map_entry *e = (const void *)(map->entries + pos);

		if (e->bytes == 0 || e->start + e->bytes < e->start)
			continue;
		info.map[info.nr_map++] = (struct memory_map_entry){
			.range = { .start = e->start, .end = e->start + e->bytes },
			.kind = e->kind >= MEMORY_USABLE && e->kind <= MEMORY_BAD ? e->kind
										  : MEMORY_RESERVED,
		};
	}
}

static void boot_info_copy_rsdp(const struct tag *tag)
{
	size_t bytes = tag->bytes - sizeof(*tag);

	if (bytes > MAX_RSDP)
		bytes = MAX_RSDP;
	for (size_t i = 0; i < bytes; i++)
		info.rsdp[i] = tag->data[i];
	info.rsdp_bytes = bytes;
}

static void boot_info_take_tag(const struct tag *tag)
{
	switch (tag->type) {
	case TAG_CMDLINE:
		boot_info_copy_cmdline(tag);
		break;
	case TAG_MEMORY_MAP:
		boot_info_copy_map(tag);
		break;
	case TAG_RSDP_OLD:
		if (info.rsdp_bytes == 0)
			boot_info_copy_rsdp(tag);
		break;
	case TAG_RSDP_NEW:
		boot_info_copy_rsdp(tag);
		break;
	default:
		break;
	}
}

int boot_info_from_multiboot(const void *mbi)
{
	const struct info_header *header = mbi;
	const uint8_t *start = mbi;
	uint32_t pos = sizeof(*header);

	info.nr_map = info.rsdp_bytes = 0;
	info.cmdline[0] = '\0';
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

const char *boot_info_cmdline(void)
{
	return info.cmdline;
}

const struct memory_map_entry *boot_info_memory_map(size_t *out_nr)
{
	*out_nr = info.nr_map;
	return info.map;
}

const void *boot_info_rsdp(size_t *out_bytes)
{
	*out_bytes = info.rsdp_bytes;
	return info.rsdp_bytes ? info.rsdp : NULL;
}

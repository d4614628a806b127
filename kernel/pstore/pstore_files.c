/* The files of /sys/fs/pstore, and the device of programs. See <kernel/pstore.h>. */
#include <stdatomic.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include "../fs/vfs_mount.h"
#include "pstore.h"

#define PSTORE_DIR "/sys/fs/pstore"

/* A file: the text that the last kernel has left in a zone, or in several. */
struct pstore_file {
	struct vfs_special special;
	_Atomic uint32_t refs; /* its name, and each time that it is open */
	char *text;
	size_t len;
	struct zone *zones;
	uint32_t nr_zones;
	uint64_t generation; /* of the text, the newest of the zones */
	char name[32];
};

static struct mutex pmsg_lock;

static void pstore_put_file(struct pstore_file *file)
{
	if (atomic_fetch_sub(&file->refs, 1) > 1)
		return;
	vfree(file->text);
	kfree(file);
}

static struct pstore_file *pstore_file_of(const struct vfs_special *special)
{
	return (struct pstore_file *)(uintptr_t)special->data;
}

static int pstore_file_open(struct file *file)
{
	file->object = pstore_file_of(file->object);
	atomic_fetch_add(&((struct pstore_file *)file->object)->refs, 1);
	return 0;
}

static ssize_t pstore_file_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	const struct pstore_file *kept = file->object;

	if (*pos >= kept->len)
		return 0;
	if (len > kept->len - *pos)
		len = kept->len - *pos;
	memcpy(buf, kept->text + *pos, len);
	*pos += len;
	return (ssize_t)len;
}

static int pstore_file_close(struct file *file)
{
	pstore_put_file(file->object);
	return 0;
}

static void pstore_file_removed(const struct vfs_special *special)
{
	struct pstore_file *file = pstore_file_of(special);

	for (uint32_t i = 0; i < file->nr_zones; i++)
		zone_erase(&file->zones[i], file->generation);
	pstore_put_file(file);
}

static const struct file_ops pstore_file_ops = {
	.open = pstore_file_open,
	.read = pstore_file_read,
	.close = pstore_file_close,
	.removed = pstore_file_removed,
	.has_position = true,
};

/* The directories, when the first file comes. */
static int pstore_make_dirs(void)
{
	int err = vfs_ram_add_dir("/sys/fs");

	return err ? err : vfs_ram_add_dir(PSTORE_DIR);
}

int pstore_add_text(const char *name, char *text, size_t len, struct zone *zones, uint32_t nr)
{
	struct pstore_file *file = kzalloc(sizeof(*file));

	if (!file) {
		vfree(text);
		return -ENOMEM;
	}
	*file = (struct pstore_file){ .text = text, .len = len, .zones = zones, .nr_zones = nr };
	atomic_init(&file->refs, 1);
	for (uint32_t i = 0; i < nr; i++)
		file->generation =
			zones[i].old > file->generation ? zones[i].old : file->generation;
	strlcpy(file->name, name, sizeof(file->name));
	file->special = (struct vfs_special){ .dir = PSTORE_DIR,
					      .name = file->name,
					      .mode = 0444,
					      .ops = &pstore_file_ops,
					      .data = file };
	return vfs_ram_add_sized(&file->special, len);
}

int pstore_add_file(const char *name, struct zone *zone)
{
	int err = pstore_make_dirs();
	char *text;

	if (err || !zone->old)
		return err;
	text = vmalloc(zone_text_max(zone));
	if (!text)
		return -ENOMEM;
	return pstore_add_text(name, text, zone_text(zone, text, "[damaged]\n"), zone, 1);
}

/* ---- Messages of programs ---- */

static ssize_t pstore_pmsg_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	const struct vfs_special *special = file->object;

	(void)pos;
	mutex_lock(&pmsg_lock);
	zone_append((struct zone *)(uintptr_t)special->data, buf, len);
	mutex_unlock(&pmsg_lock);
	return (ssize_t)len;
}

static const struct file_ops pstore_pmsg_ops = { .write = pstore_pmsg_write };

int pstore_add_pmsg(struct zone *zone)
{
	static struct vfs_special special = { "/dev",		"pmsg0", 0220, VFS_DEV(240, 1),
					      &pstore_pmsg_ops, NULL,	 NULL };

	special.data = zone;
	return vfs_ram_add(&special, 1);
}

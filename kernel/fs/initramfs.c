/*
 * The archive of files that the boot loader has brought, unpacked into the ram tree. Its format is that
 * of Linux's initramfs without compression: cpio, "newc".
 *
 *   header, 110 bytes: "070701", then 13 numbers of 8 hexadecimal digits
 *   name with NUL, padded to 4 bytes      contents, padded to 4 bytes      ... "TRAILER!!!"
 *
 * Directories, plain files and symbolic links are made; of other kinds a line in the log tells. The archive's own memory is freed while it is
 * unpacked, so that files are not there twice.
 */
#include <arch/boot_info.h>
#include <arch/paging.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/vfs.h>
#include "vfs_mount.h"

#define CPIO_HEADER_BYTES 110u
#define CPIO_DIGITS	  8u

#define CPIO_KIND      0170000u
#define CPIO_DIRECTORY 0040000u
#define CPIO_REGULAR   0100000u
#define CPIO_LINK      0120000u

/* Places of numbers behind the magic. */
enum cpio_number {
	CPIO_MODE = 1,
	CPIO_MTIME = 5,
	CPIO_BYTES = 6,
	CPIO_NAME_BYTES = 11
};

#define INITRAMFS_PART (1u << 20) /* bytes of a file, after which memory is freed */

struct archive {
	const char *text;
	size_t len, pos;
	size_t freed; /* bytes that are gone, up to the end of a page */
};

struct entry {
	char name[VFS_PATH_MAX]; /* a longer one is cut */
	const char *contents;
	uint32_t mode;
	uint32_t mtime; /* seconds since 1970 */
	size_t bytes;
	bool is_cut;
};

/* False for a character that is no digit. */
static bool initramfs_number(const char *header, enum cpio_number which, uint32_t *out_value)
{
	char digits[CPIO_DIGITS + 1];
	unsigned long value;

	memcpy(digits, header + 6 + (size_t)which * CPIO_DIGITS, CPIO_DIGITS);
	digits[CPIO_DIGITS] = '\0';
	if (str_to_u64(digits, 16, &value))
		return false;
	*out_value = (uint32_t)value;
	return true;
}

/* The part of the archive of `bytes` at its position, which moves on, padded. NULL: it ends before. */
static const char *initramfs_take(struct archive *archive, size_t bytes)
{
	const char *part = archive->text + archive->pos;

	if (bytes > archive->len - archive->pos)
		return NULL;
	archive->pos = ALIGN_UP(archive->pos + bytes, 4ul);
	if (archive->pos > archive->len)
		archive->pos = archive->len;
	return part;
}

/* The next entry: 0; 1 behind the last one; -EINVAL where the archive is damaged. */
static int initramfs_next(struct archive *archive, struct entry *out)
{
	uint32_t bytes, name_bytes;
	const char *header = NULL, *name;

	if (CPIO_HEADER_BYTES <= archive->len - archive->pos)
		header = archive->text + archive->pos;
	if (!header || memcmp(header, "070701", 6) != 0 ||
	    !initramfs_number(header, CPIO_MODE, &out->mode) ||
	    !initramfs_number(header, CPIO_MTIME, &out->mtime) ||
	    !initramfs_number(header, CPIO_BYTES, &bytes) ||
	    !initramfs_number(header, CPIO_NAME_BYTES, &name_bytes))
		return -EINVAL;
	name = initramfs_take(archive, CPIO_HEADER_BYTES + name_bytes);
	out->bytes = bytes;
	out->contents = initramfs_take(archive, bytes);
	if (!name || !out->contents || !name_bytes)
		return -EINVAL;
	name += CPIO_HEADER_BYTES;
	if (name[name_bytes - 1])
		return -EINVAL;
	strlcpy(out->name, name, sizeof(out->name));
	out->is_cut = name_bytes > sizeof(out->name);
	return strcmp(out->name, "TRAILER!!!") == 0;
}

/* The archive is not needed before `pos` any more. The page that this is in stays. */
static void initramfs_free(struct archive *archive, size_t pos)
{
	char *text = (char *)(uintptr_t)archive->text;
	size_t whole = pos - (uintptr_t)(text + pos) % PAGE_SIZE;

	if (whole <= archive->freed || pos < PAGE_SIZE)
		return;
	free_reserved_area(text + archive->freed, text + whole);
	archive->freed = whole;
}

static int initramfs_write(struct archive *archive, const struct entry *entry)
{
	struct file *file;
	size_t part;
	int err = vfs_open("/", entry->name, VFS_WRITE | VFS_CREATE | VFS_TRUNCATE, &file);

	if (err)
		return err;
	for (size_t done = 0; done < entry->bytes && !err; done += part) {
		part = entry->bytes - done < INITRAMFS_PART ? entry->bytes - done : INITRAMFS_PART;
		if (file_write(file, entry->contents + done, part) != (ssize_t)part)
			err = -ENOSPC;
		initramfs_free(archive, (size_t)(entry->contents - archive->text) + done + part);
	}
	fput(file);
	return err;
}

static int initramfs_link(const struct entry *entry)
{
	char target[VFS_PATH_MAX];

	if (entry->bytes >= sizeof(target))
		return -ENAMETOOLONG;
	memcpy(target, entry->contents, entry->bytes);
	target[entry->bytes] = '\0';
	return vfs_make_symlink("/", entry->name, target);
}

static int initramfs_directory(const struct entry *entry)
{
	int err = strcmp(entry->name, ".") == 0 ? 0 : vfs_mkdir("/", entry->name);

	return err == -EEXIST ? 0 : err;
}

static int initramfs_make(struct archive *archive, const struct entry *entry)
{
	const uint64_t time = entry->mtime * NSEC_PER_SEC;
	const struct vfs_stat to = { .mode = entry->mode & 07777,
				     .atime_ns = time,
				     .mtime_ns = time };
	int err = -EOPNOTSUPP;

	if (entry->is_cut)
		return -ENAMETOOLONG;
	if ((entry->mode & CPIO_KIND) == CPIO_DIRECTORY)
		err = initramfs_directory(entry);
	else if ((entry->mode & CPIO_KIND) == CPIO_REGULAR)
		err = initramfs_write(archive, entry);
	else if ((entry->mode & CPIO_KIND) == CPIO_LINK)
		err = initramfs_link(entry);
	return err ? err
		   : vfs_set_attr("/", entry->name,
				  VFS_SET_MODE | VFS_SET_ATIME | VFS_SET_MTIME | VFS_SET_OF_LINK,
				  &to);
}

void initramfs_unpack(void)
{
	const struct memory_range module = boot_info_module();
	struct archive archive = { .len = module.end - module.start };
	struct entry entry;
	int err = 0;

	if (!archive.len)
		return;
	archive.text = arch_phys_to_virt(module.start);
	while (!err && archive.pos < archive.len) {
		err = initramfs_next(&archive, &entry);
		if (err < 0)
			pr_err("initramfs: damaged at byte %zu\n", archive.pos);
		else if (!err && initramfs_make(&archive, &entry))
			pr_err("initramfs: %s cannot be made\n", entry.name);
		initramfs_free(&archive, archive.pos);
	}
	initramfs_free(&archive, archive.len);
}

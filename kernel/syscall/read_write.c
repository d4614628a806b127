/*
 * read(), write() and their kinds. Files in memory are read from where they are; other file systems work on
 * the kernel's memory, so bytes go through a buffer: a small one on the stack, a larger one that is allocated. One call of a program is one read or
 * write of the file system, up to RW_MAX bytes, whatever the number of places that the bytes are for.
 */
#include "syscall.h"

#define RW_SMALL   256u
#define RW_MAX	   (1u << 20)
#define IOV_MAX	   1024u
#define IOV_MEMORY 16u /* that need no allocation */

#define RWF_HIPRI 1
#define RWF_DSYNC 2
#define RWF_SYNC  4

/* Bytes to be moved: places in a program's memory, one behind the other. */
struct transfer {
	struct file *file;
	const struct user_iovec *places;
	size_t nr_places;
	size_t bytes;  /* of all places, RW_MAX at most */
	uint64_t *pos; /* NULL: that of the file */
	bool is_write;
};

/* Copy between the buffer and one place, which has room for the bytes. 0, or how many are not copied. */
static TRACE_ALWAYS_INLINE size_t read_write_copy_one(const struct transfer *to, char *bounce,
						      void *base, size_t bytes)
{
	return to->is_write ? copy_from_user(bounce, base, bytes)
			    : copy_to_user(base, bounce, bytes);
}

/* The same with the places, one behind the other. 0 or -EFAULT. */
static TRACE_NOINLINE int read_write_copy_all(const struct transfer *to, char *bounce, size_t bytes)
{
	for (size_t i = 0; i < to->nr_places && bytes; i++) {
		const struct user_iovec *place = &to->places[i];
		size_t part = place->len < bytes ? place->len : bytes;

		if (read_write_copy_one(to, bounce, place->base, part))
			return -EFAULT;
		bounce += part;
		bytes -= part;
	}
	return 0;
}

static TRACE_ALWAYS_INLINE int read_write_copy(const struct transfer *to, char *bounce,
					       size_t bytes)
{
	if (to->nr_places != 1)
		return read_write_copy_all(to, bounce, bytes);
	return read_write_copy_one(to, bounce, to->places->base, bytes) ? -EFAULT : 0;
}

/* The places that bytes of a file still go to. */
struct read_places {
	const struct user_iovec *next;
	size_t done; /* bytes of *next that are there */
};

static int read_write_put(const void *bytes, size_t len, void *arg)
{
	struct read_places *to = arg;
	const char *from = bytes;

	while (len) {
		size_t part = to->next->len - to->done;

		if (part > len)
			part = len;
		if (copy_to_user((char *)to->next->base + to->done, from, part))
			return -EFAULT;
		from += part;
		len -= part;
		to->done += part;
		if (to->done == to->next->len)
			*to = (struct read_places){ .next = to->next + 1 };
	}
	return 0;
}

static ssize_t read_write_by(const struct transfer *to, char *bounce)
{
	ssize_t got;

	if (to->is_write)
		return read_write_copy(to, bounce, to->bytes)
			       ? -EFAULT
			       : vfs_write(to->file, bounce, to->bytes, to->pos);
	got = vfs_read(to->file, bounce, to->bytes, to->pos);
	return got > 0 && read_write_copy(to, bounce, (size_t)got) ? -EFAULT : got;
}

static ssize_t read_write_run(const struct transfer *to)
{
	struct read_places places = { .next = to->places };
	char small[RW_SMALL], *bounce = small;
	ssize_t result;

	if (!to->is_write && to->file->ops->read_to)
		return vfs_read_to(to->file, to->bytes, to->pos, read_write_put, &places);
	if (to->bytes > sizeof(small))
		bounce = kmalloc(to->bytes);
	if (!bounce)
		return -ENOMEM;
	result = read_write_by(to, bounce);
	if (bounce != small)
		kfree(bounce);
	return result == -EINTR && !to->file->ops->ends_by_signal ? -ERESTARTSYS : result;
}

/* Are the places the program's? -EFAULT; -EINVAL: more bytes than a call can tell. Counts the bytes. */
static int read_write_check(struct transfer *to)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < to->nr_places; i++) {
		uint64_t len = to->places[i].len;

		if (len > INT64_MAX || __builtin_add_overflow(bytes, len, &bytes) ||
		    bytes > INT64_MAX)
			return -EINVAL;
		if (!access_ok((uintptr_t)to->places[i].base, len))
			return -EFAULT;
	}
	to->bytes = bytes > RW_MAX ? RW_MAX : bytes;
	return 0;
}

/* The pointers are looked at before the file is, as Linux does. */
static long read_write_on(unsigned int fd, struct transfer *to)
{
	struct fd held = fdget(fd);
	long result = -EBADF;

	to->file = held.file;
	if (!to->file)
		return -EBADF;
	if (to->pos && !to->file->ops->has_position)
		result = -ESPIPE;
	else if (to->file->flags & (to->is_write ? VFS_WRITE : VFS_READ))
		result = read_write_check(to);
	if (!result && to->bytes)
		result = read_write_run(to);
	fdput(held);
	if (result == -EPIPE)
		kill_self(SIGPIPE);
	return result;
}

static long read_write_one(unsigned int fd, char *buf, size_t count, uint64_t *pos, bool is_write)
{
	const struct user_iovec place = { .base = buf, .len = count };
	struct transfer to;

	/* Member by member: a compiler would clear all of it first. */
	to.places = &place;
	to.nr_places = 1;
	to.pos = pos;
	to.is_write = is_write;
	return read_write_on(fd, &to);
}

long sys_read(unsigned int fd, char *buf, size_t count)
{
	return read_write_one(fd, buf, count, NULL, false);
}

long sys_write(unsigned int fd, const char *buf, size_t count)
{
	return read_write_one(fd, (char *)(uintptr_t)buf, count, NULL, true);
}

long sys_pread64(unsigned int fd, char *buf, size_t count, long pos)
{
	uint64_t at = (uint64_t)pos;

	return pos < 0 ? -EINVAL : read_write_one(fd, buf, count, &at, false);
}

long sys_pwrite64(unsigned int fd, const char *buf, size_t count, long pos)
{
	uint64_t at = (uint64_t)pos;

	return pos < 0 ? -EINVAL : read_write_one(fd, (char *)(uintptr_t)buf, count, &at, true);
}

/* As `to` says, with the places at `vec`, of which it has the number. */
static long read_write_vector(unsigned int fd, const struct user_iovec *vec, struct transfer to)
{
	struct user_iovec few[IOV_MEMORY], *places = few;
	long result = -EFAULT;

	if (to.nr_places > IOV_MAX)
		return -EINVAL;
	if (to.nr_places > ARRAY_SIZE(few))
		places = kmalloc(to.nr_places * sizeof(*places));
	if (!places)
		return -ENOMEM;
	to.places = places;
	if (!copy_from_user(places, vec, to.nr_places * sizeof(*places)))
		result = read_write_on(fd, &to);
	if (places != few)
		kfree(places);
	return result;
}

long sys_readv(unsigned long fd, const struct user_iovec *vec, unsigned long vlen)
{
	return read_write_vector((unsigned int)fd, vec, (struct transfer){ .nr_places = vlen });
}

long sys_writev(unsigned long fd, const struct user_iovec *vec, unsigned long vlen)
{
	return read_write_vector((unsigned int)fd, vec,
				 (struct transfer){ .nr_places = vlen, .is_write = true });
}

/* The high half of a position is of use to 32-bit programs only. */
long sys_preadv(unsigned long fd, const struct user_iovec *vec, unsigned long vlen,
		unsigned long pos_l, unsigned long pos_h)
{
	struct transfer to = { .nr_places = vlen, .pos = &pos_l };

	(void)pos_h;
	return (long)pos_l < 0 ? -EINVAL : read_write_vector((unsigned int)fd, vec, to);
}

long sys_pwritev(unsigned long fd, const struct user_iovec *vec, unsigned long vlen,
		 unsigned long pos_l, unsigned long pos_h)
{
	struct transfer to = { .nr_places = vlen, .pos = &pos_l, .is_write = true };

	(void)pos_h;
	return (long)pos_l < 0 ? -EINVAL : read_write_vector((unsigned int)fd, vec, to);
}

/* Files are in memory: those that ask for speed or safety have both. */
static bool read_write_flags_fit(int flags)
{
	return !(flags & ~(RWF_HIPRI | RWF_DSYNC | RWF_SYNC));
}

/* The position -1 is the file's own. */
// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_preadv2(unsigned long fd, const struct user_iovec *vec, unsigned long vlen,
		 unsigned long pos_l, unsigned long pos_h, int flags)
{
	if (!read_write_flags_fit(flags))
		return -EOPNOTSUPP;
	return pos_l == UINT64_MAX ? sys_readv(fd, vec, vlen)
				   : sys_preadv(fd, vec, vlen, pos_l, pos_h);
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_pwritev2(unsigned long fd, const struct user_iovec *vec, unsigned long vlen,
		  unsigned long pos_l, unsigned long pos_h, int flags)
{
	if (!read_write_flags_fit(flags))
		return -EOPNOTSUPP;
	return pos_l == UINT64_MAX ? sys_writev(fd, vec, vlen)
				   : sys_pwritev(fd, vec, vlen, pos_l, pos_h);
}

long sys_close(unsigned int fd)
{
	return files_close(current_process()->files, fd);
}

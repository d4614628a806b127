/*
 * Tests of devices by their numbers, as mknod() makes them, and of sockets with a name. To be started by root, and not on a file
 * system without devices. Ends with 0, or with the line of the check that failed. The directory /tmp/devices is made and removed.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_STAT = 4,
	NR_FSTAT = 5,
	NR_LSTAT = 6,
	NR_CHDIR = 80,
	NR_RENAME = 82,
	NR_MKDIR = 83,
	NR_RMDIR = 84,
	NR_LINK = 86,
	NR_CHMOD = 90,
	NR_UMASK = 95,
	NR_SETRESUID = 117,
	NR_MKNOD = 133,
	NR_STATX = 332
};

enum {
	EPERM = 1,
	ENOENT = 2,
	ENXIO = 6,
	EEXIST = 17,
	ENOTDIR = 20,
	EINVAL = 22,
	ENOSPC = 28
};
enum {
	O_RDWR = 2,
	O_TRUNC = 01000,
	AT_FDCWD = -100,
	S_IFIFO = 010000,
	S_IFCHR = 020000,
	S_IFDIR = 040000,
	S_IFBLK = 060000,
	S_IFREG = 0100000,
	S_IFSOCK = 0140000
};

/* Of a minor number up to 255. */
#define DEV(major, minor) ((major) << 8 | (minor))

static long make(const char *name, unsigned int mode, unsigned int dev)
{
	return CALL3(NR_MKNOD, name, mode, dev);
}

static void expect(const char *name, unsigned int mode, unsigned int dev)
{
	struct stat stat;

	CHECK(CALL2(NR_LSTAT, name, &stat) == 0 && stat.mode == mode && stat.rdev == dev);
}

/* The device is what its number says, whatever its name is, and even if it has none any more. */
static void test_null(void)
{
	struct stat stat;
	char byte;
	long fd;

	CHECK(make("nothing", S_IFCHR | 0640, DEV(1, 3)) == 0);
	CHECK(make("nothing", S_IFCHR | 0640, DEV(1, 3)) == -EEXIST);
	expect("nothing", S_IFCHR | 0640, DEV(1, 3));
	CHECK(CALL2(NR_RENAME, "nothing", "null") == 0 && CALL2(NR_LINK, "null", "other") == 0);
	fd = CALL2(NR_OPEN, "null", O_RDWR | O_TRUNC);
	CHECK(fd >= 0 && CALL3(NR_WRITE, fd, "text", 4) == 4 && CALL3(NR_READ, fd, &byte, 1) == 0);
	CHECK(CALL1(NR_UNLINK, "null") == 0 && CALL1(NR_UNLINK, "other") == 0);
	CHECK(CALL2(NR_FSTAT, fd, &stat) == 0 && stat.rdev == DEV(1, 3) && stat.nlink == 0);
	CHECK(CALL2(NR_STAT, "/dev/null", &stat) == 0 && stat.rdev == DEV(1, 3));
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

static void test_others(void)
{
	char bytes[2] = "xx";
	long fd;

	CHECK(make("zero", S_IFCHR | 0600, DEV(1, 5)) == 0 &&
	      make("full", S_IFCHR | 0600, DEV(1, 7)) == 0);
	CHECK(make("random", S_IFCHR | 0600, DEV(1, 9)) == 0);
	fd = CALL2(NR_OPEN, "zero", O_RDWR);
	CHECK(CALL3(NR_READ, fd, bytes, 2) == 2 && !bytes[0] && !bytes[1]);
	CHECK(CALL1(NR_CLOSE, fd) == 0);
	fd = CALL2(NR_OPEN, "full", O_RDWR);
	CHECK(CALL3(NR_WRITE, fd, bytes, 2) == -ENOSPC && CALL1(NR_CLOSE, fd) == 0);
	fd = CALL2(NR_OPEN, "random", 0);
	CHECK(CALL3(NR_READ, fd, bytes, 2) == 2 && CALL1(NR_CLOSE, fd) == 0);
	CHECK(CALL2(NR_STAT, "random/..", bytes) == -ENOTDIR);
	CHECK(CALL1(NR_UNLINK, "zero") == 0 && CALL1(NR_UNLINK, "full") == 0 &&
	      CALL1(NR_UNLINK, "random") == 0);
}

/* Numbers that have no device, blocks, and sockets can be named, not opened. */
static void test_empty(void)
{
	struct {
		uint32_t before[4];
		uint64_t rest[14], rdev;
	} statx;

	CHECK(make("n", S_IFCHR | 0600, 0xfff12fff) == 0 && CALL2(NR_OPEN, "n", 0) == -ENXIO);
	expect("n", S_IFCHR | 0600, 0xfff12fff);
	CHECK(syscall6(NR_STATX, AT_FDCWD, (long)"n", 0, 0x7ff, (long)&statx, 0) == 0);
	CHECK(statx.rdev == (0x12full | 0xfffffull << 32));
	CHECK(make("b", S_IFBLK | 0600, DEV(1, 3)) == 0 && CALL2(NR_OPEN, "b", 0) == -ENXIO);
	expect("b", S_IFBLK | 0600, DEV(1, 3));
	CHECK(make("s", S_IFSOCK | 0600, DEV(1, 3)) == 0 && CALL2(NR_OPEN, "s", 0) == -ENXIO);
	expect("s", S_IFSOCK | 0600, 0);
	CHECK(make("f", S_IFREG | 0600, DEV(1, 3)) == 0);
	expect("f", S_IFREG | 0600, 0);
	CHECK(make("d", S_IFDIR | 0600, 0) == -EPERM && make("l", 0120600, 0) == -EINVAL);
	CHECK(make("no/n", S_IFCHR | 0600, DEV(1, 3)) == -ENOENT);
	CHECK(make("f/n", S_IFCHR | 0600, DEV(1, 3)) == -ENOTDIR);
	CHECK(CALL1(NR_UNLINK, "n") == 0 && CALL1(NR_UNLINK, "b") == 0 &&
	      CALL1(NR_UNLINK, "s") == 0 && CALL1(NR_UNLINK, "f") == 0);
}

/* Another than root makes pipes and sockets, and no devices but that which stands for a file that is gone. */
static void test_user(void)
{
	CHECK(CALL2(NR_CHMOD, ".", 0777) == 0);
	CHECK(CALL3(NR_SETRESUID, -1, 1000, -1) == 0);
	CHECK(make("n", S_IFCHR | 0600, DEV(1, 3)) == -EPERM);
	CHECK(make("n", S_IFBLK | 0600, 0) == -EPERM && make("no/n", S_IFBLK, 0) == -ENOENT);
	CHECK(make("n", S_IFCHR | 0600, 0) == 0 && CALL2(NR_OPEN, "n", 0) == -ENXIO);
	CHECK(make("n", S_IFBLK | 0600, 0) == -EEXIST && make("s", S_IFSOCK | 0600, 0) == 0);
	CHECK(make("p", S_IFIFO | 0600, 0) == 0);
	CHECK(CALL3(NR_SETRESUID, -1, 0, -1) == 0);
	CHECK(CALL1(NR_UNLINK, "n") == 0 && CALL1(NR_UNLINK, "s") == 0 &&
	      CALL1(NR_UNLINK, "p") == 0);
}

void main_program(long *sp)
{
	(void)sp;
	CALL1(NR_UMASK, 0);
	CHECK(CALL2(NR_MKDIR, "/tmp/devices", 0755) == 0 && CALL1(NR_CHDIR, "/tmp/devices") == 0);
	test_null();
	test_others();
	test_empty();
	test_user();
	CHECK(CALL1(NR_RMDIR, "/tmp/devices") == 0);
	put("devices are as they should be\n");
	sys_exit(0);
}

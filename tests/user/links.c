/*
 * Tests of files with more names than one. To be started by root. Ends with 0, or with the line of the check that failed. The
 * directory /tmp/links is made and removed.
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
	NR_SYMLINK = 88,
	NR_LINKAT = 265,
	NR_RENAMEAT2 = 316
};

enum {
	EPERM = 1,
	ENOENT = 2,
	EEXIST = 17,
	EXDEV = 18,
	ENOTDIR = 20,
	EINVAL = 22
};
enum {
	O_RDWR = 2,
	O_CREAT = 0100,
	EXCHANGE = 2,
	AT_FDCWD = -100,
	AT_SYMLINK_FOLLOW = 0x400
};

static uint64_t links_of(const char *path)
{
	struct stat stat;

	CHECK(CALL2(NR_LSTAT, path, &stat) == 0);
	return stat.nlink;
}

static uint64_t ino_of(const char *path)
{
	struct stat stat;

	CHECK(CALL2(NR_LSTAT, path, &stat) == 0);
	return stat.ino;
}

static long linkat(const char *path, const char *new_path, int flags)
{
	return syscall6(NR_LINKAT, AT_FDCWD, (long)path, AT_FDCWD, (long)new_path, flags, 0);
}

/* Names come and go, the contents stay until the last one and the last descriptor are gone. */
static void test_names(void)
{
	long fd = CALL3(NR_OPEN, "a", O_RDWR | O_CREAT, 0644), other;
	struct stat stat;
	char byte = 0;

	CHECK(fd >= 0 && CALL3(NR_WRITE, fd, "x", 1) == 1 && links_of("a") == 1);
	CHECK(CALL2(NR_LINK, "a", "b") == 0 && CALL2(NR_LINK, "b", "dir/c") == 0);
	CHECK(links_of("dir/c") == 3 && ino_of("a") == ino_of("b") &&
	      ino_of("a") == ino_of("dir/c"));
	CHECK(CALL2(NR_LINK, "a", "b") == -EEXIST && CALL2(NR_LINK, "no", "d") == -ENOENT);
	CHECK(CALL2(NR_LINK, "a", "no/d") == -ENOENT && CALL2(NR_LINK, "a", "b/d") == -ENOTDIR);
	CHECK(CALL2(NR_LINK, "dir", "d") == -EPERM && CALL2(NR_LINK, "a", "/proc/self/d") < 0);
	CHECK(CALL1(NR_UNLINK, "a") == 0 && links_of("b") == 2);
	other = CALL3(NR_OPEN, "dir/c", O_RDWR, 0);
	CHECK(CALL3(NR_READ, other, &byte, 1) == 1 && byte == 'x' && CALL1(NR_CLOSE, other) == 0);
	CHECK(CALL1(NR_UNLINK, "b") == 0 && CALL1(NR_UNLINK, "dir/c") == 0);
	CHECK(CALL2(NR_FSTAT, fd, &stat) == 0 && stat.nlink == 0 && stat.size == 1);
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

/* Two names of one file: to rename one to the other changes nothing. */
static void test_renames(void)
{
	long fd = CALL3(NR_OPEN, "a", O_RDWR | O_CREAT, 0644),
	     over = CALL3(NR_OPEN, "o", O_RDWR | O_CREAT, 0644);
	struct stat stat;

	CHECK(CALL2(NR_LINK, "a", "b") == 0 && CALL2(NR_RENAME, "a", "b") == 0);
	CHECK(links_of("a") == 2 && links_of("b") == 2);
	CHECK(CALL2(NR_RENAME, "b", "dir/c") == 0 && links_of("a") == 2 &&
	      ino_of("a") == ino_of("dir/c"));
	CHECK(CALL2(NR_LINK, "o", "p") == 0 && CALL2(NR_RENAME, "dir/c", "o") == 0);
	CHECK(CALL2(NR_FSTAT, over, &stat) == 0 && stat.nlink == 1 && links_of("a") == 2);
	CHECK(syscall6(NR_RENAMEAT2, AT_FDCWD, (long)"p", AT_FDCWD, (long)"o", 1, 0) == -EEXIST);
	CHECK(CALL1(NR_UNLINK, "a") == 0 && CALL1(NR_UNLINK, "o") == 0 &&
	      CALL1(NR_UNLINK, "p") == 0);
	CHECK(CALL1(NR_CLOSE, fd) == 0 && CALL1(NR_CLOSE, over) == 0);
}

static long exchange(const char *path, const char *other, int flags)
{
	return syscall6(NR_RENAMEAT2, AT_FDCWD, (long)path, AT_FDCWD, (long)other, flags, 0);
}

/* Two names exchange their files, of whatever kind; both have to be there, and neither may be in the other. */
static void test_exchange(void)
{
	uint64_t file, dir;

	CHECK(CALL1(NR_CLOSE, CALL3(NR_OPEN, "a", O_RDWR | O_CREAT, 0644)) == 0);
	CHECK(CALL2(NR_SYMLINK, "a", "s") == 0 && CALL2(NR_MKDIR, "dir/e", 0755) == 0);
	file = ino_of("a");
	dir = ino_of("dir/e");
	CHECK(exchange("a", "s", EXCHANGE) == 0 && ino_of("s") == file && ino_of("a") != file);
	CHECK(exchange("s", "dir/e", EXCHANGE) == 0 && ino_of("dir/e") == file);
	CHECK(ino_of("s") == dir && ino_of("s/..") == ino_of(".") && links_of("dir") == 2);
	CHECK(exchange("s", "s", EXCHANGE) == 0 && exchange("s", "no", EXCHANGE) == -ENOENT);
	CHECK(exchange("no", "s", EXCHANGE) == -ENOENT);
	CHECK(exchange("s", "a", EXCHANGE | 1) == -EINVAL && exchange("s", "a", 8) == -EINVAL);
	CHECK(exchange("dir", "dir/e", EXCHANGE) == -EINVAL);
	CHECK(exchange("dir/e", "dir", EXCHANGE) == -EINVAL);
	CHECK(exchange("a", "/proc/self/a", EXCHANGE) == -EXDEV && ino_of("dir/e") == file);
	CHECK(CALL1(NR_UNLINK, "a") == 0 && CALL1(NR_UNLINK, "dir/e") == 0);
	CHECK(CALL1(NR_RMDIR, "s") == 0);
}

/* A directory has one name, and one more in itself and in each directory in it. */
static void test_directories(void)
{
	CHECK(links_of("dir") == 2 && CALL2(NR_MKDIR, "dir/e", 0755) == 0);
	CHECK(CALL2(NR_MKDIR, "dir/f", 0755) == 0 && CALL2(NR_MKDIR, "dir/f/g", 0755) == 0);
	CHECK(links_of("dir") == 4 && links_of("dir/f") == 3 && links_of("dir/e") == 2);
	CHECK(CALL2(NR_RENAME, "dir/f/g", "g") == 0 && links_of("dir/f") == 2);
	CHECK(CALL1(NR_CLOSE, CALL3(NR_OPEN, "a", O_RDWR | O_CREAT, 0644)) == 0);
	CHECK(exchange("a", "dir/e", EXCHANGE) == 0 && links_of("dir") == 3);
	CHECK(exchange("g", "dir/f", EXCHANGE) == 0 && links_of("dir") == 3);
	CHECK(CALL1(NR_RMDIR, "dir/f") == 0 && links_of("dir") == 2 && CALL1(NR_RMDIR, "g") == 0);
	CHECK(CALL1(NR_RMDIR, "a") == 0 && CALL1(NR_UNLINK, "dir/e") == 0);
}

/* A symbolic link can have two names; what it leads to, if that is asked for. */
static void test_symbolic(void)
{
	CHECK(CALL1(NR_CLOSE, CALL3(NR_OPEN, "a", O_RDWR | O_CREAT, 0644)) == 0);
	CHECK(CALL2(NR_SYMLINK, "a", "s") == 0);
	CHECK(linkat("s", "t", 0) == 0 && links_of("s") == 2 && links_of("a") == 1);
	CHECK(linkat("s", "u", AT_SYMLINK_FOLLOW) == 0 && links_of("a") == 2);
	CHECK(linkat("s", "v", 1) == -EINVAL && ino_of("u") == ino_of("a"));
	CHECK(CALL1(NR_UNLINK, "s") == 0 && CALL1(NR_UNLINK, "t") == 0);
	CHECK(CALL1(NR_UNLINK, "u") == 0 && CALL1(NR_UNLINK, "a") == 0);
	/* With something behind its name it is the directory that is meant. */
	CHECK(CALL2(NR_SYMLINK, "dir", "d") == 0 && ino_of("d") != ino_of("dir"));
	CHECK(ino_of("d/") == ino_of("dir") && ino_of("d/.") == ino_of("dir") &&
	      ino_of("./d/.") == ino_of("dir"));
	CHECK(CALL1(NR_UNLINK, "d") == 0);
}

void main_program(long *sp)
{
	(void)sp;
	CHECK(CALL2(NR_MKDIR, "/tmp/links", 0755) == 0 && CALL1(NR_CHDIR, "/tmp/links") == 0);
	CHECK(CALL2(NR_MKDIR, "dir", 0755) == 0);
	test_names();
	test_renames();
	test_exchange();
	test_directories();
	test_symbolic();
	CHECK(CALL1(NR_RMDIR, "dir") == 0 && CALL1(NR_RMDIR, "/tmp/links") == 0);
	put("links are as they should be\n");
	sys_exit(0);
}

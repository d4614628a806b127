/*
 * Tests of copy_file_range(), fallocate() and the calls for attributes with names. Ends with 0, or with the line of the check that
 * failed. The directory /tmp/copies is made and removed.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_FSTAT = 5,
	NR_LSEEK = 8,
	NR_PWRITE = 18,
	NR_PIPE = 22,
	NR_CHDIR = 80,
	NR_MKDIR = 83,
	NR_RMDIR = 84,
	NR_SYMLINK = 88,
	NR_SETXATTR = 188,
	NR_LSETXATTR = 189,
	NR_FSETXATTR = 190,
	NR_GETXATTR = 191,
	NR_LGETXATTR = 192,
	NR_FGETXATTR = 193,
	NR_LISTXATTR = 194,
	NR_LLISTXATTR = 195,
	NR_FLISTXATTR = 196,
	NR_REMOVEXATTR = 197,
	NR_LREMOVEXATTR = 198,
	NR_FREMOVEXATTR = 199,
	NR_FALLOCATE = 285,
	NR_COPY_FILE_RANGE = 326
};

enum {
	ENOENT = 2,
	E2BIG = 7,
	EBADF = 9,
	EFAULT = 14,
	EISDIR = 21,
	EINVAL = 22,
	EFBIG = 27,
	ESPIPE = 29,
	ERANGE = 34,
	EOVERFLOW = 75,
	EOPNOTSUPP = 95
};
enum {
	O_WRONLY = 1,
	O_RDWR = 2,
	O_CREAT = 0100,
	O_APPEND = 02000,
	KEEP_SIZE = 1,
	PUNCH_HOLE = 2
};

#define BYTES 70000
#define LAST  (~0ul >> 1)

static char out[BYTES], in[BYTES + 1];

static long copy(long from, long *from_pos, long to, long *to_pos, long len)
{
	return syscall6(NR_COPY_FILE_RANGE, from, (long)from_pos, to, (long)to_pos, len, 0);
}

static long open_file(const char *path, int flags)
{
	long fd = CALL3(NR_OPEN, path, flags, 0644);

	CHECK(fd >= 0);
	return fd;
}

static void expect(long fd, long pos, const char *bytes, long len)
{
	CHECK(CALL4(NR_PREAD, fd, in, len, pos) == len);
	for (long i = 0; i < len; i++)
		CHECK(in[i] == bytes[i]);
}

static long size_of(long fd)
{
	struct stat stat;

	CHECK(CALL2(NR_FSTAT, fd, &stat) == 0);
	return stat.size;
}

/* At places that are given, which move, and at those of the files, which move if they count. */
static void test_copies(long from, long to)
{
	long from_pos = 10, to_pos = 5000;

	CHECK(copy(from, &from_pos, to, &to_pos, 60000) == 60000);
	CHECK(from_pos == 60010 && to_pos == 65000 && size_of(to) == 65000);
	expect(to, 5000, out + 10, 60000);
	CHECK(CALL3(NR_LSEEK, from, 0, 1) == 0 && CALL3(NR_LSEEK, to, 0, 1) == 0);
	CHECK(CALL3(NR_LSEEK, from, 100, 0) == 100 && copy(from, 0, to, 0, 50) == 50);
	CHECK(CALL3(NR_LSEEK, from, 0, 1) == 150 && CALL3(NR_LSEEK, to, 0, 1) == 50);
	expect(to, 0, out + 100, 50);
	CHECK(copy(from, &from_pos, to, 0, LAST - 60010) == BYTES - 60010 && from_pos == BYTES);
	CHECK(copy(from, &from_pos, to, 0, 1) == 0 && copy(from, 0, to, 0, 0) == 0);
	from_pos = 0;
	to_pos = 100;
	CHECK(copy(to, &from_pos, to, &to_pos, 100) == 100);
	expect(to, 100, out + 100, 50);
	from_pos = 50;
	CHECK(copy(to, &from_pos, to, &to_pos, 200) == -EINVAL && from_pos == 50);
	to_pos = 0;
	CHECK(copy(to, &from_pos, to, &to_pos, 51) == -EINVAL && copy(to, 0, to, 0, 9) == -EINVAL);
}

static void test_errors(long from, long to)
{
	long pos = -1, append = open_file("to", O_WRONLY | O_APPEND), dir = open_file(".", 0);
	long reader = open_file("to", 0);
	int pipe[2];

	CHECK(CALL1(NR_PIPE, pipe) == 0);
	CHECK(copy(99, 0, to, 0, 1) == -EBADF && copy(from, 0, 99, 0, 1) == -EBADF);
	CHECK(copy(from, 0, reader, 0, 1) == -EBADF && copy(append, 0, to, 0, 1) == -EBADF);
	CHECK(copy(from, 0, append, 0, 1) == -EBADF && copy(dir, 0, to, 0, 1) == -EISDIR);
	CHECK(copy(pipe[0], 0, to, 0, 1) == -EINVAL && copy(from, 0, pipe[1], 0, 1) == -EINVAL);
	CHECK(copy(from, (long *)8, to, 0, 1) == -EFAULT &&
	      copy(from, 0, to, (long *)8, 1) == -EFAULT);
	CHECK(copy(from, &pos, to, 0, 0) == -EINVAL || pos == -1);
	pos = (long)LAST;
	CHECK(copy(from, &pos, to, 0, -1) == -EOVERFLOW);
	CHECK(syscall6(NR_COPY_FILE_RANGE, from, 0, to, 0, 1, 1) == -EINVAL);
	CHECK(CALL1(NR_CLOSE, append) == 0 && CALL1(NR_CLOSE, dir) == 0);
	CHECK(CALL1(NR_CLOSE, reader) == 0);
	CHECK(CALL1(NR_CLOSE, pipe[0]) == 0 && CALL1(NR_CLOSE, pipe[1]) == 0);
}

static long allocate(long fd, long mode, long offset, long len)
{
	return CALL4(NR_FALLOCATE, fd, mode, offset, len);
}

static void test_allocation(long to)
{
	long reader = open_file("to", 0), dir = open_file(".", 0), size = size_of(to);
	int pipe[2];

	CHECK(CALL1(NR_PIPE, pipe) == 0);
	CHECK(allocate(to, 0, size, 100) == 0 && size_of(to) == size + 100);
	CHECK(allocate(to, KEEP_SIZE, size, 1000) == 0 && size_of(to) == size + 100);
	CHECK(allocate(to, 0, 0, 1) == 0 && size_of(to) == size + 100);
	CHECK(allocate(to, 0, -1, 1) == -EINVAL && allocate(to, 0, 0, 0) == -EINVAL);
	CHECK(allocate(99, 0, 0, 0) == -EBADF && allocate(reader, 0, 0, 1) == -EBADF);
	CHECK(allocate(to, PUNCH_HOLE, 0, 1) == -EOPNOTSUPP);
	CHECK(allocate(to, 0, LAST, LAST) == -EFBIG && allocate(pipe[1], 0, 0, 1) == -ESPIPE);
	CHECK(allocate(dir, 0, 0, 1) == -EBADF);
	CHECK(CALL1(NR_CLOSE, reader) == 0 && CALL1(NR_CLOSE, dir) == 0);
	CHECK(CALL1(NR_CLOSE, pipe[0]) == 0 && CALL1(NR_CLOSE, pipe[1]) == 0);
}

/* A hole is zeros, and all around it stays. */
static void test_holes(long from)
{
	const long begin = 3000, end = 20000;

	CHECK(allocate(from, PUNCH_HOLE | KEEP_SIZE, begin, end - begin) == 0);
	CHECK(size_of(from) == BYTES && CALL4(NR_PREAD, from, in, BYTES, 0) == BYTES);
	for (long i = 0; i < BYTES; i++)
		CHECK(in[i] == (i >= begin && i < end ? 0 : out[i]));
	CHECK(allocate(from, PUNCH_HOLE | KEEP_SIZE, BYTES - 10, 1l << 30) == 0);
	CHECK(size_of(from) == BYTES && CALL4(NR_PREAD, from, in, 20, BYTES - 20) == 20);
	CHECK(in[9] == out[BYTES - 11] && !in[10] && !in[19]);
	CHECK(allocate(from, PUNCH_HOLE | KEEP_SIZE, BYTES + 10, 10000) == 0);
	CHECK(size_of(from) == BYTES);
}

static void test_attributes(long fd)
{
	static char name[300];

	for (int i = 0; i < 299; i++)
		name[i] = 'n';
	CHECK(CALL2(NR_SYMLINK, "no", "link") == 0);
	CHECK(CALL3(NR_LISTXATTR, "to", 0, 0) == 0 && CALL3(NR_FLISTXATTR, fd, in, 9) == 0);
	CHECK(CALL3(NR_LISTXATTR, "link", in, 9) == -ENOENT);
	CHECK(CALL3(NR_LLISTXATTR, "link", in, 9) == 0 &&
	      CALL3(NR_FLISTXATTR, 99, in, 9) == -EBADF);
	CHECK(CALL4(NR_GETXATTR, "to", "a.b", in, 9) == -EOPNOTSUPP);
	CHECK(CALL4(NR_LGETXATTR, "link", "a.b", in, 9) == -EOPNOTSUPP);
	CHECK(CALL4(NR_FGETXATTR, fd, "a.b", in, 9) == -EOPNOTSUPP);
	CHECK(CALL4(NR_GETXATTR, "no", "a.b", in, 9) == -ENOENT);
	CHECK(CALL4(NR_GETXATTR, "to", "", in, 9) == -ERANGE);
	CHECK(CALL4(NR_GETXATTR, "to", name, in, 9) == -ERANGE);
	CHECK(CALL4(NR_GETXATTR, "to", 8, in, 9) == -EFAULT);
	CHECK(syscall6(NR_SETXATTR, (long)"to", (long)"a.b", (long)in, 9, 0, 0) == -EOPNOTSUPP);
	CHECK(syscall6(NR_LSETXATTR, (long)"link", (long)"a.b", (long)in, 9, 3, 0) == -EOPNOTSUPP);
	CHECK(syscall6(NR_FSETXATTR, fd, (long)"a.b", (long)in, 9, 4, 0) == -EINVAL);
	CHECK(syscall6(NR_FSETXATTR, fd, (long)"a.b", (long)in, 65537, 0, 0) == -E2BIG);
	CHECK(CALL2(NR_REMOVEXATTR, "to", "a.b") == -EOPNOTSUPP);
	CHECK(CALL2(NR_LREMOVEXATTR, "link", "a.b") == -EOPNOTSUPP);
	CHECK(CALL2(NR_FREMOVEXATTR, fd, "a.b") == -EOPNOTSUPP);
	CHECK(CALL1(NR_UNLINK, "link") == 0);
}

void main_program(long *sp)
{
	long from, to;

	(void)sp;
	for (long i = 0; i < BYTES; i++)
		out[i] = (char)(i % 251 + 1);
	CHECK(CALL2(NR_MKDIR, "/tmp/copies", 0755) == 0 && CALL1(NR_CHDIR, "/tmp/copies") == 0);
	from = open_file("from", O_RDWR | O_CREAT);
	to = open_file("to", O_RDWR | O_CREAT);
	CHECK(CALL4(NR_PWRITE, from, out, BYTES, 0) == BYTES);
	test_copies(from, to);
	test_errors(from, to);
	test_allocation(to);
	test_holes(from);
	test_attributes(to);
	CHECK(CALL1(NR_CLOSE, from) == 0 && CALL1(NR_CLOSE, to) == 0);
	CHECK(CALL1(NR_UNLINK, "from") == 0 && CALL1(NR_UNLINK, "to") == 0);
	CHECK(CALL1(NR_RMDIR, "/tmp/copies") == 0);
	put("copies are as they should be\n");
	sys_exit(0);
}

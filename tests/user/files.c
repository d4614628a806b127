/*
 * Tests of calls about files: links and `..`, names by a directory's descriptor, sizes, attributes, times.
 * Ends with 0, or with the line of the check that failed. The directory /tmp/files is made and removed.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_STAT = 4,
	NR_FSTAT = 5,
	NR_LSTAT = 6,
	NR_LSEEK = 8,
	NR_PWRITE = 18,
	NR_READV = 19,
	NR_WRITEV = 20,
	NR_TRUNCATE = 76,
	NR_GETCWD = 79,
	NR_CHDIR = 80,
	NR_FCHDIR = 81,
	NR_RENAME = 82,
	NR_MKDIR = 83,
	NR_RMDIR = 84,
	NR_SYMLINK = 88,
	NR_READLINK = 89,
	NR_FCNTL = 72,
	NR_FCHMOD = 91,
	NR_FCHOWN = 93,
	NR_SENDFILE = 40,
	NR_STATFS = 137,
	NR_TIME = 201,
	NR_CLOCK_GETTIME = 228,
	NR_OPENAT = 257,
	NR_MKDIRAT = 258,
	NR_UNLINKAT = 263,
	NR_UTIMENSAT = 280,
	NR_RENAMEAT2 = 316
};

enum {
	EACCES = 13,
	EBADF = 9,
	EEXIST = 17,
	EFAULT = 14,
	EINVAL = 22,
	EISDIR = 21,
	ELOOP = 40,
	ENOENT = 2,
	ENOTDIR = 20,
	ESPIPE = 29
};

enum {
	O_RDWR = 2,
	O_CREAT = 0100,
	O_EXCL = 0200,
	O_APPEND = 02000,
	O_NONBLOCK = 04000,
	O_LARGEFILE = 0100000, /* Linux shows it of each file */
	O_NOFOLLOW = 0400000,
	O_DIRECTORY = 0200000,
	O_PATH = 010000000
};

static struct stat st;
static char buf[8192] __attribute__((aligned(8)));

static long open_at(long dir, const char *path, int flags)
{
	return CALL4(NR_OPENAT, dir, path, flags, 0644);
}

static void test_links(void)
{
	long fd;

	CHECK(CALL2(NR_MKDIR, "/tmp/files", 0755) == 0 && CALL1(NR_CHDIR, "/tmp/files") == 0);
	CHECK(CALL2(NR_MKDIR, "d", 0755) == 0 && CALL2(NR_MKDIR, "d/e", 0755) == 0);
	CHECK(CALL2(NR_SYMLINK, "d/e", "to_e") == 0 && CALL2(NR_SYMLINK, "x", "to_e") == -EEXIST);
	CHECK(CALL3(NR_OPEN, "to_e/../f", O_RDWR | O_CREAT, 0600) >= 0); /* it is d/f */
	CHECK(CALL2(NR_STAT, "d/f", &st) == 0 && (st.mode & 07777) == 0600);
	CHECK(CALL2(NR_STAT, "f", &st) == -ENOENT && CALL2(NR_STAT, "no/../d/f", &st) == -ENOENT);
	CHECK(CALL2(NR_STAT, "d/f/..", &st) == -ENOTDIR);
	CHECK(CALL2(NR_LSTAT, "to_e", &st) == 0 && st.mode == 0120777 && st.size == 3);
	CHECK(CALL2(NR_STAT, "to_e", &st) == 0 && (st.mode & 0170000) == 0040000);
	CHECK(CALL3(NR_READLINK, "to_e", buf, 2) == 2 && buf[0] == 'd' && buf[1] == '/');
	CHECK(CALL3(NR_READLINK, "d", buf, 9) == -EINVAL);
	CHECK(CALL2(NR_SYMLINK, "b", "a") == 0 && CALL2(NR_SYMLINK, "a", "b") == 0);
	CHECK(CALL2(NR_STAT, "a", &st) == -ELOOP && CALL2(NR_LSTAT, "a", &st) == 0);
	CHECK(CALL3(NR_OPEN, "a", 0, 0) == -ELOOP && CALL1(NR_UNLINK, "a") == 0);
	CHECK(CALL3(NR_OPEN, "b", O_CREAT | O_EXCL | O_RDWR, 0644) == -EEXIST);
	CHECK(CALL3(NR_OPEN, "b", O_CREAT | O_RDWR, 0644) >= 0); /* makes what it points to */
	CHECK(CALL3(NR_OPEN, "b", O_NOFOLLOW, 0) == -ELOOP);
	CHECK(CALL2(NR_LSTAT, "a", &st) == 0 && (st.mode & 0170000) == 0100000);
	fd = CALL3(NR_OPEN, "b", O_PATH | O_NOFOLLOW, 0);
	CHECK(CALL2(NR_FSTAT, fd, &st) == 0 && st.mode == 0120777);
	CHECK(CALL3(NR_READ, fd, buf, 1) == -EBADF && CALL1(NR_CLOSE, fd) == 0);
	CHECK(CALL2(NR_SYMLINK, "/proc/../proc/version", "v") == 0);
	CHECK(CALL3(NR_OPEN, "v", 0, 0) >= 0);
	CHECK(CALL1(NR_CHDIR, "to_e") == 0 && CALL2(NR_GETCWD, buf, 99) == 15);
	CHECK(text_equal(buf, "/tmp/files/d/e") && CALL1(NR_CHDIR, "../..") == 0);
	CHECK(CALL1(NR_RMDIR, "to_e") == -ENOTDIR && CALL1(NR_UNLINK, "to_e") == 0);
	CHECK(CALL2(NR_STAT, "d/e", &st) == 0);
}

static void test_directories(void)
{
	long dir = open_at(-100, "d", O_DIRECTORY), file = open_at(dir, "f", O_RDWR);

	CHECK(dir >= 0 && file >= 0);
	CHECK(open_at(99, "f", 0) == -EBADF && open_at(file, "f", 0) == -ENOTDIR);
	CHECK(open_at(dir, "/tmp/files/a", 0) >= 0 && open_at(dir, "f", O_DIRECTORY) == -ENOTDIR);
	CHECK(CALL3(NR_MKDIRAT, dir, "g", 0755) == 0 && CALL2(NR_STAT, "d/g", &st) == 0);
	CHECK(CALL3(NR_UNLINKAT, dir, "g", 0) == -EISDIR &&
	      CALL3(NR_UNLINKAT, dir, "g", 1) == -EINVAL);
	CHECK(CALL3(NR_UNLINKAT, dir, "g", 0x200) == 0);
	CHECK(syscall6(NR_RENAMEAT2, dir, (long)"f", -100, (long)"a", 1, 0) == -EEXIST);
	CHECK(syscall6(NR_RENAMEAT2, dir, (long)"f", -100, (long)"a", 0, 0) == 0);
	CHECK(CALL1(NR_FCHDIR, dir) == 0 && CALL2(NR_STAT, "e", &st) == 0);
	CHECK(CALL1(NR_FCHDIR, file) == -ENOTDIR && CALL1(NR_CHDIR, "..") == 0);
}

/* An open directory, and the current one, stay the same directory when their names go to others. */
static void test_renamed_directory(void)
{
	long dir, file;

	CHECK(CALL2(NR_MKDIR, "old", 0755) == 0 && CALL2(NR_MKDIR, "old/in", 0755) == 0);
	dir = open_at(-100, "old", O_DIRECTORY);
	file = open_at(dir, "f", O_RDWR | O_CREAT);
	CHECK(file >= 0 && CALL1(NR_CHDIR, "old/in") == 0);
	CHECK(CALL2(NR_RENAME, "/tmp/files/old", "/tmp/files/moved") == 0);
	CHECK(CALL2(NR_MKDIR, "/tmp/files/old", 0755) == 0);
	CHECK(CALL2(NR_MKDIR, "/tmp/files/old/in", 0700) == 0);
	CHECK(open_at(dir, "f", 0) >= 0 && CALL2(NR_STAT, "/tmp/files/old/f", &st) == -ENOENT);
	CHECK(CALL2(NR_GETCWD, buf, 99) == 20 && buf[11] == 'm' && buf[17] == 'i');
	CHECK(CALL2(NR_STAT, ".", &st) == 0 && (st.mode & 0777) == 0755);
	CHECK(CALL3(NR_UNLINKAT, dir, "f", 0) == 0 && CALL1(NR_RMDIR, "../in") == 0);
	CHECK(CALL2(NR_GETCWD, buf, 99) == -ENOENT && open_at(-100, "x", O_CREAT) == -ENOENT);
	CHECK(CALL1(NR_FCHDIR, dir) == 0 && CALL1(NR_CHDIR, "..") == 0);
	CHECK(CALL1(NR_RMDIR, "moved") == 0 && CALL1(NR_RMDIR, "old/in") == 0);
	CHECK(CALL1(NR_RMDIR, "old") == 0 && CALL1(NR_CLOSE, dir) == 0 &&
	      CALL1(NR_CLOSE, file) == 0);
}

static void test_sizes(void)
{
	long fd = open_at(-100, "a", O_RDWR);
	int pipe[2];
	struct {
		void *base;
		unsigned long len;
	} places[3] = { { "one", 3 }, { 0, 0 }, { " two", 4 } };

	CHECK(CALL3(NR_WRITEV, fd, places, 3) == 7 && CALL4(NR_PREAD, fd, buf, 9, 2) == 5);
	CHECK(buf[0] == 'e' && buf[4] == 'o' && CALL3(NR_LSEEK, fd, 0, 1) == 7);
	CHECK(CALL3(NR_WRITEV, fd, places, 1025) == -EINVAL &&
	      CALL3(NR_WRITEV, fd, 8, 1) == -EFAULT);
	places[1].len = ~0ul;
	CHECK(CALL3(NR_WRITEV, fd, places, 3) == -EINVAL &&
	      CALL4(NR_PREAD, fd, buf, 1, -1) == -EINVAL);
	CHECK(CALL4(NR_PWRITE, fd, "X", 1, 5000) == 1 && CALL3(NR_LSEEK, fd, 0, 2) == 5001);
	CHECK(CALL2(NR_FTRUNCATE, fd, 2) == 0 && CALL2(NR_FTRUNCATE, fd, 6000) == 0);
	CHECK(CALL4(NR_PREAD, fd, buf, 8192, 0) == 6000 && buf[1] == 'n');
	for (int i = 2; i < 6000; i++)
		CHECK(!buf[i]);
	CHECK(CALL2(NR_FTRUNCATE, fd, -1) == -EINVAL && CALL2(NR_TRUNCATE, "d", 1) == -EISDIR);
	CHECK(CALL2(NR_FTRUNCATE, 0, 1) == -EINVAL && CALL1(22, pipe) == 0);
	CHECK(CALL4(NR_PREAD, pipe[0], buf, 1, 0) == -ESPIPE);
	CHECK(CALL1(NR_UNLINK, "a") == 0 && CALL2(NR_FSTAT, fd, &st) == 0 && st.size == 6000);
	CHECK(CALL3(NR_LSEEK, fd, -1, 2) == 5999 && CALL2(NR_FCHMOD, fd, 0123) == 0);
	CHECK(CALL3(NR_FCHOWN, fd, 7, -1) == 0 && CALL2(NR_FSTAT, fd, &st) == 0);
	CHECK((st.mode & 07777) == 0123 && st.uid == 7 && st.gid == 0);
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

/* Over ends of pages, into several places, into its own mapping, and to where nothing is. */
static void test_reads(void)
{
	long fd = open_at(-100, "long", O_RDWR | O_CREAT);
	char *map = (char *)syscall6(NR_MMAP, 0, 8192, 3, 0x22, -1, 0), *own;
	struct {
		void *base;
		unsigned long len;
	} places[4] = { { 0, 0 }, { buf, 5 }, { buf, 0 }, { buf + 100, 4096 } };

	CHECK(CALL4(NR_PWRITE, fd, "0123456789", 10, 4090) == 10 &&
	      CALL2(NR_FTRUNCATE, fd, 9000) == 0);
	CHECK(CALL4(NR_PREAD, fd, buf, 8, 4089) == 8 && !buf[0] && buf[1] == '0' && buf[7] == '6');
	CHECK(CALL3(NR_LSEEK, fd, 4093, 0) == 4093 && CALL3(NR_READV, fd, places, 4) == 4101);
	CHECK(buf[0] == '3' && buf[4] == '7' && buf[100] == '8' && buf[101] == '9' && !buf[102]);
	CHECK(CALL3(NR_LSEEK, fd, 0, 1) == 8194 && CALL3(NR_READ, fd, buf, 8192) == 806);
	CHECK(CALL3(NR_READ, fd, buf, 1) == 0 && CALL4(NR_PREAD, fd, buf, 1, 1l << 40) == 0);
	own = (char *)syscall6(NR_MMAP, 0, 8192, 3, 1, fd, 0);
	CHECK(CALL4(NR_PREAD, fd, own + 4096, 4096, 0) == 4096 && own[4096 + 4090] == '0');
	CHECK(CALL2(NR_MUNMAP, map + 4096, 4096) == 0);
	CHECK(CALL4(NR_PREAD, fd, map, 8192, 0) == 4096 && map[4090] == '0');
	CHECK(CALL4(NR_PREAD, fd, map + 4096, 8192, 0) == -EFAULT);
	CHECK(CALL3(NR_LSEEK, fd, 0, 0) == 0 && CALL3(NR_READ, fd, map + 4096, 9) == -EFAULT);
	CHECK(CALL3(NR_LSEEK, fd, 0, 1) == 0 && CALL2(NR_MUNMAP, own, 8192) == 0);
	CHECK(CALL2(NR_MUNMAP, map, 4096) == 0 && CALL1(NR_UNLINK, "long") == 0);
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

/* How a directory is opened, and what is there already. */
static void test_flags(void)
{
	long fd = open_at(-100, "d", O_DIRECTORY | O_PATH);

	CHECK(fd >= 0 && open_at(fd, "e", 0) >= 0 && CALL1(NR_CLOSE, fd) == 0);
	CHECK(open_at(-100, "d", O_RDWR) == -EISDIR && open_at(-100, "d", O_CREAT) == -EISDIR);
	CHECK(open_at(-100, "d", O_CREAT | O_EXCL) == -EEXIST);
	CHECK(open_at(-100, "v", O_DIRECTORY | O_PATH) == -ENOTDIR);
	CHECK(open_at(-100, "d/no/x", O_RDWR | O_CREAT) == -ENOENT &&
	      open_at(-100, "", 0) == -ENOENT);
	CHECK(open_at(-100, "/proc/self/stat/fd", 0) == -ENOTDIR);
	fd = CALL3(NR_OPEN, "/tmp//files/./d/new", O_RDWR | O_CREAT | O_EXCL, 0640);
	CHECK(CALL2(NR_FSTAT, fd, &st) == 0 && (st.mode & 07777) == 0640);
	CHECK(CALL3(NR_OPEN, "d/new", O_RDWR | O_CREAT, 0600) >= 0);
	CHECK(CALL2(NR_FSTAT, fd, &st) == 0 && (st.mode & 07777) == 0640);
	CHECK(CALL1(NR_UNLINK, "d/new") == 0 && CALL1(NR_CLOSE, fd) == 0);
}

static long flags_of(long fd)
{
	return CALL2(NR_FCNTL, fd, 3) & ~(long)O_LARGEFILE; /* F_GETFL */
}

/* How a file is open, each flag by itself, and those that can be changed: F_GETFL, F_SETFL. */
static void test_open_flags(void)
{
	static const int flags[] = { 0, 1, 2, O_APPEND, O_NONBLOCK, 1 | O_APPEND, 2 | O_NONBLOCK };
	long fd = open_at(-100, "flags", O_RDWR | O_CREAT);

	CHECK(fd >= 0 && CALL1(NR_CLOSE, fd) == 0);
	for (unsigned i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		fd = open_at(-100, "flags", flags[i]);
		CHECK(fd >= 0 && flags_of(fd) == flags[i]);
		CHECK(CALL3(NR_FCNTL, fd, 4, O_APPEND | O_CREAT) == 0);
		CHECK(flags_of(fd) == ((flags[i] & 3) | O_APPEND));
		CHECK(CALL3(NR_FCNTL, fd, 4, O_NONBLOCK | 1) == 0);
		CHECK(flags_of(fd) == ((flags[i] & 3) | O_NONBLOCK));
		CHECK(CALL3(NR_FCNTL, fd, 4, 0) == 0 && flags_of(fd) == (flags[i] & 3));
		CHECK(CALL1(NR_CLOSE, fd) == 0 && flags_of(fd) == (-EBADF & ~O_LARGEFILE));
	}
	CHECK(CALL1(NR_UNLINK, "flags") == 0);
}

/* From the middle of a file, to another and to a pipe; the end is where it was. */
static void test_sendfile(void)
{
	long from = open_at(-100, "from", O_RDWR | O_CREAT),
	     to = open_at(-100, "to", O_RDWR | O_CREAT);
	long offset = 2;
	int pipe[2];

	CHECK(CALL3(NR_WRITE, from, "0123456789", 10) == 10);
	CHECK(CALL4(NR_SENDFILE, to, from, &offset, 5) == 5 && offset == 7);
	CHECK(CALL4(NR_SENDFILE, to, from, &offset, 99) == 3 &&
	      CALL4(NR_SENDFILE, to, from, 0, 9) == 0);
	CHECK(CALL4(NR_PREAD, to, buf, 99, 0) == 8 && buf[0] == '2' && buf[7] == '9');
	CHECK(CALL1(22, pipe) == 0 && CALL3(NR_LSEEK, from, 0, 0) == 0);
	CHECK(CALL4(NR_SENDFILE, pipe[1], from, 0, 3) == 3 && CALL3(NR_READ, pipe[0], buf, 9) == 3);
	CHECK(CALL4(NR_SENDFILE, to, pipe[0], 0, 3) == -EINVAL);
	CHECK(CALL4(NR_SENDFILE, pipe[0], from, 0, 3) == -EBADF);
	CHECK(CALL4(NR_SENDFILE, to, from, 8, 3) == -EFAULT);
	CHECK(CALL1(NR_UNLINK, "from") == 0 && CALL1(NR_UNLINK, "to") == 0);
}

/* A byte far behind all others costs little memory; what is cut off is gone. */
static void test_far(void)
{
	const long far = 1l << 40, middle = 3l << 22;
	long fd = open_at(-100, "far", O_RDWR | O_CREAT);

	CHECK(CALL4(NR_PWRITE, fd, "abc", 3, 0) == 3 && CALL4(NR_PWRITE, fd, "m", 1, middle) == 1);
	CHECK(CALL4(NR_PWRITE, fd, "x", 1, far) == 1);
	CHECK(CALL2(NR_STAT, "far", &st) == 0 && st.size == far + 1);
	CHECK(CALL4(NR_PREAD, fd, buf, 9, far) == 1 && buf[0] == 'x');
	CHECK(CALL4(NR_PREAD, fd, buf, 3, 0) == 3 && buf[2] == 'c');
	CHECK(CALL4(NR_PREAD, fd, buf, 1, far / 2) == 1 && buf[0] == 0);
	CHECK(CALL2(NR_TRUNCATE, "far", middle + 1) == 0 &&
	      CALL2(NR_TRUNCATE, "far", far + 1) == 0);
	CHECK(CALL4(NR_PREAD, fd, buf, 9, far) == 1 && buf[0] == 0);
	CHECK(CALL4(NR_PREAD, fd, buf, 2, middle) == 2 && buf[0] == 'm' && buf[1] == 0);
	CHECK(CALL2(NR_TRUNCATE, "far", 1) == 0 && CALL2(NR_TRUNCATE, "far", 3) == 0);
	CHECK(CALL4(NR_PREAD, fd, buf, 9, 0) == 3 && buf[0] == 'a' && buf[1] == 0 && buf[2] == 0);
	CHECK(CALL1(NR_CLOSE, fd) == 0 && CALL1(NR_UNLINK, "far") == 0);
}

static void test_times(void)
{
	unsigned long times[4] = { 1000, 1, 0, 0x3ffffffe };

	CHECK(CALL2(NR_STAT, "d", &st) == 0 && st.mtime[0] > 1700000000ul);
	CHECK(CALL4(NR_UTIMENSAT, -100, "d", times, 0) == 0);
	CHECK(CALL2(NR_STAT, "d", &st) == 0 && st.mtime[0] > 1700000000ul);
	CHECK(st.atime[0] == 1000 && st.atime[1] == 1);
	times[1] = 1000000000;
	CHECK(CALL4(NR_UTIMENSAT, -100, "d", times, 0) == -EINVAL);
	CHECK(CALL4(NR_UTIMENSAT, -100, "d", 8, 0) == -EFAULT);
	CHECK(CALL2(NR_CLOCK_GETTIME, 0, times) == 0 &&
	      times[0] - (unsigned long)CALL1(NR_TIME, 0) < 2);
	CHECK(CALL2(NR_CLOCK_GETTIME, 1, times) == 0 && times[0] < 1000000);
	CHECK(CALL2(NR_STATFS, "/proc/..", buf) == 0 && *(unsigned int *)buf == 0x858458f6);
	CHECK(CALL2(NR_STATFS, "/nowhere", buf) == -ENOENT && CALL2(NR_STATFS, "/", 8) == -EFAULT);
}

void main_program(long *sp)
{
	(void)sp;
	test_links();
	test_directories();
	test_renamed_directory();
	test_sizes();
	test_reads();
	test_flags();
	test_open_flags();
	test_sendfile();
	test_far();
	test_times();
	CHECK(CALL1(NR_UNLINK, "b") == 0 && CALL1(NR_UNLINK, "v") == 0);
	CHECK(CALL1(NR_RMDIR, "d/e") == 0 && CALL1(NR_RMDIR, "d") == 0);
	CHECK(CALL1(NR_CHDIR, "/") == 0 && CALL1(NR_RMDIR, "/tmp/files") == 0);
	put("files are as they should be\n");
	sys_exit(0);
}

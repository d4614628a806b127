/*
 * Tests of pipes: their size and its change, and pipes with a name. To be started by root. Ends with 0, or with the line of
 * the check that failed. The directory /tmp/pipes is made and removed.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_FSTAT = 5,
	NR_LSTAT = 6,
	NR_POLL = 7,
	NR_LSEEK = 8,
	NR_KILL = 62,
	NR_FCNTL = 72,
	NR_TRUNCATE = 76,
	NR_CHDIR = 80,
	NR_RENAME = 82,
	NR_MKDIR = 83,
	NR_RMDIR = 84,
	NR_UMASK = 95,
	NR_MKNOD = 133,
	NR_MKNODAT = 259,
	NR_PIPE2 = 293
};

enum {
	EPERM = 1,
	ENOENT = 2,
	ENXIO = 6,
	EBADF = 9,
	EAGAIN = 11,
	EACCES = 13,
	EBUSY = 16,
	EEXIST = 17,
	EINVAL = 22,
	ESPIPE = 29,
	EPIPE = 32
};
enum {
	O_WRONLY = 1,
	O_RDWR = 2,
	O_NONBLOCK = 04000,
	F_SETPIPE_SZ = 1031,
	F_GETPIPE_SZ = 1032,
	S_IFIFO = 010000,
	S_IFDIR = 040000,
	S_IFREG = 0100000,
	SIGKILL = 9
};
enum {
	POLLOUT = 4,
	POLLHUP = 16
};

#define PAGE 4096
#define SIZE (16 * PAGE)

static char out[SIZE], in[SIZE], long_out[SIZE + PAGE], long_in[SIZE + PAGE];

static uint32_t mode_of(const char *path)
{
	struct stat stat;

	CHECK(CALL2(NR_LSTAT, path, &stat) == 0);
	return stat.mode;
}

static long open_file(const char *path, int flags)
{
	return CALL3(NR_OPEN, path, flags, 0);
}

static void close_file(long fd)
{
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

static int events_of(long fd)
{
	struct {
		int fd;
		int16_t events, revents;
	} poll = { (int)fd, 1 | POLLOUT, 0 };

	CHECK(CALL3(NR_POLL, &poll, 1, 0) >= 0);
	return poll.revents;
}

/* Read what is expected: bytes of `out` from `pos` on. */
static void expect(long fd, long pos, long len)
{
	CHECK(CALL3(NR_READ, fd, in, len) == len);
	for (long i = 0; i < len; i++)
		CHECK(in[i] == out[pos + i]);
}

static void test_size(void)
{
	int fds[2];

	CHECK(CALL2(NR_PIPE2, fds, O_NONBLOCK) == 0);
	CHECK(CALL3(NR_FCNTL, fds[0], F_GETPIPE_SZ, 0) == SIZE);
	CHECK(CALL3(NR_WRITE, fds[1], out, SIZE) == SIZE);
	CHECK(CALL3(NR_WRITE, fds[1], out, 1) == -EAGAIN);
	CHECK(CALL3(NR_FCNTL, fds[1], F_SETPIPE_SZ, SIZE / 2) == -EBUSY);
	CHECK(CALL3(NR_FCNTL, fds[1], F_SETPIPE_SZ, SIZE + 1) == 2 * SIZE);
	CHECK(CALL3(NR_FCNTL, fds[0], F_GETPIPE_SZ, 0) == 2 * SIZE);
	CHECK(CALL3(NR_WRITE, fds[1], out, SIZE) == SIZE);
	CHECK(CALL3(NR_WRITE, fds[1], out, 1) == -EAGAIN);
	expect(fds[0], 0, SIZE);
	expect(fds[0], 0, SIZE - PAGE);
	CHECK(CALL3(NR_FCNTL, fds[0], F_SETPIPE_SZ, 0) == PAGE);
	expect(fds[0], SIZE - PAGE, PAGE);
	CHECK(CALL3(NR_WRITE, fds[1], out, 2 * PAGE) == PAGE);
	CHECK(CALL3(NR_FCNTL, fds[0], F_SETPIPE_SZ, 0x80000001ul) == -EINVAL);
	close_file(fds[0]);
	CHECK(CALL3(NR_FCNTL, fds[0], F_GETPIPE_SZ, 0) == -EBADF);
	close_file(fds[1]);
}

/* Without waiting, as much of a long write goes in as there is room for: its odd bytes in a page that is begun, then pages. */
static void test_parts(void)
{
	static const struct {
		long size, before, len, put;
	} rows[] = {
		{ PAGE, 1, 5000, 5000 - PAGE },
		{ PAGE, 1, 2 * PAGE, -EAGAIN },
		{ PAGE, 3900, 5000, -EAGAIN },
		{ SIZE, 1, SIZE, SIZE - PAGE },
		{ SIZE, 100, SIZE + 400, SIZE - PAGE + 400 },
		{ SIZE, 0, SIZE + 400, SIZE },
		{ 2 * PAGE, 0, 5000, 5000 },
		{ 2 * PAGE, 5000, 4000, -EAGAIN },
	};
	int fds[2];

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		CHECK(CALL2(NR_PIPE2, fds, O_NONBLOCK) == 0);
		CHECK(CALL3(NR_FCNTL, fds[0], F_SETPIPE_SZ, rows[i].size) == rows[i].size);
		CHECK(CALL3(NR_WRITE, fds[1], out, rows[i].before) == rows[i].before);
		CHECK(CALL3(NR_WRITE, fds[1], long_out, rows[i].len) == rows[i].put);
		expect(fds[0], 0, rows[i].before);
		if (rows[i].put > 0)
			CHECK(CALL3(NR_READ, fds[0], long_in, rows[i].put) == rows[i].put);
		for (long at = 0; at < rows[i].put; at++)
			CHECK(long_in[at] == long_out[at]);
		CHECK(CALL3(NR_READ, fds[0], in, 1) == -EAGAIN);
		close_file(fds[0]);
		close_file(fds[1]);
	}
}

/* Bytes that begin and end within the pages of the ring keep their order when it gets another size. */
static void test_moved_bytes(void)
{
	int fds[2];

	CHECK(CALL2(NR_PIPE2, fds, O_NONBLOCK) == 0);
	for (int i = 0; i < 5; i++) {
		CHECK(CALL3(NR_WRITE, fds[1], out, 15 * PAGE - 100) == 15 * PAGE - 100);
		expect(fds[0], 0, 100);
		CHECK(CALL3(NR_FCNTL, fds[1], F_SETPIPE_SZ, i % 2 ? SIZE : 2 * SIZE) > 0);
		expect(fds[0], 100, 15 * PAGE - 200);
	}
	close_file(fds[0]);
	close_file(fds[1]);
}

static void test_names(void)
{
	struct stat stat;
	long fd;

	CALL1(NR_UMASK, 027);
	CHECK(CALL3(NR_MKNOD, "fifo", S_IFIFO | 0666, 0) == 0 && mode_of("fifo") == 010640);
	CHECK(CALL4(NR_MKNODAT, -100, "file", 0666, 0) == 0 && mode_of("file") == 0100640);
	CHECK(CALL3(NR_MKNOD, "fifo", S_IFREG, 0) == -EEXIST);
	CHECK(CALL3(NR_MKNOD, "file", S_IFIFO, 0) == -EEXIST);
	CHECK(CALL3(NR_MKNOD, "no/fifo", S_IFIFO, 0) == -ENOENT);
	CHECK(CALL3(NR_MKNOD, "dir", S_IFDIR, 0) == -EPERM);
	CHECK(CALL3(NR_MKNOD, "link", 0120000, 0) == -EINVAL);
	CHECK(CALL3(NR_MKNOD, "/proc/fifo", S_IFIFO, 0) == -ENOENT);
	CHECK(CALL3(NR_OPEN, "fifo", 0300 | O_RDWR, 0) == -EEXIST);
	CHECK(CALL2(NR_TRUNCATE, "fifo", 0) == -EINVAL);
	CHECK(CALL3(NR_EXECVE, "./fifo", 0, 0) == -EACCES);
	fd = open_file("fifo", 010000000); /* O_PATH */
	CHECK(fd >= 0 && CALL3(NR_WRITE, fd, "x", 1) == -EBADF && CALL1(NR_CLOSE, fd) == 0);
	CHECK(CALL2(NR_RENAME, "fifo", "pipe") == 0 && mode_of("pipe") == 010640);
	fd = open_file("pipe", O_RDWR);
	CHECK(CALL1(NR_UNLINK, "pipe") == 0 && CALL1(NR_UNLINK, "file") == 0);
	CHECK(CALL2(NR_FSTAT, fd, &stat) == 0 && stat.mode == 010640 && stat.nlink == 0);
	CHECK(CALL3(NR_WRITE, fd, "xy", 2) == 2 && CALL3(NR_READ, fd, in, 9) == 2 && in[1] == 'y');
	CHECK(CALL3(NR_LSEEK, fd, 0, 0) == -ESPIPE && CALL1(NR_CLOSE, fd) == 0);
}

/* Ends that never wait: a writer needs a reader, a reader without a writer is at the end. */
static void test_ends(void)
{
	long reader, writer, other;

	CHECK(open_file("fifo", O_WRONLY | O_NONBLOCK) == -ENXIO);
	reader = open_file("fifo", O_NONBLOCK);
	CHECK(reader >= 0 && CALL3(NR_READ, reader, in, 1) == 0 && events_of(reader) == 0);
	writer = open_file("fifo", O_WRONLY);
	CHECK(writer >= 0 && CALL3(NR_READ, reader, in, 1) == -EAGAIN);
	CHECK(CALL3(NR_READ, writer, in, 1) == -EBADF && CALL3(NR_WRITE, reader, in, 1) == -EBADF);
	CHECK(CALL3(NR_FCNTL, writer, F_SETPIPE_SZ, PAGE) == PAGE);
	CHECK(CALL3(NR_FCNTL, reader, F_GETPIPE_SZ, 0) == PAGE);
	other = open_file("fifo", O_WRONLY | O_NONBLOCK);
	CHECK(CALL3(NR_WRITE, writer, "ab", 2) == 2 && CALL3(NR_WRITE, other, "c", 1) == 1);
	close_file(writer);
	expect(reader, 'a', 2);
	expect(reader, 'c', 1);
	CHECK(CALL3(NR_READ, reader, in, 1) == -EAGAIN);
	CHECK(events_of(reader) == 0 && events_of(other) == POLLOUT);
	close_file(other);
	CHECK(CALL3(NR_READ, reader, in, 1) == 0 && events_of(reader) == POLLHUP);
	writer = open_file("fifo", O_WRONLY);
	CHECK(CALL3(NR_WRITE, writer, "forgotten", 9) == 9);
	close_file(reader);
	CHECK(open_file("fifo", O_WRONLY | O_NONBLOCK) == -ENXIO);
	close_file(writer);
	reader = open_file("fifo", O_RDWR | O_NONBLOCK);
	CHECK(CALL3(NR_READ, reader, in, 1) == -EAGAIN && CALL1(NR_CLOSE, reader) == 0);
}

/* A child opens one side, and the running program the other: each waits for the other one. */
static void test_meeting(int child_flags, int flags)
{
	long fd, pid = CALL0(NR_FORK);
	int status;

	if (!pid) {
		fd = open_file("fifo", child_flags);
		if (child_flags == O_WRONLY)
			CALL3(NR_WRITE, fd, "ab", 2);
		else
			expect(fd, 'a', 2);
		sys_exit(fd < 0);
	}
	fd = open_file("fifo", flags);
	CHECK(fd >= 0);
	if (flags == O_WRONLY)
		CHECK(CALL3(NR_WRITE, fd, "ab", 2) == 2);
	else
		expect(fd, 'a', 2);
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 0);
	CHECK(flags == O_WRONLY || CALL3(NR_READ, fd, in, 1) == 0);
	close_file(fd);
}

/* One that waits for the other side can be ended, and counts no more. */
static void test_end_of_wait(void)
{
	long pid = CALL0(NR_FORK);
	int status;

	if (!pid) {
		open_file("fifo", 0);
		sys_exit(0);
	}
	CHECK(CALL2(NR_KILL, pid, SIGKILL) == 0);
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == SIGKILL);
	CHECK(open_file("fifo", O_WRONLY | O_NONBLOCK) == -ENXIO);
}

void main_program(long *sp)
{
	(void)sp;
	for (volatile long i = 0; i < SIZE; i++)
		out[i] = (char)i;
	for (volatile long i = 0; i < SIZE + PAGE; i++)
		long_out[i] = (char)(i % 253);
	CHECK(CALL2(NR_MKDIR, "/tmp/pipes", 0755) == 0 && CALL1(NR_CHDIR, "/tmp/pipes") == 0);
	test_size();
	test_parts();
	test_moved_bytes();
	test_names();
	CHECK(CALL3(NR_MKNOD, "fifo", S_IFIFO | 0600, 0) == 0);
	test_ends();
	test_meeting(O_WRONLY, 0);
	test_meeting(0, O_WRONLY);
	test_end_of_wait();
	CHECK(CALL1(NR_UNLINK, "fifo") == 0 && CALL1(NR_RMDIR, "/tmp/pipes") == 0);
	put("pipes are as they should be\n");
	sys_exit(0);
}

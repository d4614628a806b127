/*
 * Tests of locks of files: those of bytes, of processes and of open files, and flock(). Ends with 0, or with the line of the
 * check that failed. The file /tmp/locks is made and removed.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_PIPE = 22,
	NR_ALARM = 37,
	NR_DUP = 32,
	NR_FCNTL = 72,
	NR_FLOCK = 73,
	NR_NANOSLEEP = 35,
	NR_KILL = 62
};

enum {
	EINTR = 4,
	EBADF = 9,
	EAGAIN = 11,
	EINVAL = 22,
	EDEADLK = 35
};

enum {
	O_WRONLY = 1,
	O_RDWR = 2,
	O_CREAT = 0100
};

enum {
	F_GETLK = 5,
	F_SETLK,
	F_SETLKW,
	F_OFD_GETLK = 36,
	F_OFD_SETLK,
	F_OFD_SETLKW
};

enum {
	F_RDLCK,
	F_WRLCK,
	F_UNLCK
};

enum {
	LOCK_SH = 1,
	LOCK_EX = 2,
	LOCK_NB = 4,
	LOCK_UN = 8
};

struct flock {
	int16_t type, whence;
	int64_t start, len;
	int32_t pid;
};

static const char path[] = "/tmp/locks";

static long open_it(void)
{
	return CALL3(NR_OPEN, path, O_RDWR | O_CREAT, 0600);
}

static long lock(long fd, int cmd, int type, long start, long len)
{
	struct flock lock = { .type = (int16_t)type, .start = start, .len = len };

	return CALL3(NR_FCNTL, fd, cmd, &lock);
}

/* The type of the lock that another process would meet there. */
static int held(long fd, long start, long len, struct flock *out)
{
	*out = (struct flock){ .type = F_WRLCK, .start = start, .len = len };
	CHECK(CALL3(NR_FCNTL, fd, F_GETLK, out) == 0);
	return out->type;
}

static long wait_for(long pid)
{
	int status = -1;

	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid);
	return status;
}

/* The result of fn(fd) in a child, which has its own open file. */
static long in_child(long (*fn)(long fd))
{
	long pid = CALL0(NR_FORK);

	if (!pid)
		sys_exit((int)fn(open_it()) & 0xff);
	return (int8_t)(wait_for(pid) >> 8);
}

static long looks(long fd)
{
	struct flock at;

	CHECK(held(fd, 0, 10, &at) == F_UNLCK);
	CHECK(held(fd, 0, 0, &at) == F_WRLCK && at.start == 10 && at.len == 10 && at.pid > 0);
	CHECK(held(fd, 20, 5, &at) == F_RDLCK && at.start == 20 && at.len == 10);
	CHECK(held(fd, 30, 1, &at) == F_WRLCK && at.start == 30 && at.len == 0);
	CHECK(lock(fd, F_SETLK, F_RDLCK, 22, 3) == 0 &&
	      lock(fd, F_SETLK, F_WRLCK, 22, 3) == -EAGAIN);
	CHECK(lock(fd, F_SETLK, F_RDLCK, 15, 1) == -EAGAIN &&
	      lock(fd, F_SETLK, F_WRLCK, 0, 10) == 0);
	return 0;
}

static long locks_all(long fd)
{
	return lock(fd, F_SETLK, F_WRLCK, 0, 0);
}

/* Bytes are cut out of locks and joined to them; those of a process end with any descriptor of the file, and with it. */
static void test_ranges(void)
{
	struct flock at = { .type = F_WRLCK, .whence = 2, .start = -5, .len = -5 };
	long fd = open_it(), other = open_it();

	CHECK(CALL3(NR_WRITE, fd, "0123456789012345678901234567890123456789", 40) == 40);
	CHECK(lock(fd, F_SETLK, F_WRLCK, 10, 0) == 0 && lock(fd, F_SETLK, F_RDLCK, 20, 10) == 0);
	CHECK(held(other, 0, 0, &at) == F_UNLCK); /* its own */
	CHECK(in_child(looks) == 0);
	CHECK(lock(fd, F_SETLK, F_WRLCK, 20, 10) == 0 && lock(fd, F_SETLK, F_UNLCK, 15, 100) == 0);
	CHECK(in_child(locks_all) == -EAGAIN);
	CHECK(CALL1(NR_CLOSE, other) == 0 && in_child(locks_all) == 0);
	CHECK(in_child(locks_all) == 0); /* that child's lock has ended with it */
	at = (struct flock){ .type = F_WRLCK, .whence = 2, .start = -5, .len = -5 };
	CHECK(CALL3(NR_FCNTL, fd, F_SETLK, &at) == 0 &&
	      lock(fd, F_SETLK, F_WRLCK, -1, 1) == -EINVAL);
	CHECK(lock(fd, F_SETLK, 3, 0, 1) == -EINVAL && lock(99, F_SETLK, F_RDLCK, 0, 1) == -EBADF);
	CHECK(CALL1(NR_CLOSE, fd) == 0);
	fd = CALL3(NR_OPEN, path, O_WRONLY, 0);
	CHECK(lock(fd, F_SETLK, F_RDLCK, 0, 1) == -EBADF && CALL1(NR_CLOSE, fd) == 0);
}

static long waits(long fd)
{
	return lock(fd, F_SETLKW, F_WRLCK, 0, 1);
}

static void test_waits(void)
{
	static const struct {
		int64_t sec, nsec;
	} moment = { 0, 20000000 };
	long fd = open_it(), pid;

	CHECK(lock(fd, F_SETLK, F_WRLCK, 0, 1) == 0);
	pid = CALL0(NR_FORK);
	if (!pid)
		sys_exit((int)waits(open_it()) & 0xff);
	CHECK(CALL2(NR_NANOSLEEP, &moment, 0) == 0 && lock(fd, F_SETLK, F_UNLCK, 0, 1) == 0);
	CHECK(wait_for(pid) == 0);
	/* One that waits can be killed. */
	CHECK(lock(fd, F_SETLK, F_WRLCK, 0, 1) == 0);
	pid = CALL0(NR_FORK);
	if (!pid)
		sys_exit((int)waits(open_it()) & 0xff);
	CHECK(CALL2(NR_NANOSLEEP, &moment, 0) == 0 && CALL2(NR_KILL, pid, 9) == 0 &&
	      wait_for(pid) == 9);
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

/* Two that would wait for each other: one of them hears of it. */
static void test_deadlock(void)
{
	long fd = open_it(), pid, result;
	int ready[2];
	char byte;

	CHECK(CALL1(NR_PIPE, ready) == 0 && lock(fd, F_SETLK, F_WRLCK, 0, 1) == 0);
	pid = CALL0(NR_FORK);
	if (!pid) {
		fd = open_it();
		CHECK(lock(fd, F_SETLK, F_WRLCK, 1, 1) == 0 &&
		      CALL3(NR_WRITE, ready[1], "x", 1) == 1);
		result = lock(fd, F_SETLKW, F_WRLCK, 0, 1);
		sys_exit(result == -EDEADLK ? 2 : (int)result);
	}
	CHECK(CALL3(NR_READ, ready[0], &byte, 1) == 1);
	result = lock(fd, F_SETLKW, F_WRLCK, 1, 1);
	CHECK(result == 0 || result == -EDEADLK);
	CHECK(lock(fd, F_SETLK, F_UNLCK, 0, 0) == 0);
	CHECK(wait_for(pid) == (result ? 0 : 2) << 8);
	CHECK(CALL1(NR_CLOSE, fd) == 0 && CALL1(NR_CLOSE, ready[0]) == 0 &&
	      CALL1(NR_CLOSE, ready[1]) == 0);
}

/* Locks of open files: copies of a descriptor have the same, and the last one ends them. */
static void test_open_files(void)
{
	struct flock at = { .type = F_WRLCK };
	long fd = open_it(), other = open_it(), copy;

	CHECK(lock(fd, F_OFD_SETLK, F_WRLCK, 0, 10) == 0 &&
	      lock(other, F_OFD_SETLK, F_RDLCK, 5, 1) == -EAGAIN);
	CHECK(CALL3(NR_FCNTL, other, F_OFD_GETLK, &at) == 0 && at.type == F_WRLCK && at.pid == -1 &&
	      at.len == 10);
	CHECK(lock(other, F_SETLK, F_RDLCK, 5, 1) == -EAGAIN);
	copy = CALL1(NR_DUP, fd);
	CHECK(copy >= 0 && CALL1(NR_CLOSE, fd) == 0 &&
	      lock(other, F_OFD_SETLK, F_RDLCK, 5, 1) == -EAGAIN);
	CHECK(CALL1(NR_CLOSE, copy) == 0 && lock(other, F_OFD_SETLKW, F_WRLCK, 5, 1) == 0);
	CHECK(CALL1(NR_CLOSE, other) == 0);
}

static void test_flock(void)
{
	long fd = open_it(), other = open_it();

	CHECK(CALL2(NR_FLOCK, fd, LOCK_SH) == 0 && CALL2(NR_FLOCK, other, LOCK_SH | LOCK_NB) == 0);
	CHECK(CALL2(NR_FLOCK, fd, LOCK_EX | LOCK_NB) == -EAGAIN &&
	      CALL2(NR_FLOCK, other, LOCK_UN) == 0);
	CHECK(CALL2(NR_FLOCK, fd, LOCK_EX) == 0 &&
	      CALL2(NR_FLOCK, other, LOCK_SH | LOCK_NB) == -EAGAIN);
	CHECK(lock(other, F_SETLK, F_WRLCK, 0, 0) == 0); /* the two kinds do not meet */
	CHECK(CALL2(NR_FLOCK, fd, 3) == -EINVAL && CALL2(NR_FLOCK, 99, LOCK_SH) == -EBADF);
	CHECK(CALL1(NR_CLOSE, fd) == 0 && CALL2(NR_FLOCK, other, LOCK_EX | LOCK_NB) == 0 &&
	      CALL1(NR_CLOSE, other) == 0);
}

void main_program(long *sp)
{
	(void)sp;
	test_ranges();
	test_waits();
	test_deadlock();
	test_open_files();
	test_flock();
	CHECK(CALL1(NR_UNLINK, path) == 0);
	put("locks are as they should be\n");
	sys_exit(0);
}

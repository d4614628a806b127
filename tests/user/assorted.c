/*
 * Tests of calls that few programs make: several places at a position, tee(), vmsplice(), times of files by the second, memory
 * that is locked, fexecve(). To be started by root. Ends with 0, or with the line of the check that failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("failed: line %d (errno %d): %s\n", __LINE__, errno, #cond);        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
/* The call fails with this error. */
#define FAILS(error, call) CHECK((call) == -1 && errno == (error))

#define PAGE 4096

static char bytes[16 * PAGE + 1];

static void test_vectors(int fd)
{
	char a[4] = "", b[8] = "";
	struct iovec out[2] = { { "abc", 3 }, { "defgh", 5 } };
	struct iovec in[2] = { { a, 3 }, { b, 5 } };

	CHECK(pwritev(fd, out, 2, 100) == 8 && lseek(fd, 0, SEEK_CUR) == 0);
	CHECK(preadv(fd, in, 2, 100) == 8 && strcmp(a, "abc") == 0 && strcmp(b, "defgh") == 0);
	CHECK(pwritev2(fd, out, 2, -1, 0) == 8 && lseek(fd, 0, SEEK_CUR) == 8);
	CHECK(lseek(fd, 2, SEEK_SET) == 2 && preadv2(fd, in, 2, -1, 0) == 8);
	CHECK(memcmp(a, "cde", 3) == 0 && memcmp(b, "fgh\0\0", 5) == 0);
	CHECK(pwritev2(fd, out, 1, 50, RWF_DSYNC | RWF_SYNC) == 3);
	FAILS(EINVAL, preadv(fd, in, 2, -5));
	FAILS(EOPNOTSUPP, preadv2(fd, in, 2, 0, 1 << 20));
	FAILS(EBADF, preadv(99, in, 2, 0));
}

static void test_tee(void)
{
	int from[2], to[2], status;
	pid_t pid;

	CHECK(pipe(from) == 0 && pipe(to) == 0 && write(from[1], "hello", 5) == 5);
	CHECK(tee(from[0], to[1], 3, 0) == 3 && read(to[0], bytes, 9) == 3);
	CHECK(tee(from[0], to[1], 99, 0) == 5 && read(to[0], bytes, 9) == 5);
	CHECK(memcmp(bytes, "hello", 5) == 0 && read(from[0], bytes, 9) == 5);
	FAILS(EAGAIN, tee(from[0], to[1], 9, SPLICE_F_NONBLOCK));
	FAILS(EINVAL, tee(from[0], from[1], 9, 0));
	FAILS(EBADF, tee(from[1], to[1], 9, 0));
	FAILS(EBADF, tee(from[0], to[0], 9, 0));
	FAILS(EINVAL, tee(from[0], to[1], 9, 1 << 8));
	memset(bytes, 'x', sizeof(bytes));
	CHECK(write(from[1], bytes, 16 * PAGE) == 16 * PAGE);
	CHECK(tee(from[0], to[1], 16 * PAGE, 0) == 16 * PAGE);
	FAILS(EAGAIN, tee(from[0], to[1], 1, SPLICE_F_NONBLOCK));
	CHECK(read(to[0], bytes, 2 * PAGE) == 2 * PAGE);
	CHECK(tee(from[0], to[1], 16 * PAGE, 0) == 2 * PAGE);
	pid = fork();
	if (!pid)
		exit(tee(from[0], to[1], 10, 0) != 10); /* waits for room */
	CHECK(read(to[0], bytes, PAGE) == PAGE);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	close(from[1]);
	CHECK(read(from[0], bytes, sizeof(bytes)) == 16 * PAGE && read(to[0], bytes, PAGE) == PAGE);
	CHECK(tee(from[0], to[1], 1, 0) == 0);
	close(from[0]);
	close(to[0]);
	close(to[1]);
}

static void test_vmsplice(int file)
{
	struct iovec out[2] = { { "abc", 3 }, { "de", 2 } }, in = { bytes, 9 };
	int end[2];

	CHECK(pipe(end) == 0 && vmsplice(end[1], out, 2, 0) == 5);
	CHECK(vmsplice(end[0], &in, 1, 0) == 5 && memcmp(bytes, "abcde", 5) == 0);
	FAILS(EBADF, vmsplice(file, out, 2, 0));
	FAILS(EINVAL, vmsplice(end[1], out, 2, 1 << 8));
	close(end[0]);
	close(end[1]);
}

static void test_times(const char *name)
{
	const struct timeval times[2] = { { 1000, 250000 }, { 2000, 500000 } };
	const struct timeval wrong[2] = { { 1, 1000000 }, { 2, 0 } };
	const struct utimbuf seconds = { 3000, 4000 };
	struct stat st;

	CHECK(utimes(name, times) == 0 && stat(name, &st) == 0);
	CHECK(st.st_atim.tv_sec == 1000 && st.st_atim.tv_nsec == 250000000);
	CHECK(st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 500000000);
	FAILS(EINVAL, utimes(name, wrong));
	CHECK(utime(name, &seconds) == 0 && stat(name, &st) == 0);
	CHECK(st.st_atim.tv_sec == 3000 && st.st_mtim.tv_sec == 4000 && st.st_mtim.tv_nsec == 0);
	CHECK(utime(name, NULL) == 0 && stat(name, &st) == 0 && st.st_mtim.tv_sec > 4000);
	FAILS(ENOENT, utime("/tmp/there is none", NULL));
	CHECK(futimesat(AT_FDCWD, name, times) == 0 && stat(name, &st) == 0 && st.st_atime == 1000);
}

static void test_locked_memory(void)
{
	char *memory =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char there[4];

	CHECK(memory != MAP_FAILED && mlock(memory + 10, PAGE) == 0);
	CHECK(mincore(memory, 4 * PAGE, there) == 0 && there[0] & 1 && there[1] & 1 &&
	      !(there[3] & 1));
	CHECK(mlock2(memory, 4 * PAGE, MLOCK_ONFAULT) == 0 && munlock(memory, 4 * PAGE) == 0);
	CHECK(mprotect(memory + 2 * PAGE, PAGE, PROT_NONE) == 0);
	FAILS(ENOMEM, mlock(memory, 4 * PAGE));
	CHECK(munmap(memory + 2 * PAGE, PAGE) == 0);
	FAILS(ENOMEM, mlock(memory, 4 * PAGE));
	FAILS(ENOMEM, munlock(memory, 4 * PAGE));
	FAILS(EINVAL, mlock2(memory, PAGE, 2));
	FAILS(EINVAL, mlockall(0));
	FAILS(EINVAL, mlockall(8));
	CHECK(mlockall(MCL_CURRENT) == 0 && munlockall() == 0);
	CHECK(mincore(memory + 3 * PAGE, PAGE, there) == 0 && there[0] & 1);
}

/* A user may lock as much as his limit says. */
static void test_lock_limit(void)
{
	const struct rlimit some = { 2 * PAGE, 2 * PAGE }, none = { 0, 0 };
	char *memory = mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid = fork();

	if (!pid) {
		CHECK(setrlimit(RLIMIT_MEMLOCK, &some) == 0 && setuid(1000) == 0);
		CHECK(mlock(memory, 2 * PAGE) == 0 && munlock(memory, 2 * PAGE) == 0);
		FAILS(ENOMEM, mlock(memory, 3 * PAGE));
		FAILS(ENOMEM, mlockall(MCL_CURRENT));
		CHECK(setrlimit(RLIMIT_MEMLOCK, &none) == 0);
		FAILS(EPERM, mlock(memory, PAGE));
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void test_turns(void)
{
	const struct sched_param usual = { 0 }, one = { .sched_priority = 1 };
	struct timespec turn;

	CHECK(sched_rr_get_interval(0, &turn) == 0 && turn.tv_sec == 0 && turn.tv_nsec > 0);
	CHECK(sched_setscheduler(0, SCHED_RR, &one) == 0);
	CHECK(sched_rr_get_interval(0, &turn) == 0 && turn.tv_nsec == 100000000);
	CHECK(sched_setscheduler(0, SCHED_FIFO, &one) == 0);
	CHECK(sched_rr_get_interval(0, &turn) == 0 && turn.tv_sec == 0 && turn.tv_nsec == 0);
	CHECK(sched_setscheduler(0, SCHED_OTHER, &usual) == 0);
	FAILS(EINVAL, sched_rr_get_interval(-1, &turn));
	FAILS(ESRCH, sched_rr_get_interval(99999, &turn));
}

static void test_written(int fd)
{
	CHECK(syncfs(fd) == 0 && sync_file_range(fd, 0, 10, SYNC_FILE_RANGE_WRITE) == 0);
	CHECK(readahead(fd, 0, 10) == 0);
	FAILS(EBADF, syncfs(99));
	FAILS(EINVAL, sync_file_range(fd, 0, 10, 8));
	FAILS(EINVAL, sync_file_range(fd, -1, 10, 0));
	FAILS(EBADF, readahead(99, 0, 10));
}

/* An empty file system over a directory, whose files are there again afterwards. */
static void test_mounts(void)
{
	const char dir[] = "/tmp/assorted.dir", below[] = "/tmp/assorted.dir/below",
		   in[] = "/tmp/assorted.dir/a/b/in";
	struct stat st;
	int fd;

	CHECK(mkdir(dir, 0700) == 0 && mkdir(below, 0700) == 0);
	CHECK(mount("none", dir, "tmpfs", MS_NOSUID, "mode=750,uid=3,gid=4") == 0);
	CHECK(stat(dir, &st) == 0 && (st.st_mode & 07777) == 0750 && st.st_uid == 3 &&
	      st.st_gid == 4);
	FAILS(ENOENT, stat(below, &st));
	CHECK(mkdir("/tmp/assorted.dir/a", 0700) == 0 && mkdir("/tmp/assorted.dir/a/b", 0700) == 0);
	CHECK(symlink("a", "/tmp/assorted.dir/link") == 0);
	fd = open(in, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && write(fd, "in", 2) == 2);
	FAILS(EBUSY, umount(dir));
	close(fd);
	FAILS(EBUSY, rmdir(dir));
	FAILS(EBUSY, rename(dir, "/tmp/assorted.other"));
	CHECK(chdir("/tmp/assorted.dir/a") == 0);
	FAILS(EBUSY, umount(dir));
	CHECK(access("../a/b/in", F_OK) == 0 && chdir("..") == 0 && chdir("..") == 0);
	CHECK(access("assorted.dir/link/b/in", F_OK) == 0 && chdir("/") == 0);
	CHECK(umount(dir) == 0 && stat(below, &st) == 0 && rmdir(below) == 0);
	FAILS(EINVAL, umount(dir));
	FAILS(ENODEV, mount("none", dir, "there is none", 0, NULL));
	FAILS(ENOENT, mount("none", below, "tmpfs", 0, NULL));
	CHECK(mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) == 0);
	CHECK(rmdir(dir) == 0);
}

/* The program itself again, by descriptor, with a word that has it end with 42. */
static void test_exec(void)
{
	char *const argv[] = { "assorted", "again", NULL }, *const envp[] = { NULL };
	int fd = open("/proc/self/exe", O_RDONLY), status;
	pid_t pid = fork();

	if (!pid) {
		FAILS(ENOENT, execveat(AT_FDCWD, "", argv, envp, 0));
		FAILS(EBADF, execveat(99, "", argv, envp, AT_EMPTY_PATH));
		FAILS(EINVAL, execveat(fd, "", argv, envp, AT_EMPTY_PATH | 1 << 20));
		fexecve(fd, argv, envp);
		exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 42 << 8);
	close(fd);
}

int main(int argc, char **argv)
{
	static const char name[] = "/tmp/assorted.file";
	int fd;

	if (argc == 2 && strcmp(argv[1], "again") == 0)
		return strcmp(argv[0], "assorted") ? 1 : 42;
	setbuf(stdout, NULL);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	CHECK(fd >= 0);
	test_vectors(fd);
	test_tee();
	test_vmsplice(fd);
	test_times(name);
	test_locked_memory();
	test_lock_limit();
	test_turns();
	test_written(fd);
	test_mounts();
	test_exec();
	CHECK(unlink(name) == 0);
	puts("assorted are as they should be");
	return 0;
}

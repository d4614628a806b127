/*
 * Tests of clone() with CLONE_FILES, CLONE_FS and CLONE_SIGHAND: processes that have some tables in common. Ends with 0, or with
 * the line of the check that failed. Makes and removes /tmp/tables. Started with a number, it ends with 42 if that
 * descriptor is closed.
 */
#include "clones.h"
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_RT_SIGACTION = 13,
	NR_PIPE = 22,
	NR_DUP2 = 33,
	NR_CLONE = 56,
	NR_KILL = 62,
	NR_FCNTL = 72,
	NR_GETCWD = 79,
	NR_CHDIR = 80,
	NR_MKDIR = 83,
	NR_RMDIR = 84,
	NR_UMASK = 95,
	NR_CLONE3 = 435
};

enum {
	EBADF = 9,
	EINVAL = 22
};

enum {
	SIGUSR1 = 10,
	SIGUSR2 = 12,
	SIGCHLD = 17
};

enum {
	CLONE_VM = 0x100,
	CLONE_FS = 0x200,
	CLONE_FILES = 0x400,
	CLONE_SIGHAND = 0x800,
	CLONE_SYSVSEM = 0x40000
};

#define NR_ROUNDS 2000
#define CLOEXEC	  1
#define O_CLOEXEC 02000000

static char stack[16384] __attribute__((aligned(16)));
static char buf[64];
static int gate[2];

struct action {
	void (*handler)(int sig);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

/* A process that shares what the flags say, and has its own memory: 0 in itself. */
static long start(long flags)
{
	return syscall6(NR_CLONE, flags | SIGCHLD, 0, 0, 0, 0, 0);
}

/* The same with the memory: it calls fn(arg). */
static long start_at(long flags, void (*fn)(long), long arg)
{
	long *top = (long *)(stack + sizeof(stack)) - 4;

	top[0] = (long)fn;
	top[1] = arg;
	return clone_thread((unsigned long)flags | CLONE_VM | SIGCHLD, top, 0, 0);
}

static int status_of(long pid)
{
	int status = -1;

	CHECK(pid > 0 && CALL4(NR_WAIT4, pid, &status, 0, 0) == pid);
	return status;
}

static int is_open(long fd)
{
	return CALL2(NR_FCNTL, fd, 1) >= 0;
}

/* The word is a number of one digit. */
static void exec_to_look(long fd)
{
	const char word[] = { (char)('0' + fd), '\0' };
	const char *const argv[] = { "tables", word, 0 };

	CALL3(NR_EXECVE, "/proc/self/exe", argv, 0);
	sys_exit(1);
}

static void test_files(void)
{
	long pid = start(CLONE_FILES), fd;

	if (!pid) {
		fd = CALL2(NR_OPEN, "/dev/zero", 0);
		sys_exit(CALL2(NR_DUP2, fd, 9) == 9 && CALL1(NR_CLOSE, fd) == 0 ? 0 : 1);
	}
	CHECK(status_of(pid) == 0 && is_open(9) && CALL3(NR_READ, 9, buf, 4) == 4);
	pid = start(CLONE_FILES);
	if (!pid)
		sys_exit(CALL3(NR_FCNTL, 9, 2, CLOEXEC) == 0 ? 0 : 1);
	CHECK(status_of(pid) == 0 && CALL2(NR_FCNTL, 9, 1) == CLOEXEC);
	pid = start(CLONE_FS); /* a copy of the files */
	if (!pid)
		sys_exit(CALL1(NR_CLOSE, 9) == 0 ? 0 : 1);
	CHECK(status_of(pid) == 0 && is_open(9));
}

/* A file that an execve() closes stays open for the others. */
static void test_files_exec(void)
{
	long pid = start(CLONE_FILES);

	if (!pid)
		exec_to_look(9);
	CHECK(status_of(pid) == 42 << 8 && is_open(9));
	pid = start(CLONE_FILES);
	if (!pid)
		sys_exit(CALL1(NR_CLOSE, 9) == 0 ? 0 : 1);
	CHECK(status_of(pid) == 0 && CALL3(NR_READ, 9, buf, 4) == -EBADF);
}

/* One process opens and closes a descriptor that another one reads: it is there, or is not. */
static void test_files_race(void)
{
	long fd = CALL2(NR_OPEN, "/dev/zero", 0), pid = start(CLONE_FILES);
	char byte;

	CHECK(fd >= 0);
	if (!pid) {
		for (int i = 0; i < NR_ROUNDS; i++) {
			CALL2(NR_DUP2, fd, 9);
			CALL1(NR_CLOSE, 9);
		}
		sys_exit(0);
	}
	for (int i = 0; i < NR_ROUNDS; i++) {
		long got = CALL3(NR_READ, 9, &byte, 1);

		CHECK(got == 1 || got == -EBADF);
	}
	CHECK(status_of(pid) == 0 && !is_open(9) && CALL1(NR_CLOSE, fd) == 0);
}

static int is_in(const char *dir)
{
	return CALL2(NR_GETCWD, buf, sizeof(buf)) > 0 && text_equal(buf, dir);
}

/* The directory stays when the process that has gone there has ended, and an execve() shares it still. */
static void test_directory(void)
{
	long pid = start(CLONE_FS);
	char byte;

	if (!pid)
		sys_exit(CALL1(NR_CHDIR, "/tmp/tables") == 0 && CALL1(NR_UMASK, 027) == 022 ? 0
											    : 1);
	CHECK(status_of(pid) == 0 && is_in("/tmp/tables") && CALL1(NR_UMASK, 022) == 027);
	pid = start(CLONE_FS);
	if (!pid) {
		CALL3(NR_READ, gate[0], &byte, 1);
		sys_exit(is_in("/tmp") ? 0 : 1);
	}
	CHECK(CALL1(NR_CHDIR, "/tmp") == 0 && CALL3(NR_WRITE, gate[1], "x", 1) == 1);
	CHECK(status_of(pid) == 0);
	pid = start(CLONE_FILES); /* a copy of the directory */
	if (!pid)
		sys_exit(CALL1(NR_CHDIR, "/") == 0 ? 0 : 1);
	CHECK(status_of(pid) == 0 && is_in("/tmp"));
}

static volatile int nr_seen;

static void note(int sig)
{
	nr_seen += sig;
}

void restore(void);
__asm__("restore: mov $15, %eax\n syscall\n");

static void set_handler(long sig)
{
	const struct action act = { note, 0x04000000, restore, 0 }; /* SA_RESTORER */

	CHECK(CALL4(NR_RT_SIGACTION, sig, &act, 0, 8) == 0);
}

static void (*handler_of(long sig))(int)
{
	struct action act;

	CHECK(CALL4(NR_RT_SIGACTION, sig, 0, &act, 8) == 0);
	return act.handler;
}

static void set_and_exec(long sig)
{
	set_handler(sig);
	exec_to_look(8);
}

static void test_handlers(void)
{
	CHECK(status_of(start_at(CLONE_SIGHAND, set_handler, SIGUSR1)) == 0);
	CHECK(handler_of(SIGUSR1) == note && CALL2(NR_KILL, CALL0(NR_GETPID), SIGUSR1) == 0);
	CHECK(nr_seen == SIGUSR1);
	CHECK(status_of(start_at(0, set_handler, SIGUSR2)) == 0); /* a copy */
	CHECK(!handler_of(SIGUSR2));
	CHECK(status_of(start_at(CLONE_SIGHAND | CLONE_SYSVSEM, set_and_exec, SIGUSR2)) == 42 << 8);
	CHECK(handler_of(SIGUSR1) == note && handler_of(SIGUSR2) == note);
}

static void test_flags(void)
{
	unsigned long args[8] = { 0x100000000 | CLONE_VM | CLONE_SIGHAND, 0, 0, 0, SIGCHLD };

	CHECK(start(CLONE_SIGHAND) == -EINVAL);			/* without CLONE_VM */
	CHECK(CALL2(NR_CLONE3, args, sizeof(args)) == -EINVAL); /* with CLONE_CLEAR_SIGHAND */
}

void main_program(long *sp)
{
	const char *const *argv = (const char *const *)(sp + 1);

	if (*sp == 2)
		sys_exit(is_open(argv[1][0] - '0') ? 1 : 42);
	CHECK(CALL2(NR_MKDIR, "/tmp/tables", 0755) == 0 && CALL1(NR_PIPE, gate) == 0);
	CALL1(NR_UMASK, 022);
	test_files();
	test_files_exec();
	test_files_race();
	test_directory();
	test_handlers();
	test_flags();
	CHECK(CALL1(NR_RMDIR, "/tmp/tables") == 0);
	put("tables are as they should be\n");
	sys_exit(0);
}

/*
 * Tests of chroot(). To be started by root. Ends with 0, or with the line of the check that failed. The directory /tmp/roots is made and
 * removed. Started with an argument, as it is inside, it ends with 42 if its name is right.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_STAT = 4,
	NR_LSEEK = 8,
	NR_CHMOD = 90,
	NR_GETCWD = 79,
	NR_CHDIR = 80,
	NR_FCHDIR = 81,
	NR_RENAME = 82,
	NR_MKDIR = 83,
	NR_RMDIR = 84,
	NR_SYMLINK = 88,
	NR_READLINK = 89,
	NR_SETRESUID = 117,
	NR_CHROOT = 161,
	NR_OPENAT = 257
};

enum {
	EPERM = 1,
	ENOENT = 2,
	ESRCH = 3,
	EACCES = 13,
	ENOTDIR = 20,
	ELOOP = 40
};
enum {
	O_WRONLY = 1,
	O_CREAT = 0100
};

enum {
	PROT_RW = 3,
	MAP_SHARED_ANON = 0x21
};

#define NR_READERS 2
#define NR_ENDS	   400

static char buf[65536];

static int is_there(const char *path)
{
	long stat[18];

	return CALL2(NR_STAT, path, stat) == 0;
}

static void make_file(const char *path, const char *text, unsigned int mode)
{
	long fd = CALL3(NR_OPEN, path, O_WRONLY | O_CREAT, mode);

	CHECK(fd >= 0 && CALL3(NR_WRITE, fd, text, text_len(text)) == (long)text_len(text));
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

static void copy_program(const char *to)
{
	long from = CALL2(NR_OPEN, "/proc/self/exe", 0);
	long fd = CALL3(NR_OPEN, to, O_WRONLY | O_CREAT, 0755), got;

	while ((got = CALL3(NR_READ, from, buf, sizeof(buf))) > 0)
		CHECK(CALL3(NR_WRITE, fd, buf, got) == got);
	CHECK(got == 0 && CALL1(NR_CLOSE, from) == 0 && CALL1(NR_CLOSE, fd) == 0);
}

static void make_tree(void)
{
	CHECK(CALL2(NR_MKDIR, "/tmp/roots", 0755) == 0 && CALL1(NR_CHDIR, "/tmp/roots") == 0);
	CHECK(CALL2(NR_MKDIR, "in", 0755) == 0 && CALL2(NR_MKDIR, "in/dir", 0755) == 0);
	make_file("out", "out", 0644);
	make_file("in/file", "in", 0644);
	make_file("in/script", "#!/program arg\n", 0755);
	CHECK(CALL2(NR_SYMLINK, "/file", "in/dir/link") == 0);
	CHECK(CALL2(NR_SYMLINK, "/../../dir/../file", "in/dir/winding") == 0);
	CHECK(CALL2(NR_SYMLINK, "/tmp/roots/out", "in/dangling") == 0);
	copy_program("in/program");
}

static void remove_tree(void)
{
	static const char *const names[] = { "in/dir/link", "in/dir/winding", "in/dangling",
					     "in/file",	    "in/script",      "in/program",
					     "out" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		CHECK(CALL1(NR_UNLINK, names[i]) == 0);
	CHECK(CALL1(NR_RMDIR, "in/dir") == 0 && CALL1(NR_RMDIR, "in") == 0);
	CHECK(CALL1(NR_RMDIR, "/tmp/roots") == 0);
}

static void test_paths(void)
{
	CHECK(is_there("/file") && is_there("/dir") && !is_there("/tmp") && !is_there("/out"));
	CHECK(is_there("/../file") && is_there("/dir/../../../file") && is_there("//") &&
	      is_there("/.."));
	CHECK(is_there("/dir/link") && is_there("/dir/winding") && !is_there("/dangling"));
	CHECK(CALL3(NR_READLINK, "/dir/link", buf, 9) == 5 && buf[0] == '/');
	CHECK(CALL1(NR_CHDIR, "/dir") == 0 && CALL2(NR_GETCWD, buf, 99) == 5);
	CHECK(text_equal(buf, "/dir") && is_there("../file") && is_there("../../../file"));
	CHECK(CALL1(NR_CHDIR, "../..") == 0 && CALL2(NR_GETCWD, buf, 99) == 2);
	CHECK(text_equal(buf, "/") && is_there("file") && is_there("./../dir/.."));
	CHECK(CALL2(NR_MKDIR, "/../new", 0755) == 0 && is_there("/new") &&
	      CALL1(NR_RMDIR, "/new/") == 0);
}

/* Directories outside that are open, and the current one there, are of use as before. */
static void test_outside(long dir)
{
	CHECK(CALL3(NR_OPENAT, dir, "out", 0) >= 0 && CALL3(NR_OPENAT, dir, "in/../file", 0) >= 0);
	CHECK(CALL3(NR_OPENAT, dir, "../roots/out", 0) >= 0);
	CHECK(CALL3(NR_OPENAT, dir, "/file", 0) >= 0 &&
	      CALL3(NR_OPENAT, dir, "/out", 0) == -ENOENT);
	CHECK(CALL1(NR_FCHDIR, dir) == 0 && is_there("out") && is_there("/file"));
	CHECK(CALL2(NR_GETCWD, buf, 99) == 24 && text_equal(buf, "(unreachable)/tmp/roots"));
	CHECK(CALL1(NR_CHDIR, "/") == 0 && CALL1(NR_CHDIR, "..") == 0 && !is_there("out"));
}

/* A program, and a script with the name that it was asked for by. */
static void test_exec(const char *path)
{
	const char *const argv[] = { path, "inside", 0 };
	long pid = CALL0(NR_FORK);
	int status;

	if (!pid) {
		CALL3(NR_EXECVE, path, argv, 0);
		sys_exit(1);
	}
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 42 << 8);
}

static void test_further(void)
{
	CHECK(CALL2(NR_RENAME, "/file", "/dir/file") == 0);
	CHECK(CALL1(NR_CHROOT, "dir") == 0 && is_there("/file") && !is_there("/dir"));
	CHECK(is_there("dir/file") && is_there("/link") && CALL1(NR_CHDIR, "/") == 0);
	CHECK(CALL2(NR_GETCWD, buf, 99) == 2 && !is_there("../program"));
	CHECK(CALL2(NR_RENAME, "file", "/other") == 0);
}

static void inside(void)
{
	long dir = CALL2(NR_OPEN, ".", 0);

	CHECK(CALL1(NR_CHROOT, "no") == -ENOENT && CALL1(NR_CHROOT, "out") == -ENOTDIR);
	CHECK(CALL2(NR_CHMOD, "in/dir", 0700) == 0 && CALL3(NR_SETRESUID, -1, 1000, -1) == 0);
	CHECK(CALL1(NR_CHROOT, "in") == -EPERM && CALL1(NR_CHROOT, "in/dir") == -EACCES);
	CHECK(CALL3(NR_SETRESUID, -1, 0, -1) == 0 && CALL1(NR_CHROOT, "in") == 0);
	CHECK(is_there("out") && is_there("in") && CALL1(NR_CHDIR, "/") == 0);
	test_paths();
	test_outside(dir);
	test_exec("/program");
	test_exec("dir/../script");
	test_further();
	sys_exit(0);
}

/* The name of a file of a process: /proc/PID/NAME. */
static void proc_name(char *out, long pid, const char *name)
{
	char digits[24], *at = digits + sizeof(digits);

	*--at = '\0';
	do
		*--at = (char)('0' + pid % 10);
	while (pid /= 10);
	for (const char *part = "/proc/"; *part; part++)
		*out++ = *part;
	while (*at)
		*out++ = *at++;
	*out++ = '/';
	while ((*out++ = *name++))
		;
}

/* Reads the directories of the process in *pid, over and over, until that is negative. */
static void __attribute__((noreturn)) look_at(const volatile long *pid)
{
	char cwd[64], root[64];

	for (long now; (now = *pid) >= 0;) {
		proc_name(cwd, now, "cwd");
		proc_name(root, now, "root");
		for (int i = 0; i < 8; i++) {
			long got = CALL3(NR_READLINK, cwd, buf, 99);

			CHECK(got == 10 || got == -ENOENT || got == -ESRCH);
			got = CALL3(NR_READLINK, root, buf, 99);
			CHECK(got == 1 || got == -ENOENT || got == -ESRCH);
		}
	}
	sys_exit(0);
}

/* A process ends while others read its directories: they are there, or are not. */
static void test_ends(void)
{
	volatile long *pid = (long *)syscall6(NR_MMAP, 0, 4096, PROT_RW, MAP_SHARED_ANON, -1, 0);
	int status;

	*pid = CALL0(NR_GETPID);
	for (int i = 0; i < NR_READERS; i++) {
		if (!CALL0(NR_FORK))
			look_at(pid);
	}
	for (int i = 0; i < NR_ENDS; i++) {
		long child = CALL0(NR_FORK);

		if (!child) {
			*pid = CALL0(NR_GETPID);
			sys_exit(0);
		}
		CHECK(CALL4(NR_WAIT4, child, &status, 0, 0) == child && status == 0);
	}
	*pid = -1;
	for (int i = 0; i < NR_READERS; i++)
		CHECK(CALL4(NR_WAIT4, -1, &status, 0, 0) > 0 && status == 0);
}

void main_program(long *sp)
{
	const char *const *argv = (const char *const *)(sp + 1);
	int status;
	long pid;

	if (*sp == 2)
		sys_exit(text_equal(argv[0], "/program") ? 42 : 1);
	if (*sp == 4)
		sys_exit(text_equal(argv[1], "arg") && text_equal(argv[2], "dir/../script") ? 42
											    : 2);
	make_tree();
	pid = CALL0(NR_FORK);
	if (!pid)
		inside();
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 0);
	CHECK(CALL2(NR_RENAME, "in/dir/other", "in/file") == 0 && is_there("/tmp/roots/out"));
	test_ends();
	remove_tree();
	put("roots are as they should be\n");
	sys_exit(0);
}

/*
 * Tests of permissions: what another user than root may do with files and directories by their owners and modes.
 * To be started by root. Ends with 0, or with the line of the check that failed.
 */
#include "ids.h"

/* ---- Files ---- */

static void files_of_others(void)
{
	static const uint64_t then[4] = { 1, 0, 1, 0 };

	become_user();
	CHECK(open_as(DIR "/0600", O_RDONLY) == -EACCES);
	CHECK(open_as(DIR "/0604", O_RDONLY) == 0 && open_as(DIR "/0604", O_WRONLY) == -EACCES);
	CHECK(open_as(DIR "/group", O_WRONLY) == 0 && open_as(DIR "/group", O_RDONLY) == -EACCES);
	CHECK(open_as(DIR "/own", O_WRONLY) ==
	      -EACCES); /* the owner's bits count, not the others' */
	CHECK(CALL2(NR_TRUNCATE, DIR "/0604", 0) == -EACCES);
	CHECK(CALL2(NR_ACCESS, DIR "/0604", 4) == 0 && CALL2(NR_ACCESS, DIR "/0604", 2) == -EACCES);
	CHECK(open_as(DIR "/new", O_CREAT | O_WRONLY) == -EACCES);
	CHECK(CALL2(NR_MKDIR, DIR "/new", 0755) == -EACCES);
	CHECK(CALL2(NR_MKDIR, DIR "/0600", 0755) == -EEXIST);
	CHECK(CALL2(NR_SYMLINK, "x", DIR "/new") == -EACCES);
	CHECK(CALL1(NR_UNLINK, DIR "/own") == -EACCES && CALL1(NR_UNLINK, DIR "/no") == -ENOENT);
	CHECK(CALL2(NR_RENAME, DIR "/own", DIR "/new") == -EACCES);
	CHECK(CALL2(NR_CHMOD, DIR "/0604", 0666) == -EPERM);
	CHECK(CALL3(NR_CHOWN, DIR "/0604", USER, -1) == -EPERM);
	CHECK(CALL4(NR_UTIMENSAT, AT_FDCWD, DIR "/0604", 0, 0) == -EACCES);
	CHECK(CALL4(NR_UTIMENSAT, AT_FDCWD, DIR "/group", 0, 0) == 0);
	CHECK(CALL4(NR_UTIMENSAT, AT_FDCWD, DIR "/group", then, 0) == -EPERM);
	CHECK(CALL4(NR_UTIMENSAT, AT_FDCWD, DIR "/own", then, 0) == 0);
}

static void files_of_own(void)
{
	become_user();
	CHECK(CALL3(NR_CHOWN, DIR "/own", -1, 2002) == 0);
	CHECK(CALL3(NR_CHOWN, DIR "/own", USER, GROUP) == 0);
	CHECK(CALL3(NR_CHOWN, DIR "/own", -1, 3000) == -EPERM);
	CHECK(CALL3(NR_CHOWN, DIR "/own", 0, -1) == -EPERM);
	CHECK(CALL2(NR_CHMOD, DIR "/own", 06755) == 0 && mode_of(DIR "/own") == 06755);
	CHECK(CALL3(NR_CHOWN, DIR "/own", -1, 2002) == 0 && mode_of(DIR "/own") == 0755);
	CHECK(CALL2(NR_CHMOD, DIR "/alien", 06755) == 0 && mode_of(DIR "/alien") == 04755);
	CHECK(CALL1(NR_UMASK, 027) >= 0);
	CHECK(open_as(DIR "/mine/new", O_CREAT | O_WRONLY) == 0);
	CHECK(mode_of(DIR "/mine/new") == 0640 && stat_of(DIR "/mine/new").uid == USER);
	CHECK(stat_of(DIR "/mine/new").gid == GROUP);
	CHECK(CALL1(NR_UNLINK, DIR "/mine/new") == 0);
}

static void files_written(void)
{
	long fd;

	become_user();
	CHECK(CALL2(NR_CHMOD, DIR "/own", 06755) == 0);
	fd = CALL3(NR_OPEN, DIR "/own", O_WRONLY, 0);
	CHECK(fd >= 0 && CALL3(NR_WRITE, fd, "x", 1) == 1);
	CHECK(mode_of(DIR "/own") == 0755);
	CHECK(CALL2(NR_FCHMOD, fd, 0400) == 0 && CALL3(NR_WRITE, fd, "x", 1) == 1);
}

/* ---- Directories ---- */

static void dirs_searched(void)
{
	CHECK(CALL1(NR_CHDIR, DIR "/closed/in") == 0);
	become_user();
	CHECK(open_as("file", O_RDONLY) == 0); /* from where it is */
	CHECK(open_as("../in/file", O_RDONLY) == -EACCES);
	CHECK(open_as(DIR "/closed/in/file", O_RDONLY) == -EACCES);
	CHECK(CALL1(NR_CHDIR, DIR "/closed") == -EACCES);
	CHECK(CALL1(NR_CHDIR, DIR "/listed") == -EACCES);
	CHECK(open_as(DIR "/listed", O_RDONLY) == 0);
	CHECK(open_as(DIR "/link", O_RDONLY) == -EACCES); /* to a file below `closed` */
	CHECK(open_as(DIR "/hidden/file", O_RDONLY) == 0);
	CHECK(open_as(DIR "/hidden", O_RDONLY) == -EACCES);
}

static void dirs_sticky(void)
{
	become_user();
	CHECK(CALL1(NR_UNLINK, DIR "/sticky/roots") == -EPERM);
	CHECK(CALL2(NR_RENAME, DIR "/sticky/roots", DIR "/sticky/x") == -EPERM);
	CHECK(open_as(DIR "/sticky/mine", O_CREAT | O_WRONLY) == 0);
	CHECK(CALL2(NR_RENAME, DIR "/sticky/mine", DIR "/sticky/roots") == -EPERM);
	CHECK(CALL2(NR_RENAME, DIR "/sticky/mine", DIR "/sticky/x") == 0);
	CHECK(CALL1(NR_UNLINK, DIR "/sticky/x") == 0);
	CHECK(CALL2(NR_RENAME, DIR "/mine/dir", DIR "/sticky/dir") == -EACCES); /* not its own */
}

static void dirs_of_group(void)
{
	become_user();
	CHECK(CALL2(NR_MKDIR, DIR "/shared/dir", 0755) == 0);
	CHECK(stat_of(DIR "/shared/dir").gid == 2002 && mode_of(DIR "/shared/dir") == 02755);
	CHECK(open_as(DIR "/shared/dir/file", O_CREAT | O_WRONLY) == 0);
	CHECK(stat_of(DIR "/shared/dir/file").gid == 2002);
	CHECK(CALL1(NR_UNLINK, DIR "/shared/dir/file") == 0);
	CHECK(CALL3(NR_OPEN, DIR "/alien/file", O_CREAT | O_WRONLY, 02755) >= 0);
	CHECK(stat_of(DIR "/alien/file").gid == 3000 && mode_of(DIR "/alien/file") == 0755);
	CHECK(CALL1(NR_UNLINK, DIR "/alien/file") == 0);
	CHECK(CALL1(NR_RMDIR, DIR "/shared/dir") == 0);
}

/* In these, only the kernel makes names. */
static void dirs_of_the_kernel(void)
{
	CHECK(open_as("/proc/new", O_CREAT | O_WRONLY) == -ENOENT);
	CHECK(CALL2(NR_MKDIR, "/proc/sys/new", 0755) == -ENOENT);
	CHECK(open_as("/sys/kernel/new", O_CREAT | O_WRONLY) == -EACCES);
	CHECK(CALL2(NR_MKDIR, "/sys/new", 0755) == -EPERM);
	CHECK(CALL2(NR_SYMLINK, "x", "/sys/new") == -EPERM);
	CHECK(CALL1(NR_UNLINK, "/proc/uptime") == -EPERM);
	CHECK(CALL2(NR_RENAME, "/proc/uptime", "/proc/up") == -EPERM);
	CHECK(CALL2(NR_MKDIR, "/proc/uptime", 0755) == -EEXIST);
}

static void test_files(void)
{
	make(DIR "/0600", 0600, 0, 0);
	make(DIR "/0604", 0604, 0, 0);
	make(DIR "/group", 0020, 0, 2001);
	make(DIR "/own", 0466, USER, GROUP);
	make(DIR "/alien", 0600, USER, 3000);
	make_dir(DIR "/mine", 0755, USER, GROUP);
	make_dir(DIR "/mine/dir", 0755, 0, 0);
	in_child(dirs_of_the_kernel);
	in_child(files_of_others);
	in_child(files_of_own);
	in_child(files_written);
	CHECK(open_as(DIR "/own", O_WRONLY) == 0 && CALL2(NR_ACCESS, DIR "/own", 1) == -EACCES);
	CALL1(NR_UNLINK, DIR "/0600");
	CALL1(NR_UNLINK, DIR "/0604");
	CALL1(NR_UNLINK, DIR "/group");
	CALL1(NR_UNLINK, DIR "/own");
	CALL1(NR_UNLINK, DIR "/alien");
}

static void test_directories(void)
{
	make_dir(DIR "/closed", 0700, 0, 0);
	make_dir(DIR "/closed/in", 0755, 0, 0);
	make(DIR "/closed/in/file", 0644, 0, 0);
	make_dir(DIR "/listed", 0744, 0, 0);
	make_dir(DIR "/hidden", 0711, 0, 0);
	make(DIR "/hidden/file", 0644, 0, 0);
	make_dir(DIR "/sticky", 01777, 0, 0);
	make(DIR "/sticky/roots", 0644, 0, 0);
	make_dir(DIR "/shared", 02777, 0, 2002);
	make_dir(DIR "/alien", 02777, 0, 3000);
	CHECK(CALL2(NR_SYMLINK, "closed/in/file", DIR "/link") == 0);
	in_child(dirs_searched);
	in_child(dirs_sticky);
	in_child(dirs_of_group);
	CALL1(NR_UNLINK, DIR "/closed/in/file");
	CALL1(NR_UNLINK, DIR "/hidden/file");
	CALL1(NR_UNLINK, DIR "/sticky/roots");
	CALL1(NR_UNLINK, DIR "/link");
	CALL1(NR_RMDIR, DIR "/closed/in");
	CALL1(NR_RMDIR, DIR "/closed");
	CALL1(NR_RMDIR, DIR "/listed");
	CALL1(NR_RMDIR, DIR "/hidden");
	CALL1(NR_RMDIR, DIR "/sticky");
	CALL1(NR_RMDIR, DIR "/shared");
	CALL1(NR_RMDIR, DIR "/alien");
	CALL1(NR_RMDIR, DIR "/mine/dir");
	CALL1(NR_RMDIR, DIR "/mine");
}

/* The directory of a process stays as it is, and the modes of its files. */
static void test_proc(void)
{
	CHECK(CALL2(NR_CHMOD, "/proc/self", 0555) == -EPERM);
	CHECK(CALL3(NR_CHOWN, "/proc/self", 0, 0) == -EPERM);
	CHECK(CALL3(NR_CHOWN, "/proc/self/", -1, -1) == 0 &&
	      CALL3(NR_CHOWN, "/proc/self/", 1, -1) == -EPERM);
	CHECK(CALL2(NR_CHMOD, "/proc/self/stat", 0444) == -EPERM);
	CHECK(CALL3(NR_CHOWN, "/proc/self/stat", 0, 0) == 0);
}

/* reboot(): only for root, and only with its two numbers. */
static void test_reboot(void)
{
	CHECK(CALL4(169, 0xfee1dead, 1, 0x4321fedc, 0) < 0);
	CHECK(CALL4(169, 0xfee1dead, 0x28121969, 7, 0) < 0);
	become_user();
	CHECK(CALL4(169, 0xfee1dead, 0x28121969, 0, 0) == -EPERM);
	CHECK(CALL4(169, 0, 0, 0x4321fedc, 0) == -EPERM);
}

void main_program(long *sp)
{
	(void)sp;
	CALL1(NR_UMASK, 022);
	CHECK(mode_of("/tmp") == 01777);
	make_dir(DIR, 0755, 0, 0);
	test_files();
	test_directories();
	test_proc();
	in_child(test_reboot);
	CHECK(CALL1(NR_RMDIR, DIR) == 0);
	put("permissions are as they should be\n");
	sys_exit(0);
}

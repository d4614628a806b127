/*
 * Tests of ids: changes of users and groups, capabilities, signals to others, set-user-ID of files. To be started by root. Ends
 * with 0, or with the line of the check that failed. `ids look KIND` is the program that is executed by others.
 */
#include "ids.h"

#define PROGRAM DIR "/program"

enum {
	NR_PAUSE = 34,
	NR_PTRACE = 101,
	SEIZE = 0x4206
};

/* ---- Ids ---- */

static void check_uids(long real, long effective, long saved)
{
	uint32_t ids[3] = { 0 };

	CHECK(CALL3(NR_GETRESUID, &ids[0], &ids[1], &ids[2]) == 0);
	CHECK(ids[0] == real && ids[1] == effective && ids[2] == saved);
	CHECK(CALL0(NR_GETUID) == real && CALL0(NR_GETEUID) == effective);
}

static void ids_of_user(void)
{
	uint32_t groups[4] = { 0 };

	become_user();
	check_uids(USER, USER, USER);
	CHECK(CALL0(NR_GETGID) == GROUP && CALL0(NR_GETEGID) == GROUP);
	CHECK(CALL2(NR_GETGROUPS, 0, 0) == 2);
	CHECK(CALL2(NR_GETGROUPS, 1, groups) == -EINVAL);
	CHECK(CALL2(NR_GETGROUPS, 4, groups) == 2 && groups[0] == 2001 && groups[1] == 2002);
	CHECK(CALL1(NR_SETUID, 0) == -EPERM);
	CHECK(CALL1(NR_SETUID, -1) == -EINVAL);
	CHECK(CALL3(NR_SETRESUID, -1, 1001, -1) == -EPERM);
	CHECK(CALL3(NR_SETRESUID, -1, USER, -1) == 0);
	CHECK(CALL2(NR_SETREUID, 0, -1) == -EPERM);
	CHECK(CALL3(NR_SETRESGID, 2001, -1, -1) == -EPERM);
	CHECK(CALL2(NR_SETGROUPS, 0, 0) == -EPERM);
	CHECK(CALL1(NR_SETFSUID, 0) == USER && CALL1(NR_SETFSUID, -1) == USER);
	CHECK(CALL3(NR_SETPRIORITY, 0, 0, 5) == 0);
	CHECK(CALL3(NR_SETPRIORITY, 0, 0, 0) == -EACCES);
	CHECK(CALL3(NR_SETPRIORITY, 0, CALL0(NR_GETPPID), 10) == -EPERM);
}

/* Root becomes another for a while, and comes back by the saved id. */
static void ids_come_back(void)
{
	make(DIR "/roots", 0600, 0, 0);
	CHECK(CALL3(NR_SETRESUID, -1, USER, -1) == 0);
	check_uids(0, USER, 0);
	CHECK(open_as(DIR "/roots", O_RDONLY) == -EACCES);
	CHECK(CALL2(NR_ACCESS, DIR "/roots", 6) == 0); /* the real user is root */
	CHECK(CALL4(NR_FACCESSAT2, AT_FDCWD, DIR "/roots", 6, AT_EACCESS) == -EACCES);
	CHECK(CALL1(NR_SETUID, 0) == 0);
	check_uids(0, 0, 0);
	CHECK(open_as(DIR "/roots", O_RDONLY) == 0);
	CHECK(CALL2(NR_SETREUID, USER, 0) == 0);
	check_uids(USER, 0, 0);
	CHECK(CALL2(NR_ACCESS, DIR "/roots", 4) == -EACCES);
	CHECK(CALL2(NR_SETREUID, 0, USER) == 0);
	check_uids(0, USER, USER);
	CHECK(CALL2(NR_SETREUID, -1, 0) == 0);
	CHECK(CALL1(NR_SETFSUID, USER) == 0 && CALL1(NR_SETFSUID, -1) == USER);
	CHECK(open_as(DIR "/roots", O_RDONLY) == -EACCES);
	CHECK(CALL1(NR_SETFSUID, 0) == USER);
	CHECK(CALL1(NR_UNLINK, DIR "/roots") == 0);
}

/* ---- Capabilities ---- */

struct caps {
	uint32_t effective, permitted, inheritable;
};

static struct caps caps_now(void)
{
	struct {
		uint32_t version;
		int pid;
	} head = { 0x20080522, 0 };
	struct caps caps[2];

	CHECK(CALL2(NR_CAPGET, &head, caps) == 0);
	return caps[0];
}

static void caps_go(void)
{
	struct {
		uint32_t version;
		int pid;
	} head = { 7, 0 };
	struct caps caps[2] = { { 1, 1, 0 }, { 0, 0, 0 } };

	CHECK(CALL2(NR_CAPGET, &head, 0) == 0 && head.version == 0x20080522);
	CHECK(caps_now().effective & 1 && caps_now().permitted & 1);
	CHECK(CALL2(NR_CAPSET, &head, caps) == 0);
	CHECK(CALL1(NR_SETUID, USER) == -EPERM); /* only that of chown() is left */
	CHECK(open_as(DIR "/given", O_CREAT | O_WRONLY) == 0 &&
	      CALL2(NR_CHMOD, DIR "/given", 0600) == 0);
	CHECK(CALL3(NR_CHOWN, DIR "/given", USER, GROUP) == 0);
	CHECK(CALL2(NR_CHMOD, DIR "/given", 0644) == -EPERM);
	caps[0].permitted = 3;
	CHECK(CALL2(NR_CAPSET, &head, caps) == -EPERM);
	CHECK(open_as(DIR "/given", O_RDONLY) == -EACCES);
	CHECK(CALL1(NR_UNLINK, DIR "/given") == 0); /* root owns the directory */
}

static void caps_of_ids(void)
{
	CHECK(CALL3(NR_SETRESUID, -1, USER, -1) == 0);
	CHECK(!caps_now().effective && caps_now().permitted);
	CHECK(CALL3(NR_SETRESUID, -1, 0, -1) == 0);
	CHECK(caps_now().effective);
	CHECK(CALL2(NR_PRCTL, 8, 1) == 0 && CALL1(NR_PRCTL, 7) == 1);
	CHECK(CALL1(NR_SETUID, USER) == 0);
	CHECK(!caps_now().effective && caps_now().permitted);
}

static void caps_are_lost(void)
{
	become_user();
	CHECK(!caps_now().effective && !caps_now().permitted);
}

/* ---- Memory that others of the same user may see, or not ---- */

/* A copy of this process, which waits for its end. 1: the copy may be traced, and its memory opened; 0. */
static int may_look(void)
{
	char path[32] = "/proc/", *at = path + 6;
	long pid = CALL0(NR_FORK), err, digits = 1;

	while (!pid)
		CALL0(NR_PAUSE);
	while (digits * 10 <= pid)
		digits *= 10;
	for (; digits; digits /= 10)
		*at++ = (char)('0' + pid / digits % 10);
	for (const char *name = "/mem"; *name; name++)
		*at++ = *name;
	err = CALL4(NR_PTRACE, SEIZE, pid, 0, 0);
	CHECK(err == 0 || err == -EPERM);
	CHECK(open_as(path, O_RDONLY) == (err ? -EACCES : 0));
	CHECK(CALL2(NR_KILL, pid, 9) == 0 && CALL4(NR_WAIT4, pid, 0, 0, 0) == pid);
	return err == 0;
}

/* Another user's ids hide memory that is from before; a program says when that is over. */
static void memory_is_hidden(void)
{
	CHECK(CALL1(NR_PRCTL, 3) == 1);
	become_user();
	CHECK(CALL1(NR_PRCTL, 3) == 0 && !may_look());
	CHECK(CALL2(NR_PRCTL, 4, 2) == -EINVAL && CALL2(NR_PRCTL, 4, 1) == 0);
	CHECK(CALL1(NR_PRCTL, 3) == 1 && may_look());
	CHECK(CALL2(NR_PRCTL, 4, 0) == 0 && !may_look());
}

/* ---- Signals ---- */

static void kill_others(void)
{
	long parent = CALL0(NR_GETPPID);

	become_user();
	CHECK(CALL2(NR_KILL, parent, 0) == -EPERM && CALL2(NR_KILL, parent, 15) == -EPERM);
	CHECK(CALL2(NR_KILL, parent, 18) == 0); /* SIGCONT, in the same session */
	CHECK(CALL2(NR_KILL, CALL0(NR_GETPID), 0) == 0);
}

/* ---- Programs ---- */

static void execute(const char *what)
{
	const char *const argv[] = { PROGRAM, "look", what, 0 };

	CALL3(NR_EXECVE, PROGRAM, argv, 0);
}

static void exec_as_user(void)
{
	become_user();
	execute("plain");
}

static void exec_setuid(void)
{
	become_user();
	execute("setuid");
}

static void exec_no_new_privs(void)
{
	become_user();
	CHECK(CALL4(NR_PRCTL, 38, 1, 0, 0) == 0);
	execute("readable");
}

static void exec_not_allowed(void)
{
	const char *const argv[] = { PROGRAM, 0 };

	become_user();
	CHECK(CALL3(NR_EXECVE, PROGRAM, argv, 0) == -EACCES);
}

/* The value of an auxiliary entry, behind the arguments and the environment. */
static long aux(long *sp, long key)
{
	long *at = sp + 1 + *sp + 1;

	while (*at)
		at++;
	for (at++; *at && *at != key; at += 2)
		;
	return *at ? at[1] : -1;
}

/* In the program that was executed: `plain` has the user's rights, `setuid` those of root. */
static void look(long *sp, const char *what)
{
	long effective = text_equal(what, "setuid") ? 0 : USER;

	check_uids(USER, effective, effective);
	CHECK(aux(sp, 11) == USER && aux(sp, 12) == effective);
	CHECK(aux(sp, 13) == GROUP && aux(sp, 14) == GROUP);
	CHECK(aux(sp, 23) == (effective != USER));
	CHECK(!caps_now().effective == (effective == USER));
	CHECK(CALL1(NR_PRCTL, 3) == (text_equal(what, "readable") ? 1 : 0));
	sys_exit(0);
}

static void copy_program(void)
{
	static char bytes[4096];
	long from = CALL3(NR_OPEN, "/proc/self/exe", O_RDONLY, 0), got;
	long to = CALL3(NR_OPEN, PROGRAM, O_CREAT | O_WRONLY, 0700);

	CHECK(from >= 0 && to >= 0);
	while ((got = CALL3(NR_READ, from, bytes, sizeof(bytes))) > 0)
		CHECK(CALL3(NR_WRITE, to, bytes, got) == got);
	CALL1(NR_CLOSE, from);
	CALL1(NR_CLOSE, to);
}

static void test_programs(void)
{
	copy_program();
	CHECK(CALL2(NR_CHMOD, PROGRAM, 0700) == 0);
	in_child(exec_not_allowed);
	CHECK(CALL2(NR_CHMOD, PROGRAM, 0711) == 0); /* executed, though it cannot be read */
	in_child(exec_as_user);
	CHECK(CALL2(NR_CHMOD, PROGRAM, 04755) == 0);
	in_child(exec_setuid);
	in_child(exec_no_new_privs);
	CHECK(CALL1(NR_UNLINK, PROGRAM) == 0);
}

void main_program(long *sp)
{
	char **argv = (char **)(sp + 1);

	if (*sp == 3)
		look(sp, argv[2]);
	CALL1(NR_UMASK, 022);
	CHECK(CALL0(NR_GETEUID) == 0);
	make_dir(DIR, 0755, 0, 0);
	in_child(ids_of_user);
	in_child(ids_come_back);
	in_child(caps_go);
	in_child(caps_of_ids);
	in_child(caps_are_lost);
	in_child(kill_others);
	in_child(memory_is_hidden);
	test_programs();
	CHECK(CALL1(NR_RMDIR, DIR) == 0);
	put("ids are as they should be\n");
	sys_exit(0);
}

/*
 * terminal NAME: a test of the console as a terminal; says "NAME is right", or what is not. keys MIN TIME: reads
 * once in raw mode, and says how many bytes came.
 */
#include "signals.h"

#define NR_OPEN	  2
#define NR_CLOSE  3
#define NR_POLL	  7
#define NR_IOCTL  16
#define NR_GETSID 124
#define NR_SETSID 112

#define TCGETS	   0x5401
#define TCSETS	   0x5402
#define TCSETSF	   0x5404
#define TIOCSCTTY  0x540e
#define TIOCGPGRP  0x540f
#define TIOCSPGRP  0x5410
#define TIOCGWINSZ 0x5413
#define TIOCSWINSZ 0x5414
#define FIONREAD   0x541b
#define TIOCNOTTY  0x5422
#define TIOCGSID   0x5429

#define SIGTTIN	 21
#define SIGTTOU	 22
#define SIGWINCH 28
#define EIO	 5
#define ENXIO	 6
#define ENOTTY	 25

struct termios {
	unsigned int iflag, oflag, cflag, lflag;
	unsigned char line, cc[19];
};

static long control(int request, void *arg)
{
	return CALL3(NR_IOCTL, 0, request, arg);
}

static void settings(void)
{
	struct termios set, again;
	int nr = -1, fds[2];

	CHECK(control(TCGETS, &set) == 0);
	CHECK(set.iflag & 0x100 && set.oflag == 5 && (set.lflag & 0xb) == 0xb && set.cc[0] == 3 &&
	      set.cc[4] == 4);
	set.lflag &= ~2u;
	set.cc[6] = 7;
	CHECK(control(TCSETSF, &set) == 0 && control(TCGETS, &again) == 0);
	CHECK(again.lflag == set.lflag && again.cc[6] == 7);
	CHECK(control(FIONREAD, &nr) == 0 && nr == 0);
	CHECK(control(0x5499, &nr) == -ENOTTY && control(TCGETS, 0) == -14 &&
	      control(TCSETS, 0) == -14);
	CHECK(CALL1(NR_PIPE, fds) == 0 && CALL3(NR_IOCTL, fds[0], TCGETS, &set) == -ENOTTY);
}

static void window(void)
{
	unsigned short size[4] = { 0 };

	CHECK(control(TIOCGWINSZ, size) == 0 && size[0] == 24 && size[1] == 80);
	set(SIGWINCH, note, 0);
	CHECK(control(TIOCSWINSZ, size) == 0 && nr_seen == 0);
	size[0] = 50;
	CHECK(control(TIOCSWINSZ, size) == 0 && nr_seen == 1 && seen[0] == SIGWINCH);
	size[0] = 24;
	CHECK(control(TIOCSWINSZ, size) == 0 && nr_seen == 2);
}

/* A child in a group of its own, which does `what` in the background; its status. */
static int in_background(void (*what)(void))
{
	int status;
	long self = CALL0(NR_GETPID), child;

	CHECK(control(TIOCSPGRP, &self) == 0);
	child = CALL0(NR_FORK);
	if (!child) {
		CALL2(NR_SETPGID, 0, 0);
		what();
		sys_exit(0);
	}
	CHECK(wait_for(child, 2, &status) == child);
	if ((status & 0xff) != 0x7f)
		return status;
	CALL2(NR_KILL, child, SIGKILL);
	CHECK(wait_for(child, 0, &(int){ 0 }) == child);
	return status;
}

static void background_reads(void)
{
	char byte;

	sys_exit((int)-CALL3(NR_READ, 0, &byte, 1));
}
static void background_reads_ignoring(void)
{
	set(SIGTTIN, (void *)1, 0);
	background_reads();
}
static void background_changes(void)
{
	struct termios now;

	CHECK(control(TCGETS, &now) == 0);
	sys_exit((int)-control(TCSETS, &now));
}
static void background_changes_ignoring(void)
{
	set(SIGTTOU, (void *)1, 0);
	background_changes();
}
static void background_takes(void)
{
	long self = CALL0(NR_GETPID);

	sys_exit((int)-control(TIOCSPGRP, &self));
}
static void jobs(void)
{
	int pgrp = 0, session = 0, pgrps[] = { 1 << 20 };
	long self = CALL0(NR_GETPID);

	CHECK(control(TIOCGPGRP, &pgrp) == 0 && pgrp == CALL1(NR_GETPGID, 0));
	CHECK(control(TIOCGSID, &session) == 0 && session == CALL1(NR_GETSID, 0));
	CHECK(control(TIOCSPGRP, pgrps) == -EPERM);
	CHECK(in_background(background_reads) == (SIGTTIN << 8 | 0x7f));
	CHECK(in_background(background_reads_ignoring) == EIO << 8);
	CHECK(in_background(background_changes) == (SIGTTOU << 8 | 0x7f));
	CHECK(in_background(background_changes_ignoring) == 0);
	CHECK(in_background(background_takes) == (SIGTTOU << 8 | 0x7f));
	CHECK(control(TIOCGPGRP, &pgrp) == 0 && pgrp == self);
}

static void session_child(void)
{
	int pgrp;

	CHECK(CALL0(NR_SETSID) == CALL0(NR_GETPID));
	CHECK(CALL3(NR_OPEN, "/dev/tty", 2, 0) == -ENXIO && control(TIOCGPGRP, &pgrp) == -ENOTTY);
	CHECK(control(TIOCSCTTY, 0) == -EPERM); /* another session has it */
	CHECK(control(TIOCNOTTY, 0) == -ENOTTY);
	sys_exit(4);
}

static void session(void)
{
	int status;
	long child, fd = CALL3(NR_OPEN, "/dev/tty", 2, 0);

	CHECK(fd > 0 && CALL3(NR_WRITE, fd, "", 0) == 0);
	child = CALL0(NR_FORK);
	if (!child)
		session_child();
	CHECK(wait_for(child, 0, &status) == child && status == 4 << 8);
	CHECK(CALL0(NR_SETSID) == -EPERM);
}

static void keys(int min, int time)
{
	struct termios raw;
	char bytes[64];

	control(TCGETS, &raw);
	raw.lflag &= ~0xbu;
	raw.iflag &= ~0x100u;
	raw.oflag &= ~1u;
	raw.cc[6] = (unsigned char)min;
	raw.cc[5] = (unsigned char)time;
	control(TCSETS, &raw);
	put("ready\r\n");
	for (long nr = CALL3(NR_READ, 0, bytes, sizeof(bytes)), i = 0; i <= nr; i++)
		i < nr ? say("byte", bytes[i]) : say("read", nr);
	sys_exit(0);
}

void main_program(long *sp)
{
	static const struct signal_test tests[] = { { "settings", settings },
						    { "window", window },
						    { "jobs", jobs },
						    { "session", session },
						    { 0, 0 } };
	char **argv = (char **)(sp + 1);

	if (text_equal(argv[1], "keys"))
		keys(argv[2][0] - '0', argv[3][0] - '0');
	run_test(tests, argv[1]);
}

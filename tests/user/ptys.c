/*
 * Tests of terminals that a program makes: /dev/ptmx and /dev/pts. Ends with 0, or with the line of the check that
 * failed.
 */
#include "signals.h"

enum {
	NR_CLOSE = 3,
	NR_STAT = 4,
	NR_FSTAT = 5,
	NR_POLL = 7,
	NR_IOCTL = 16,
	NR_READLINK = 89,
	NR_SETSID = 112,
	NR_GETSID = 124
};

enum {
	EIO = 5,
	ENXIO = 6,
	EBADF = 9,
	ENOTTY = 25
};

enum {
	TCGETS = 0x5401,
	TCSETS = 0x5402,
	TIOCSCTTY = 0x540e,
	TIOCGPGRP = 0x540f,
	TIOCSPGRP = 0x5410,
	TIOCGWINSZ = 0x5413,
	TIOCSWINSZ = 0x5414,
	FIONREAD = 0x541b,
	TIOCNOTTY = 0x5422,
	TIOCGSID = 0x5429,
	TIOCGPTPEER = 0x5441
};
#define TIOCGPTN   0x80045430
#define TIOCSPTLCK 0x40045431

enum {
	POLLIN = 1,
	POLLOUT = 4,
	POLLERR = 8,
	POLLHUP = 16
};

enum {
	SIGQUIT = 3,
	SIGWINCH = 28
};

enum {
	O_RDWR = 2,
	O_NOCTTY = 0400,
	O_NONBLOCK = 04000
};

struct termios {
	unsigned int iflag, oflag, cflag, lflag;
	unsigned char line, cc[19];
};

static char buf[8192], name[] = "/dev/pts/00";

static void set_name(int number)
{
	char *at = name + sizeof("/dev/pts/") - 1;

	if (number >= 10)
		*at++ = (char)('0' + number / 10);
	*at++ = (char)('0' + number % 10);
	*at = '\0';
}

static long make_master(void)
{
	long master = CALL2(NR_OPEN, "/dev/ptmx", O_RDWR | O_NOCTTY);
	int number = -1;

	CHECK(master >= 0 && CALL3(NR_IOCTL, master, TIOCGPTN, &number) == 0 && number >= 0);
	set_name(number);
	return master;
}

static long open_slave(int flags)
{
	return CALL2(NR_OPEN, name, O_RDWR | flags);
}

static void unlock(long master)
{
	int off = 0;

	CHECK(CALL3(NR_IOCTL, master, TIOCSPTLCK, &off) == 0);
}

/* Both sides. */
static void make_pair(long *master, long *slave)
{
	*master = make_master();
	unlock(*master);
	*slave = open_slave(O_NOCTTY);
	CHECK(*slave >= 0);
}

static void close_all(long master, long slave)
{
	CHECK(CALL1(NR_CLOSE, slave) == 0 && CALL1(NR_CLOSE, master) == 0);
}

static int type(long fd, const char *text)
{
	return CALL3(NR_WRITE, fd, text, text_len(text)) == (long)text_len(text);
}

/* Is that the next that there is to read? */
static int reads(long fd, const char *text)
{
	long len = (long)text_len(text), done = 0, got;

	while (done < len) {
		got = CALL3(NR_READ, fd, buf + done, len - done);
		if (got <= 0)
			return 0;
		done += got;
	}
	buf[done] = '\0';
	return text_equal(buf, text);
}

static int events(long fd)
{
	struct {
		int fd;
		short wanted, got;
	} poll = { (int)fd, POLLIN | POLLOUT, 0 };

	CHECK(CALL3(NR_POLL, &poll, 1, 0) >= 0);
	return poll.got;
}

static void test_names(void)
{
	struct stat by_name, by_file;
	long master = make_master(), second, slave;
	int number = -1;
	char first[sizeof(name)];

	CHECK(open_slave(O_NOCTTY) == -EIO); /* locked */
	unlock(master);
	slave = open_slave(O_NOCTTY);
	CHECK(slave >= 0 && CALL2(NR_STAT, name, &by_name) == 0 &&
	      CALL2(NR_FSTAT, slave, &by_file) == 0);
	CHECK(by_name.ino == by_file.ino && by_name.rdev == by_file.rdev);
	CHECK(by_name.rdev >> 8 == 136 &&
	      (by_name.mode & ~020u) == 020600); /* 020 depends on the mount */
	CHECK(CALL3(NR_IOCTL, master, TIOCGPTN, &number) == 0 &&
	      number == (int)(by_name.rdev & 255));
	CHECK(CALL3(NR_IOCTL, slave, TIOCGPTN, &number) == -ENOTTY);
	for (unsigned int i = 0; i < sizeof(name); i++)
		first[i] = name[i];
	second = make_master();
	CHECK(!text_equal(first, name) && CALL1(NR_CLOSE, second) == 0);
	CHECK(CALL2(NR_STAT, name, &by_name) == -2);
	CHECK(CALL2(NR_STAT, first, &by_name) == 0);
	close_all(master, slave);
	CHECK(CALL2(NR_STAT, first, &by_name) == -2);
}

/* Lines one way, with echo and editing; output the other way, with its newlines. */
static void test_lines(void)
{
	struct termios set;
	long master, slave;
	int nr = -1;

	make_pair(&master, &slave);
	CHECK(events(slave) == POLLOUT && events(master) == POLLOUT);
	CHECK(type(master, "no\x15hellp\x7fo\r") && reads(slave, "hello\n"));
	CHECK(reads(master, "no\b \b\b \bhellp\b \bo\r\n"));
	CHECK(type(slave, "a\nb") && events(master) == (POLLIN | POLLOUT));
	CHECK(CALL3(NR_IOCTL, master, FIONREAD, &nr) == 0 && nr == 4 && reads(master, "a\r\nb"));
	CHECK(type(master, "end\4") && reads(slave, "end") && reads(master, "end"));
	CHECK(type(master, "\4") && CALL3(NR_READ, slave, buf, 9) == 0);
	CHECK(CALL3(NR_IOCTL, master, TCGETS, &set) == 0 && (set.lflag & 0xb) == 0xb);
	set.lflag &= ~0xbu;
	set.oflag = 0;
	CHECK(CALL3(NR_IOCTL, slave, TCSETS, &set) == 0);
	CHECK(type(master, "\3x\4") && events(slave) == (POLLIN | POLLOUT));
	CHECK(reads(slave, "\3x\4") && type(slave, "\n") && reads(master, "\n"));
	close_all(master, slave);
}

/* Neither side waits with O_NONBLOCK, and no byte is lost or read twice when the ring is full. */
static void test_full(void)
{
	long master = CALL2(NR_OPEN, "/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK), slave;
	int number = -1, all = 0;
	long got;

	CHECK(CALL3(NR_READ, master, buf, 1) == -EAGAIN);
	CHECK(CALL3(NR_IOCTL, master, TIOCGPTN, &number) == 0);
	set_name(number);
	unlock(master);
	slave = CALL3(NR_IOCTL, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_NONBLOCK);
	CHECK(slave >= 0 && CALL3(NR_READ, slave, buf, 1) == -EAGAIN);
	for (unsigned int i = 0; i < sizeof(buf); i++)
		buf[i] = (char)('a' + i % 26);
	while ((got = CALL3(NR_WRITE, slave, buf + all % 26, 1000)) > 0)
		all += (int)got;
	CHECK(got == -EAGAIN && all > 1000 && !(events(slave) & POLLOUT));
	for (int seen = 0; seen < all; seen += (int)got) {
		got = CALL3(NR_READ, master, buf, 700);
		CHECK(got > 0);
		for (int i = 0; i < got; i++)
			CHECK(buf[i] == 'a' + (seen + i) % 26);
	}
	CHECK(CALL3(NR_READ, master, buf, 1) == -EAGAIN && events(slave) & POLLOUT);
	close_all(master, slave);
}

/* Each side, closed, leaves the other what was written, and then an error or the end. */
static void test_ends(void)
{
	long master, slave, again;

	make_pair(&master, &slave);
	CHECK(type(slave, "left") && CALL1(NR_CLOSE, slave) == 0);
	CHECK(events(master) == (POLLIN | POLLOUT | POLLHUP) && reads(master, "left"));
	CHECK(CALL3(NR_READ, master, buf, 9) == -EIO);
	slave = open_slave(O_NOCTTY);
	again = open_slave(O_NOCTTY);
	CHECK(type(slave, "more") && reads(master, "more") && events(master) == POLLOUT);
	CHECK(CALL1(NR_CLOSE, again) == 0 && events(master) == POLLOUT);
	CHECK(CALL1(NR_CLOSE, master) == 0);
	CHECK(CALL3(NR_READ, slave, buf, 9) == 0 && CALL3(NR_WRITE, slave, "x", 1) == -EIO);
	CHECK(CALL3(NR_IOCTL, slave, TCGETS, buf) == -EIO);
	CHECK((events(slave) & (POLLIN | POLLHUP | POLLERR)) == (POLLIN | POLLHUP | POLLERR));
	CHECK(open_slave(O_NOCTTY) == -2 && CALL1(NR_CLOSE, slave) == 0);
}

static void block(unsigned long signals)
{
	CHECK(CALL4(NR_RT_SIGPROCMASK, 0, &signals, 0, 8) == 0);
}

/* Of all that can be blocked. */
static long next_signal(void)
{
	unsigned long all = ~0ul;

	return CALL4(NR_RT_SIGTIMEDWAIT, &all, 0, 0, 8);
}

/* The leader of a session whose terminal this is. It says what it has seen through the terminal itself. */
static void __attribute__((noreturn)) lead(long master, int takes)
{
	long slave, own;
	int pgrp = 0, self = (int)CALL0(NR_GETPID);
	unsigned short size[4];

	CHECK(CALL0(NR_SETSID) == self);
	CHECK(CALL2(NR_OPEN, "/dev/tty", O_RDWR) == -ENXIO);
	slave = open_slave(takes ? O_NOCTTY : 0);
	CHECK(slave >= 0 && CALL1(NR_CLOSE, master) == 0);
	CHECK(!takes || (CALL3(NR_IOCTL, slave, TIOCGPGRP, &pgrp) == -ENOTTY &&
			 CALL3(NR_IOCTL, slave, TIOCSCTTY, 0) == 0));
	CHECK(CALL3(NR_IOCTL, slave, TIOCGPGRP, &pgrp) == 0 && pgrp == self);
	CHECK(CALL3(NR_IOCTL, slave, TIOCGSID, &pgrp) == 0 && pgrp == self);
	own = CALL2(NR_OPEN, "/dev/tty", O_RDWR);
	CHECK(own >= 0 && CALL1(NR_CLOSE, slave) == 0);
	slave = own;
	block(1ul << (SIGINT - 1) | 1ul << (SIGWINCH - 1));
	CHECK(type(slave, "r") && next_signal() == SIGINT);
	CHECK(type(slave, "i") && next_signal() == SIGWINCH);
	CHECK(CALL3(NR_IOCTL, slave, TIOCGWINSZ, size) == 0 && size[0] == 50 && size[1] == 132);
	CHECK(type(slave, "w"));
	for (;;)
		CALL0(NR_PAUSE); /* SIGHUP ends it */
}

/* Keys, the size of the window and the end of the master reach the session. */
static void test_session(int takes)
{
	static const unsigned short size[4] = { 50, 132, 0, 0 };
	long master = make_master(), child;
	int status, pgrp = 0;

	unlock(master);
	child = CALL0(NR_FORK);
	if (!child)
		lead(master, takes);
	CHECK(reads(master, "r") && CALL3(NR_IOCTL, master, TIOCGPGRP, &pgrp) == 0 &&
	      pgrp == child);
	CHECK(type(master, "gone\3") && reads(master, "^Ci"));
	CHECK(CALL3(NR_IOCTL, master, TIOCSWINSZ, size) == 0 && reads(master, "w"));
	CHECK(CALL1(NR_CLOSE, master) == 0);
	CHECK(CALL4(NR_WAIT4, child, &status, 0, 0) == child && status == SIGHUP);
}

/* When the leader ends, the group in the foreground hears of it; its files of the terminal stay of use, no longer as jobs. */
static void __attribute__((noreturn)) lead_and_end(int *ready, int *result)
{
	long slave = -1, member;
	int self;
	char byte;

	CHECK(CALL0(NR_SETSID) > 0);
	slave = open_slave(0);
	CHECK(slave >= 0);
	member = CALL0(NR_FORK);
	if (!member) {
		self = (int)CALL0(NR_GETPID);
		block(1ul << (SIGHUP - 1));
		CHECK(CALL2(NR_SETPGID, 0, 0) == 0);
		set(22, (void *)1, 0); /* SIGTTOU is ignored */
		CHECK(CALL3(NR_IOCTL, slave, TIOCSPGRP, &self) == 0);
		CHECK(CALL3(NR_WRITE, ready[1], "x", 1) == 1);
		CHECK(next_signal() == SIGHUP);
		CHECK(CALL2(NR_OPEN, "/dev/tty", O_RDWR) == -ENXIO);
		self = (int)CALL3(NR_WRITE, slave, "x", 1);
		CHECK(CALL3(NR_WRITE, result[1], &self, sizeof(self)) == sizeof(self));
		sys_exit(0);
	}
	CHECK(CALL3(NR_READ, ready[0], &byte, 1) == 1);
	sys_exit(0);
}

static void test_leader_ends(void)
{
	long master = make_master(), child;
	int status, ready[2], result[2], word = 0;

	unlock(master);
	CHECK(CALL1(NR_PIPE, ready) == 0 && CALL1(NR_PIPE, result) == 0);
	child = CALL0(NR_FORK);
	if (!child)
		lead_and_end(ready, result);
	CHECK(CALL4(NR_WAIT4, child, &status, 0, 0) == child && status == 0);
	CHECK(CALL3(NR_READ, result[0], &word, sizeof(word)) == sizeof(word) && word == 1);
	CHECK(reads(master, "x") && CALL3(NR_READ, master, buf, 9) == -EIO &&
	      CALL1(NR_CLOSE, master) == 0);
}

void main_program(long *sp)
{
	(void)sp;
	test_names();
	test_lines();
	test_full();
	test_ends();
	test_session(0);
	test_session(1);
	test_leader_ends();
	put("ptys are as they should be\n");
	sys_exit(0);
}

/*
 * Tests of pairs of sockets: bytes go both ways, each side has an end, and all else is refused. Ends with 0, or with the
 * line of the check that failed. It ends well on Linux, too.
 */
#include "signals.h"

enum {
	NR_CLOSE = 3,
	NR_FSTAT = 5,
	NR_POLL = 7,
	NR_LSEEK = 8,
	NR_SENDTO = 44,
	NR_RECVFROM = 45,
	NR_SENDMSG = 46,
	NR_RECVMSG = 47,
	NR_SHUTDOWN = 48,
	NR_GETPEERNAME = 52,
	NR_SOCKETPAIR = 53,
	NR_FCNTL = 72
};

enum {
	EBADF = 9,
	EFAULT = 14,
	EMFILE = 24,
	ESPIPE = 29,
	EPIPE = 32,
	ENOTSOCK = 88,
	EPROTONOSUPPORT = 93,
	EOPNOTSUPP = 95,
	EISCONN = 106
};
enum {
	PEEK = 2,
	DONTWAIT = 0x40,
	WAITALL = 0x100,
	NOSIGNAL = 0x4000
};

#define STREAM	 1
#define NONBLOCK 04000
#define CLOEXEC	 02000000
#define IN	 1
#define OUT	 4
#define HUP	 16

static int pair[2];
static char buf[4096];

static void make_pair(int flags)
{
	CHECK(CALL4(NR_SOCKETPAIR, 1, STREAM | flags, 0, pair) == 0);
}

static void close_pair(void)
{
	CHECK(CALL1(NR_CLOSE, pair[0]) == 0 && CALL1(NR_CLOSE, pair[1]) == 0);
}

static int ready(int fd)
{
	struct {
		int fd;
		short events, revents;
	} poll = { fd, IN | OUT, 0 };

	CHECK(CALL3(NR_POLL, &poll, 1, 0) >= 0);
	return poll.revents;
}

static void both_ways(void)
{
	make_pair(0);
	for (int i = 0; i < 2; i++) {
		CHECK(ready(pair[i]) == OUT && CALL3(NR_WRITE, pair[!i], "abc", 3) == 3);
		CHECK(ready(pair[i]) == (IN | OUT) && CALL3(NR_READ, pair[i], buf, 9) == 3);
		CHECK(buf[0] == 'a' && buf[2] == 'c');
	}
	CHECK(CALL3(NR_WRITE, pair[0], "x", 1) == 1 && CALL3(NR_WRITE, pair[1], "y", 1) == 1);
	CHECK(CALL3(NR_READ, pair[0], buf, 9) == 1 && buf[0] == 'y');
	CHECK(CALL3(NR_READ, pair[1], buf, 9) == 1 && buf[0] == 'x');
	CHECK(CALL3(NR_LSEEK, pair[0], 0, 1) == -ESPIPE);
	close_pair();
}

static void ends(void)
{
	make_pair(0);
	CHECK(CALL3(NR_WRITE, pair[0], "last", 4) == 4 && CALL1(NR_CLOSE, pair[0]) == 0);
	CHECK(ready(pair[1]) == (IN | OUT | HUP));
	CHECK(CALL3(NR_READ, pair[1], buf, 9) == 4 && CALL3(NR_READ, pair[1], buf, 9) == 0);
	CHECK(ready(pair[1]) == (IN | OUT | HUP));
	set(SIGPIPE, note, 0);
	CHECK(CALL3(NR_WRITE, pair[1], "x", 1) == -EPIPE && nr_seen == 1 && seen[0] == SIGPIPE);
	CHECK(CALL1(NR_CLOSE, pair[1]) == 0);
}

/* A read waits for the other process, and ends with it. */
static void processes(void)
{
	long pid;
	int status;

	make_pair(0);
	pid = CALL0(NR_FORK);
	if (!pid) {
		CALL1(NR_CLOSE, pair[0]);
		CHECK(CALL3(NR_READ, pair[1], buf, 9) == 2 && buf[1] == 'o');
		CHECK(CALL3(NR_WRITE, pair[1], "back", 4) == 4);
		sys_exit(0);
	}
	CHECK(CALL1(NR_CLOSE, pair[1]) == 0 && CALL3(NR_WRITE, pair[0], "to", 2) == 2);
	CHECK(CALL3(NR_READ, pair[0], buf, 9) == 4 && CALL3(NR_READ, pair[0], buf, 9) == 0);
	CHECK(wait_for(pid, 0, &status) == pid && !status && CALL1(NR_CLOSE, pair[0]) == 0);
}

static void without_waiting(void)
{
	make_pair(NONBLOCK | CLOEXEC);
	CHECK((CALL3(NR_FCNTL, pair[0], 3, 0) & NONBLOCK) && CALL3(NR_FCNTL, pair[0], 1, 0) == 1);
	CHECK(CALL3(NR_READ, pair[0], buf, 1) == -EAGAIN);
	while (CALL3(NR_WRITE, pair[0], buf, sizeof(buf)) > 0)
		;
	CHECK(CALL3(NR_WRITE, pair[0], buf, sizeof(buf)) == -EAGAIN && ready(pair[0]) == 0);
	CHECK(ready(pair[1]) == (IN | OUT));
	while (CALL3(NR_READ, pair[1], buf, sizeof(buf)) > 0)
		;
	CHECK(ready(pair[0]) == OUT && ready(pair[1]) == OUT);
	CHECK(CALL3(NR_FCNTL, pair[0], 4, 0) == 0 && CALL3(NR_WRITE, pair[1], "z", 1) == 1);
	CHECK(CALL3(NR_READ, pair[0], buf, 2) == 1);
	close_pair();
}

static void about(void)
{
	unsigned int stat[36];
	unsigned short name[55] = { 9, 9 };
	int len = sizeof(name);

	make_pair(0);
	CHECK(CALL2(NR_FSTAT, pair[0], stat) == 0 && (stat[6] & 0170000) == 0140000);
	CHECK(CALL3(NR_GETPEERNAME, pair[0], name, &len) == 0 && len == 2);
	CHECK(name[0] == 1 && name[1] == 9);
	len = -1;
	CHECK(CALL3(NR_GETPEERNAME, pair[0], name, &len) == -EINVAL);
	CHECK(CALL3(NR_GETPEERNAME, 900, name, &len) == -EBADF);
	close_pair();
	CHECK(CALL1(NR_PIPE, pair) == 0 && CALL3(NR_GETPEERNAME, pair[0], name, &len) == -ENOTSOCK);
	close_pair();
}

static long send(int fd, const char *bytes, long len, int flags)
{
	return syscall6(NR_SENDTO, fd, (long)bytes, len, flags, 0, 0);
}

static long receive(int fd, long len, int flags)
{
	return syscall6(NR_RECVFROM, fd, (long)buf, len, flags, 0, 0);
}

/* Flags count for one call. */
static void flags(void)
{
	char name[16];
	int len = sizeof(name);

	make_pair(0);
	CHECK(receive(pair[0], 9, DONTWAIT) == -EAGAIN && send(pair[1], "abcd", 4, 0) == 4);
	CHECK(receive(pair[0], 2, PEEK) == 2 && buf[0] == 'a' && receive(pair[0], 9, PEEK) == 4);
	CHECK(syscall6(NR_RECVFROM, pair[0], (long)buf, 3, 0, (long)name, (long)&len) == 3 && !len);
	CHECK(receive(pair[0], 9, DONTWAIT) == 1 && buf[0] == 'd');
	CHECK(send(pair[0], (char *)8, 1, 0) == -EFAULT && send(pair[0], buf, 0, 0) == 0);
	while (send(pair[0], buf, sizeof(buf), DONTWAIT) > 0)
		;
	CHECK(send(pair[0], buf, sizeof(buf), DONTWAIT) == -EAGAIN);
	CHECK(syscall6(NR_SENDTO, pair[0], (long)buf, 1, 0, (long)name, 2) == -EISCONN);
	CHECK(send(900, buf, 1, 0) == -EBADF && receive(900, 1, 0) == -EBADF);
	close_pair();
	CHECK(CALL1(NR_PIPE, pair) == 0 && send(pair[1], buf, 1, 0) == -ENOTSOCK);
	CHECK(receive(pair[0], 1, 0) == -ENOTSOCK && CALL2(NR_SHUTDOWN, pair[0], 0) == -ENOTSOCK);
	close_pair();
}

/* All that is asked for, although it comes in two parts; or what there is at the end. */
static void wait_for_all(void)
{
	int status;
	long pid;

	make_pair(0);
	pid = CALL0(NR_FORK);
	if (!pid) {
		CHECK(send(pair[1], "ab", 2, 0) == 2 && receive(pair[1], 1, 0) == 1);
		CHECK(send(pair[1], "cdefg", 5, 0) == 5);
		sys_exit(0);
	}
	CHECK(receive(pair[0], 2, PEEK) == 2 && send(pair[0], "!", 1, 0) == 1);
	CHECK(receive(pair[0], 4, WAITALL) == 4 && buf[0] == 'a' && buf[3] == 'd');
	CHECK(wait_for(pid, 0, &status) == pid && !status && CALL1(NR_CLOSE, pair[1]) == 0);
	CHECK(receive(pair[0], 9, WAITALL) == 3 && receive(pair[0], 9, WAITALL) == 0);
	CHECK(CALL1(NR_CLOSE, pair[0]) == 0);
}

static void messages(void)
{
	struct {
		void *base;
		unsigned long len;
	} out[3] = { { "ab", 2 }, { 0, 0 }, { "cde", 3 } },
	  in[2] = { { buf, 1 }, { buf + 100, 9 } };
	struct {
		void *name;
		int namelen, pad;
		void *iov;
		unsigned long iovlen;
		void *control;
		unsigned long controllen;
		int flags, pad2;
	} to = { 0, 0, 0, out, 3, 0, 0, 0, 0 },
	  from = { buf + 200, 99, 0, in, 2, buf + 300, 99, 9, 0 };

	make_pair(0);
	CHECK(CALL3(NR_SENDMSG, pair[0], &to, 0) == 5 && CALL3(NR_RECVMSG, pair[1], &from, 0) == 5);
	CHECK(buf[0] == 'a' && buf[100] == 'b' && buf[103] == 'e');
	CHECK(from.namelen == 0 && from.controllen == 0 && from.flags == 0);
	CHECK(CALL3(NR_RECVMSG, pair[1], &from, DONTWAIT) == -EAGAIN);
	CHECK(CALL3(NR_SENDMSG, pair[0], 8, 0) == -EFAULT &&
	      CALL3(NR_RECVMSG, pair[0], 8, 0) == -EFAULT);
	CHECK(CALL3(NR_SENDMSG, 900, &to, 0) == -EBADF);
	close_pair();
}

struct message {
	void *name;
	long namelen;
	void *iov;
	unsigned long iovlen;
	void *control;
	unsigned long controllen;
	int flags, pad;
};
static struct {
	unsigned long len;
	int level, type, fds[4];
} control;
static struct {
	const void *base;
	unsigned long len;
} place;

/* Send bytes with descriptors; and receive some, with room for so many bytes of control. */
static long send_files(const char *text, unsigned long len, const int *fds, int nr)
{
	struct message to = { 0, 0, &place, 1, &control, 16 + 4 * (unsigned long)nr, 0, 0 };

	place.base = text;
	place.len = len;
	control.len = to.controllen;
	control.level = control.type = 1; /* SOL_SOCKET, SCM_RIGHTS */
	for (int i = 0; i < nr; i++)
		control.fds[i] = fds[i];
	return CALL3(NR_SENDMSG, pair[0], &to, 0);
}

static long receive_files(struct message *from, unsigned long room, unsigned int flags)
{
	*from = (struct message){ 0, 0, &place, 1, room ? &control : 0, room, 0, 0 };
	place.base = buf;
	place.len = 9;
	for (int i = 0; i < 4; i++)
		control.fds[i] = -1;
	return CALL3(NR_RECVMSG, pair[1], from, flags);
}

/* The files come with the first of their bytes that is read, and no bytes behind these come with them. */
static void files(void)
{
	struct message from;
	int ends[2], two[2];

	make_pair(0);
	CHECK(CALL1(NR_PIPE, ends) == 0 && CALL3(NR_WRITE, ends[1], "pipe", 4) == 4);
	two[0] = two[1] = ends[0];
	CHECK(send(pair[0], "ab", 2, 0) == 2 && send_files("cd", 2, ends, 1) == 2 &&
	      send(pair[0], "ef", 2, 0) == 2);
	CHECK(CALL1(NR_CLOSE, ends[0]) == 0);
	CHECK(receive_files(&from, sizeof(control), 0x40000000) == 4 && buf[3] == 'd');
	CHECK(from.controllen == 24 && from.flags == 0x40000000 && control.len == 20 &&
	      control.level == 1 && control.type == 1);
	CHECK(CALL3(NR_READ, control.fds[0], buf, 9) == 4 && buf[0] == 'p');
	CHECK(CALL3(NR_FCNTL, control.fds[0], 1, 0) == 1); /* MSG_CMSG_CLOEXEC */
	two[0] = two[1] = control.fds[0];
	CHECK(receive_files(&from, sizeof(control), 0) == 2 && !from.controllen && !from.flags);
	CHECK(send_files("x", 1, two, 2) == 1 && receive_files(&from, 20, 0) == 1);
	CHECK(from.flags == 8 && control.fds[0] >= 0 && control.fds[1] == -1); /* MSG_CTRUNC */
	CHECK(CALL1(NR_CLOSE, control.fds[0]) == 0);
	CHECK(send_files("x", 1, two, 2) == 1 && receive_files(&from, 0, 0) == 1 &&
	      from.flags == 8);
	/* read() leaves them out, and so does the end of the reader: the pipe has no reader any more. */
	CHECK(send_files("x", 1, two, 2) == 1 && CALL3(NR_READ, pair[1], buf, 9) == 1);
	CHECK(send_files("x", 1, two, 1) == 1 && CALL1(NR_CLOSE, two[0]) == 0);
	nr_seen = 0;
	CHECK(CALL3(NR_WRITE, ends[1], "x", 1) == 1);
	CHECK(send_files("x", 1, two, 1) == -EBADF);
	close_pair();
	CHECK(CALL3(NR_WRITE, ends[1], "x", 1) == -EPIPE && CALL1(NR_CLOSE, ends[1]) == 0);
}

/* As many places as 1024. */
static void places(void)
{
	static struct {
		char *base;
		unsigned long len;
	} many[1025];
	struct message to = { 0, 0, many, 1024, 0, 0, 0, 0 };

	for (int i = 0; i < 1025; i++) {
		many[i].base = &buf[i % 64];
		many[i].len = 1;
		buf[i % 64] = (char)('0' + i % 64);
	}
	make_pair(0);
	CHECK(CALL3(NR_SENDMSG, pair[0], &to, 0) == 1024);
	CHECK(CALL3(NR_RECVMSG, pair[1], &to, 0) == 1024 && buf[0] == '0' && buf[63] == '0' + 63);
	to.iovlen = 1025;
	CHECK(CALL3(NR_SENDMSG, pair[0], &to, 0) == -90); /* EMSGSIZE */
	close_pair();
}

/* Each direction by itself. */
static void shut(void)
{
	make_pair(0);
	nr_seen = 0;
	CHECK(send(pair[0], "last", 4, 0) == 4 && CALL2(NR_SHUTDOWN, pair[0], 1) == 0);
	CHECK(send(pair[0], "x", 1, NOSIGNAL) == -EPIPE && nr_seen == 0);
	CHECK(CALL3(NR_WRITE, pair[0], "x", 1) == -EPIPE && nr_seen == 1);
	CHECK(ready(pair[1]) == (IN | OUT) && CALL3(NR_READ, pair[1], buf, 9) == 4);
	CHECK(CALL3(NR_READ, pair[1], buf, 9) == 0 && ready(pair[1]) == (IN | OUT));
	CHECK(send(pair[1], "back", 4, 0) == 4 && receive(pair[0], 9, 0) == 4);
	CHECK(CALL2(NR_SHUTDOWN, pair[0], 0) == 0 && send(pair[1], "x", 1, 0) == -EPIPE);
	CHECK(nr_seen == 2 && receive(pair[0], 9, 0) == 0);
	CHECK(ready(pair[0]) == (IN | OUT | HUP) && ready(pair[1]) == (IN | OUT | HUP));
	CHECK(CALL2(NR_SHUTDOWN, pair[0], 3) == -EINVAL &&
	      CALL2(NR_SHUTDOWN, pair[0], -1) == -EINVAL);
	CHECK(CALL2(NR_SHUTDOWN, 900, 0) == -EBADF);
	close_pair();
	make_pair(0);
	CHECK(CALL2(NR_SHUTDOWN, pair[0], 2) == 0 && receive(pair[1], 9, 0) == 0);
	CHECK(send(pair[1], "x", 1, 0) == -EPIPE && nr_seen == 3);
	close_pair();
}

static void errors(void)
{
	CHECK(CALL4(NR_SOCKETPAIR, 1, STREAM, 0, 8) == -EFAULT);
	CHECK(CALL4(NR_SOCKETPAIR, 1, STREAM | 0x100, 0, pair) == -EINVAL);
	CHECK(CALL4(NR_SOCKETPAIR, 1, STREAM, 7, pair) == -EPROTONOSUPPORT);
	make_pair(0); /* the descriptors that a failure has given back */
	CHECK(pair[1] == pair[0] + 1);
	close_pair();
}

void main_program(long *sp)
{
	(void)sp;
	both_ways();
	ends();
	processes();
	without_waiting();
	about();
	flags();
	wait_for_all();
	messages();
	files();
	places();
	shut();
	errors();
	put("sockets are as they should be\n");
	sys_exit(0);
}

/*
 * Tests of facts about the machine: names of uname(), messages of syslog(), sysinfo(), and how a thread is scheduled. To be started by
 * root. Ends with 0, or with the line of the check that failed. The machine keeps its names.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_UNAME = 63,
	NR_SYSINFO = 99,
	NR_SYSLOG = 103,
	NR_SETUID = 105,
	NR_SETPRIORITY = 141,
	NR_SCHED_SETSCHEDULER = 144,
	NR_SETHOSTNAME = 170,
	NR_SETDOMAINNAME = 171,
	NR_IOPRIO_GET = 252,
	NR_SCHED_GETATTR = 315
};

enum {
	EPERM = 1,
	ESRCH = 3,
	EFAULT = 14,
	EINVAL = 22
};
enum {
	LOG_READ_ALL = 3,
	LOG_CONSOLE_LEVEL = 8,
	LOG_SIZE_UNREAD = 9,
	LOG_SIZE = 10
};
enum {
	SYSNAME,
	NODENAME,
	RELEASE,
	VERSION,
	MACHINE,
	DOMAINNAME,
	NR_NAMES
};
#define NOWHERE	 0x1000l /* no memory is there */
#define MESSAGES (1 << 17)

static char names[NR_NAMES][65], messages[MESSAGES];

static void get_names(void)
{
	CHECK(CALL1(NR_UNAME, names) == 0);
}

/* The text of a file, without the newline at its end. */
static const char *file_text(const char *path)
{
	static char text[256];
	long fd = CALL3(NR_OPEN, path, 0, 0), len = CALL3(NR_READ, fd, text, sizeof(text) - 1);

	CHECK(fd >= 0 && len > 0 && text[len - 1] == '\n');
	text[len - 1] = '\0';
	CALL1(NR_CLOSE, fd);
	return text;
}

static void test_names(void)
{
	static char name[65];
	long len;

	get_names();
	CHECK(text_equal(names[SYSNAME], "Linux") && text_equal(names[MACHINE], "x86_64"));
	CHECK(text_equal(file_text("/proc/sys/kernel/ostype"), names[SYSNAME]));
	CHECK(text_equal(file_text("/proc/sys/kernel/osrelease"), names[RELEASE]));
	CHECK(text_equal(file_text("/proc/sys/kernel/version"), names[VERSION]));
	CHECK(text_equal(file_text("/proc/sys/kernel/hostname"), names[NODENAME]));
	CHECK(text_equal(file_text("/proc/sys/kernel/domainname"), names[DOMAINNAME]));
	len = (long)text_len(names[NODENAME]);
	for (long i = 0; i < len; i++)
		name[i] = names[NODENAME][i];
	CHECK(CALL2(NR_SETHOSTNAME, name, -1) == -EINVAL);
	CHECK(CALL2(NR_SETHOSTNAME, name, 65) == -EINVAL);
	CHECK(CALL2(NR_SETHOSTNAME, NOWHERE, len) == -EFAULT);
	CHECK(CALL2(NR_SETHOSTNAME, name, len) == 0);
	CHECK(CALL2(NR_SETDOMAINNAME, names[DOMAINNAME], text_len(names[DOMAINNAME])) == 0);
	get_names();
	CHECK(text_equal(names[NODENAME], name));
}

static void test_messages(void)
{
	long all = CALL3(NR_SYSLOG, LOG_READ_ALL, messages, MESSAGES), part;

	CHECK(CALL3(NR_SYSLOG, LOG_SIZE, 0, 0) >= 1 << 12);
	CHECK(CALL3(NR_SYSLOG, LOG_SIZE_UNREAD, 0, 0) >= 0);
	CHECK(all > 200 && messages[0] == '<' && messages[2] == '>' && messages[3] == '[');
	CHECK(messages[all - 1] == '\n');
	/* The last ones that have room. */
	part = CALL3(NR_SYSLOG, LOG_READ_ALL, messages, 200);
	CHECK(part > 0 && part <= 200 && messages[0] == '<' && messages[part - 1] == '\n');
	CHECK(CALL3(NR_SYSLOG, LOG_READ_ALL, messages, 0) == 0);
	CHECK(CALL3(NR_SYSLOG, LOG_READ_ALL, 0, 200) == -EINVAL);
	CHECK(CALL3(NR_SYSLOG, LOG_READ_ALL, messages, -1) == -EINVAL);
	CHECK(CALL3(NR_SYSLOG, LOG_READ_ALL, NOWHERE, 200) == -EFAULT);
	CHECK(CALL3(NR_SYSLOG, LOG_CONSOLE_LEVEL, 0, 0) == -EINVAL);
	CHECK(CALL3(NR_SYSLOG, LOG_CONSOLE_LEVEL, 0, 9) == -EINVAL);
	CHECK(CALL3(NR_SYSLOG, 11, 0, 0) == -EINVAL && CALL3(NR_SYSLOG, -1, 0, 0) == -EINVAL);
}

struct sysinfo {
	int64_t uptime;
	uint64_t loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	uint16_t procs, pad;
	uint64_t totalhigh, freehigh;
	uint32_t mem_unit;
};

static void test_sysinfo(void)
{
	static struct sysinfo info;
	long cents = 0;
	const char *text = file_text("/proc/loadavg");

	CHECK(CALL1(NR_SYSINFO, &info) == 0 && info.procs > 1 && info.mem_unit > 0);
	CHECK(info.freeram < info.totalram);
	for (; *text != ' '; text++)
		cents = *text == '.' ? cents : cents * 10 + *text - '0';
	/* The same, unless it has changed meanwhile. */
	cents -= (long)(info.loads[0] * 100 / 65536);
	CHECK(cents >= -20 && cents <= 20);
	CHECK(CALL1(NR_SYSINFO, NOWHERE) == -EFAULT);
}

struct sched_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void test_scheduling(void)
{
	struct sched_attr attr;
	int priority = 7;

	CHECK(CALL3(NR_SETPRIORITY, 0, 0, 3) == 0);
	CHECK(CALL4(NR_SCHED_GETATTR, 0, &attr, sizeof(attr), 0) == 0);
	CHECK(attr.size == sizeof(attr) && attr.policy == 0 && attr.nice == 3 && !attr.priority);
	CHECK(CALL4(NR_SCHED_GETATTR, 0, &attr, sizeof(attr) - 1, 0) == -EINVAL);
	CHECK(CALL4(NR_SCHED_GETATTR, 0, &attr, 4097, 0) == -EINVAL);
	CHECK(CALL4(NR_SCHED_GETATTR, 0, &attr, sizeof(attr), 1) == -EINVAL);
	CHECK(CALL4(NR_SCHED_GETATTR, -1, &attr, sizeof(attr), 0) == -EINVAL);
	CHECK(CALL4(NR_SCHED_GETATTR, 4194303, &attr, sizeof(attr), 0) == -ESRCH);
	CHECK(CALL4(NR_SCHED_GETATTR, 0, NOWHERE, sizeof(attr), 0) == -EFAULT);
	CHECK(CALL3(NR_SCHED_SETSCHEDULER, 0, 2, &priority) == 0);
	CHECK(CALL4(NR_SCHED_GETATTR, 0, &attr, sizeof(attr), 0) == 0);
	CHECK(attr.policy == 2 && attr.priority == 7 && attr.nice == 0);
	CHECK(CALL2(NR_IOPRIO_GET, 1, 0) >= 0 && CALL2(NR_IOPRIO_GET, 0, 0) == -EINVAL);
	CHECK(CALL2(NR_IOPRIO_GET, 1, 4194303) == -ESRCH);
}

static void test_rights(void)
{
	CHECK(CALL1(NR_SETUID, 1000) == 0);
	CHECK(CALL2(NR_SETHOSTNAME, "name", 4) == -EPERM);
	CHECK(CALL2(NR_SETDOMAINNAME, "name", 4) == -EPERM);
	CHECK(CALL3(NR_SYSLOG, LOG_CONSOLE_LEVEL, 0, 4) == -EPERM);
	CHECK(CALL3(NR_OPEN, "/proc/sys/kernel/hostname", 1, 0) == -13);
}

void main_program(long *sp)
{
	(void)sp;
	test_names();
	test_messages();
	test_sysinfo();
	test_scheduling();
	test_rights();
	put("facts are as they should be\n");
	sys_exit(0);
}

/*
 * Tests of times and counts: of the program and of the kernel for it, of children, of threads; faults and switches. Ends with 0, or
 * with the line of the check that failed.
 */
#include "nolib.h"

enum {
	NR_NANOSLEEP = 35,
	NR_GETRUSAGE = 98,
	NR_TIMES = 100,
	NR_WAITID = 247,
	SELF = 0,
	CHILDREN = -1,
	THREAD = 1,
	P_PID = 1,
	WEXITED = 4,
	WNOWAIT = 0x1000000,
	EINVAL = 22,
	EFAULT = 14
};

struct rusage {
	int64_t user_s, user_us, system_s, system_us, maxrss, unused[3], minflt, majflt,
		unused_too[6], nvcsw, nivcsw;
};

#define PAGES 64
#define WORK  60000 /* microseconds of processor time */

static volatile char pages[PAGES * 4096] __attribute__((aligned(4096)));
static char zeros[1 << 16];

static void get_usage(long who, struct rusage *out)
{
	CHECK(CALL2(NR_GETRUSAGE, who, out) == 0);
}

static long user_us(const struct rusage *usage)
{
	return usage->user_s * 1000000 + usage->user_us;
}

static long system_us(const struct rusage *usage)
{
	return usage->system_s * 1000000 + usage->system_us;
}

static long all_us(const struct rusage *usage)
{
	return user_us(usage) + system_us(usage);
}

/* Count until the program has had so much time. */
static void work_in_program(void)
{
	struct rusage begin, now;
	volatile long nr = 0;

	get_usage(SELF, &begin);
	do {
		for (int i = 0; i < 1000000; i++)
			nr++;
		get_usage(SELF, &now);
		CHECK(system_us(&now) >= system_us(&begin) && user_us(&now) >= user_us(&begin));
	} while (all_us(&now) < all_us(&begin) + WORK);
	CHECK(user_us(&now) - user_us(&begin) > system_us(&now) - system_us(&begin));
}

static void work_in_kernel(void)
{
	long fd = CALL3(NR_OPEN, "/dev/zero", 0, 0);
	struct rusage begin, now;

	CHECK(fd >= 0);
	get_usage(SELF, &begin);
	do {
		for (int i = 0; i < 50; i++)
			CHECK(CALL3(NR_READ, fd, zeros, sizeof(zeros)) == sizeof(zeros));
		get_usage(SELF, &now);
		CHECK(system_us(&now) >= system_us(&begin) && user_us(&now) >= user_us(&begin));
	} while (all_us(&now) < all_us(&begin) + WORK);
	CHECK(system_us(&now) - system_us(&begin) > user_us(&now) - user_us(&begin));
}

static void test_times(void)
{
	struct rusage before, after;
	long ticks[4];

	work_in_program();
	work_in_kernel();
	get_usage(SELF, &before);
	CHECK(CALL1(NR_TIMES, ticks) > 0);
	get_usage(SELF, &after);
	CHECK(ticks[0] >= user_us(&before) / 10000 && ticks[0] <= user_us(&after) / 10000);
	CHECK(ticks[1] >= system_us(&before) / 10000 && ticks[1] <= system_us(&after) / 10000);
	CHECK(ticks[2] == 0 && ticks[3] == 0);
	get_usage(THREAD, &after);
	CHECK(all_us(&after) + 2 >= all_us(&before)); /* both are rounded */
	CHECK(CALL2(NR_GETRUSAGE, 2, &after) == -EINVAL && CALL2(NR_GETRUSAGE, SELF, 8) == -EFAULT);
}

static void test_counts(void)
{
	static const struct {
		long s, ns;
	} moment = { 0, 1000000 };
	struct rusage before, after;

	get_usage(SELF, &before);
	for (int i = 0; i < PAGES; i++)
		pages[i * 4096] = 1;
	get_usage(SELF, &after);
	CHECK(after.minflt > before.minflt && after.minflt < before.minflt + 2 * PAGES);
	for (int i = 0; i < 5; i++)
		CHECK(CALL2(NR_NANOSLEEP, &moment, 0) == 0);
	get_usage(SELF, &after);
	CHECK(after.nvcsw >= before.nvcsw + 5);
}

#define BYTES (8l << 20) /* more than the program has otherwise */

static void touch(void)
{
	volatile char *at = (volatile char *)syscall6(NR_MMAP, 0, BYTES, 3, 0x22, -1, 0);

	for (long i = 0; i < BYTES; i += 4096)
		at[i] = 1;
	CHECK(CALL2(NR_MUNMAP, at, BYTES) == 0);
}

/* The most memory that was there at one time, in KiB: it stays when the memory goes, and a parent hears of a child's. */
static void test_memory(void)
{
	static struct rusage told, before, after;
	const long most = BYTES / 1024;
	int status;
	long pid = CALL0(NR_FORK);

	if (!pid) {
		get_usage(SELF, &before);
		CHECK(before.maxrss > 0 && before.maxrss < most);
		touch();
		get_usage(THREAD, &told);
		touch();
		get_usage(SELF, &after);
		CHECK(told.maxrss >= most && after.maxrss < 2 * most);
		get_usage(CHILDREN, &after);
		CHECK(after.maxrss == 0);
		sys_exit(0);
	}
	get_usage(CHILDREN, &before);
	CHECK(before.maxrss < most);
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, &told) == pid && status == 0);
	get_usage(CHILDREN, &after);
	CHECK(told.maxrss >= most && told.maxrss < 2 * most && after.maxrss == told.maxrss);
	get_usage(SELF, &after);
	CHECK(after.maxrss < most);
}

/* Time of a child is told when it is waited for, with that of its own children; not before, and once. */
static void test_children(void)
{
	static struct rusage told;
	struct rusage own, seen;
	char info[128];
	int status;
	long pid = CALL0(NR_FORK), ticks[4];

	if (!pid) {
		get_usage(CHILDREN, &own);
		CHECK(all_us(&own) == 0 && own.minflt == 0);
		pid = CALL0(NR_FORK);
		if (!pid) {
			work_in_program();
			sys_exit(0);
		}
		CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 0);
		work_in_kernel();
		sys_exit(0);
	}
	CHECK(syscall6(NR_WAITID, P_PID, pid, (long)info, WEXITED | WNOWAIT, (long)&told, 0) == 0);
	get_usage(CHILDREN, &seen);
	CHECK(all_us(&seen) == 0 && all_us(&told) >= WORK);
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, &told) == pid && status == 0);
	CHECK(user_us(&told) > WORK / 2 && system_us(&told) > WORK / 2 &&
	      all_us(&told) >= 2 * WORK);
	get_usage(CHILDREN, &seen);
	CHECK(user_us(&seen) == user_us(&told) && system_us(&seen) == system_us(&told) &&
	      seen.minflt > 0);
	CHECK(CALL1(NR_TIMES, ticks) > 0 && ticks[2] == user_us(&told) / 10000 &&
	      ticks[3] == system_us(&told) / 10000);
}

void main_program(long *sp)
{
	(void)sp;
	test_times();
	test_counts();
	test_children();
	test_memory();
	put("usages are as they should be\n");
	sys_exit(0);
}

/*
 * Tests of membarrier(): what it answers, and that one thread needs no barrier of its own where another one asks for it. Ends with 0, or
 * with the line of the check that failed.
 */
#include "clones.h"
#include "nolib.h"

enum {
	NR_SCHED_YIELD = 24,
	NR_MEMBARRIER = 324
};
enum {
	EPERM = 1,
	EINVAL = 22
};
enum {
	QUERY = 0,
	GLOBAL = 1,
	GLOBAL_EXPEDITED = 2,
	REGISTER_GLOBAL = 4,
	PRIVATE = 8,
	REGISTER_PRIVATE = 16,
	SYNC_CORE = 32,
	REGISTER_SYNC_CORE = 64,
	ALL = 127
};

#define ROUNDS 300

static long membarrier(long cmd)
{
	return CALL3(NR_MEMBARRIER, cmd, 0, 0);
}

static void test_answers(void)
{
	int status;
	long pid;

	CHECK((membarrier(QUERY) & ALL) == ALL);
	CHECK(membarrier(PRIVATE) == -EPERM && membarrier(SYNC_CORE) == -EPERM);
	CHECK(membarrier(REGISTER_PRIVATE) == 0 && membarrier(PRIVATE) == 0);
	CHECK(membarrier(SYNC_CORE) == -EPERM);
	CHECK(membarrier(REGISTER_SYNC_CORE) == 0 && membarrier(SYNC_CORE) == 0);
	CHECK(membarrier(GLOBAL) == 0 && membarrier(GLOBAL_EXPEDITED) == 0);
	CHECK(membarrier(REGISTER_GLOBAL) == 0 && membarrier(GLOBAL_EXPEDITED) == 0);
	CHECK(membarrier(PRIVATE | GLOBAL) == -EINVAL && membarrier(1 << 20) == -EINVAL);
	CHECK(CALL3(NR_MEMBARRIER, QUERY, 1, 0) == -EINVAL);
	CHECK(CALL3(NR_MEMBARRIER, PRIVATE, 2, 0) == -EINVAL);
	pid = CALL0(NR_FORK);
	if (!pid)
		sys_exit(membarrier(PRIVATE) == 0 ? 0 : 1); /* a copy has said it, too */
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 0);
}

static struct {
	int x __attribute__((aligned(64)));
	int y __attribute__((aligned(64)));
	int seen_y __attribute__((aligned(64)));
	int round, done;
} shared;

static int load(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void store(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static void wait_for(const int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		CALL0(NR_SCHED_YIELD);
}

/* Without a barrier: the processor may read y before others see x. */
static void quick(long arg)
{
	(void)arg;
	for (int round = 1; round <= ROUNDS; round++) {
		wait_for(&shared.round, round);
		store(&shared.x, round);
		__asm__ volatile("" ::: "memory");
		store(&shared.seen_y, load(&shared.y));
		__atomic_store_n(&shared.done, round, __ATOMIC_RELEASE);
	}
}

static void test_order(void)
{
	static char stack[8192] __attribute__((aligned(16)));
	static int tid;

	CHECK(new_thread(stack + sizeof(stack), &tid, quick, 0) > 0);
	for (int round = 1; round <= ROUNDS; round++) {
		int seen_x;

		__atomic_store_n(&shared.round, round, __ATOMIC_RELEASE);
		store(&shared.y, round);
		CHECK(membarrier(PRIVATE) == 0);
		seen_x = load(&shared.x);
		wait_for(&shared.done, round);
		CHECK(seen_x == round || load(&shared.seen_y) == round);
	}
	while (__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		CALL0(NR_SCHED_YIELD);
}

void main_program(long *sp)
{
	(void)sp;
	test_answers();
	test_order();
	put("membarriers are as they should be\n");
	sys_exit(0);
}

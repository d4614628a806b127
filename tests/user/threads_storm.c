/*
 * Programs of several threads that do at random what harms others: they map and unmap memory, change its rights, give
 * it up, fork, send signals, wait for futexes, make threads, stop each other, until one of them ends them all, executes
 * something, dies of a fault or is killed from outside. `threads_storm SECONDS SEED` says how many such programs there
 * were; each has its own page of numbers, in which no write of another program may be.
 */
#include "threads.h"

#define THREADS	   6
#define STEPS	   400
#define POOL	   ((char *)0x20000000) /* memory that all threads change, of POOL_PAGES */
#define POOL_PAGES 32
#define OWN_PAGES  4

enum {
	END_BY_EXIT_GROUP,
	END_BY_EXEC,
	END_BY_FAULT,
	END_BY_KILL,
	END_ONE_BY_ONE,
	NR_ENDS
};

static char stacks[2 * THREADS][16384] __attribute__((aligned(16)));
static int tids[2 * THREADS];
static unsigned int seeds[2 * THREADS];
static int word, ending, how;
static volatile long nowhere = 8; /* an address where nothing is */

static unsigned int draw(long i, unsigned int below)
{
	seeds[i] = seeds[i] * 1664525 + 1013904223;
	return (seeds[i] >> 8) % below;
}

static void on_signal(int sig)
{
	(void)sig;
}

/* A fault in the pool is part of the storm: the thread ends. */
static void on_fault(int sig)
{
	(void)sig;
	CALL1(NR_EXIT, 0);
}

static char *pool_page(long i)
{
	return POOL + draw(i, POOL_PAGES) * 4096;
}

static void fork_one(long i)
{
	int status = 0;
	long child = draw(i, 2) ? CALL0(NR_FORK) : CALL0(NR_VFORK);

	if (!child)
		sys_exit(7);
	if (child < 0)
		return;
	while (CALL4(NR_WAIT4, child, &status, 0x40000000, 0) == -EINTR)
		;
	CHECK(status == 7 << 8);
}

static void storm(long i);

/* A thread more, which lives for some steps, in the place of one that has ended. */
static void begin_one(long i)
{
	long at = THREADS + i;

	if (at < 2 * THREADS && !__atomic_load_n(&tids[at], __ATOMIC_SEQ_CST)) {
		seeds[at] = seeds[i] + 1;
		new_thread(stacks[at] + sizeof(stacks[at]), &tids[at], storm, at);
	}
}

static void wait_a_little(long i)
{
	long time[2] = { 0, draw(i, 300000) };

	if (draw(i, 2))
		futex(&word, FUTEX_WAIT | FUTEX_PRIVATE, word, time);
	else
		futex(&word, FUTEX_WAKE | FUTEX_PRIVATE, 2, 0);
	__atomic_add_fetch(&word, 1, __ATOMIC_RELAXED);
}

static void signal_one(long i)
{
	int tid = __atomic_load_n(&tids[draw(i, 2 * THREADS)], __ATOMIC_RELAXED);

	CALL3(NR_TGKILL, CALL0(NR_GETPID), tid > 0 ? tid : 1, draw(i, 8) ? SIGUSR1 : SIGCONT);
}

static void step(long i)
{
	char *page = pool_page(i);

	switch (draw(i, 10)) {
	case 0:
		CALL2(NR_MUNMAP, page, 4096);
		break;
	case 1:
		CALL3(NR_MPROTECT, page, 4096, draw(i, 4));
		break;
	case 2:
		CALL3(NR_MADVISE, page, 4096, 4);
		break;
	case 3:
		fork_one(i);
		break;
	case 4:
		begin_one(i);
		break;
	case 5:
		wait_a_little(i);
		break;
	case 6:
		signal_one(i);
		break;
	default: /* mapped anew, and written to while another may take it away */
		syscall6(NR_MMAP, (long)page, 4096, 3, 0x32, -1, 0);
		CALL3(NR_READ, -1, page, 8);
		CALL3(NR_PREAD, 0, page, 8);
		syscall6(NR_MREMAP, (long)page, 4096, 4096, 3, (long)pool_page(i), 0);
		break;
	}
}

static void end_all(long i)
{
	const char *argv[] = { "threads_storm", "executed", 0 };

	if (__atomic_exchange_n(&ending, 1, __ATOMIC_SEQ_CST))
		return;
	switch (how) {
	case END_BY_EXIT_GROUP:
		sys_exit(21);
	case END_BY_EXEC:
		CALL3(NR_EXECVE, "/proc/self/exe", argv, 0);
		sys_exit(22);
	case END_BY_FAULT:
		CALL4(NR_RT_SIGACTION, SIGSEGV, (long[4]){ 0 }, 0, 8);
		*(volatile int *)nowhere = (int)i;
		break;
	default:
		break;
	}
}

/* Pages of its own have its own numbers, whatever the others do. */
static void storm(long i)
{
	int *own = (int *)syscall6(NR_MMAP, 0, OWN_PAGES * 4096, 3, 0x22, -1, 0);
	int steps = i < THREADS ? STEPS : 20;

	if ((long)own < 0)
		return;
	for (int n = 0; n < steps; n++) {
		int *at = own + n % OWN_PAGES * 1024 + draw(i, 1024);

		CHECK(*at == 0 || *at == (int)(at - own) * 16 + (int)i);
		*at = (int)(at - own) * 16 + (int)i;
		step(i);
		if (i == 0 && n == STEPS / 2)
			end_all(i);
	}
	CALL2(NR_MUNMAP, own, OWN_PAGES * 4096);
}

static void begin_program(unsigned int seed)
{
	set_handler(SIGUSR1, on_signal);
	set_handler(SIGSEGV, on_fault);
	set_handler(7, on_fault);
	for (long i = 0; i < THREADS; i++) {
		seeds[i] = seed * 77 + (unsigned int)i;
		new_thread(stacks[i] + sizeof(stacks[i]), &tids[i], storm, i);
	}
	if (how == END_ONE_BY_ONE)
		CALL1(NR_EXIT, 0);
	for (;;)
		sys_sleep_ms(1000);
}

static int is_expected(int status)
{
	static const int expected[] = { 21 << 8, 30 << 8, SIGSEGV, SIGKILL, 0 };

	/*
	 * Those that the handler of faults has ended before they could end the others are killed. A signal that waits for a
	 * thread when it executes a program ends that, which has no handler.
	 */
	return status == expected[how] || status == SIGKILL || status == SIGSEGV ||
	       (how == END_BY_EXEC && status == SIGUSR1);
}

/* One program, which ends by itself or is killed. */
static void run(unsigned int seed, int *counts)
{
	long pid, begin = now_ms();
	int status;

	how = (int)(seed % NR_ENDS);
	pid = CALL0(NR_FORK);
	if (!pid)
		begin_program(seed);
	CHECK(pid > 0);
	while (!CALL4(NR_WAIT4, pid, &status, 1, 0)) {
		if (now_ms() - begin > (how == END_BY_KILL ? (long)(seed * 7 % 50) : 3000))
			CALL2(NR_KILL, pid, SIGKILL);
		sys_sleep_ms(1);
	}
	if (!is_expected(status))
		say("status", status);
	CHECK(is_expected(status));
	counts[how] += status == SIGKILL && how != END_BY_KILL ? 0 : 1;
	counts[NR_ENDS]++;
}

static long number(const char *text)
{
	long value = 0;

	for (; *text; text++)
		value = value * 10 + *text - '0';
	return value;
}

void main_program(long *sp)
{
	long end, seed;
	int counts[NR_ENDS + 1] = { 0 };

	if (sp[0] == 2 && text_equal((const char *)sp[2], "executed"))
		sys_exit(30);
	if (sp[0] < 3)
		sys_exit(2);
	end = now_ms() + number((const char *)sp[2]) * 1000;
	seed = number((const char *)sp[3]);
	do
		run((unsigned int)seed++, counts);
	while (now_ms() < end);
	for (int i = 0; i < NR_ENDS; i++)
		say("as meant", counts[i]);
	say("programs", counts[NR_ENDS]);
	sys_exit(0);
}

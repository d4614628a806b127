/*
 * For the programs that try at random to bring the kernel down: numbers from a seed, the user they act as, children that
 * are ended when they take too long, and the end of all that they leave behind.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "signals.h"

#define NR_SETRLIMIT 160
#define NR_SETSID    112
#define NR_SETGID    106
#define NR_SETUID    105
#define NR_CHDIR     80
#define NR_MKDIR     83
#define NR_CHOWN     92
#define FUZZ_USER    54321

enum {
	LIMIT_FSIZE = 1,
	LIMIT_NPROC = 6,
	LIMIT_NOFILE = 7,
	LIMIT_AS = 9
};

static unsigned long fuzz_seed;

static inline unsigned long draw(unsigned long below)
{
	fuzz_seed = fuzz_seed * 6364136223846793005ul + 1442695040888963407ul;
	return (fuzz_seed >> 33) % below;
}

static inline long number_of(const char *text)
{
	long value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + *text++ - '0';
	return value;
}

static inline void limit(int resource, unsigned long to)
{
	const unsigned long both[2] = { to, to };

	CHECK(CALL2(NR_SETRLIMIT, resource, both) == 0);
}

static inline void become_user(void)
{
	CHECK(CALL1(NR_SETGID, FUZZ_USER) == 0 && CALL1(NR_SETUID, FUZZ_USER) == 0);
}

/* Go to a directory that belongs to the user. */
static inline void fuzz_begin(const char *place)
{
	const unsigned long child = BIT(SIGCHLD);

	CALL2(NR_MKDIR, place, 0777);
	CHECK(CALL3(NR_CHOWN, place, FUZZ_USER, FUZZ_USER) == 0);
	CHECK(CALL1(NR_CHDIR, place) == 0 && mask(0, child) == 0);
}

/* Wait for a child. One that still runs after so many ms is killed: that is its end as good as any. */
static inline int fuzz_wait(long pid, long ms)
{
	const long time[2] = { ms / 1000, ms % 1000 * 1000000 };
	const unsigned long child = BIT(SIGCHLD);
	int status = 0;

	while (!wait_for(pid, 1, &status)) /* WNOHANG */
		if (CALL4(NR_RT_SIGTIMEDWAIT, &child, 0, time, 8) == -EAGAIN)
			CALL2(NR_KILL, pid, SIGKILL);
	return status;
}

/* End all processes of the user, and wait until there are none. */
static inline void fuzz_end_all(void)
{
	long pid = CALL0(NR_FORK);
	int status;

	if (!pid) {
		CHECK(CALL1(NR_SETUID, FUZZ_USER) == 0);
		for (int i = 0; i < 1000 && CALL2(NR_KILL, -1, SIGKILL) == 0; i++)
			sleep_ms(1);
		sys_exit(0);
	}
	while (wait_for(-1, 0x40000000, &status) > 0)
		;
}

#endif

/*
 * select() and pselect6(): sets of descriptors, of which those stay that could be read, or written, at once.
 * News of the third kind are those of a histogram.
 */
#include <kernel/poll.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include "sleep.h"
#include "syscall.h"

#define SET_WORDS (FILES_MAX / 64)

enum {
	SELECT_IN,
	SELECT_OUT,
	SELECT_EX,
	SELECT_SETS
};

struct select {
	uint64_t *user[SELECT_SETS]; /* in the program's memory; NULL: no set */
	uint64_t wanted[SELECT_SETS][SET_WORDS];
	uint64_t found[SELECT_SETS][SET_WORDS];
	unsigned int nr_fds;
	size_t bytes; /* of each set */
	uint64_t deadline_ns;
};

static int select_read(struct select *select)
{
	for (unsigned int i = 0; i < SELECT_SETS; i++) {
		if (select->user[i] &&
		    copy_from_user(select->wanted[i], select->user[i], select->bytes))
			return -EFAULT;
	}
	return 0;
}

static int select_write(const struct select *select)
{
	for (unsigned int i = 0; i < SELECT_SETS; i++) {
		if (select->user[i] &&
		    copy_to_user(select->user[i], select->found[i], select->bytes))
			return -EFAULT;
	}
	return 0;
}

static bool select_has(uint64_t sets[][SET_WORDS], unsigned int set, unsigned int fd)
{
	return sets[set][fd / 64] >> fd % 64 & 1;
}

/* Look at a descriptor. How many of its bits are found, or -EBADF. */
static long select_look_at(struct select *select, unsigned int fd, struct poll_table *table)
{
	static const uint32_t events[] = { [SELECT_IN] = POLLIN | POLLHUP | POLLERR,
					   [SELECT_OUT] = POLLOUT | POLLERR,
					   [SELECT_EX] = POLLPRI };
	struct pollfd poll = { .fd = (int)fd };
	uint32_t wanted = 0, now;
	long nr = 0;

	for (unsigned int set = 0; set < SELECT_SETS; set++)
		wanted |= select_has(select->wanted, set, fd) ? events[set] : 0;
	if (!wanted)
		return 0;
	poll.events = (int16_t)wanted;
	now = user_poll_events(&poll, table);
	if (now & POLLNVAL)
		return -EBADF;
	for (unsigned int set = 0; set < SELECT_SETS; set++) {
		if (select_has(select->wanted, set, fd) && now & events[set]) {
			select->found[set][fd / 64] |= 1ull << fd % 64;
			nr++;
		}
	}
	return nr;
}

static long select_look(struct poll_table *table, void *arg)
{
	struct select *select = arg;
	long nr = 0, more;

	for (unsigned int fd = 0; fd < select->nr_fds; fd++) {
		more = select_look_at(select, fd, nr ? NULL : table);
		if (more < 0)
			return more;
		nr += more;
	}
	return nr;
}

/* How many bits are set in the sets that are written back; -EBADF, -ERESTARTNOHAND. */
static long select_until(struct select *select)
{
	long nr = poll_until(select->deadline_ns, select_look, select);

	return nr == -EINTR ? -ERESTARTNOHAND : nr;
}

static uint64_t select_rest_ns(const struct select *select)
{
	uint64_t now = ktime_get_ns();

	return select->deadline_ns > now ? select->deadline_ns - now : 0;
}

static long select_run(struct select *select, int n)
{
	long nr;
	int err;

	if (n < 0)
		return -EINVAL;
	select->nr_fds = (unsigned int)n < FILES_MAX ? (unsigned int)n : FILES_MAX;
	select->bytes = (select->nr_fds + 63) / 64 * sizeof(uint64_t);
	err = select_read(select);
	nr = err ? err : select_until(select);
	return nr >= 0 && select_write(select) ? -EFAULT : nr;
}

long sys_select(int n, uint64_t *inp, uint64_t *outp, uint64_t *exp, struct user_timeval *tvp)
{
	struct select select = { .user = { inp, outp, exp }, .deadline_ns = UINT64_MAX };
	struct user_timeval time;
	long nr;

	if (tvp) {
		if (copy_from_user(&time, tvp, sizeof(time)))
			return -EFAULT;
		if (time.sec < 0 || time.usec < 0 || (uint64_t)time.sec > INT32_MAX)
			return -EINVAL;
		select.deadline_ns = ktime_after((uint64_t)time.sec * NSEC_PER_SEC +
						 (uint64_t)time.usec * NSEC_PER_USEC);
	}
	nr = select_run(&select, n);
	if (tvp) {
		uint64_t rest = select_rest_ns(&select);

		time.sec = (int64_t)(rest / NSEC_PER_SEC);
		time.usec = (int64_t)(rest % NSEC_PER_SEC / NSEC_PER_USEC);
		(void)!copy_to_user(tvp, &time, sizeof(time));
	}
	return nr;
}

/* `sig` leads to a mask and its size, as a call has six arguments at most. */
static int select_mask(const void *sig, const uint64_t **out_mask, size_t *out_size)
{
	uint64_t words[2] = { 0 };

	if (sig && copy_from_user(words, sig, sizeof(words)))
		return -EFAULT;
	*out_mask = (const uint64_t *)words[0];
	*out_size = words[1];
	return 0;
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_pselect6(int n, uint64_t *inp, uint64_t *outp, uint64_t *exp, struct user_timespec *tsp,
		  void *sig)
{
	struct select select = { .user = { inp, outp, exp }, .deadline_ns = UINT64_MAX };
	const uint64_t *mask;
	uint64_t ns = 0;
	size_t size;
	int err = select_mask(sig, &mask, &size);

	if (!err && tsp) {
		err = user_timespec_ns(tsp, &ns);
		select.deadline_ns = ktime_after(ns);
	}
	if (!err)
		err = sigmask_begin(mask, size);
	return err ? err : sigmask_end(mask, select_run(&select, n));
}

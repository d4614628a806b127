/* alarm() and setitimer(). */
#include <kernel/time.h>
#include "syscall.h"

enum {
	ITIMER_REAL,
	ITIMER_VIRTUAL,
	ITIMER_PROF
};

static int alarm_itimer_ns(int64_t sec, int64_t usec, uint64_t *out_ns)
{
	if (sec < 0 || usec < 0 || usec >= (int64_t)(NSEC_PER_SEC / NSEC_PER_USEC))
		return -EINVAL;
	*out_ns = (uint64_t)sec > INT64_MAX / NSEC_PER_SEC
			  ? INT64_MAX
			  : (uint64_t)sec * NSEC_PER_SEC + (uint64_t)usec * NSEC_PER_USEC;
	return 0;
}

static enum cpu_itimer_kind alarm_kind(int which)
{
	return which == ITIMER_PROF ? CPU_ITIMER_PROF : CPU_ITIMER_VIRTUAL;
}

static long alarm_itimer_tell(int which, struct user_itimerval *to)
{
	uint64_t left_ns, interval_ns;
	struct user_itimerval value;

	if (which == ITIMER_REAL)
		alarm_get(current_process(), &left_ns, &interval_ns);
	else
		cpu_itimer_get(current_process(), alarm_kind(which), &left_ns, &interval_ns);
	left_ns += left_ns ? NSEC_PER_USEC - 1 : 0; /* one that will ring is not 0 */
	value = (struct user_itimerval){
		.interval_sec = (int64_t)(interval_ns / NSEC_PER_SEC),
		.interval_usec = (int64_t)(interval_ns % NSEC_PER_SEC / NSEC_PER_USEC),
		.value_sec = (int64_t)(left_ns / NSEC_PER_SEC),
		.value_usec = (int64_t)(left_ns % NSEC_PER_SEC / NSEC_PER_USEC),
	};
	return copy_to_user(to, &value, sizeof(value)) ? -EFAULT : 0;
}

long sys_getitimer(int which, struct user_itimerval *value)
{
	return which < ITIMER_REAL || which > ITIMER_PROF ? -EINVAL
							  : alarm_itimer_tell(which, value);
}

long sys_setitimer(int which, const struct user_itimerval *value, struct user_itimerval *ovalue)
{
	struct user_itimerval new = { 0 };
	uint64_t ns, interval_ns;
	long err;

	if (which < ITIMER_REAL || which > ITIMER_PROF)
		return -EINVAL;
	if (value && copy_from_user(&new, value, sizeof(new)))
		return -EFAULT;
	if (alarm_itimer_ns(new.value_sec, new.value_usec, &ns) ||
	    alarm_itimer_ns(new.interval_sec, new.interval_usec, &interval_ns))
		return -EINVAL;
	err = ovalue ? alarm_itimer_tell(which, ovalue) : 0;
	if (err)
		return err;
	if (which == ITIMER_REAL)
		alarm_set(current_process(), ns, interval_ns);
	else
		cpu_itimer_set(current_process(), alarm_kind(which), ns, interval_ns);
	return 0;
}

/* The rest of an alarm that was set before is rounded, but never to 0. */
long sys_alarm(unsigned int seconds)
{
	uint64_t left_ns, interval_ns, left;

	alarm_get(current_process(), &left_ns, &interval_ns);
	left = (left_ns + NSEC_PER_SEC / 2) / NSEC_PER_SEC;
	alarm_set(current_process(), seconds * NSEC_PER_SEC, 0);
	return left_ns && !left ? 1 : (long)left;
}

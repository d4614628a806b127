/* The time of day: the mainboard's clock is read once; from then on the kernel's clock is added. */
#include <stdatomic.h>
#include <arch/rtc.h>
#include <kernel/lock.h>
#include <kernel/time.h>

static struct mutex clock_lock;
static _Atomic uint64_t boot_ns; /* from 1970 to the boot; 0: not read yet. Set under clock_lock */

static void time_read_clock(void)
{
	uint64_t seconds;

	mutex_lock(&clock_lock);
	if (!boot_ns) {
		seconds = rtc_read();
		if (seconds)
			boot_ns = seconds * NSEC_PER_SEC - ktime_get_ns();
	}
	mutex_unlock(&clock_lock);
}

uint64_t ktime_get_real_ns(void)
{
	if (!boot_ns)
		time_read_clock();
	return boot_ns ? boot_ns + ktime_get_ns() : 0;
}

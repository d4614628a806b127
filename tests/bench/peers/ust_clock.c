/* The cycle counter as the clock of LTTng-UST, for a comparison with the same clock. */
#include <lttng/ust-clock.h>
#include <stdint.h>
#include <string.h>

#define HERTZ 1000000000ull /* for readers of the trace: there are none */

static uint64_t read_clock(void)
{
	return __builtin_ia32_rdtsc();
}

static uint64_t frequency(void)
{
	return HERTZ;
}

static int uuid(char *text)
{
	strcpy(text, "2b1f6c0e-5d0f-4d55-9c3b-0a6a5f3f7a11");
	return 0;
}

static const char *name(void)
{
	return "rdtsc";
}

static const char *description(void)
{
	return "cycle counter";
}

void lttng_ust_clock_plugin_init(void);

void lttng_ust_clock_plugin_init(void)
{
	lttng_ust_trace_clock_set_read64_cb(read_clock);
	lttng_ust_trace_clock_set_freq_cb(frequency);
	lttng_ust_trace_clock_set_uuid_cb(uuid);
	lttng_ust_trace_clock_set_name_cb(name);
	lttng_ust_trace_clock_set_description_cb(description);
	lttng_ust_enable_trace_clock_override();
}

/* A tracepoint of LTTng-UST in a loop. */
#include "loop.h"
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ust_events.h"

static void trace(uint64_t rounds)
{
	while (rounds--)
		lttng_ust_tracepoint(peer, number, (int64_t)rounds);
}

int main(void)
{
	return loop_run(trace);
}

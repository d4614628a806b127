/*
 * Default of hosts without call sites: backtraces by frame pointers. stack.c is that of the others.
 *
 *   frame     the frame of the caller; ascending
 *   frame[1]  the return address
 */
#include <trace/platform.h>

/* Can there be a frame at `frame`: is it aligned, above `above`, and whole on the stack? */
static bool is_frame(const uintptr_t *frame, uintptr_t above)
{
	uintptr_t addr = (uintptr_t)frame;

	return addr > above && addr % sizeof(uintptr_t) == 0 &&
	       addr + 2 * sizeof(uintptr_t) <= trace_plat_stack_top();
}

TRACE_DEFAULT size_t trace_plat_backtrace(uintptr_t frame, bool is_callback, uint32_t *out_ips,
					  size_t max)
{
	const uintptr_t *at = (const uintptr_t *)frame;
	uintptr_t above = frame - 1;
	size_t nr = 0;

	(void)is_callback; /* there are none */
	while (nr < max && is_frame(at, above)) {
		out_ips[nr++] = trace_plat_ip_pack(at[1]);
		above = (uintptr_t)at;
		at = (const uintptr_t *)at[0];
	}
	return nr;
}

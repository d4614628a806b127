/*
 * Default: backtraces by frame pointers, on a stack of which only the end is known.
 *
 *   frame     the frame of the caller; ascending
 *   frame[1]  the return address
 *   frame[2]  where frame[1] is behind a call site: what that one called made this frame before the
 *             traced function made its own, and the traced function's return address is here
 */
#include <trace/fgraph.h>
#include <trace/platform.h>

struct walk {
	uint32_t *ips;
	size_t nr;
	size_t max;
	bool is_wanted; /* the first address that is wanted has been reached */
};

static void emit(struct walk *walk, uintptr_t *slot)
{
	uintptr_t ip = *slot;

	if (ip == trace_plat_return_hook())
		ip = ftrace_graph_ret_addr(trace_plat_current(), ip, slot);
	if (walk->is_wanted && walk->nr < walk->max)
		walk->ips[walk->nr++] = trace_plat_ip_pack(ip);
}

/*
 * Can there be a frame at `frame`: is it aligned, above `above`, and with its three words on the
 * stack?
 */
static bool is_frame(const uintptr_t *frame, uintptr_t above)
{
	uintptr_t addr = (uintptr_t)frame;

	return addr > above && addr % sizeof(uintptr_t) == 0 &&
	       addr + 3 * sizeof(uintptr_t) <= trace_plat_stack_top();
}

TRACE_DEFAULT size_t trace_plat_backtrace(uintptr_t frame, bool is_callback, uint32_t *out_ips,
					  size_t max)
{
	struct walk walk = { .ips = out_ips, .max = max, .is_wanted = !is_callback };
	uintptr_t *at = (uintptr_t *)frame;
	uintptr_t above = frame - 1;

	while (walk.nr < walk.max && is_frame(at, above)) {
		uintptr_t site = at[1] - TRACE_INSN_SIZE;
		bool is_behind_site = ftrace_location(site) == site;

		walk.is_wanted |= is_behind_site;
		emit(&walk, &at[1]);
		if (is_behind_site)
			emit(&walk, &at[2]);
		above = (uintptr_t)at;
		at = (uintptr_t *)at[0];
	}
	return walk.nr;
}

TRACE_DEFAULT bool trace_plat_stack_find(uintptr_t addr, struct trace_stack *out_stack)
{
	(void)addr;
	(void)out_stack;
	return false; /* the bounds of the stack are not known */
}

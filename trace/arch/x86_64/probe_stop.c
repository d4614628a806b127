/*
 * The machine half of <trace/platform_probes.h> on a host that answers no breakpoints, because
 * text_stop.c changes its code: there are probes at call sites only.
 */
#include <trace/arch_probe.h>

#include "check.h"

int trace_plat_probe_check(struct trace_probe_place *place)
{
	place->why = "this host has probes at call sites only";
	return -EINVAL;
}

/* The functions below are not called for a refused place. */
int trace_probe_create(struct trace_plat_probe *probe, uintptr_t addr, bool with_post)
{
	(void)probe;
	(void)addr;
	(void)with_post;
	return -EINVAL;
}

void trace_probe_destroy(struct trace_plat_probe *probe)
{
	(void)probe;
	CHECK(false);
}

void trace_plat_probe_code(const struct trace_plat_probe *probe, bool with_detour,
			   uintptr_t *out_first, uintptr_t *out_last)
{
	(void)probe;
	(void)with_detour;
	*out_first = 0;
	*out_last = 0;
}

size_t trace_plat_probe_jump_bytes(const struct trace_probe_place *place)
{
	(void)place;
	return 0;
}

int trace_probe_jump_create(struct trace_plat_probe *probe, size_t bytes)
{
	(void)probe;
	(void)bytes;
	return -ENOMEM;
}

void trace_plat_probe_jump_use(struct trace_plat_probe *probe, bool use)
{
	(void)probe;
	(void)use;
	CHECK(false);
}

void trace_plat_probe_poke(const struct trace_plat_probe *probe, enum trace_probe_state from,
			   enum trace_probe_state to, struct trace_poke *out_poke)
{
	(void)probe;
	(void)from;
	(void)to;
	(void)out_poke;
	CHECK(false);
}

int trace_plat_watch_set(const struct trace_plat_watch *watches)
{
	(void)watches;
	return -ENODEV;
}

/* Default: patching is not counted. */
#include <trace/platform.h>

TRACE_DEFAULT void trace_plat_poke_stats(struct trace_poke_stats *out_stats)
{
	*out_stats = (struct trace_poke_stats){ 0 };
}

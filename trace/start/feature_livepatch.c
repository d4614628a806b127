/*
 * Replacing functions: livepatch/. See instance/feature.h.
 */
#include "features.h"
#include "livepatch/livepatch_private.h"

static void livepatch_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread)
{
	(void)parent_pid;
	(void)pid;
	klp_thread_created(thread);
}

const struct trace_feature trace_feature_livepatch = {
	.name = "livepatch",
	.thread_created = livepatch_created,
};

/*
 * Stage: the tracepoint of each event. See <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#include <trace/stages/clear.h>

#undef TRACE_STAGE_EVENT
#define TRACE_STAGE_EVENT(template, name, proto, args, tp, reg, unreg)                             \
	TRACE_STAGE_DEFINE_##tp(name, PARAMS(proto), PARAMS(args));

#undef TRACE_STAGE_DEFINE_plain
#undef TRACE_STAGE_DEFINE_atomic
#undef TRACE_STAGE_DEFINE_existing
#define TRACE_STAGE_DEFINE_plain(name, proto, args) DEFINE_TRACE(name, PARAMS(proto), PARAMS(args))
#define TRACE_STAGE_DEFINE_atomic(name, proto, args)                                               \
	DEFINE_TRACE_ATOMIC(name, PARAMS(proto), PARAMS(args))
#define TRACE_STAGE_DEFINE_existing(name, proto, args) struct tracepoint

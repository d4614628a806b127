/*
 * Stage: the declaration of the tracepoint, for every file that includes the header. See
 * <trace/trace_events.h>. No guard: <trace/define_trace.h> comes back to this after all stages.
 *
 * SPDX-License-Identifier: MIT
 */
#undef TRACE_EVENT
#undef TRACE_EVENT_ATOMIC
#undef TRACE_EVENT_EXISTING
#undef TRACE_EVENT_CONDITION
#undef TRACE_EVENT_FN
#undef TRACE_EVENT_FN_COND
#undef TRACE_EVENT_NOP
#undef TRACE_EVENT_FLAGS
#undef TRACE_EVENT_PERF_PERM
#undef DECLARE_EVENT_CLASS
#undef DECLARE_EVENT_NOP
#undef DEFINE_EVENT
#undef DEFINE_EVENT_ATOMIC
#undef DEFINE_EVENT_EXISTING
#undef DEFINE_EVENT_FN
#undef DEFINE_EVENT_PRINT
#undef DEFINE_EVENT_CONDITION
#undef DEFINE_EVENT_NOP
#undef TRACE_DEFINE_ENUM
#undef TRACE_DEFINE_SIZEOF
#undef TP_STRUCT__entry
#undef TP_fast_assign
#undef TP_printk
#undef TP_CONDITION
#undef TP_PROTO
#undef TP_ARGS

#define TP_PROTO(...)	      __VA_ARGS__
#define TP_ARGS(...)	      __VA_ARGS__
#define TP_STRUCT__entry(...) __VA_ARGS__
#define TP_fast_assign(...)   __VA_ARGS__
#define TP_CONDITION(...)     __VA_ARGS__
#define TP_printk(fmt, ...)   fmt, ##__VA_ARGS__

#define TRACE_EVENT(name, proto, args, tstruct, assign, print)                                     \
	TRACE_EVENT_DECLARE(name, PARAMS(proto), PARAMS(args), true)
/* The same where preemption or interrupts are off anyway: DEFINE_TRACE_ATOMIC(). */
#define TRACE_EVENT_ATOMIC(name, proto, args, tstruct, assign, print)                              \
	TRACE_EVENT_DECLARE_ATOMIC(name, PARAMS(proto), PARAMS(args))
/* For a tracepoint that another header declares. */
#define TRACE_EVENT_EXISTING(name, proto, args, tstruct, assign, print) struct tracepoint
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print)                     \
	TRACE_EVENT_DECLARE(name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg)                      \
	TRACE_EVENT_DECLARE(name, PARAMS(proto), PARAMS(args), true)
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign, print, reg, unreg)           \
	TRACE_EVENT_DECLARE(name, PARAMS(proto), PARAMS(args), PARAMS(cond))

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) struct tracepoint
#define DEFINE_EVENT(template, name, proto, args)                                                  \
	TRACE_EVENT_DECLARE(name, PARAMS(proto), PARAMS(args), true)
#define DEFINE_EVENT_ATOMIC(template, name, proto, args)                                           \
	TRACE_EVENT_DECLARE_ATOMIC(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_EXISTING(template, name, proto, args) struct tracepoint
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg)                                   \
	TRACE_EVENT_DECLARE(name, PARAMS(proto), PARAMS(args), true)
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)                                     \
	TRACE_EVENT_DECLARE(name, PARAMS(proto), PARAMS(args), true)
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond)                                  \
	TRACE_EVENT_DECLARE(name, PARAMS(proto), PARAMS(args), PARAMS(cond))

/* Definitions that are there for their words only. */
#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print)                                 \
	static inline TRACE_UNUSED void trace_##name(proto)                                        \
	{                                                                                          \
	}                                                                                          \
	static inline TRACE_UNUSED bool trace_##name##_enabled(void)                               \
	{                                                                                          \
		return false;                                                                      \
	}                                                                                          \
	struct tracepoint
#define DECLARE_EVENT_NOP(name, proto, args)                                                       \
	TRACE_EVENT_NOP(name, PARAMS(proto), PARAMS(args), , , )
#define DEFINE_EVENT_NOP(template, name, proto, args)                                              \
	TRACE_EVENT_NOP(name, PARAMS(proto), PARAMS(args), , , )
/* Linux's permissions for perf: nothing here. */
#define TRACE_EVENT_FLAGS(name, value)	 struct tracepoint
#define TRACE_EVENT_PERF_PERM(name, ...) struct tracepoint
#define TRACE_DEFINE_ENUM(name)		 struct tracepoint
#define TRACE_DEFINE_SIZEOF(type)	 struct tracepoint

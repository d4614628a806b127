/*
 * Events of locks. Names, fields and text are Linux's; a lock has no name here. See
 * <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lock

#if !defined(KERNEL_EVENTS_LOCK_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_LOCK_H

#include <trace/trace_events.h>

/* Kinds of locks; a semaphore has none of them. */
#define LCB_F_SPIN  0x01u
#define LCB_F_MUTEX 0x20u

/* A thread begins to wait, spinning or asleep, for a lock that is taken. */
TRACE_EVENT(contention_begin,
	TP_PROTO(void *lock, unsigned int flags),
	TP_ARGS(lock, flags),
	TP_STRUCT__entry(
		__field(void *, lock_addr)
		__field(unsigned int, flags)
	),
	TP_fast_assign(
		__entry->lock_addr = lock;
		__entry->flags = flags;
	),
	TP_printk("%p (flags=%s)", __entry->lock_addr,
		__print_flags(__entry->flags, "|", { LCB_F_SPIN, "SPIN" }, { LCB_F_MUTEX, "MUTEX" }))
);

/* The wait has ended: `ret` is 0 when the waiter got the lock, or the error it gave up with. */
TRACE_EVENT(contention_end,
	TP_PROTO(void *lock, int ret),
	TP_ARGS(lock, ret),
	TP_STRUCT__entry(
		__field(void *, lock_addr)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->lock_addr = lock;
		__entry->ret = ret;
	),
	TP_printk("%p (ret=%d)", __entry->lock_addr, __entry->ret)
);

DECLARE_EVENT_CLASS(lock,
	TP_PROTO(void *lock),
	TP_ARGS(lock),
	TP_STRUCT__entry(
		__field(void *, lockdep_addr)
	),
	TP_fast_assign(
		__entry->lockdep_addr = lock;
	),
	TP_printk("%p", __entry->lockdep_addr)
);

/* A spin lock was taken. */
DEFINE_EVENT_ATOMIC(lock, lock_acquired,
	TP_PROTO(void *lock),
	TP_ARGS(lock));

/* A spin lock is about to be given back. */
DEFINE_EVENT_ATOMIC(lock, lock_release,
	TP_PROTO(void *lock),
	TP_ARGS(lock));

#endif

#include <trace/define_trace.h>

/*
 * Events of all system calls. Names, fields and texts are Linux's. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM raw_syscalls

#if !defined(KERNEL_EVENTS_RAW_SYSCALLS_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_RAW_SYSCALLS_H

#include <arch/trap.h>
#include <trace/trace_events.h>

/* `id` is the number that the program gave, which may be that of no call. */
TRACE_EVENT(sys_enter,
	TP_PROTO(const struct trap_frame *regs, long id),
	TP_ARGS(regs, id),
	TP_STRUCT__entry(
		__field(long, id)
		__array(unsigned long, args, 6)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->args[0] = regs->rdi;
		__entry->args[1] = regs->rsi;
		__entry->args[2] = regs->rdx;
		__entry->args[3] = regs->r10;
		__entry->args[4] = regs->r8;
		__entry->args[5] = regs->r9;
	),
	TP_printk("NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)", __entry->id,
		__entry->args[0], __entry->args[1], __entry->args[2],
		__entry->args[3], __entry->args[4], __entry->args[5])
);

TRACE_EVENT(sys_exit,
	TP_PROTO(long id, long ret),
	TP_ARGS(id, ret),
	TP_STRUCT__entry(
		__field(long, id)
		__field(long, ret)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->ret = ret;
	),
	TP_printk("NR %ld = %ld", __entry->id, __entry->ret)
);

#endif

#include <trace/define_trace.h>

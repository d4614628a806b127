/*
 * The C half of an entry for #BP: see <trace/arch_int3.h>.
 */
#include <trace/arch_breakpoint.h>
#include <trace/arch_host.h>
#include <trace/arch_int3.h>

#define BYTES_BETWEEN(type, from, to) (offsetof(type, to) - offsetof(type, from))

/* Two rows of registers lie alike in both structs. */
#define UPPER_BYTES BYTES_BETWEEN(struct trace_int3_frame, r15, r9)
#define LOWER_BYTES BYTES_BETWEEN(struct trace_int3_frame, r9, rip)
_Static_assert(offsetof(struct ftrace_regs, r15) == 0 &&
		       offsetof(struct trace_int3_frame, r15) == 0 &&
		       BYTES_BETWEEN(struct ftrace_regs, r15, rflags) == UPPER_BYTES &&
		       BYTES_BETWEEN(struct ftrace_regs, r9, rip) == LOWER_BYTES,
	       "r15 to rbx and r9 to rbp, each in a row");

bool trace_int3_hit(struct trace_int3_frame *frame)
{
	return trace_breakpoint_dispatch(&frame->rip, &frame->rsp, frame);
}

TRACE_DEFAULT void trace_int3_other(void)
{
	trace_arch_broken("an int3 that is nobody's");
}

bool trace_arch_has_frames(void)
{
	return true;
}

void trace_arch_frame_load(const void *frame, struct ftrace_regs *out_regs)
{
	const struct trace_int3_frame *from = frame;
	char *to = (char *)out_regs;

	__builtin_memcpy(to, frame, UPPER_BYTES);
	__builtin_memcpy(to + offsetof(struct ftrace_regs, r9),
			 (const char *)frame + offsetof(struct trace_int3_frame, r9), LOWER_BYTES);
	out_regs->rflags = from->rflags;
	out_regs->rsp = from->rsp;
}

void trace_arch_frame_store(void *frame, const struct ftrace_regs *regs)
{
	const char *from = (const char *)regs;
	struct trace_int3_frame *to = frame;

	__builtin_memcpy(frame, from, UPPER_BYTES);
	__builtin_memcpy((char *)frame + offsetof(struct trace_int3_frame, r9),
			 from + offsetof(struct ftrace_regs, r9), LOWER_BYTES);
	to->rflags = regs->rflags;
	to->rsp = regs->rsp;
	to->rip = regs->rip;
}

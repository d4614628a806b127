/* Frames of signal handlers: see <arch/user_signal.h>. Structures are Linux's. */
#include <arch/user_signal.h>
#include <kernel/base.h>

#include "user_priv.h"

#define RED_ZONE	   128u
#define FLAG_TF		   0x100ull
#define FLAG_DF		   0x400ull
#define FLAG_RF		   0x10000ull
#define UC_FP_XSTATE	   1u
#define UC_SIGCONTEXT_SS   2u
#define UC_STRICT_SS	   4u
#define FP_XSTATE_MAGIC1   0x46505853u
#define FP_XSTATE_MAGIC2   0x46505845u
#define FPU_ALIGN	   64ul
#define FPU_AT_SOFTWARE	   464u	      /* bytes of the area that the processor leaves alone */
#define FPU_HEADER_WORDS   8u	      /* of XSAVE, behind them */
#define SIGNAL_STACK_FLAGS (1u << 31) /* SS_AUTODISARM */

struct sigcontext {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, fpstate;
	uint64_t reserved[8];
};

struct rt_sigframe {
	uint64_t restorer;
	uint64_t uc_flags, uc_link;
	struct arch_signal_stack stack;
	struct sigcontext context;
	uint64_t mask;
	uint8_t info[ARCH_SIGINFO_BYTES];
};
_Static_assert(sizeof(struct sigcontext) == 256, "as Linux has it");
_Static_assert(sizeof(struct rt_sigframe) == 440, "as Linux has it");

/* The words in which an area tells of itself. */
struct fpu_software {
	uint32_t magic1;
	uint32_t extended_bytes; /* with the second magic word behind the area */
	uint64_t features;
	uint32_t bytes;
	uint32_t pad[7];
};
_Static_assert(sizeof(struct fpu_software) == USER_FXSAVE_BYTES - FPU_AT_SOFTWARE, "it fills them");

bool arch_signal_is_on_stack(const struct arch_signal_stack *stack, uint64_t sp)
{
	return sp > stack->sp && sp - stack->sp <= stack->size;
}

/* ---- Vectors ---- */

/* Bytes behind the area of XSAVE. */
static size_t signal_fpu_magic_bytes(void)
{
	return user_xcr0 ? sizeof(uint32_t) : 0;
}

/* The registers, but for the words in which the area tells of itself. They go by a copy only if a page is not there yet. */
static bool signal_store_fpu(struct arch_user *user, uint64_t to)
{
	if (arch_user_fpu_store_to((uint8_t *)to))
		return true;
	arch_user_fpu_store(user);
	return !copy_to_user((void *)to, user->fpu, FPU_AT_SOFTWARE) &&
	       !copy_to_user((void *)(to + USER_FXSAVE_BYTES), user->fpu + USER_FXSAVE_BYTES,
			     user_fpu_bytes() - USER_FXSAVE_BYTES);
}

/* Words that XSAVE leaves as they are: those of the area itself, and a header that has to be clear before. */
struct fpu_unsaved {
	struct fpu_software software;
	uint64_t header[FPU_HEADER_WORDS];
};

static bool signal_put_fpu(struct arch_user *user, uint64_t to)
{
	const uint32_t magic2 = FP_XSTATE_MAGIC2;
	struct fpu_unsaved words = { 0 };
	size_t bytes = user_fpu_bytes(), unsaved = sizeof(words.software);

	if (signal_fpu_magic_bytes()) {
		unsaved = sizeof(words);
		words.software.magic1 = FP_XSTATE_MAGIC1;
		words.software.extended_bytes = (uint32_t)(bytes + sizeof(magic2));
		words.software.features = user_xcr0;
		words.software.bytes = (uint32_t)bytes;
	}
	return !copy_to_user((void *)(to + FPU_AT_SOFTWARE), &words, unsaved) &&
	       !copy_to_user((void *)(to + bytes), &magic2, signal_fpu_magic_bytes()) &&
	       signal_store_fpu(user, to);
}

/* Does the area have all that XSAVE stores? If not, it is taken as one of FXSAVE. */
static bool signal_fpu_is_extended(uint64_t from)
{
	size_t bytes = user_fpu_bytes();
	struct fpu_software software;
	uint32_t magic2;

	return signal_fpu_magic_bytes() &&
	       !copy_from_user(&software, (const void *)(from + FPU_AT_SOFTWARE),
			       sizeof(software)) &&
	       software.magic1 == FP_XSTATE_MAGIC1 && software.bytes == bytes &&
	       software.extended_bytes == bytes + sizeof(magic2) &&
	       !copy_from_user(&magic2, (const void *)(from + bytes), sizeof(magic2)) &&
	       magic2 == FP_XSTATE_MAGIC2;
}

/* By a copy: of an area of FXSAVE, one that is not aligned, or one whose pages are not there yet. */
static TRACE_NOINLINE bool signal_copy_fpu(struct arch_user *user, uint64_t from, bool is_extended)
{
	uint8_t area[USER_FPU_BYTES] __attribute__((aligned(FPU_ALIGN)));
	size_t rest = user_fpu_bytes() - USER_FXSAVE_BYTES;

	if (copy_from_user(area, (const void *)from, USER_FXSAVE_BYTES))
		return false;
	if (!is_extended) {
		__builtin_memset(area + USER_FXSAVE_BYTES, 0, sizeof(area) - USER_FXSAVE_BYTES);
		area[USER_FXSAVE_BYTES] = 3; /* of XSAVE's header: x87 and SSE are there */
	} else if (copy_from_user(area + USER_FXSAVE_BYTES,
				  (const void *)(from + USER_FXSAVE_BYTES), rest)) {
		return false;
	}
	return arch_user_fpu_load(user, area);
}

/* All of it, as a program may have written it: the processor checks it. */
static bool signal_take_fpu(struct arch_user *user, uint64_t from)
{
	bool is_extended;

	if (!from) {
		arch_user_fpu_reset(user);
		return true;
	}
	is_extended = signal_fpu_is_extended(from);
	return (is_extended && access_ok(from, user_fpu_bytes()) &&
		arch_user_fpu_load(user, (const uint8_t *)from)) ||
	       signal_copy_fpu(user, from, is_extended);
}

/* ---- Registers ---- */

/* One by one: an initializer would hold them all before it writes the first. */
static void signal_put_registers(struct sigcontext *to, const struct trap_frame *regs)
{
	to->r8 = regs->r8;
	to->r9 = regs->r9;
	to->r10 = regs->r10;
	to->r11 = regs->r11;
	to->r12 = regs->r12;
	to->r13 = regs->r13;
	to->r14 = regs->r14;
	to->r15 = regs->r15;
	to->di = regs->rdi;
	to->si = regs->rsi;
	to->bp = regs->rbp;
	to->bx = regs->rbx;
	to->dx = regs->rdx;
	to->ax = regs->rax;
	to->cx = regs->rcx;
	to->sp = regs->rsp;
	to->ip = regs->rip;
	to->flags = regs->rflags;
	to->cs = (uint16_t)regs->cs;
	to->gs = 0;
	to->fs = 0;
	to->ss = (uint16_t)regs->ss;
	__builtin_memset(to->reserved, 0, sizeof(to->reserved));
}

static void signal_take_registers(struct trap_frame *regs, const struct sigcontext *from)
{
	*regs = (struct trap_frame){
		.r15 = from->r15,
		.r14 = from->r14,
		.r13 = from->r13,
		.r12 = from->r12,
		.r11 = from->r11,
		.r10 = from->r10,
		.r9 = from->r9,
		.r8 = from->r8,
		.rbp = from->bp,
		.rdi = from->di,
		.rsi = from->si,
		.rdx = from->dx,
		.rcx = from->cx,
		.rbx = from->bx,
		.rax = from->ax,
		.vector = regs->vector,
		.error = UINT64_MAX, /* no system call: it is not begun again */
		.rip = from->ip,
		.cs = regs->cs,
		.rflags = (regs->rflags & ~FLAGS_OF_PROGRAM) | (from->flags & FLAGS_OF_PROGRAM),
		.rsp = from->sp,
		.ss = regs->ss,
	};
}

/* ---- Frames ---- */

/* Where the area of the vectors begins. */
static uint64_t signal_fpu_place(const struct trap_frame *regs, const struct arch_signal *signal)
{
	uint64_t sp = regs->rsp - RED_ZONE;

	if (signal->wants_stack && signal->stack.size &&
	    !arch_signal_is_on_stack(&signal->stack, regs->rsp))
		sp = signal->stack.sp + signal->stack.size;
	return ALIGN_DOWN(sp - user_fpu_bytes() - signal_fpu_magic_bytes(), FPU_ALIGN);
}

/* A frame that begins below the alternate stack would be written over what lies there. */
static bool signal_frame_fits(const struct trap_frame *regs, const struct arch_signal *signal,
			      uint64_t at)
{
	const struct arch_signal_stack *stack = &signal->stack;
	bool is_there = arch_signal_is_on_stack(stack, regs->rsp);

	return !(stack->size && (is_there || signal->wants_stack)) ||
	       arch_signal_is_on_stack(stack, at);
}

static bool signal_frame_write(uint64_t at, const struct trap_frame *regs,
			       const struct arch_signal *signal, uint64_t fpu)
{
	struct rt_sigframe frame; /* each field is set: all of it goes to the program */

	frame.restorer = signal->restorer;
	frame.uc_flags =
		UC_SIGCONTEXT_SS | UC_STRICT_SS | (signal_fpu_magic_bytes() ? UC_FP_XSTATE : 0);
	frame.uc_link = 0;
	frame.stack = signal->stack;
	frame.mask = signal->mask;
	if (arch_signal_is_on_stack(&signal->stack, regs->rsp) &&
	    !(signal->stack.flags & SIGNAL_STACK_FLAGS))
		frame.stack.flags |= 1u; /* SS_ONSTACK */
	signal_put_registers(&frame.context, regs);
	frame.context.err = signal->error;
	frame.context.trapno = signal->vector;
	frame.context.cr2 = signal->addr;
	frame.context.oldmask = signal->mask;
	frame.context.fpstate = fpu;
	__builtin_memcpy(frame.info, signal->info, ARCH_SIGINFO_USED);
	__builtin_memset(frame.info + ARCH_SIGINFO_USED, 0, sizeof(frame.info) - ARCH_SIGINFO_USED);
	return !copy_to_user((void *)at, &frame, sizeof(frame));
}

bool setup_rt_frame(struct trap_frame *regs, struct arch_user *user,
		    const struct arch_signal *signal)
{
	uint64_t fpu = signal_fpu_place(regs, signal);
	uint64_t at = ALIGN_DOWN(fpu - sizeof(struct rt_sigframe), 16) - 8; /* as after a call */

	if (!signal_frame_fits(regs, signal, at) || !signal_put_fpu(user, fpu) ||
	    !signal_frame_write(at, regs, signal, fpu))
		return false;
	regs->rdi = (uint64_t)signal->sig;
	regs->rsi = at + offsetof(struct rt_sigframe, info);
	regs->rdx = at + offsetof(struct rt_sigframe, uc_flags);
	regs->rax = 0;
	regs->rsp = at;
	regs->rip = signal->handler;
	regs->rflags &= ~(FLAG_TF | FLAG_DF | FLAG_RF);
	regs->error = UINT64_MAX; /* of a system call: it has its result */
	return true;
}

bool restore_rt_frame(struct trap_frame *regs, struct arch_user *user, uint64_t *out_mask,
		      struct arch_signal_stack *out_stack)
{
	struct rt_sigframe frame;

	/* The restorer was reached by the handler's return, which has taken its address. */
	if (copy_from_user(&frame, (const void *)(regs->rsp - sizeof(frame.restorer)),
			   offsetof(struct rt_sigframe, info)))
		return false;
	/* A program has one code segment and one for its stack. */
	if ((frame.context.cs | 3u) != regs->cs || (frame.context.ss | 3u) != regs->ss)
		return false;
	if (!signal_take_fpu(user, frame.context.fpstate))
		return false;
	signal_take_registers(regs, &frame.context);
	*out_mask = frame.mask;
	*out_stack = frame.stack;
	return true;
}

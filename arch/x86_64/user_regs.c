/* The registers of programs as debuggers see them: see <arch/user.h>. */
#include <arch/percpu.h>
#include <arch/user.h>
#include <kernel/base.h>

#include "user_priv.h"

#define FLAG_TF		 0x100ull
#define FPU_AT_MXCSR	 24 /* of the area, in bytes */
#define FPU_AT_FEATURES	 464
#define FPU_AT_HEADER	 512
#define FPU_HEADER_WORDS 8
#define MXCSR_BITS	 0xffffu

/* Places in Linux's struct. */
enum {
	REG_ORIG_RAX = 15,
	REG_RIP,
	REG_CS,
	REG_FLAGS,
	REG_RSP,
	REG_SS,
	REG_FS_BASE,
	REG_GS_BASE,
};

/* The first words of the struct, as offsets in the frame. */
static const uint8_t user_reg_offsets[REG_ORIG_RAX] = {
	offsetof(struct trap_frame, r15), offsetof(struct trap_frame, r14),
	offsetof(struct trap_frame, r13), offsetof(struct trap_frame, r12),
	offsetof(struct trap_frame, rbp), offsetof(struct trap_frame, rbx),
	offsetof(struct trap_frame, r11), offsetof(struct trap_frame, r10),
	offsetof(struct trap_frame, r9),  offsetof(struct trap_frame, r8),
	offsetof(struct trap_frame, rax), offsetof(struct trap_frame, rcx),
	offsetof(struct trap_frame, rdx), offsetof(struct trap_frame, rsi),
	offsetof(struct trap_frame, rdi),
};

void arch_user_regs_get(const struct trap_frame *regs, const struct arch_user *user, uint64_t *out)
{
	__builtin_memset(out, 0, ARCH_USER_REGS * sizeof(*out));
	for (size_t i = 0; i < REG_ORIG_RAX; i++)
		out[i] =
			*(const uint64_t *)(const void *)((const char *)regs + user_reg_offsets[i]);
	out[REG_ORIG_RAX] = regs->vector == TRAP_SYSCALL ? regs->error : UINT64_MAX;
	out[REG_RIP] = regs->rip;
	out[REG_CS] = regs->cs;
	out[REG_FLAGS] = regs->rflags;
	out[REG_RSP] = regs->rsp;
	out[REG_SS] = regs->ss;
	out[REG_FS_BASE] = user->fs_base;
	out[REG_GS_BASE] = user->gs_base;
}

int arch_user_regs_set(struct trap_frame *regs, struct arch_user *user, const uint64_t *from)
{
	if (from[REG_CS] != USER_CS || from[REG_SS] != USER_DS ||
	    from[REG_FS_BASE] >= TASK_SIZE_MAX || from[REG_GS_BASE] >= TASK_SIZE_MAX)
		return -EIO;
	for (size_t i = 0; i < REG_ORIG_RAX; i++)
		*(uint64_t *)(void *)((char *)regs + user_reg_offsets[i]) = from[i];
	if (regs->vector == TRAP_SYSCALL || (int64_t)from[REG_ORIG_RAX] >= 0) {
		regs->vector = TRAP_SYSCALL;
		regs->error = from[REG_ORIG_RAX];
	}
	regs->rip = from[REG_RIP];
	regs->rflags = (regs->rflags & ~FLAGS_OF_PROGRAM) | (from[REG_FLAGS] & FLAGS_OF_PROGRAM);
	regs->rsp = from[REG_RSP];
	user->fs_base = from[REG_FS_BASE];
	user->gs_base = from[REG_GS_BASE];
	return 0;
}

void arch_user_fpu_describe(uint8_t *area)
{
	*(uint64_t *)(void *)(area + FPU_AT_FEATURES) = arch_user_fpu_features();
}

bool arch_user_fpu_is_valid(const uint8_t *area)
{
	const uint64_t *header = (const void *)(area + FPU_AT_HEADER);
	uint64_t features = arch_user_fpu_features(), others = 0;

	if (*(const uint32_t *)(const void *)(area + FPU_AT_MXCSR) & ~MXCSR_BITS)
		return false;
	for (size_t i = 1; i < FPU_HEADER_WORDS; i++)
		others |= header[i];
	return !features || !(header[0] & ~features || others);
}

bool arch_user_step_on(struct trap_frame *regs)
{
	bool is_new = !(regs->rflags & FLAG_TF);

	regs->rflags |= FLAG_TF;
	return is_new;
}

void arch_user_step_off(struct trap_frame *regs)
{
	regs->rflags &= ~FLAG_TF;
}

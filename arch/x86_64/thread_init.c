/* The first stack of a thread: see <arch/switch.h> and switch.asm. */
#include <arch/switch.h>
#include <kernel/base.h>

/* The words that arch_switch() pops, lowest address first; `end` is left for backtraces. */
struct first_stack {
	uint64_t r15, r14;
	uint64_t fn;  /* r13 */
	uint64_t arg; /* r12 */
	uint64_t rbx;
	uint64_t rbp; /* 0: backtraces end here */
	uint64_t rip;
	uint64_t end[2]; /* 0: arch_thread_start() has no return address */
};

void arch_thread_start(void);

void arch_thread_init(struct arch_context *ctx, uintptr_t stack_top, void (*entry)(void *arg),
		      void *arg)
{
	struct first_stack *first = (struct first_stack *)(stack_top - sizeof(*first));

	ASSERT(stack_top % 16 == 0);
	*first = (struct first_stack){
		.fn = (uintptr_t)entry,
		.arg = (uintptr_t)arg,
		.rip = (uintptr_t)arch_thread_start,
	};
	ctx->rsp = (uintptr_t)first;
}

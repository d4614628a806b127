/* See balance.h. */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>
#include "balance.h"
#include "process.h"

#define TRAP_FLAG 0x100
#define MAX_NOTES 64u

enum insn {
	INSN_OTHER,
	INSN_IS_CALL,
	INSN_IS_RETURN
};

static struct {
	struct balance seen;
	enum insn last;		    /* the instruction that was executed last */
	uintptr_t notes[MAX_NOTES]; /* the return addresses of the calls */
	uint32_t nr;
} steps;

static enum insn insn_at(const uint8_t *insn)
{
	if (*insn == 0xc3)
		return INSN_IS_RETURN;
	if ((*insn & 0xf0) == 0x40) /* REX */
		insn++;
	if (*insn == 0xe8 || (*insn == 0xff && (insn[1] >> 3 & 7) == 2))
		return INSN_IS_CALL;
	return INSN_OTHER;
}

static void note_call(uintptr_t return_to)
{
	if (steps.nr == MAX_NOTES)
		die("more calls than returns");
	steps.notes[steps.nr++] = return_to;
	steps.seen.calls++;
}

static void note_return(uintptr_t to)
{
	uintptr_t guess = steps.nr ? steps.notes[--steps.nr] : 0;

	steps.seen.wrong += guess != to;
	steps.seen.returns++;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	(void)info;
	if (steps.last == INSN_IS_CALL)
		note_call(*(const uintptr_t *)regs[REG_RSP]);
	else if (steps.last == INSN_IS_RETURN)
		note_return((uintptr_t)regs[REG_RIP]);
	steps.last = insn_at((const uint8_t *)regs[REG_RIP]);
}

struct balance balance_of(void (*fn)(uint64_t rounds), uint64_t rounds)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO }, before;

	steps.seen = (struct balance){ 0 };
	steps.last = INSN_OTHER;
	steps.nr = 0;
	sigaction(SIGTRAP, &action, &before);
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "i"(TRAP_FLAG) : "memory", "cc");
	fn(rounds);
	__asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq"
			 :
			 : "i"(~TRAP_FLAG)
			 : "memory", "cc");
	sigaction(SIGTRAP, &before, NULL);
	return steps.seen;
}

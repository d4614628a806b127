/*
 * ptrace(): what a tracer asks. Each request that looks at a stopped thread is a function of a table, and is done with
 * process_lock held, with which the thread stays stopped. See process/ptrace.h.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "syscall.h"

#define USER_BYTES    928u /* of struct user, which begins with the registers */
#define USER_DEBUGREG 848u /* there and behind: those for watchpoints */
#define REG_BYTES     (ARCH_USER_REGS * sizeof(uint64_t))
#define FXSAVE_BYTES  512u
#define ARCH_GET_FS   0x1003
#define ARCH_GET_GS   0x1004

struct ptrace_call {
	struct task *task;
	uintptr_t addr, data;
};

static long ptrace_put(uintptr_t to, const void *from, size_t bytes)
{
	return copy_to_user((void *)to, from, bytes) ? -EFAULT : 0;
}

static long ptrace_get(void *to, uintptr_t from, size_t bytes)
{
	return copy_from_user(to, (const void *)from, bytes) ? -EFAULT : 0;
}

/* ---- Memory ---- */

static long ptrace_peek(const struct ptrace_call *call)
{
	struct mm *mm = call->task->process->mm;
	uint64_t word;

	if (!mm || ptrace_read_memory(mm, call->addr, &word, sizeof(word)) < sizeof(word))
		return -EIO;
	return ptrace_put(call->data, &word, sizeof(word));
}

static long ptrace_poke(const struct ptrace_call *call)
{
	struct mm *mm = call->task->process->mm;
	uint64_t word = call->data;

	if (!mm || ptrace_write_memory(mm, call->addr, &word, sizeof(word)) < sizeof(word))
		return -EIO;
	return 0;
}

/* ---- Registers ---- */

static void ptrace_regs(struct task *task, uint64_t *out)
{
	arch_user_regs_get(task_frame(task), &task->arch, out);
}

static long ptrace_set_regs(struct task *task, const uint64_t *from)
{
	return arch_user_regs_set(task_frame(task), &task->arch, from);
}

static long ptrace_peek_user(const struct ptrace_call *call)
{
	uint64_t regs[ARCH_USER_REGS], word = 0;

	if (call->addr % sizeof(word) || call->addr >= USER_BYTES)
		return -EIO;
	ptrace_regs(call->task, regs);
	if (call->addr < REG_BYTES)
		word = regs[call->addr / sizeof(word)];
	return ptrace_put(call->data, &word, sizeof(word));
}

/* The processor's registers for watchpoints belong to the kernel's tracer: a program may have no other value in them than 0. */
static long ptrace_poke_user(const struct ptrace_call *call)
{
	uint64_t regs[ARCH_USER_REGS];

	if (call->addr % sizeof(*regs) || call->addr >= USER_BYTES)
		return -EIO;
	if (call->addr >= REG_BYTES)
		return call->addr >= USER_DEBUGREG && !call->data ? 0 : -EIO;
	ptrace_regs(call->task, regs);
	regs[call->addr / sizeof(*regs)] = call->data;
	return ptrace_set_regs(call->task, regs);
}

/* Sets of registers: their sizes; 0: there is none. */
static size_t ptrace_set_bytes(uintptr_t set)
{
	switch (set) {
	case NT_PRSTATUS:
		return REG_BYTES;
	case NT_PRFPREG:
		return FXSAVE_BYTES;
	case NT_X86_XSTATE:
		return arch_user_fpu_features() ? arch_user_fpu_bytes() : 0;
	default:
		return 0;
	}
}

static long ptrace_get_set(struct task *task, uintptr_t set, uintptr_t to, size_t bytes)
{
	uint64_t regs[ARCH_USER_REGS];

	if (set == NT_PRSTATUS) {
		ptrace_regs(task, regs);
		return ptrace_put(to, regs, bytes);
	}
	arch_user_fpu_describe(task->trace.fpu);
	return ptrace_put(to, task->trace.fpu, bytes);
}

static TRACE_NOINLINE long ptrace_put_fpu(struct ptrace *trace, uintptr_t from, size_t bytes)
{
	uint8_t fpu[USER_FPU_BYTES] __attribute__((aligned(64)));

	memcpy(fpu, trace->fpu, sizeof(fpu));
	if (ptrace_get(fpu, from, bytes))
		return -EFAULT;
	if (bytes <= FXSAVE_BYTES)
		fpu[FXSAVE_BYTES] |= 3; /* of XSAVE's header: x87 and SSE are there */
	if (!arch_user_fpu_is_valid(fpu))
		return -EINVAL;
	memcpy(trace->fpu, fpu, sizeof(fpu));
	trace->has_new_fpu = true;
	return 0;
}

static long ptrace_put_set(struct task *task, uintptr_t set, uintptr_t from, size_t bytes)
{
	uint64_t regs[ARCH_USER_REGS];

	if (set != NT_PRSTATUS)
		return ptrace_put_fpu(&task->trace, from, bytes);
	ptrace_regs(task, regs);
	return ptrace_get(regs, from, bytes) ? -EFAULT : ptrace_set_regs(task, regs);
}

static long ptrace_getregs(const struct ptrace_call *call)
{
	return ptrace_get_set(call->task, NT_PRSTATUS, call->data, REG_BYTES);
}

static long ptrace_setregs(const struct ptrace_call *call)
{
	return ptrace_put_set(call->task, NT_PRSTATUS, call->data, REG_BYTES);
}

static long ptrace_getfpregs(const struct ptrace_call *call)
{
	return ptrace_get_set(call->task, NT_PRFPREG, call->data, FXSAVE_BYTES);
}

static long ptrace_setfpregs(const struct ptrace_call *call)
{
	return ptrace_put_set(call->task, NT_PRFPREG, call->data, FXSAVE_BYTES);
}

/* A set with its length, which is cut to what there is and told. */
static long ptrace_regset(const struct ptrace_call *call,
			  long (*move)(struct task *task, uintptr_t set, uintptr_t at,
				       size_t bytes))
{
	size_t bytes = ptrace_set_bytes(call->addr);
	struct user_iovec vec;
	long err;

	if (!bytes)
		return call->addr == NT_X86_XSTATE ? -ENODEV : -EINVAL;
	if (ptrace_get(&vec, call->data, sizeof(vec)))
		return -EFAULT;
	if (vec.len % sizeof(uint64_t))
		return -EINVAL;
	vec.len = vec.len < bytes ? vec.len : bytes;
	err = move(call->task, call->addr, (uintptr_t)vec.base, vec.len);
	return err ? err : ptrace_put(call->data, &vec, sizeof(vec));
}

static long ptrace_getregset(const struct ptrace_call *call)
{
	return ptrace_regset(call, ptrace_get_set);
}

static long ptrace_setregset(const struct ptrace_call *call)
{
	return ptrace_regset(call, ptrace_put_set);
}

static long ptrace_arch_prctl(const struct ptrace_call *call)
{
	const struct arch_user *arch = &call->task->arch;

	if (call->data != ARCH_GET_FS && call->data != ARCH_GET_GS)
		return -EINVAL;
	return ptrace_put(call->addr, call->data == ARCH_GET_FS ? &arch->fs_base : &arch->gs_base,
			  sizeof(uint64_t));
}

/* ---- Stops and what they tell ---- */

static long ptrace_setoptions(const struct ptrace_call *call)
{
	if (call->data & ~(uintptr_t)PTRACE_O_KNOWN)
		return -EINVAL;
	call->task->trace.options = (uint32_t)call->data;
	return 0;
}

static long ptrace_geteventmsg(const struct ptrace_call *call)
{
	return ptrace_put(call->data, &call->task->trace.message, sizeof(uint64_t));
}

static long ptrace_getsiginfo(const struct ptrace_call *call)
{
	const struct ptrace *trace = &call->task->trace;

	return trace->is_group ? -EINVAL : copy_siginfo_to_user((void *)call->data, &trace->info);
}

static long ptrace_setsiginfo(const struct ptrace_call *call)
{
	struct ptrace *trace = &call->task->trace;
	struct user_siginfo info;

	if (trace->is_group)
		return -EINVAL;
	if (copy_siginfo_from_user(&info, (const void *)call->data))
		return -EFAULT;
	trace->info = info;
	return 0;
}

static long ptrace_getsigmask(const struct ptrace_call *call)
{
	const struct task_signals *own = &call->task->signals;

	if (call->addr != sizeof(uint64_t))
		return -EINVAL;
	return ptrace_put(call->data, own->restores_saved ? &own->saved : &own->blocked,
			  sizeof(uint64_t));
}

static long ptrace_setsigmask(const struct ptrace_call *call)
{
	struct task_signals *own = &call->task->signals;
	uint64_t mask;

	if (call->addr != sizeof(mask))
		return -EINVAL;
	if (ptrace_get(&mask, call->data, sizeof(mask)))
		return -EFAULT;
	own->restores_saved = false;
	own->blocked = mask & ~SIGMASK_UNBLOCKABLE; /* looked at anew when it goes on */
	return 0;
}

/* The bytes that there are, of which as many as fit are copied. */
static long ptrace_get_syscall_info(const struct ptrace_call *call)
{
	const struct ptrace *trace = &call->task->trace;
	const struct trap_frame *regs = task_frame(call->task);
	struct ptrace_syscall_info info = { .arch = AUDIT_ARCH_X86_64,
					    .ip = regs->rip,
					    .sp = regs->rsp };
	size_t bytes = offsetof(struct ptrace_syscall_info, entry);

	if (!trace->is_group && (trace->info.code & ~0x80) == SIGTRAP)
		info.op = (uint8_t)trace->message;
	if (info.op == PTRACE_SYSCALL_ENTRY) {
		info.entry.nr = regs->error;
		arch_syscall_args(regs, info.entry.args);
		bytes = sizeof(info);
	} else if (info.op == PTRACE_SYSCALL_EXIT) {
		info.exit.result = (int64_t)regs->rax;
		info.exit.is_error = info.exit.result < 0 && info.exit.result >= -4095;
		bytes = offsetof(struct ptrace_syscall_info, exit.is_error) + 1;
	}
	if (ptrace_put(call->data, &info, call->addr < bytes ? call->addr : bytes))
		return -EFAULT;
	return (long)bytes;
}

/* ---- Going on ---- */

static long ptrace_go_on(const struct ptrace_call *call, enum ptrace_mode mode)
{
	if (call->data && !is_valid_signal((int)call->data))
		return -EIO;
	ptrace_resume(call->task, mode, (int)call->data);
	return 0;
}

static long ptrace_cont(const struct ptrace_call *call)
{
	return ptrace_go_on(call, PTRACE_RUNS);
}

static long ptrace_syscall(const struct ptrace_call *call)
{
	return ptrace_go_on(call, PTRACE_TO_CALL);
}

static long ptrace_singlestep(const struct ptrace_call *call)
{
	return ptrace_go_on(call, PTRACE_STEPS);
}

static long ptrace_leave(const struct ptrace_call *call)
{
	if (call->data && !is_valid_signal((int)call->data))
		return -EIO;
	ptrace_detach(call->task, (int)call->data);
	return 0;
}

/* Go on listening: only at a stop that PTRACE_EVENT_STOP has told of. */
static long ptrace_listen(const struct ptrace_call *call)
{
	struct ptrace *trace = &call->task->trace;

	if (!trace->is_seized || trace->code >> 8 != PTRACE_EVENT_STOP)
		return -EIO;
	trace->is_listening = true;
	waitq_wake_all(&call->task->process->signals.stopped);
	return 0;
}

/* Those that need no stop. */

static long ptrace_interrupt(const struct ptrace_call *call)
{
	struct process_signals *signals = &call->task->process->signals;
	uint64_t flags;

	if (!call->task->trace.is_seized)
		return -EIO;
	flags = spin_lock_irqsave(&signals->lock);
	call->task->trace.wants_trap = true;
	if (!list_empty(&call->task->link))
		thread_interrupt(call->task->thread);
	spin_unlock_irqrestore(&signals->lock, flags);
	waitq_wake_all(&signals->stopped);
	return 0;
}

static long ptrace_kill(const struct ptrace_call *call)
{
	if (!call->task->trace.has_ended)
		send_signal(call->task->process, NULL, SIGKILL, NULL);
	return 0;
}

static const struct ptrace_request {
	uint16_t number;
	bool needs_no_stop;
	long (*fn)(const struct ptrace_call *call);
} ptrace_requests[] = {
	{ PTRACE_PEEKTEXT, false, ptrace_peek },
	{ PTRACE_PEEKDATA, false, ptrace_peek },
	{ PTRACE_PEEKUSER, false, ptrace_peek_user },
	{ PTRACE_POKETEXT, false, ptrace_poke },
	{ PTRACE_POKEDATA, false, ptrace_poke },
	{ PTRACE_POKEUSER, false, ptrace_poke_user },
	{ PTRACE_CONT, false, ptrace_cont },
	{ PTRACE_KILL, true, ptrace_kill },
	{ PTRACE_SINGLESTEP, false, ptrace_singlestep },
	{ PTRACE_GETREGS, false, ptrace_getregs },
	{ PTRACE_SETREGS, false, ptrace_setregs },
	{ PTRACE_GETFPREGS, false, ptrace_getfpregs },
	{ PTRACE_SETFPREGS, false, ptrace_setfpregs },
	{ PTRACE_DETACH, false, ptrace_leave },
	{ PTRACE_SYSCALL, false, ptrace_syscall },
	{ PTRACE_ARCH_PRCTL, false, ptrace_arch_prctl },
	{ PTRACE_SETOPTIONS, false, ptrace_setoptions },
	{ PTRACE_GETEVENTMSG, false, ptrace_geteventmsg },
	{ PTRACE_GETSIGINFO, false, ptrace_getsiginfo },
	{ PTRACE_SETSIGINFO, false, ptrace_setsiginfo },
	{ PTRACE_GETREGSET, false, ptrace_getregset },
	{ PTRACE_SETREGSET, false, ptrace_setregset },
	{ PTRACE_INTERRUPT, true, ptrace_interrupt },
	{ PTRACE_LISTEN, false, ptrace_listen },
	{ PTRACE_GETSIGMASK, false, ptrace_getsigmask },
	{ PTRACE_SETSIGMASK, false, ptrace_setsigmask },
	{ PTRACE_GET_SYSCALL_INFO, false, ptrace_get_syscall_info },
};

/* A request for a tracee. process_lock is held. */
static long ptrace_ask(const struct ptrace_call *call, long request)
{
	for (size_t i = 0; i < ARRAY_SIZE(ptrace_requests); i++) {
		const struct ptrace_request *known = &ptrace_requests[i];

		if (known->number != request)
			continue;
		if (call->task->trace.tracer != current_process())
			return -ESRCH;
		return known->needs_no_stop || ptrace_is_held(call->task) ? known->fn(call)
									  : -ESRCH;
	}
	return -EIO;
}

static long ptrace_of_thread(struct task *task, long request, unsigned long addr,
			     unsigned long data)
{
	const struct ptrace_call call = { .task = task, .addr = addr, .data = data };
	long result;

	if (request == PTRACE_ATTACH)
		return ptrace_attach(task, false, 0);
	if (request == PTRACE_SEIZE)
		return addr || data & ~(unsigned long)PTRACE_O_KNOWN
			       ? -EIO
			       : ptrace_attach(task, true, (uint32_t)data);
	mutex_lock(&process_lock);
	result = ptrace_ask(&call, request);
	mutex_unlock(&process_lock);
	return result;
}

long sys_ptrace(long request, long pid, unsigned long addr, unsigned long data)
{
	struct thread *thread;
	long result = -ESRCH;

	if (request == PTRACE_TRACEME)
		return ptrace_traceme();
	thread = pid > 0 && pid <= INT32_MAX ? thread_find((int32_t)pid) : NULL;
	if (thread)
		result =
			thread->task ? ptrace_of_thread(thread->task, request, addr, data) : -EPERM;
	thread_put(thread);
	return result;
}

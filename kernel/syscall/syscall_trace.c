/*
 * System calls as the tracer sees them: the table of <trace/syscalls.h>, and the functions that calls go
 * through while an event of theirs is on. Other calls pay nothing.
 */
#include <kernel/preempt.h>
#include <kernel/string.h>
#include <stdatomic.h>
#include <trace/events/raw_syscalls.h>
#include <trace/syscalls.h>
#include "path.h"
#include "process/elf.h"
#include "syscall.h"

#define SYSCALL_INFO(nr, name_, ARGS, ...)                                                         \
	[nr] = &(const struct trace_syscall){ .name = #name_,                                      \
					      .types = { ARGS(SYSCALL_TYPE, NULL, __VA_ARGS__) },  \
					      .args = { ARGS(SYSCALL_NAME, NULL, __VA_ARGS__) } },
static const struct trace_syscall *const syscall_infos[SYSCALL_MAX] = { SYSCALLS(SYSCALL_INFO) };

/* Parts that events want, of enum trace_syscall_part, of calls that go through syscall_traced(). */
static _Atomic uint8_t syscall_parts[SYSCALL_MAX];

static TRACE_ALWAYS_INLINE unsigned int syscall_parts_of(uint64_t nr)
{
	return atomic_load_explicit(&syscall_parts[nr], memory_order_relaxed);
}

static TRACE_ALWAYS_INLINE void syscall_enter(const struct trap_frame *regs, uint64_t nr)
{
	uint64_t args[TRACE_SYSCALL_ARGS];

	arch_syscall_args(regs, args);
	trace_syscall_enter((uint32_t)nr, args);
}

static TRACE_NOINLINE long syscall_timed(struct trap_frame *regs, uint64_t nr)
{
	uint64_t begin;
	long ret;

	preempt_disable();
	begin = trace_plat_clock_mono_ns();
	preempt_enable();
	ret = syscall_handlers[nr](regs);
	trace_syscall_latency((uint32_t)nr, begin, ret);
	return ret;
}

/* The number is taken first, because execve() clears the registers. */
static long syscall_traced(struct trap_frame *regs)
{
	uint64_t nr = regs->error;
	long ret;

	if (syscall_parts_of(nr) & TRACE_SYSCALL_ENTER)
		syscall_enter(regs, nr);
	if (TRACE_UNLIKELY(syscall_parts_of(nr) & TRACE_SYSCALL_LATENCY))
		ret = syscall_timed(regs, nr);
	else
		ret = syscall_handlers[nr](regs);
	if (syscall_parts_of(nr) & TRACE_SYSCALL_EXIT)
		trace_syscall_exit((uint32_t)nr, ret);
	return ret;
}

/* The call as it is without a tracer of the program. */
static long syscall_run(struct trap_frame *regs)
{
	uint64_t nr = regs->error;

	if (nr >= SYSCALL_MAX || !syscall_handlers[nr])
		return syscall_unknown(regs, nr);
	return syscall_parts_of(nr) ? syscall_traced(regs) : syscall_handlers[nr](regs);
}

/* The tracer may have changed the number, and the result, which is that of a call with number -1, too. */
long syscall_ptraced(struct trap_frame *regs)
{
	const struct ptrace *trace = &current_task()->trace;

	if (!trace->tracer)
		return syscall_run(regs);
	regs->rax = (uint64_t)-ENOSYS;
	ptrace_syscall_stop(regs, PTRACE_SYSCALL_ENTRY);
	if ((int64_t)regs->error >= 0)
		regs->rax = (uint64_t)syscall_run(regs);
	if (trace->tracer)
		ptrace_syscall_stop(regs, PTRACE_SYSCALL_EXIT);
	return (long)regs->rax;
}

static struct {
	struct spinlock lock; /* of writes to sys_call_table */
	bool is_ptraced;
} syscall_table;

static void syscall_route(uint32_t nr)
{
	syscall_fn fn = syscall_parts_of(nr) ? syscall_traced : syscall_handlers[nr];

	if (syscall_table.is_ptraced && syscall_handlers[nr])
		fn = syscall_ptraced;
	atomic_store_explicit(&sys_call_table[nr], fn, memory_order_relaxed);
}

static void syscall_divert(uint32_t nr, unsigned int parts)
{
	uint64_t flags = spin_lock_irqsave(&syscall_table.lock);

	atomic_store_explicit(&syscall_parts[nr], (uint8_t)parts, memory_order_relaxed);
	syscall_route(nr);
	spin_unlock_irqrestore(&syscall_table.lock, flags);
}

void syscall_set_ptraced(bool is_on)
{
	uint64_t flags = spin_lock_irqsave(&syscall_table.lock);

	syscall_table.is_ptraced = is_on;
	for (uint32_t nr = 0; nr < SYSCALL_MAX; nr++)
		syscall_route(nr);
	spin_unlock_irqrestore(&syscall_table.lock, flags);
}

void syscall_exit_to_child(struct trap_frame *regs)
{
	uint32_t nr = (uint32_t)regs->error;

	if (syscall_parts_of(nr) & TRACE_SYSCALL_EXIT)
		trace_syscall_exit(nr, 0);
	trace_sys_exit(nr, 0);
}

static const struct trace_syscall_host syscall_host = {
	.calls = syscall_infos,
	.nr_calls = SYSCALL_MAX,
	.divert = syscall_divert,
	.strncpy_from_user = strncpy_from_user,
	.copy_from_user = copy_from_user,
};

const struct trace_syscall_host *trace_plat_syscalls(void)
{
	return &syscall_host;
}

/* The file that is mapped at an address, with a reference, and the place in there. NULL: none. */
static struct file *syscall_object_in(struct mm *mm, uint64_t ip, struct trace_plat_user_place *out,
				      uint64_t *out_pos)
{
	const struct vma *vma;
	struct file *file = NULL;

	mutex_lock(&mm->lock);
	vma = find_vma(mm, ip);
	if (vma && ip >= vma->start && vma->file && vma->file->path) {
		file = vma->file;
		get_file(file);
		strlcpy(out->path, file->path, sizeof(out->path));
		out->offset = ip - vma->start;
		*out_pos = vma->offset + out->offset;
	}
	mutex_unlock(&mm->lock);
	return file;
}

bool trace_plat_user_object(int32_t tgid, uint64_t ip, struct trace_plat_user_place *out)
{
	struct process *process = process_find(tgid);
	struct mm *mm = process ? process_get_mm(process) : NULL;
	uint64_t pos;
	struct file *file = mm ? syscall_object_in(mm, ip, out, &pos) : NULL;

	if (file) {
		out->function_offset =
			elf_find_function(file, pos, out->function, sizeof(out->function));
		fput(file);
	}
	mm_put(mm);
	process_put(process);
	return file;
}

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

static TRACE_ALWAYS_INLINE unsigned int syscall_parts_of(uint32_t nr)
{
	return atomic_load_explicit(&syscall_parts[nr], memory_order_relaxed);
}

static TRACE_ALWAYS_INLINE void syscall_enter(const struct trap_frame *regs, uint32_t nr)
{
	uint64_t args[TRACE_SYSCALL_ARGS];

	arch_syscall_args(regs, args);
	trace_syscall_enter(nr, args);
}

static TRACE_NOINLINE long syscall_timed(struct trap_frame *regs, uint32_t nr)
{
	uint64_t begin;
	long ret;

	preempt_disable();
	begin = trace_plat_clock_mono_ns();
	preempt_enable();
	ret = syscall_handlers[nr](regs);
	trace_syscall_latency(nr, begin, ret);
	return ret;
}

/* The number is taken first, because execve() clears the registers. */
static long syscall_traced(struct trap_frame *regs)
{
	uint32_t nr = (uint32_t)regs->error;
	unsigned int parts = syscall_parts_of(nr);
	long ret;

	if (parts & TRACE_SYSCALL_ENTER)
		syscall_enter(regs, nr);
	ret = parts & TRACE_SYSCALL_LATENCY ? syscall_timed(regs, nr) : syscall_handlers[nr](regs);
	if (syscall_parts_of(nr) & TRACE_SYSCALL_EXIT)
		trace_syscall_exit(nr, ret);
	return ret;
}

static void syscall_divert(uint32_t nr, unsigned int parts)
{
	atomic_store_explicit(&syscall_parts[nr], (uint8_t)parts, memory_order_relaxed);
	atomic_store_explicit(&sys_call_table[nr], parts ? syscall_traced : syscall_handlers[nr],
			      memory_order_relaxed);
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

/* Page faults of programs: the pages come here. See mm.h. */
#include <arch/paging.h>
#include <arch/trap.h>
#include <kernel/mm.h>
#include <kernel/upcall.h>
#include <trace/events/exceptions.h>
#include <trace/uprobe.h>
#include "process.h"
#include "uprobe.h"

#define PF_WRITE 0x2u
#define PF_USER	 0x4u
#define PF_FETCH 0x10u

/*
 * `addr` is below the stack. Let the stack reach there, if it may be as long and the range below it stays
 * far enough away.
 */
static bool fault_grow_stack(struct mm *mm, struct vma *stack, uintptr_t addr)
{
	const struct vma *below = stack->link.prev == &mm->vmas
					  ? NULL
					  : list_entry(stack->link.prev, struct vma, link);

	addr = ALIGN_DOWN(addr, PAGE_SIZE);
	if (!(stack->flags & VM_STACK) || stack->end - addr > STACK_BYTES_MAX ||
	    stack->end - addr > rlimit(RLIMIT_STACK) ||
	    !may_expand_vm(mm, &(struct vma){ .start = addr, .end = stack->start }))
		return false;
	if (below && below->end + STACK_GAP > addr)
		return false;
	stack->start = addr;
	return true;
}

/*
 * A page of the program's own with the contents of another, or zeros. The compiler's own functions, as it knows
 * how many bytes a page has: gcc makes one string instruction of each.
 */
static void *fault_new_page(const void *contents)
{
	void *page = page_is_memory_short() ? NULL : alloc_shared_page();

	if (page && contents)
		__builtin_memcpy(page, contents, PAGE_SIZE);
	else if (page)
		__builtin_memset(page, 0, PAGE_SIZE);
	return page;
}

static enum fault_result fault_put(struct mm *mm, const struct vma *vma, uintptr_t addr, void *page,
				   uint32_t denied)
{
	uint32_t flags = vma_page_flags(vma) & ~denied;

	if (!page)
		return FAULT_NO_MEMORY;
	if (arch_user_map(mm->root, addr, arch_virt_to_phys(page), flags) == 0)
		return FAULT_DONE;
	put_page(page);
	return FAULT_NO_MEMORY;
}

/* The same where no page has been. */
static enum fault_result fault_add(struct mm *mm, const struct vma *vma, uintptr_t addr, void *page,
				   uint32_t denied)
{
	enum fault_result result = fault_put(mm, vma, addr, page, denied);

	if (result == FAULT_DONE)
		mm->nr_pages++;
	return result;
}

/*
 * A page of a file: the file's own until the program writes, or while no probe is in it, then a copy, unless the range is
 * shared.
 */
static enum fault_result fault_file_page(struct mm *mm, const struct vma *vma, uintptr_t addr,
					 bool is_write)
{
	uint64_t index = (vma->offset + (addr - vma->start)) / PAGE_SIZE;
	void *page = vma->file->ops->map_page(vma->file, index), *copy;
	bool has_probes;

	if (!page)
		return FAULT_NO_FILE;
	if (vma->flags & VM_SHARED)
		return fault_add(mm, vma, addr, page, 0);
	has_probes = uprobe_in_page(uprobe_file_number(vma->file), index);
	if (!is_write && !has_probes)
		return fault_add(mm, vma, addr, page, USER_PAGE_WRITE);
	copy = fault_new_page(page);
	put_page(page);
	if (copy && has_probes)
		uprobe_arm_page(uprobe_file_number(vma->file), index, copy, mm->uprobe_seq);
	return fault_add(mm, vma, addr, copy, 0);
}

/* The page is there, but may not be written to: it is shared, or was until a moment ago. */
static enum fault_result fault_write_shared(struct mm *mm, const struct vma *vma, uintptr_t addr,
					    uint64_t phys)
{
	void *page = arch_phys_to_virt(phys);
	enum fault_result result;

	if (vma->flags & VM_SHARED || page_count(page) == 1)
		return fault_put(mm, vma, addr, page, 0);
	result = fault_put(mm, vma, addr, fault_new_page(page), 0);
	if (result != FAULT_DONE)
		return result;
	if (mm_is_shared(mm))
		mm_flush_tlb(mm); /* other threads may have read the old page */
	put_page(page);
	return FAULT_DONE;
}

void *mm_own_page(struct mm *mm, uintptr_t addr, void **out_old)
{
	const struct vma *vma = find_vma(mm, addr);
	bool is_writable, is_there;
	uint64_t phys;
	void *page;

	*out_old = NULL;
	is_there = arch_user_lookup(mm->root, addr, &phys, &is_writable);
	if (!is_there && vma->file)
		return NULL;
	if (is_there && page_count(arch_phys_to_virt(phys)) == 1)
		return arch_phys_to_virt(phys);
	page = fault_new_page(is_there ? arch_phys_to_virt(phys) : NULL);
	if (fault_put(mm, vma, addr, page, 0) != FAULT_DONE)
		return NULL;
	mm->nr_pages += !is_there;
	*out_old = is_there ? arch_phys_to_virt(phys) : NULL;
	return page;
}

static enum fault_result fault_in(struct mm *mm, const struct vma *vma, uintptr_t addr,
				  bool is_write)
{
	bool is_writable;
	uint64_t phys;

	if (arch_user_lookup(mm->root, addr, &phys, &is_writable)) {
		if (is_write && !is_writable)
			return fault_write_shared(mm, vma, addr, phys);
		return FAULT_DONE; /* it came meanwhile */
	}
	if (vma->file)
		return fault_file_page(mm, vma, addr, is_write);
	return fault_add(mm, vma, addr, fault_new_page(NULL), 0);
}

enum fault_result handle_mm_fault(struct mm *mm, uintptr_t addr, uint32_t access)
{
	struct vma *vma = find_vma(mm, addr);

	if (!vma || (addr < vma->start && !fault_grow_stack(mm, vma, addr)))
		return FAULT_NOT_MAPPED;
	/* A page that may be written or executed may be read, too: the processor knows no less. */
	if (access == VM_READ ? !(vma->flags & VM_PROT) : !(vma->flags & access))
		return FAULT_DENIED;
	return fault_in(mm, vma, ALIGN_DOWN(addr, PAGE_SIZE), access == VM_WRITE);
}

/* Will the running program end by this signal? Then the log says where. */
static bool fault_ends_program(int signal)
{
	const struct task *task = current_task();
	uint64_t handler = task->process->signals.sighand->actions[signal - 1].handler;

	return !task->trace.tracer &&
	       (handler <= SIG_IGN || task->signals.blocked & sigmask(signal));
}

void force_sig_fault(struct trap_frame *regs, int signal, int code, uintptr_t addr)
{
	const struct thread *thread = current_thread();
	const struct user_siginfo info = { .signo = signal, .code = code, .fault.addr = addr };
	struct task_signals *own = &thread->task->signals;

	uprobe_leave_slot(regs, true);
	own->fault_vector = regs->vector;
	own->fault_error = regs->vector == TRAP_SYSCALL ? 0 : regs->error;
	own->fault_addr = addr;
	if (fault_ends_program(signal))
		pr_info("%s[%d]: signal %d code %d at 0x%lx ip 0x%lx sp 0x%lx error 0x%lx (%s)\n",
			thread->name, thread->pid, signal, code, addr, regs->rip, regs->rsp,
			regs->error, trap_name(regs->vector));
	force_sig_info(&info);
}

void upcall_user_trap(struct trap_frame *regs, int signal, int code, uintptr_t addr)
{
	force_sig_fault(regs, signal, code, addr);
}

/* Tell the program of a fault that cannot be mended. */
static void fault_bad_area(struct trap_frame *regs, uintptr_t addr, enum fault_result result)
{
	switch (result) {
	case FAULT_NO_FILE:
		force_sig_fault(regs, SIGBUS, BUS_ADRERR, addr);
		break;
	case FAULT_NO_MEMORY:
		pr_warn("out of memory: %s (pid %d) is ended\n", current_thread()->name,
			current_thread()->pid);
		force_sig_fault(regs, SIGKILL, 0, 0);
		break;
	default:
		force_sig_fault(regs, SIGSEGV, result == FAULT_DENIED ? SEGV_ACCERR : SEGV_MAPERR,
				addr);
		break;
	}
}

static TRACE_NOINLINE void fault_tell_kernel(const struct trap_frame *regs, uintptr_t addr)
{
	preempt_disable();
	trace_page_fault_kernel(addr, regs->rip, regs->error);
	preempt_enable();
}

static void fault_tell(const struct trap_frame *regs, uintptr_t addr)
{
	if (trap_is_user(regs))
		trace_page_fault_user(addr, regs->rip, regs->error);
	else if (trace_page_fault_kernel_enabled())
		fault_tell_kernel(regs, addr);
}

static enum fault_result fault_at(struct mm *mm, uintptr_t addr, uint32_t access)
{
	enum fault_result result;

	mutex_lock(&mm->lock);
	result = handle_mm_fault(mm, addr, access);
	mutex_unlock(&mm->lock);
	return result;
}

/* Only the thread itself writes the number: no locked instruction is needed. */
static void fault_count(struct thread *thread)
{
	uint64_t nr = atomic_load_explicit(&thread->nr_faults, memory_order_relaxed);

	atomic_store_explicit(&thread->nr_faults, nr + 1, memory_order_relaxed);
}

static TRACE_NOINLINE bool do_user_addr_fault(struct trap_frame *regs, uintptr_t addr)
{
	uint32_t access = VM_READ;
	enum fault_result result = FAULT_NOT_MAPPED;

	if (regs->error & PF_FETCH)
		access = VM_EXEC;
	else if (regs->error & PF_WRITE)
		access = VM_WRITE;
	/*
	 * The processor's own access for an instruction of the program, as if it was the kernel's: QEMU
	 * does so for IRET. With SMAP it would fault for ever.
	 */
	if (trap_is_user(regs) && !(regs->error & PF_USER))
		result = FAULT_DENIED;
	else if (addr < TASK_SIZE_MAX)
		result = fault_at(current_task()->mm, addr, access);
	if (result == FAULT_DONE)
		fault_count(current_thread());
	if (result != FAULT_DONE && trap_is_user(regs))
		fault_bad_area(regs, addr, result);
	return result == FAULT_DONE;
}

bool upcall_user_fault(struct trap_frame *regs, uintptr_t addr)
{
	fault_tell(regs, addr);
	return do_user_addr_fault(regs, addr);
}

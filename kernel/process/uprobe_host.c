/* The table of this kernel for probes in programs, and their breakpoints: see uprobe.h. */
#include <kernel/shell.h>
#include <kernel/string.h>
#include <kernel/upcall.h>
#include <trace/arch_host.h>
#include <trace/arch_uprobe.h>
#include <trace/uprobe.h>
#include "process.h"
#include "uprobe.h"

/* ---- Files ---- */

static struct file *uprobe_file(const struct uprobe_file *file)
{
	return (struct file *)(uintptr_t)file;
}

/* Of a program, or of the shell that runs a command in this thread. 0 or -errno. */
static int uprobe_host_cwd(char *out_cwd)
{
	if (current_thread()->task)
		return fs_cwd_path(current_process()->fs, out_cwd);
	strlcpy(out_cwd, shell_thread_cwd(), VFS_PATH_MAX);
	return 0;
}

static int uprobe_host_path(const char *path, char *out_path, size_t bytes)
{
	char cwd[VFS_PATH_MAX] = "/", whole[VFS_PATH_MAX];
	int err = *path == '/' ? 0 : uprobe_host_cwd(cwd);

	if (!err)
		err = vfs_resolve(cwd, path, whole);
	if (!err && strlen(whole) >= bytes)
		err = -ENAMETOOLONG;
	if (!err)
		strlcpy(out_path, whole, bytes);
	return err;
}

static int uprobe_host_open(const char *path, struct file **out_file)
{
	struct vfs_stat stat;
	int err = vfs_stat("/", path, &stat);

	if (err)
		return err;
	return stat.type == VFS_REGULAR ? vfs_open("/", path, VFS_READ, out_file) : -EINVAL;
}

static int uprobe_host_get(const char *path, struct uprobe_file **out_file)
{
	char whole[VFS_PATH_MAX];
	struct file *file;
	int err = uprobe_host_path(path, whole, sizeof(whole));

	if (!err)
		err = uprobe_host_open(whole, &file);
	if (err)
		return err;
	if (!file->ops->map_page) {
		fput(file);
		return -EINVAL;
	}
	*out_file = (struct uprobe_file *)file;
	return 0;
}

static struct uprobe_file *uprobe_host_hold(struct uprobe_file *file)
{
	get_file(uprobe_file(file));
	return file;
}

static void uprobe_host_put(struct uprobe_file *file)
{
	fput(uprobe_file(file));
}

static uint64_t uprobe_host_id(const struct uprobe_file *file)
{
	return uprobe_file_number(uprobe_file(file));
}

static uint64_t uprobe_host_bytes(struct uprobe_file *file)
{
	struct vfs_stat stat;

	return file_stat(uprobe_file(file), &stat) ? 0 : stat.size;
}

/* By pages: the lock of a file's position comes before those that callers hold. */
static size_t uprobe_host_file_read(struct uprobe_file *file, uint64_t offset, void *to,
				    size_t bytes)
{
	uint64_t end = uprobe_host_bytes(file);
	size_t done = 0;

	if (offset >= end)
		return 0;
	if (bytes > end - offset)
		bytes = end - offset;
	while (done < bytes) {
		size_t at = (offset + done) % PAGE_SIZE, part = PAGE_SIZE - at;
		char *page = uprobe_file(file)->ops->map_page(uprobe_file(file),
							      (offset + done) / PAGE_SIZE);

		if (!page)
			break;
		if (part > bytes - done)
			part = bytes - done;
		memcpy((char *)to + done, page + at, part);
		put_page(page);
		done += part;
	}
	return done;
}

/* ---- Mappings ---- */

static bool uprobe_host_locate(uintptr_t addr, uint64_t *out_file, uint64_t *out_offset)
{
	struct mm *mm = current_task()->mm;
	const struct vma *vma;
	bool is_file;

	mutex_lock(&mm->lock);
	vma = find_vma(mm, addr);
	is_file = vma && vma->start <= addr && vma->file && !(vma->flags & VM_SHARED);
	if (is_file) {
		*out_file = uprobe_file_number(vma->file);
		*out_offset = vma->offset + (addr - vma->start);
	}
	mutex_unlock(&mm->lock);
	return is_file;
}

static uintptr_t uprobe_host_distance(uintptr_t a, uintptr_t b)
{
	return a < b ? b - a : a - b;
}

static uintptr_t uprobe_host_address(uint64_t file, uint64_t offset, uintptr_t addr)
{
	struct mm *mm = current_task()->mm;
	uintptr_t best = 0;
	struct list *pos;

	mutex_lock(&mm->lock);
	list_for_each(pos, &mm->vmas) {
		const struct vma *vma = list_entry(pos, struct vma, link);
		uintptr_t at = vma->start + (offset - vma->offset);

		if (!uprobe_is_mapping(vma, file) || offset < vma->offset || at >= vma->end)
			continue;
		if (!best || uprobe_host_distance(at, addr) < uprobe_host_distance(best, addr))
			best = at;
	}
	mutex_unlock(&mm->lock);
	return best;
}

static bool uprobe_host_read(void *to, uintptr_t from, size_t bytes)
{
	return !copy_from_user(to, (const void *)from, bytes);
}

static bool uprobe_host_write(uintptr_t to, const void *from, size_t bytes)
{
	return !copy_to_user((void *)to, from, bytes);
}

/* ---- Going on ---- */

/* A tracer's own breakpoint may be at the same place. */
static bool uprobe_may_call(const struct trace_uprobe_insn *insn, const struct trap_frame *frame)
{
	return frame->vector == TRAP_BREAKPOINT && !current_task()->trace.tracer &&
	       trace_uprobe_call_is_for(insn);
}

/* The instruction is done elsewhere, or cannot be done. */
static TRACE_NOINLINE void uprobe_step_on(const struct trace_uprobe_insn *insn,
					  struct ftrace_regs *regs, uintptr_t *remembered,
					  enum trace_uprobe_step step)
{
	struct trap_frame *frame = task_frame(current_task());

	if (step == TRACE_UPROBE_FAULT) {
		force_sig_fault(frame, SIGSEGV, SEGV_MAPERR, regs->rsp);
		return;
	}
	*remembered = uprobe_slot_get(current_task()->mm, insn, regs->rip);
	if (*remembered)
		regs->rip = *remembered;
	else
		force_sig_fault(frame, SIGKILL, 0, 0);
}

static TRACE_NOINLINE void uprobe_step_call(const struct trace_uprobe_insn *insn,
					    const struct ftrace_regs *regs, uintptr_t *remembered)
{
	if (!uprobe_may_call(insn, task_frame(current_task())))
		return;
	*remembered = 1; /* whether it can be or not */
	uprobe_call_make(current_task()->mm, regs->rip);
}

static void uprobe_host_step(const struct trace_uprobe_insn *insn, struct ftrace_regs *regs,
			     uintptr_t *remembered)
{
	enum trace_uprobe_step step;

	if (TRACE_UNLIKELY(insn->len == TRACE_UPROBE_CALL && !*remembered))
		uprobe_step_call(insn, regs, remembered);
	step = trace_uprobe_emulate(insn, regs);
	if (TRACE_UNLIKELY(step == TRACE_UPROBE_FAULT ||
			   (step == TRACE_UPROBE_SLOT_NEEDED && !*remembered)))
		uprobe_step_on(insn, regs, remembered, step);
	else if (step == TRACE_UPROBE_SLOT_NEEDED)
		regs->rip = *remembered;
}

static bool uprobe_host_trampoline(uintptr_t *out_addr)
{
	*out_addr = uprobe_trampoline_get(current_task()->mm);
	return *out_addr;
}

static const struct trace_uprobe_host uprobe_host = {
	.file_get = uprobe_host_get,
	.file_path = uprobe_host_path,
	.file_hold = uprobe_host_hold,
	.file_put = uprobe_host_put,
	.file_id = uprobe_host_id,
	.file_bytes = uprobe_host_bytes,
	.file_read = uprobe_host_file_read,
	.edit = uprobe_edit_all,
	.locate = uprobe_host_locate,
	.address = uprobe_host_address,
	.read = uprobe_host_read,
	.write = uprobe_host_write,
	.prepare = trace_uprobe_prepare,
	.step = uprobe_host_step,
	.trampoline = uprobe_host_trampoline,
	.breakpoint = TRACE_UPROBE_INT3,
};

const struct trace_uprobe_host *trace_plat_uprobes(void)
{
	return &uprobe_host;
}

/* ---- Breakpoints and signals ---- */

bool upcall_user_breakpoint(struct trap_frame *frame)
{
	struct ftrace_regs regs;
	bool is_probe;

	trace_arch_frame_load(frame, &regs);
	regs.rip = frame->rip - 1; /* the instruction was one byte long */
	regs.direct = 0;
	regs.parent = 0;
	if (uprobe_is_trampoline(current_task()->mm, regs.rip))
		is_probe = uprobe_return(&regs);
	else
		is_probe = uprobe_hit(&regs);
	if (is_probe)
		trace_arch_frame_store(frame, &regs);
	return is_probe;
}

/*
 * Before a signal: the program never sees that it was in a slot. If the instruction has not been done, it will come to
 * the breakpoint again, which has been seen already.
 */
void uprobe_leave_slot(struct trap_frame *regs, bool is_fault)
{
	uintptr_t addr;
	bool is_done;

	if (current_task()->mm->uprobe_calls[0])
		uprobe_call_leave(regs);
	if (TRACE_LIKELY(!uprobe_slot_origin(current_task()->mm, regs->rip, &addr, &is_done)))
		return;
	regs->rip = addr;
	if (!is_done && !is_fault)
		uprobe_hit_again(addr, regs->rsp);
}

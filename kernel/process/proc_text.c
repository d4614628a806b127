/* The texts in /proc/PID, in the formats of Linux. See proc.h. */
#include <arch/paging.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "proc.h"
#include "proc_text.h"

#define PROC_TEXT_BYTES PAGE_SIZE /* at first */
#define PROC_TICK_NS	(uint64_t)(NSEC_PER_SEC / 100)
#define PROC_PAGE_KIB	(PAGE_SIZE / 1024)

void text_add(struct text *text, const char *fmt, ...)
{
	size_t room = text->size - text->len;
	va_list args;
	int len;

	va_start(args, fmt);
	len = trace_vsnprintf(text->to + text->len, room, fmt, args);
	va_end(args);
	text->len += (size_t)len < room ? (size_t)len : room - 1;
}

/* Facts about a process that several files show. */
struct proc_facts {
	struct process *process;
	int32_t pid;   /* of the process or of the thread */
	struct mm *mm; /* NULL: it has ended */
	char name[THREAD_NAME_LEN];
	char state;
	struct usage usage, children;
	uint64_t vm_bytes, rss_pages;
	int32_t ppid, tracer_pid;
};

static char proc_state(const struct process *process, const struct thread *thread)
{
	if (process->is_zombie || !thread)
		return 'Z';
	if (task_is_stopped(thread->task))
		return thread->task->trace.tracer ? 't' : 'T';
	return thread->on_queue ? 'R' : 'S';
}

static void proc_get_sizes(struct proc_facts *facts)
{
	struct list *pos;

	mutex_lock(&facts->mm->lock);
	list_for_each(pos, &facts->mm->vmas) {
		const struct vma *vma = list_entry(pos, struct vma, link);

		facts->vm_bytes += vma->end - vma->start;
	}
	facts->rss_pages = facts->mm->nr_pages;
	mutex_unlock(&facts->mm->lock);
}

static void proc_get_facts(struct process *process, int32_t tid, struct proc_facts *out)
{
	struct thread *thread = process_get_thread(process, tid);

	*out = (struct proc_facts){ .process = process,
				    .pid = tid ? tid : process->pid,
				    .mm = process_get_mm(process) };
	out->state = proc_state(process, thread);
	out->ppid = process->ppid;
	out->tracer_pid = thread ? ptrace_tracer_pid(thread->task) : 0;
	strlcpy(out->name, thread ? thread->name : process->comm, sizeof(out->name));
	if (tid && thread)
		usage_of_thread(thread, &out->usage);
	else
		usage_of_process(process, &out->usage);
	usage_of_children(process, &out->children);
	thread_put(thread);
	if (out->mm)
		proc_get_sizes(out);
}

void proc_show_map(struct text *text, const struct vma *vma)
{
	struct vfs_stat stat = { 0 };
	const char *name = vma->file && vma->file->path ? vma->file->path : "";
	char line[64];

	if (vma->flags & VM_HEAP)
		name = "[heap]";
	else if (vma->flags & VM_STACK)
		name = "[stack]";
	else if (vma->flags & VM_UPROBES)
		name = "[uprobes]";
	else if (vma->flags & VM_UPROBE_CALLS)
		name = "[uprobes-trampoline]";
	if (vma->file)
		file_stat(vma->file, &stat);
	trace_scnprintf(line, sizeof(line), "%lx-%lx %c%c%c%c %08lx 00:%02x %lu", vma->start,
			vma->end, vma->flags & VM_READ ? 'r' : '-',
			vma->flags & VM_WRITE ? 'w' : '-', vma->flags & VM_EXEC ? 'x' : '-',
			vma->flags & VM_SHARED ? 's' : 'p', vma->offset, user_dev(&stat),
			user_ino(&stat));
	if (*name)
		text_add(text, "%-72s %s\n", line, name);
	else
		text_add(text, "%s \n", line);
}

static void proc_show_maps(struct text *text, const struct proc_facts *facts)
{
	struct list *pos;

	if (!facts->mm)
		return;
	mutex_lock(&facts->mm->lock);
	list_for_each(pos, &facts->mm->vmas)
		proc_show_map(text, list_entry(pos, struct vma, link));
	mutex_unlock(&facts->mm->lock);
}

static void proc_show_memory(struct text *text, struct mm *mm, uintptr_t start, uintptr_t end)
{
	size_t bytes = end - start, room = text->size - text->len;

	text->len += mm_read(mm, start, text->to + text->len, bytes < room ? bytes : room);
}

/* Up to the start time; the rest is a tail of fields that are 0 here. */
static void proc_show_stat(struct text *text, const struct proc_facts *facts)
{
	const struct process *process = facts->process;

	text_add(text, "%d (%s) %c %d %d %d %d %d 0 %lu %lu 0 0 %lu %lu %lu %lu", facts->pid,
		 facts->name, facts->state, facts->ppid, process->pgid, process->sid,
		 (int)process->tty_id, process->tty_id ? process->pgid : -1, facts->usage.nr_faults,
		 facts->children.nr_faults, facts->usage.user_ns / PROC_TICK_NS,
		 facts->usage.kernel_ns / PROC_TICK_NS, facts->children.user_ns / PROC_TICK_NS,
		 facts->children.kernel_ns / PROC_TICK_NS);
	text_add(text, " 20 0 %u 0 %lu %lu %lu", process->signals.nr_tasks,
		 process->start_ns / PROC_TICK_NS, facts->vm_bytes, facts->rss_pages);
	text_add(text, " %lu 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 %d\n", UINT64_MAX,
		 process->exit_code);
}

static void proc_show_ids(struct text *text, const char *name, const struct cred_ids *ids)
{
	text_add(text, "%s:\t%u\t%u\t%u\t%u\n", name, ids->real, ids->effective, ids->saved,
		 ids->fs);
}

static void proc_show_cred(struct text *text, const struct cred *cred)
{
	proc_show_ids(text, "Uid", &cred->user);
	proc_show_ids(text, "Gid", &cred->group);
	text_add(text, "FDSize:\t%u\nGroups:\t", FILES_MAX);
	for (uint32_t i = 0; i < cred->nr_groups; i++)
		text_add(text, "%u ", cred->groups[i]);
	text_add(text, "\nCapInh:\t%016lx\nCapPrm:\t%016lx\nCapEff:\t%016lx\n", cred->inheritable,
		 cred->permitted, cred->effective);
}

static void proc_show_status(struct text *text, const struct proc_facts *facts)
{
	static const struct {
		char letter;
		const char *name;
	} states[] = {
		{ 'R', "running" },	 { 'S', "sleeping" }, { 'T', "stopped" },
		{ 't', "tracing stop" }, { 'Z', "zombie" },
	};
	const struct process *process = facts->process;
	const char *state = "";

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		if (states[i].letter == facts->state)
			state = states[i].name;
	}
	text_add(text, "Name:\t%s\nUmask:\t%04o\nState:\t%c (%s)\n", facts->name,
		 process->fs->umask, facts->state, state);
	text_add(text, "Tgid:\t%d\nPid:\t%d\nPPid:\t%d\nTracerPid:\t%d\n", process->pid, facts->pid,
		 facts->ppid, facts->tracer_pid);
	proc_show_cred(text, &process->cred);
	if (facts->mm)
		text_add(text, "VmSize:\t%8lu kB\nVmHWM:\t%8lu kB\nVmRSS:\t%8lu kB\n",
			 facts->vm_bytes / 1024, mm_max_pages(facts->mm) * PROC_PAGE_KIB,
			 facts->rss_pages * PROC_PAGE_KIB);
	text_add(text, "Threads:\t%u\n", process->signals.nr_tasks);
	text_add(text, "voluntary_ctxt_switches:\t%lu\nnonvoluntary_ctxt_switches:\t%lu\n",
		 facts->usage.nr_voluntary, facts->usage.nr_involuntary);
}

static void proc_show(struct text *text, const struct proc_facts *facts, enum proc_kind kind)
{
	struct mm *mm = facts->mm;

	switch (kind) {
	case PROC_CMDLINE:
		if (mm)
			proc_show_memory(text, mm, mm->arg_start, mm->arg_end);
		break;
	case PROC_AUXV:
		if (mm)
			proc_show_memory(text, mm, mm->aux_start, mm->aux_end);
		break;
	case PROC_ENVIRON:
		if (mm)
			proc_show_memory(text, mm, mm->arg_end, mm->env_end);
		break;
	case PROC_COMM:
		text_add(text, "%s\n", facts->name);
		break;
	case PROC_MAPS:
		proc_show_maps(text, facts);
		break;
	case PROC_STAT:
		proc_show_stat(text, facts);
		break;
	case PROC_STATM:
		if (mm)
			proc_show_statm(text, mm);
		else
			text_add(text, "0 0 0 0 0 0 0\n");
		break;
	case PROC_SMAPS:
		if (mm)
			proc_show_smaps(text, mm);
		break;
	case PROC_LIMITS:
		proc_show_limits(text, facts->process);
		break;
	case PROC_MOUNTINFO:
		proc_show_mountinfo(text);
		break;
	default:
		proc_show_status(text, facts);
		break;
	}
}

char *proc_text(struct process *process, int32_t tid, enum proc_kind kind, size_t *out_len,
		int *out_err)
{
	struct proc_facts facts;
	struct text text = { .size = PROC_TEXT_BYTES };

	proc_get_facts(process, tid, &facts);
	for (;; text.size *= 2) {
		text.len = 0;
		text.to = kmalloc(text.size);
		if (!text.to)
			break;
		proc_show(&text, &facts, kind);
		if (text.len < text.size - 1)
			break;
		kfree(text.to); /* it may be cut */
	}
	mm_put(facts.mm);
	*out_len = text.len;
	*out_err = text.to ? 0 : -ENOMEM;
	return text.to;
}

static int proc_link_exe(struct process *process, char *out)
{
	struct mm *mm = process_get_mm(process);

	if (!mm)
		return -ENOENT;
	strlcpy(out, mm->exe, VFS_PATH_MAX);
	mm_put(mm);
	return *out ? 0 : -ENOENT;
}

struct file *proc_get_file(struct process *process, unsigned int fd)
{
	struct file *file;

	mutex_lock(&process_lock);
	file = process->files ? files_get_file(process->files, fd) : NULL;
	mutex_unlock(&process_lock);
	return file;
}

/* The path of an open file; one without is called after its kind. */
static int proc_link_fd(struct process *process, unsigned int fd, char *out)
{
	struct file *file = proc_get_file(process, fd);

	if (!file)
		return -ENOENT;
	if (file->path)
		strlcpy(out, file->path, VFS_PATH_MAX);
	else
		strlcpy(out, file->ops->is_console ? "/dev/console" : "pipe:[0]", VFS_PATH_MAX);
	fput(file);
	return 0;
}

/* A directory of a process that has not ended. */
static int proc_link_dir(struct process *process, enum proc_kind kind, char *out)
{
	int err = kind == PROC_LINK_CWD ? fs_cwd_path(process->fs, out)
					: fs_root_path(process->fs, out);
	bool has_ended;

	mutex_lock(&process_lock);
	has_ended = !process->files; /* these go before the directory does */
	mutex_unlock(&process_lock);
	return has_ended ? -ENOENT : err;
}

int proc_link(struct process *process, enum proc_kind kind, unsigned int fd, char *out)
{
	switch (kind) {
	case PROC_LINK_EXE:
		return proc_link_exe(process, out);
	case PROC_LINK_CWD:
	case PROC_LINK_ROOT:
		return proc_link_dir(process, kind, out);
	case PROC_LINK_MOUNTS:
		strlcpy(out, "/proc/mounts", VFS_PATH_MAX);
		return 0;
	default:
		return proc_link_fd(process, fd, out);
	}
}

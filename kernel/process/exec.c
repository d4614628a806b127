/*
 * execve(): another program for the running thread. The new address space is made beside the old one,
 * so that a program that cannot be loaded costs nothing but an error.
 */
#include <kernel/string.h>
#include <trace/events/exec.h>
#include <trace/uprobe.h>
#include "exec.h"
#include "posix_timer.h"
#include "process.h"

#define ARGS_MAX       (2u << 20) /* bytes of all strings and their pointers */
#define ARGS_START     512u
#define SCRIPT_LINE    256u /* of "#!", newline included */
#define SCRIPT_NESTING 4

int exec_args_grow(struct exec_args *args)
{
	size_t size = args->size ? args->size * 2 : ARGS_START;
	char *bigger = size <= ARGS_MAX ? kmalloc(size) : NULL;

	if (!bigger)
		return size <= ARGS_MAX ? -ENOMEM : -E2BIG;
	memcpy(bigger, args->text, args->len);
	kfree(args->text);
	args->text = bigger;
	args->size = size;
	return 0;
}

int exec_args_added(struct exec_args *args, size_t len, bool is_env)
{
	size_t nr = (size_t)args->argc + args->envc + 1;

	if (args->len + len + nr * sizeof(uint64_t) > ARGS_MAX)
		return -E2BIG;
	args->len += len;
	args->argc += !is_env;
	args->envc += is_env;
	return 0;
}

int exec_args_add(struct exec_args *args, const char *text, bool is_env)
{
	size_t len = strlen(text) + 1;
	int err = 0;

	while (args->size - args->len < len && !err)
		err = exec_args_grow(args);
	if (err)
		return err;
	memcpy(args->text + args->len, text, len);
	return exec_args_added(args, len, is_env);
}

void exec_args_free(struct exec_args *args)
{
	kfree(args->text);
	*args = (struct exec_args){ 0 };
}

/* The first instruction of a program, its stack pointer there, and what was added to the addresses of its file. */
struct exec_start {
	uintptr_t ip, sp, bias;
};

/* A new address space with the program; NULL with *out_err set. */
static struct mm *exec_load(struct file *file, const struct exec_args *args,
			    struct exec_start *out_start, int *out_err)
{
	struct elf_image image = { 0 };
	struct mm *mm = mm_create();

	*out_err = -ENOMEM;
	if (!mm)
		return NULL;
	aslr_place_mappings(mm, args->is_secure);
	strlcpy(mm->exe, file->path, sizeof(mm->exe));
	*out_err = load_elf_binary(mm, file, &image);
	if (!*out_err)
		*out_err = create_elf_tables(mm, &image, args, &out_start->sp);
	if (*out_err) {
		mm_put(mm);
		return NULL;
	}
	mm->start_brk = mm->brk = ALIGN_UP(image.end, PAGE_SIZE) + aslr_heap_gap(mm);
	out_start->ip = image.start;
	out_start->bias = image.bias;
	return mm;
}

static int exec_unshare_files(struct process *process)
{
	struct files *old = process->files, *own;

	if (!files_are_shared(old))
		return 0;
	own = files_copy(old);
	if (!own)
		return -ENOMEM;
	mutex_lock(&process_lock);
	process->files = own;
	mutex_unlock(&process_lock);
	files_put(old);
	return 0;
}

static int exec_unshare_handlers(struct process_signals *signals)
{
	struct sighand *old = signals->sighand, *own;
	uint64_t flags;

	if (!sighand_is_shared(old))
		return 0;
	own = sighand_copy(old);
	if (!own)
		return -ENOMEM;
	flags = spin_lock_irqsave(&signals->lock);
	signals->sighand = own;
	spin_unlock_irqrestore(&signals->lock, flags);
	sighand_put(old);
	return 0;
}

/* The running thread, the last of its process, is about to close files and forget handlers: of its process alone. */
static int exec_unshare(struct process *process)
{
	int err = exec_unshare_files(process);

	return err ? err : exec_unshare_handlers(&process->signals);
}

/* Handlers go with the program that had them; signals that are ignored stay so. */
static void exec_reset_signals(struct task *task)
{
	struct process_signals *signals = &task->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	sighand_reset(signals->sighand);
	spin_unlock_irqrestore(&signals->lock, flags);
	task->signals.stack = (struct arch_signal_stack){ .flags = SS_DISABLE };
}

/* From here on the thread runs the new program. */
static void exec_begin(struct mm *mm, const struct exec_args *args, const struct exec_start *start,
		       int32_t old_pid)
{
	const char *name = args->name, *slash = strrchr(name, '/');
	struct task *task = current_task();

	mutex_lock(&process_lock); /* no tracer comes in between, and none sees the memory before */
	if (!args->is_secure || !ptrace_limits_exec())
		cred_install(&args->cred);
	mutex_unlock(&process_lock);
	exit_mm_release(task);
	process_set_mm(mm);
	if (args->is_secure)
		task->process->personality = 0;
	uprobe_thread_execed();
	task->process->has_execed = true;
	posix_timers_delete(task->process);
	exec_reset_signals(task);
	files_close_on_exec(task->process->files);
	process_born(task->process);
	thread_set_name(task->thread, slash ? slash + 1 : name);
	trace_sched_process_exec(mm->exe, (int)task->thread->pid, (int)old_pid, start->bias);
	arch_user_frame_init(task_frame(task), start->ip, start->sp);
	task->trace.forces_step = false;
	ptrace_event(PTRACE_EVENT_EXEC, (uint64_t)old_pid);
}

/* The words of a line "#! INTERPRETER ARGUMENT" are cut out of `line`. */
static char *exec_script_words(char *line, char **out_arg)
{
	char *word = line, *end;

	while (*word == ' ' || *word == '\t')
		word++;
	end = word;
	while (*end && *end != ' ' && *end != '\t')
		end++;
	*out_arg = NULL;
	if (*end) {
		*end++ = '\0';
		while (*end == ' ' || *end == '\t')
			end++;
		*out_arg = *end ? end : NULL;
	}
	return word;
}

/* Arguments for the interpreter: its own, the script's name, the script's arguments but the first. */
static int exec_script_args(struct exec_args *args, const char *interpreter, const char *arg,
			    const char *script)
{
	struct exec_args with = { .name = args->name };
	const char *text = args->text, *end = text + args->len;
	int err = exec_args_add(&with, interpreter, false);

	if (!err && arg)
		err = exec_args_add(&with, arg, false);
	if (!err)
		err = exec_args_add(&with, script, false);
	for (uint32_t i = 0; text < end && !err; i++, text += strlen(text) + 1) {
		if (i > 0)
			err = exec_args_add(&with, text, i >= args->argc);
	}
	exec_args_free(err ? &with : args);
	if (!err)
		*args = with;
	return err;
}

static int exec_file(const char *name, struct file *file, struct exec_args *args,
		     unsigned int depth);

static int exec_script(const char *script, char *line, struct exec_args *args, unsigned int depth)
{
	char *arg, *newline = strchr(line, '\n');
	const char *interpreter;
	struct file *file;
	int err;

	if (!newline || depth == SCRIPT_NESTING)
		return newline ? -ELOOP : -ENOEXEC;
	*newline = '\0';
	interpreter = exec_script_words(line, &arg);
	err = exec_script_args(args, interpreter, arg, script);
	if (!err)
		err = open_exec(interpreter, &file);
	if (err)
		return err;
	err = exec_file(interpreter, file, args, depth + 1);
	fput(file);
	return err;
}

static int exec_file(const char *name, struct file *file, struct exec_args *args,
		     unsigned int depth)
{
	char line[SCRIPT_LINE + 1] = "";
	int32_t old_pid = current_thread()->pid;
	struct vfs_stat stat = { 0 };
	struct exec_start start;
	struct mm *mm;
	int err;

	if (file_read_at(file, line, SCRIPT_LINE, 0) > 2 && line[0] == '#' && line[1] == '!')
		return exec_script(name, line + 2, args, depth);
	file_stat(file, &stat);
	args->is_secure = cred_of_exec(&stat, &args->cred);
	mm = exec_load(file, args, &start, &err);
	if (!mm)
		return err;
	mm->is_dumpable = cred_dumps_exec(&args->cred, &stat);
	err = end_other_threads(current_task());
	if (!err)
		err = exec_unshare(current_process());
	if (err)
		mm_put(mm);
	else
		exec_begin(mm, args, &start, old_pid);
	return err;
}

static int exec_open_at(const struct vfs_at *at, struct file **out_file)
{
	return vfs_open_at(at, VFS_READ | VFS_FOR_EXEC, 0, out_file);
}

int open_exec(const char *path, struct file **out_file)
{
	struct file *cwd = fs_get_cwd(current_process()->fs);
	struct file *root = fs_get_root(current_process()->fs);
	const struct vfs_at at = { .path = path, .cwd = "/", .dir = cwd, .root = root };
	int err = exec_open_at(&at, out_file);

	fput(cwd);
	fput(root);
	return err;
}

/* A program that is begun by a link of /proc has the name of its file. */
int do_execve(const struct vfs_at *at, struct exec_args *args)
{
	struct file *file;
	int err = exec_open_at(at, &file);

	if (err)
		return err;
	if (strncmp(args->name, "/proc/", strlen("/proc/")) == 0)
		args->name = file->path;
	err = exec_file(args->name, file, args, 0);
	fput(file);
	return err;
}

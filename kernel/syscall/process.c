/* Births, ends and names of processes: fork(), execve(), wait4(), exit(), getpid() and theirs. */
#include <kernel/string.h>
#include <trace/fmt.h>
#include "path.h"
#include "process/exec.h"
#include "syscall.h"

static const struct trap_frame *process_regs(void)
{
	return task_frame(current_task());
}

long sys_clone(unsigned long clone_flags, unsigned long newsp, int *parent_tidptr,
	       int *child_tidptr, unsigned long tls)
{
	const struct kernel_clone_args args = { .flags = clone_flags,
						.stack = newsp,
						.parent_tid = (uintptr_t)parent_tidptr,
						.child_tid = (uintptr_t)child_tidptr,
						.tls = tls };

	return do_clone(process_regs(), &args);
}

long sys_fork(void)
{
	const struct kernel_clone_args args = { .flags = SIGCHLD };

	return do_clone(process_regs(), &args);
}

long sys_uprobe(void)
{
	return uprobe_call(task_frame(current_task()));
}

long sys_vfork(void)
{
	const struct kernel_clone_args args = { .flags = CLONE_VM | CLONE_VFORK | SIGCHLD };

	return do_clone(process_regs(), &args);
}

/* Bytes behind the part that is known here have to be 0. */
static int process_get_clone_args(const void *uargs, size_t size, struct user_clone_args *out)
{
	uint8_t more;

	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	*out = (struct user_clone_args){ 0 };
	if (copy_from_user(out, uargs, size < sizeof(*out) ? size : sizeof(*out)))
		return -EFAULT;
	for (size_t i = sizeof(*out); i < size; i++) {
		if (copy_from_user(&more, (const uint8_t *)uargs + i, 1))
			return -EFAULT;
		if (more)
			return -E2BIG;
	}
	return 0;
}

static int process_check_clone_args(const struct user_clone_args *args)
{
	if (args->flags & (CLONE_SIGNAL | CLONE_DETACHED) || args->exit_signal > NSIG)
		return -EINVAL;
	if (args->flags & CLONE_THREAD && args->exit_signal)
		return -EINVAL;
	if (!args->stack != !args->stack_size || args->set_tid_size)
		return -EINVAL;
	return access_ok(args->stack, args->stack_size) ? 0 : -EINVAL;
}

long sys_clone3(const void *uargs, size_t size)
{
	struct user_clone_args from;
	struct kernel_clone_args args;
	int err = process_get_clone_args(uargs, size, &from);

	if (!err)
		err = process_check_clone_args(&from);
	if (err)
		return err;
	args = (struct kernel_clone_args){ .flags = from.flags | from.exit_signal,
					   .stack = from.stack + from.stack_size,
					   .parent_tid = from.parent_tid,
					   .child_tid = from.child_tid,
					   .tls = from.tls };
	return do_clone(process_regs(), &args);
}

/* Add a string of a program to those for the next one: it is read to where it will stay. */
static int process_add_string(struct exec_args *args, const char *string, bool is_env)
{
	int err = 0;

	while (!err) {
		size_t room = args->size - args->len;
		size_t most = room < MAX_ARG_STRLEN ? room : MAX_ARG_STRLEN;
		long len = strncpy_from_user(args->text + args->len, string, most);

		if (len >= 0)
			return exec_args_added(args, (size_t)len + 1, is_env);
		if (len == -EFAULT || most == MAX_ARG_STRLEN)
			return len == -EFAULT ? -EFAULT : -E2BIG;
		err = exec_args_grow(args);
	}
	return err;
}

/* All strings of an array. */
static int process_add_strings(struct exec_args *args, const char *const *array, bool is_env)
{
	int err = 0;

	for (size_t i = 0; array && !err; i++) {
		const char *string;

		if (copy_from_user(&string, &array[i], sizeof(string)))
			return -EFAULT;
		if (!string)
			break;
		err = process_add_string(args, string, is_env);
	}
	return err;
}

/* The path is put. The frame of a new program begins with rax 0. */
static long process_exec(struct user_path *path, const char *const *argv, const char *const *envp)
{
	struct exec_args args = { .name = path->text };
	int err = process_add_strings(&args, argv, false);

	if (!err && !args.argc)
		err = exec_args_add(&args, "", false);
	if (!err)
		err = process_add_strings(&args, envp, true);
	if (!err)
		err = do_execve(&path->at, &args);
	exec_args_free(&args);
	user_path_put(path);
	return err;
}

long sys_execve(const char *filename, const char *const *argv, const char *const *envp)
{
	struct user_path path;
	int err = user_path_read(AT_FDCWD, filename, &path);

	return err ? err : process_exec(&path, argv, envp);
}

/* The file that is open, which the program's path does not name, is reached as programs reach it: by the link in /proc. */
static void process_path_of_fd(int fd, struct user_path *out_path)
{
	trace_snprintf(out_path->text, sizeof(out_path->text), "/proc/self/fd/%d", fd);
	out_path->dir = NULL;
	out_path->root = NULL;
	out_path->at = (struct vfs_at){ .path = out_path->text, .cwd = "/" };
}

long sys_execveat(int fd, const char *filename, const char *const *argv, const char *const *envp,
		  int flags)
{
	struct user_path path;
	int err = flags & ~AT_EMPTY_PATH ? -EINVAL : user_path_read(fd, filename, &path);

	if (err)
		return err;
	if (flags & AT_EMPTY_PATH && !path.text[0] && fd != AT_FDCWD) {
		user_path_put(&path);
		process_path_of_fd(fd, &path);
	}
	return process_exec(&path, argv, envp);
}

long sys_exit(int error_code)
{
	do_thread_exit((error_code & 0xff) << 8);
}

long sys_exit_group(int error_code)
{
	do_group_exit((error_code & 0xff) << 8);
}

long sys_wait4(int upid, int *stat_addr, int options, void *ru)
{
	struct usage usage;
	int exit_code = 0;
	long pid;

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | (int)(WALL | WCLONE)))
		return -EINVAL;
	if (upid == INT32_MIN) /* its group cannot be named */
		return -ESRCH;
	pid = do_wait(upid, options | WEXITED, &exit_code, &usage);
	exit_code &= WAIT_CODE_MASK;
	if (pid > 0 && stat_addr && copy_to_user(stat_addr, &exit_code, sizeof(exit_code)))
		return -EFAULT;
	if (pid > 0 && ru && usage_give(&usage, ru))
		return -EFAULT;
	return pid;
}

long sys_getpid(void)
{
	return current_process()->pid;
}

long sys_gettid(void)
{
	return current_thread()->pid;
}

long sys_getppid(void)
{
	return atomic_load_explicit(&current_process()->ppid, memory_order_relaxed);
}

long sys_set_tid_address(int *tidptr)
{
	current_task()->clear_child_tid = (uintptr_t)tidptr;
	return current_thread()->pid;
}

#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

/* The base of the segment FS is where a program keeps what belongs to its thread. */
long sys_arch_prctl(int option, unsigned long arg2)
{
	struct arch_user *arch = &current_task()->arch;
	const uint64_t *base = option == ARCH_GET_FS ? &arch->fs_base : &arch->gs_base;

	switch (option) {
	case ARCH_SET_FS:
	case ARCH_SET_GS:
		if (arg2 >= TASK_SIZE_MAX)
			return -EPERM;
		if (option == ARCH_SET_FS)
			arch_user_set_fs_base(arch, arg2);
		else
			arch_user_set_gs_base(arch, arg2);
		return 0;
	case ARCH_GET_FS:
	case ARCH_GET_GS:
		return copy_to_user((void *)arg2, base, sizeof(*base)) ? -EFAULT : 0;
	default:
		return -EINVAL;
	}
}

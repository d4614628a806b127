/*
 * Programs of Linux, x86-64, and the threads that run them. docs/processes.md tells the whole way.
 *
 * Context:   thread, unless said.
 * Locking:   inside.
 * Ownership: a task belongs to its thread.
 */
#ifndef KERNEL_PROCESS_H
#define KERNEL_PROCESS_H

#include <stdatomic.h>
#include <kernel/base.h>
#include <kernel/vfs.h>

struct task;

/* Values of /proc/sys/kernel/randomize_va_space: no part of a program has a random place; all but the heap; all. */
#define ASLR_OFF       0
#define ASLR_WITH_HEAP 2

/* A program that the kernel's shell is to run. */
struct program {
	const char *path;  /* absolute */
	char *const *argv; /* NULL behind the last */
	char *const *envp;
	const char *cwd;
	struct file *const *files; /* its descriptors 0, 1, 2 */
	bool is_init; /* it stands in for the shell: signals without a handler do nothing to it */
};

struct trace_handle;

/* When the load averages are due for a sample, by the clock of any CPU; and take it. Not NMI. */
extern _Atomic uint64_t loadavg_next_ns;
void loadavg_sample(uint64_t now_ns);

#ifdef WITH_PROCESSES

/* ASLR_*, for programs that are begun from now on. Any context. */
int aslr_get_mode(void);
/* 0 or -EINVAL. */
int aslr_set_mode(int mode);

/* The scheduler goes to another thread; NULL: that one has no task. Interrupts off. Not traced. */
void task_switch(struct task *prev, struct task *next, uintptr_t stack_top);
/* The running thread ends: its process gives up what it has, if this was the last thread. */
void task_exit(struct task *task);
void task_free(struct task *task);
/* Has it stopped, by a signal? Not traced. */
bool task_is_stopped(const struct task *task);
/* A tick has interrupted it. irq. */
void cpu_timers_tick(struct task *task);
/* End its program by SIGTERM; `is_final`: by SIGKILL. Any context but NMI. */
void task_kill(struct task *task, bool is_final);

/*
 * The path of the program of that name as seen from `cwd`: one with a slash is that file, others are
 * looked for in /bin, /sbin, /usr/bin and /usr/sbin. 0, with VFS_PATH_MAX bytes filled, -ENOENT, or
 * -EACCES for a file that is none to execute.
 */
int program_find(const char *name, const char *cwd, char *out_path);
/*
 * Run it and wait for its end; when this thread is interrupted, so is the program. 0 and its exit
 * status, as a shell counts: 128 and the number of the signal that has ended it. -ENOEXEC: no program
 * that can run here; other errors.
 */
int program_run(const struct program *program, int *out_status);

/* At the tick. Interrupts off, no lock held. */
static inline void loadavg_tick(uint64_t now_ns)
{
	if (now_ns >= atomic_load_explicit(&loadavg_next_ns, memory_order_relaxed))
		loadavg_sample(now_ns);
}

/* A request of the running program on an open file of the trace tree: those of user_events_data. 0 or -errno. */
long user_events_ioctl(struct trace_handle *handle, unsigned int cmd, unsigned long arg);

#else

static inline long user_events_ioctl(struct trace_handle *handle, unsigned int cmd,
				     unsigned long arg)
{
	(void)handle;
	(void)cmd;
	(void)arg;
	return -ENOTTY;
}

static inline void loadavg_tick(uint64_t now_ns)
{
	(void)now_ns;
}
static inline int aslr_get_mode(void)
{
	return ASLR_OFF;
}
static inline int aslr_set_mode(int mode)
{
	return mode == ASLR_OFF ? 0 : -EINVAL;
}
static inline void task_switch(struct task *prev, struct task *next, uintptr_t stack_top)
{
	(void)prev;
	(void)next;
	(void)stack_top;
}
static inline void task_exit(struct task *task)
{
	(void)task;
}
static inline void task_free(struct task *task)
{
	(void)task;
}
static inline bool task_is_stopped(const struct task *task)
{
	(void)task;
	return false;
}
static inline void cpu_timers_tick(struct task *task)
{
	(void)task;
}
static inline void task_kill(struct task *task, bool is_final)
{
	(void)task;
	(void)is_final;
}
static inline int program_find(const char *name, const char *cwd, char *out_path)
{
	(void)name;
	(void)cwd;
	(void)out_path;
	return -ENOSYS;
}
static inline int program_run(const struct program *program, int *out_status)
{
	(void)program;
	(void)out_status;
	return -ENOSYS;
}

#endif

#endif

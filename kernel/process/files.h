/*
 * The open files of a process, by descriptor. Processes that clone() makes with CLONE_FILES have one table.
 *
 * Context:   thread.
 * Locking:   inside.
 * Ownership: a table holds its files; files_get_file() gives one more reference. A table has one use for each
 *            thread that reaches it, and goes with the last one.
 */
#ifndef KERNEL_PROCESS_FILES_H
#define KERNEL_PROCESS_FILES_H

#include <stdatomic.h>
#include <kernel/base.h>
#include <kernel/lock.h>
#include <kernel/vfs.h>

#define FILES_MAX 256u /* descriptors are below */

struct files {
	_Atomic uint32_t
		uses; /* changed only by threads that have one, or are made by one that has */
	struct mutex lock;
	struct file *file[FILES_MAX];
	uint64_t cloexec[FILES_MAX / 64]; /* bit: an execve closes it */
	bool has_locks;			  /* of files: perhaps */
};

/* With one use. NULL when out of memory. */
struct files *files_create(void);
struct files *files_copy(struct files *from);
/* One use more, or less; NULL is allowed for the latter. */
struct files *files_share(struct files *files);
void files_put(struct files *files);
static inline bool files_are_shared(struct files *files)
{
	return atomic_load_explicit(&files->uses, memory_order_acquire) > 1;
}
/* The file, with one reference; NULL for none. */
struct file *files_get_file(struct files *files, unsigned int fd);
/* A file of the running thread's process, for one call. */
struct fd {
	struct file *file; /* NULL: none */
	bool is_held;	   /* with a reference of its own */
};
/*
 * As files_get_file(), for a call of the program that ends by fdput(). The only thread that has the table needs no
 * reference: no other closes the file.
 */
struct fd fdget(unsigned int fd);
static inline void fdput(struct fd fd)
{
	if (fd.is_held)
		fput(fd.file);
}
/*
 * Give the file, whose reference is taken over, the lowest free descriptor from `from` on. -EMFILE: there is
 * none, and the reference is given back.
 */
int files_install(struct files *files, struct file *file, unsigned int from, bool cloexec);
/*
 * The same for two files of the running thread's process. The descriptors are written to `ufds`, memory of the program.
 * 0, -EMFILE or -EFAULT: then neither is installed, and both references are given back.
 */
int files_install_two(struct file *first, struct file *second, bool cloexec, int *ufds);
/* The same at `fd`, closing the one that is there. 0 or -EBADF. */
int files_replace(struct files *files, struct file *file, unsigned int fd, bool cloexec);
/* 1 or 0; -EBADF. */
int files_get_cloexec(struct files *files, unsigned int fd);
int files_set_cloexec(struct files *files, unsigned int fd, bool cloexec);
/* 0, -EBADF, or the error of closing. */
int files_close(struct files *files, unsigned int fd);
void files_close_on_exec(struct files *files);

#endif

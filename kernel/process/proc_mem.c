/* The file /proc/PID/mem: the memory of a program, at the place of its addresses. See proc.h. */
#include <kernel/mm.h>
#include <kernel/vfs.h>
#include "proc.h"

static ssize_t proc_mem_result(size_t done, size_t len, uint64_t *pos)
{
	*pos += done;
	return done || !len ? (ssize_t)done : -EIO;
}

static ssize_t proc_mem_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	return proc_mem_result(ptrace_read_memory(file->object, *pos, buf, len), len, pos);
}

static ssize_t proc_mem_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	return proc_mem_result(ptrace_write_memory(file->object, *pos, buf, len), len, pos);
}

static int proc_mem_close(struct file *file)
{
	mm_put(file->object);
	return 0;
}

static const struct file_ops proc_mem_ops = {
	.read = proc_mem_read,
	.write = proc_mem_write,
	.close = proc_mem_close,
	.has_position = true,
};

int proc_open_mem(struct process *process, struct file *file)
{
	int err;

	file->object = ptrace_get_mm(process, &err);
	file->ops = &proc_mem_ops;
	return err == -EPERM ? -EACCES : err;
}

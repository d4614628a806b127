/*
 * The directories /proc/PID as a file system: see proc.h. A node is made by each look-up, and holds its
 * process.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "fs/vfs_mount.h"
#include "proc.h"

struct proc_node {
	enum proc_kind kind;
	unsigned int fd;
	int32_t tid;		 /* of a thread's directory and its files; 0: of the process */
	struct process *process; /* NULL: of the root, of `self` and `thread-self` */
};

struct proc_entry {
	const char *name;
	enum proc_kind kind;
	uint32_t mode;
	enum vfs_type type;
};

static const struct proc_entry proc_entries[] = {
	{ "auxv", PROC_AUXV, 0400, VFS_REGULAR },
	{ "cmdline", PROC_CMDLINE, 0444, VFS_REGULAR },
	{ "comm", PROC_COMM, 0644, VFS_REGULAR },
	{ "cwd", PROC_LINK_CWD, 0777, VFS_LINK },
	{ "environ", PROC_ENVIRON, 0400, VFS_REGULAR },
	{ "exe", PROC_LINK_EXE, 0777, VFS_LINK },
	{ "fd", PROC_FD, 0500, VFS_DIRECTORY },
	{ "limits", PROC_LIMITS, 0444, VFS_REGULAR },
	{ "maps", PROC_MAPS, 0444, VFS_REGULAR },
	{ "mem", PROC_MEM, 0600, VFS_REGULAR },
	{ "root", PROC_LINK_ROOT, 0777, VFS_LINK },
	{ "mountinfo", PROC_MOUNTINFO, 0444, VFS_REGULAR },
	{ "mounts", PROC_LINK_MOUNTS, 0777, VFS_LINK },
	{ "smaps", PROC_SMAPS, 0444, VFS_REGULAR },
	{ "stat", PROC_STAT, 0444, VFS_REGULAR },
	{ "statm", PROC_STATM, 0444, VFS_REGULAR },
	{ "status", PROC_STATUS, 0444, VFS_REGULAR },
	{ "task", PROC_TASKS, 0555, VFS_DIRECTORY }, /* the last one: threads have none */
};

/* How many of these a directory has; a file has none. */
static size_t proc_nr_entries(const struct proc_node *dir)
{
	if (dir->kind == PROC_PROCESS)
		return ARRAY_SIZE(proc_entries);
	return dir->kind == PROC_THREAD ? ARRAY_SIZE(proc_entries) - 1 : 0;
}

static struct proc_node proc_root_node = { .kind = PROC_ROOT };
static struct proc_node proc_self_node = { .kind = PROC_SELF };
static struct proc_node proc_thread_self_node = { .kind = PROC_THREAD_SELF };

static void *proc_root(void)
{
	return &proc_root_node;
}

static void proc_put(void *object)
{
	struct proc_node *node = object;

	if (!node->process)
		return;
	process_put(node->process);
	kfree(node);
}

/* A node like that one, whose reference to the process is taken over. 0 or -ENOMEM. */
static int proc_make(const struct proc_node *like, void **out_node)
{
	struct proc_node *node = kmalloc(sizeof(*node));

	*out_node = node;
	if (!node) {
		process_put(like->process);
		return -ENOMEM;
	}
	*node = *like;
	return 0;
}

/* A node below another, for the same process. */
static int proc_make_below(const struct proc_node *dir, const struct proc_node *like,
			   void **out_node)
{
	struct proc_node node = *like;

	node.process = dir->process;
	process_get(node.process);
	return proc_make(&node, out_node);
}

static int proc_lookup_pid(const char *name, void **out_node)
{
	struct proc_node node = { .kind = PROC_PROCESS };
	unsigned long pid;

	if (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0) {
		*out_node = *name == 's' ? &proc_self_node : &proc_thread_self_node;
		return current_thread()->task ? 0 : -ENOENT;
	}
	if (str_to_u64(name, 10, &pid) || pid > INT32_MAX)
		return -ENOENT;
	node.process = process_find((int32_t)pid);
	if (!node.process) { /* a thread that is not the first: listed by no one, and there, as on Linux */
		node.tid = (int32_t)pid;
		node.process = process_of_thread(node.tid);
	}
	return node.process ? proc_make(&node, out_node) : -ENOENT;
}

static int proc_lookup_thread(const struct proc_node *dir, const char *name, void **out_node)
{
	struct proc_node node = { .kind = PROC_THREAD };
	struct thread *thread;
	unsigned long tid;

	if (str_to_u64(name, 10, &tid) || !tid || tid > INT32_MAX)
		return -ENOENT;
	node.tid = (int32_t)tid;
	thread = process_get_thread(dir->process, node.tid);
	if (!thread)
		return -ENOENT;
	thread_put(thread);
	return proc_make_below(dir, &node, out_node);
}

static bool proc_has_fd(struct process *process, unsigned long fd)
{
	char path[VFS_PATH_MAX];

	return fd < FILES_MAX && proc_link(process, PROC_FD_LINK, (unsigned int)fd, path) == 0;
}

static int proc_lookup(void *dir, const char *name, void **out_node)
{
	const struct proc_node *node = dir;
	unsigned long fd;

	if (node->kind == PROC_ROOT)
		return proc_lookup_pid(name, out_node);
	if (node->kind == PROC_FD) {
		struct proc_node link = { .kind = PROC_FD_LINK, .tid = node->tid };

		if (str_to_u64(name, 10, &fd) || !proc_has_fd(node->process, fd))
			return -ENOENT;
		link.fd = (unsigned int)fd;
		return proc_make_below(node, &link, out_node);
	}
	if (node->kind == PROC_TASKS)
		return proc_lookup_thread(node, name, out_node);
	for (size_t i = 0; i < proc_nr_entries(node); i++) {
		const struct proc_node entry = { .kind = proc_entries[i].kind, .tid = node->tid };

		if (strcmp(proc_entries[i].name, name) == 0)
			return proc_make_below(node, &entry, out_node);
	}
	return -ENOENT;
}

/* Is the file root's, because the program has memory that others of its user may not see? */
static bool proc_is_hidden(const struct proc_node *node)
{
	return (node->kind == PROC_AUXV || node->kind == PROC_ENVIRON || node->kind == PROC_MEM ||
		node->kind == PROC_FD) &&
	       !process_is_dumpable(node->process);
}

static void proc_stat(void *object, struct vfs_stat *out_stat)
{
	const struct proc_node *node = object;

	*out_stat = (struct vfs_stat){ .type = VFS_DIRECTORY, .mode = 0555 };
	if (node->process && !proc_is_hidden(node)) {
		out_stat->uid = node->process->cred.user.effective;
		out_stat->gid = node->process->cred.group.effective;
	}
	if (node->process)
		out_stat->id = (uint64_t)(node->tid ? node->tid : node->process->pid) << 16 |
			       node->fd << 8 | node->kind;
	if (node->process && node->tid)
		out_stat->id |= 1ull << 48; /* not the process's own */
	if (node->kind == PROC_SELF || node->kind == PROC_THREAD_SELF ||
	    node->kind == PROC_FD_LINK) {
		out_stat->type = VFS_LINK;
		out_stat->mode = 0777;
	}
	for (size_t i = 0; i < ARRAY_SIZE(proc_entries); i++) {
		if (proc_entries[i].kind == node->kind) {
			out_stat->type = proc_entries[i].type;
			out_stat->mode = proc_entries[i].mode;
		}
	}
}

/* Number `index` of the descriptors that are open. */
static int proc_entry_fd(struct process *process, uint32_t index, char *out_name)
{
	for (unsigned int fd = 0; fd < FILES_MAX; fd++) {
		if (proc_has_fd(process, fd) && index-- == 0) {
			trace_snprintf(out_name, VFS_NAME_MAX, "%u", fd);
			return 0;
		}
	}
	return -ENOENT;
}

static int proc_entry(void *dir, uint32_t index, char *out_name)
{
	const struct proc_node *node = dir;
	int32_t pid;

	if (node->kind == PROC_ROOT) {
		pid = process_nth_pid(index);
		trace_snprintf(out_name, VFS_NAME_MAX, "%d", pid);
		return pid ? 0 : -ENOENT;
	}
	if (node->kind == PROC_TASKS) {
		pid = process_nth_tid(node->process, index);
		trace_snprintf(out_name, VFS_NAME_MAX, "%d", pid);
		return pid ? 0 : -ENOENT;
	}
	if (node->kind == PROC_FD)
		return proc_entry_fd(node->process, index, out_name);
	if (index >= proc_nr_entries(node))
		return -ENOENT;
	strlcpy(out_name, proc_entries[index].name, VFS_NAME_MAX);
	return 0;
}

/* A path as the running program sees it, whose root may be another: without the root's own, if it is there. */
static void proc_path_from_root(char *path)
{
	char root[VFS_PATH_MAX];
	size_t len;

	if (fs_root_path(current_process()->fs, root))
		return;
	len = strlen(root);
	if (len == 1 || strncmp(path, root, len) != 0 || (path[len] && path[len] != '/'))
		return;
	memmove(path, path + len, strlen(path + len) + 1);
	if (!*path)
		strlcpy(path, "/", VFS_PATH_MAX);
}

static int proc_readlink(void *object, char *out_target)
{
	const struct proc_node *node = object;
	struct vfs_stat stat;
	int err;

	if (node->kind == PROC_SELF) {
		trace_snprintf(out_target, VFS_PATH_MAX, "%d", current_process()->pid);
		return 0;
	}
	if (node->kind == PROC_THREAD_SELF) {
		trace_snprintf(out_target, VFS_PATH_MAX, "%d/task/%d", current_process()->pid,
			       current_thread()->pid);
		return 0;
	}
	proc_stat(object, &stat);
	if (stat.type != VFS_LINK)
		return -EINVAL;
	if (node->kind != PROC_LINK_MOUNTS && !ptrace_may_access(node->process))
		return -EACCES;
	err = proc_link(node->process, node->kind, node->fd, out_target);
	if (!err && current_thread()->task)
		proc_path_from_root(out_target);
	return err;
}

static bool proc_is_magic_link(void *object)
{
	const struct proc_node *node = object;
	struct file *file;
	bool is_magic;

	if (node->kind != PROC_FD_LINK)
		return false;
	file = proc_get_file(node->process, node->fd);
	is_magic = file && !file->path && !file->ops->is_console;
	fput(file);
	return is_magic;
}

/* The text of an open file, made when it was opened. */
struct proc_open_text {
	size_t len;
	char *text;
	struct process *process; /* of a file `comm`; NULL: of others */
	int32_t tid;
};

static ssize_t proc_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	const struct proc_open_text *open = file->object;

	if (*pos >= open->len)
		return 0;
	if (len > open->len - *pos)
		len = open->len - *pos;
	memcpy(buf, open->text + *pos, len);
	*pos += len;
	return (ssize_t)len;
}

static int proc_close(struct file *file)
{
	struct proc_open_text *open = file->object;

	process_put(open->process);
	kfree(open->text);
	kfree(open);
	return 0;
}

/* A thread gets another name: one of the program that writes it, as on Linux. */
static ssize_t proc_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	const struct proc_open_text *open = file->object;
	const char *newline = memchr(buf, '\n', len);
	size_t bytes = newline ? (size_t)(newline - (const char *)buf) : len;
	char name[THREAD_NAME_LEN] = "";
	struct thread *thread;

	if (!open->process || !current_thread()->task || open->process != current_process())
		return -EINVAL;
	thread = process_get_thread(open->process, open->tid ? open->tid : open->process->pid);
	if (!thread)
		return -ESRCH;
	memcpy(name, buf, bytes < sizeof(name) ? bytes : sizeof(name) - 1);
	thread_set_name(thread, name);
	thread_put(thread);
	*pos += len;
	return (ssize_t)len;
}

static const struct file_ops proc_file_ops = {
	.read = proc_read,
	.write = proc_write,
	.close = proc_close,
	.has_position = true,
};

static int proc_open(void *object, struct file *file)
{
	const struct proc_node *node = object;
	struct proc_open_text *open;
	int err = -ENOMEM;

	if (node->kind == PROC_FD_LINK)
		return proc_open_fd(node->process, node->fd, file);
	if (node->kind == PROC_MEM)
		return proc_open_mem(node->process, file);
	if (file->flags & VFS_WRITE && node->kind != PROC_COMM)
		return -EACCES;
	open = kzalloc(sizeof(*open));
	if (open)
		open->text = proc_text(node->process, node->tid, node->kind, &open->len, &err);
	/* Asked afterwards: if the text is that of a new program, the answer is, too. */
	if (!err &&
	    (node->kind == PROC_MAPS || node->kind == PROC_SMAPS || node->kind == PROC_AUXV ||
	     node->kind == PROC_ENVIRON) &&
	    !ptrace_may_access(node->process))
		err = -EACCES;
	if (err) {
		if (open)
			kfree(open->text);
		kfree(open);
		return err;
	}
	if (node->kind == PROC_COMM) {
		process_get(node->process);
		open->process = node->process;
		open->tid = node->tid;
	}
	file->ops = &proc_file_ops;
	file->object = open;
	return 0;
}

int vfs_entry_of_process(uint32_t *index, char *out_name)
{
	uint32_t nr = 0;

	if (proc_entry(&proc_root_node, *index, out_name) == 0)
		return 0;
	while (process_nth_pid(nr))
		nr++;
	*index -= nr;
	return -ENOENT;
}

/* The directory of a process or thread stays as it is, as do all modes; owners may be set to the same once more. */
static int proc_set_attr(void *object, unsigned int which, const struct vfs_stat *to)
{
	const struct proc_node *node = object;
	struct vfs_stat stat;

	if (which & VFS_SET_MODE ||
	    (which && (node->kind == PROC_PROCESS || node->kind == PROC_THREAD)))
		return -EPERM;
	proc_stat(object, &stat);
	if ((which & VFS_SET_UID && to->uid != stat.uid) ||
	    (which & VFS_SET_GID && to->gid != stat.gid))
		return -EPERM;
	return 0;
}

const struct vfs_fs vfs_proc_fs = {
	.name = "proc",
	.nr = 4,
	.root = proc_root,
	.lookup = proc_lookup,
	.put = proc_put,
	.stat = proc_stat,
	.open = proc_open,
	.entry = proc_entry,
	.set_attr = proc_set_attr,
	.readlink = proc_readlink,
	.is_magic_link = proc_is_magic_link,
};

/*
 * tracefs: the tree of files through which users see and steer tracing. The host's file system
 * mounts it (Linux's place is /sys/kernel/tracing) and passes each system call on.
 *
 *   host VFS -> trace_fs_open -> handle -> trace_fs_read / trace_fs_write -> trace_fs_close
 *
 * Children are sorted by name. Directories can be made and removed in `instances` and `scripts`. The nodes of some directories are made when looked for, and freed when none is held: a node
 * may be used as long as it is held. When it is made again it has the same id.
 *
 * Context:   thread, interrupts on, no lock held: every call may sleep; a read of trace_pipe sleeps
 *            until there is something to read and ends with -EINTR when the user interrupts.
 * Locking:   a handle is used by one thread at a time, except for cancel and resume. Different
 *            handles may be used at the same time.
 * Ownership: a handle belongs to the opener until trace_fs_close(). Nodes belong to trace/. The
 *            root and the results of lookup are held until trace_fs_put(). While a file is open its
 *            node need not be held; its instance is not removed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_FS_H
#define TRACE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* Hosts may read the first four members. */
struct trace_node {
	const char *name;
	uint64_t id;   /* from 1; no other file ever has the same: it can be an inode number */
	uint16_t mode; /* permission bits at first: 0640, 0440, 0750 for a directory */
	bool is_dir;
	/* The rest is for trace/ only. */
	bool is_pinned;	  /* its children are never freed */
	uint32_t nr_held; /* number of users that need its children */
	uint64_t version; /* version of the children's source, see struct trace_dir */
	struct trace_node *parent;
	struct trace_node *first_child;
	struct trace_node *next_sibling;
	union {
		const struct trace_file *file;
		const struct trace_dir *dir; /* NULL: its children exist from the start */
	};
	struct trace_tree *tree; /* of the instance */
	uint64_t arg;		 /* for the file: number of its CPU, of its option, and so on */
};

struct trace_handle;

/* Bits for the valid members of a struct trace_fs_attr. */
#define TRACE_FS_MODE 1u
#define TRACE_FS_UID  2u
#define TRACE_FS_GID  4u

/*
 * To whom a file belongs. Only users and their programs look at it: nothing here is refused by it.
 */
struct trace_fs_attr {
	unsigned int which;
	uint16_t mode; /* permission bits */
	uint32_t uid;  /* at first 0, as is gid */
	uint32_t gid;
};

enum trace_fs_flags {
	TRACE_FS_READ = 1,
	TRACE_FS_WRITE = 2,
	TRACE_FS_TRUNC = 4,
	TRACE_FS_APPEND = 8,
	TRACE_FS_NONBLOCK = 16,
};

/* The directory that a host mounts; NULL before trace_init(). */
struct trace_node *trace_fs_root(void);

/*
 * Find the child of that name, one component and not "." or "..", and hold it. NULL when `dir` has
 * no such child, or when out of memory.
 */
struct trace_node *trace_fs_lookup(struct trace_node *dir, const char *name, size_t name_len);
/* End the use of a node that was held. */
void trace_fs_put(struct trace_node *node);
/* Copy the name of child number `index`, cut to `size`. 0; -ENOENT: there are fewer; -ENOMEM. */
int trace_fs_entry(struct trace_node *dir, size_t index, char *out_name, size_t size);
/*
 * The children in order: start with NULL, ends with NULL. They are not held, and stay as long as
 * the instance: for hosts that remove no instance meanwhile.
 */
struct trace_node *trace_fs_next_child(struct trace_node *dir, struct trace_node *prev);

/* Get all attributes of a file that is held. */
void trace_fs_get_attr(const struct trace_node *node, struct trace_fs_attr *out_attr);
/*
 * As chmod and chown: change the attributes of attr->which, of this file alone. It stays as long as
 * the file. 0; -ENOMEM; -ENOSPC: very many files of its instance have been changed.
 */
int trace_fs_set_attr(struct trace_node *node, const struct trace_fs_attr *attr);
/*
 * As a mount with `uid=` and `gid=`: all files of all instances belong to these, whatever was set
 * before. Those of a later instance belong to whom its directory `instances` belongs to.
 */
void trace_fs_set_owner(const struct trace_fs_attr *attr);

/*
 * Open a file. TRUNC has the effect that the file defines for it at once. The mode is not checked,
 * because users are root; as on Linux, reading a file that cannot be read, or writing one that
 * cannot be written, fails with -EINVAL. 0; -EISDIR, -EBUSY, -ENOMEM, -ENODEV (its instance has
 * been removed), or an error of the file.
 */
int trace_fs_open(struct trace_node *node, unsigned int flags, struct trace_handle **out_handle);

/*
 * Read at *pos, which is advanced. Returns the bytes read, 0 at the end, or a negative error
 * (-EINTR, -EAGAIN with NONBLOCK). Reading at 0 starts anew. At another position than where the
 * last read ended, the text is made again up to there, with its present contents; trace_pipe and
 * the raw files, which consume events, return -ESPIPE.
 */
int64_t trace_fs_read(struct trace_handle *handle, void *buf, size_t len, uint64_t *pos);

/*
 * Write; one call is one write system call. Returns how many bytes were taken, which may be fewer
 * than `len` (call again with the rest), or a negative error.
 */
int64_t trace_fs_write(struct trace_handle *handle, const void *buf, size_t len, uint64_t *pos);

/*
 * Would a read return at once? trace_pipe: there are events, or it has ended. trace_pipe of one CPU
 * and trace_pipe_raw: the CPU's buffer is filled to buffer_percent. Other files: always.
 */
bool trace_fs_poll(struct trace_handle *handle);
/*
 * The result of poll(2) for a handle, out of `wanted`. Reads of `hist` never wait; TRACE_FS_IN is
 * there when its histograms have counted since it was last read through this handle, or ever, if it
 * was not read yet; TRACE_FS_PRI when they have counted since it was opened, or since that was last
 * said. Others have TRACE_FS_IN when trace_fs_poll() returns it.
 */
enum trace_fs_event {
	TRACE_FS_IN = 1,
	TRACE_FS_PRI = 2,
};
uint32_t trace_fs_events(struct trace_handle *handle, uint32_t wanted);
/* Let reads of the handle wait or not from now on, as fcntl(F_SETFL) does behind the open. */
void trace_fs_set_nonblock(struct trace_handle *handle, bool on);
/*
 * Are there reads or writes of it that wait for something to happen, or for other CPUs? Those of
 * most files end as soon as they have done their work, and so do writes of trace_marker.
 */
bool trace_fs_may_wait(const struct trace_handle *handle);

/*
 * Between cancel and resume no read of the handle sleeps: it returns -EINTR instead, also one that
 * is asleep already. So a host that cancels a client's request need not know whether the reading
 * thread is asleep yet. Thread, softirq or irq; the handle is open.
 */
void trace_fs_cancel(struct trace_handle *handle);
void trace_fs_resume(struct trace_handle *handle);

/* Close a file. Filters take effect here, so it may return -errno; the handle is freed anyway. */
int trace_fs_close(struct trace_handle *handle);

/*
 * Make or remove an instance, or a script. 0; -EPERM: `dir` is neither `instances` nor `scripts`.
 * mkdir: -EEXIST, -EINVAL, -ENAMETOOLONG, -ENOMEM, -ENOSPC. rmdir: -ENOENT; -EBUSY: a file of it is
 * open, code has a reference, or the script runs.
 */
int trace_fs_mkdir(struct trace_node *dir, const char *name);
int trace_fs_rmdir(struct trace_node *dir, const char *name);

/* ---- A command line, for hosts without a shell: fs_command.c ---- */

/* Called with the output of a command, piece by piece; `text` has no NUL. */
typedef void (*trace_fs_out_fn)(void *arg, const char *text, size_t len);

/*
 * Carry out a line, as typed at a shell whose directory is tracefs:
 *
 *   cat FILE...    ls [DIR]    mkdir DIR    rmdir DIR    echo [-n] [WORD...] [> FILE | >> FILE]
 *
 * Several are separated by ';'. A word may be quoted by '' or "" or a backslash, and # starts a
 * comment. Names may begin with /sys/kernel/tracing or /sys/kernel/debug/tracing, as tutorials have
 * it. `cat` of trace_pipe shows the events there and does not wait.
 *
 * 0, or the error of the first command that failed; those after it are not carried out. -ENOENT: no
 * such file or command; -EINVAL: the line cannot be understood; -E2BIG: it is longer than
 * TRACE_FS_LINE_MAX; -ENOMEM; -ENODEV: trace_init() was not called, or failed; or an error of the
 * file. *out_pos, unless `out_pos` is NULL, is the
 * index in the line at which the failed command begins.
 */
#define TRACE_FS_LINE_MAX 4096u
int trace_fs_command(const char *line, trace_fs_out_fn out, void *arg, size_t *out_pos);

TRACE_END_DECLS

#endif

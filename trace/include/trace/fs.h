/*
 * tracefs: the tree of files through which users see and steer tracing. The host's file system
 * mounts it (Linux's place is /sys/kernel/tracing) and passes each system call on.
 *
 *   host VFS -> trace_fs_open -> handle -> trace_fs_read / trace_fs_write -> trace_fs_close
 *
 * Children are sorted by name. Directories can be made and removed in `instances`, and nowhere
 * else. The nodes of others may be made when somebody looks, and go when nobody holds them: a node
 * is good as long as it is held, and has the same id each time.
 *
 * Context:   thread, interrupts on, no lock held: every call may sleep; a read of trace_pipe sleeps
 *            until there is something to read and ends with -EINTR when the user interrupts.
 * Locking:   a handle is used by one thread at a time, but for cancel and resume; different handles
 *            need no care.
 * Ownership: a handle belongs to the opener until trace_fs_close(). Nodes belong to trace/; the
 *            root, and what lookup finds, are held until trace_fs_put(). An open file needs no
 *            node: an instance with open files is not removed.
 */
#ifndef TRACE_FS_H
#define TRACE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* Public fields are for reading. */
struct trace_node {
	const char *name;
	uint64_t id;   /* from 1, and never given twice: that of a file server's client */
	uint16_t mode; /* permission bits, as ls shows them: 0640, 0440, 0750 for a directory */
	bool is_dir;
	/* The rest is trace/'s own. */
	bool is_pinned;	  /* its children stay */
	uint32_t nr_held; /* walkers and open files that want its children to stay */
	struct trace_node *parent;
	struct trace_node *first_child;
	struct trace_node *next_sibling;
	union {
		const struct trace_file *file;
		const struct trace_dir *dir; /* NULL: it has its children from the start */
	};
	struct trace_tree *tree; /* of the instance */
	uint64_t arg;		 /* CPU number, option number: what the file is about */
};

struct trace_handle;

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
 * NULL when `dir` has no such child, or there is no memory to look. Names are single components,
 * without "." and "..".
 */
struct trace_node *trace_fs_lookup(struct trace_node *dir, const char *name, size_t name_len);
/* A node that was held is not used any more. */
void trace_fs_put(struct trace_node *node);
/* Copy the name of child `index`, cut to `size`. -ENOENT behind the last; -ENOMEM. */
int trace_fs_entry(struct trace_node *dir, size_t index, char *out_name, size_t size);
/*
 * The children in order: start with NULL, ends with NULL. They are not held, and stay as long as
 * the instance: for hosts where nobody removes one meanwhile.
 */
struct trace_node *trace_fs_next_child(struct trace_node *dir, struct trace_node *prev);

/*
 * -EISDIR, -EBUSY, -ENOMEM, -ENODEV (its instance has been removed). The mode is not checked: users
 * are root, and as on Linux it is reading or writing what cannot be read or written that fails,
 * with -EINVAL. Opening with TRUNC has the effect that the file defines, here and now.
 */
int trace_fs_open(struct trace_node *node, unsigned int flags, struct trace_handle **out_handle);

/*
 * Read at *pos, which is advanced. Bytes read, 0 at the end, or a negative error (-EINTR, -EAGAIN
 * with NONBLOCK). Reading at 0 starts anew. Elsewhere than where the last read ended: a text is
 * made again up to there, and as it is then; of trace_pipe and the raw files what is read is gone,
 * so that this is -ESPIPE.
 */
int64_t trace_fs_read(struct trace_handle *handle, void *buf, size_t len, uint64_t *pos);

/*
 * One call is one write system call. Bytes taken (may be fewer than `len`: call again with the
 * rest) or a negative error.
 */
int64_t trace_fs_write(struct trace_handle *handle, const void *buf, size_t len, uint64_t *pos);

/*
 * Is it worth reading now? trace_pipe: events are there, or it is over. Of one CPU, and
 * trace_pipe_raw: its buffer is filled to buffer_percent. Other files: always.
 */
bool trace_fs_poll(struct trace_handle *handle);

/*
 * From now on no read of the handle sleeps, also one that does already: -EINTR. Until resume: so a
 * host whose client takes a request back need not know how far the reader has come. Thread, softirq
 * or irq, while the handle is open.
 */
void trace_fs_cancel(struct trace_handle *handle);
void trace_fs_resume(struct trace_handle *handle);

/* Filters take effect here, so this too may fail; the handle is gone in any case. */
int trace_fs_close(struct trace_handle *handle);

/*
 * Instances: -EPERM where directories cannot be made or removed, -EEXIST, -EINVAL, -ENAMETOOLONG,
 * -ENOMEM; -ENOENT, -EBUSY while files of it are open or the kernel uses it.
 */
int trace_fs_mkdir(struct trace_node *dir, const char *name);
int trace_fs_rmdir(struct trace_node *dir, const char *name);

/* ---- A command line, for hosts without a shell: fs_command.c ---- */

/* What a command prints, in pieces. */
typedef void (*trace_fs_out_fn)(void *arg, const char *text, size_t len);

/*
 * Do what a line says, as it is typed at a shell whose directory is tracefs:
 *
 *   cat FILE...    ls [DIR]    mkdir DIR    rmdir DIR    echo [-n] [WORD...] [> FILE | >> FILE]
 *
 * Several are separated by ';'. A word may be quoted by '' or "" or a backslash, and # starts a
 * comment. Names may begin with /sys/kernel/tracing or /sys/kernel/debug/tracing, as tutorials have
 * it. `cat` of trace_pipe shows what is there and does not wait.
 *
 * 0, or the error of the command that failed first, and nothing is done after it: -ENOENT also for
 * a command that there is not; -EINVAL: the line cannot be understood; -E2BIG: it is longer than
 * TRACE_FS_LINE_MAX; -ENOMEM; what the file says. `out_pos`, if not NULL: where in the line the
 * command begins that failed.
 */
#define TRACE_FS_LINE_MAX 4096u
int trace_fs_command(const char *line, trace_fs_out_fn out, void *arg, size_t *out_pos);

TRACE_END_DECLS

#endif

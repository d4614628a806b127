/*
 * What a file of tracefs is made of, and an open one. Each group of files has its own fs_*.c with a
 * const table of struct trace_file.
 *
 * A file either shows a text that is made at once (`show`), or one piece after the other (`next`),
 * or moves bytes itself (`read`); and it takes a whole command as text (`store`), or bytes
 * (`write`). What a file leaves out fails with -EINVAL, as in Linux.
 *
 * Context: every member - thread, no lock held, may block.
 */
#ifndef TRACE_FS_FILE_H
#define TRACE_FS_FILE_H

#include <stdatomic.h>
#include <trace/fs.h>
#include <trace/platform.h>
#include <trace/tracer.h>
#include <trace/trace_seq.h>

#define TRACE_MODE_READ	 0440
#define TRACE_MODE_WRITE 0640
#define TRACE_MODE_DIR	 0750

#define TRACE_HANDLE_BYTES 12288u /* handle, and a text that holds the line of any usual event */

struct trace_handle {
	struct trace_node *node;
	struct trace_array *tr;
	unsigned int flags;   /* enum trace_fs_flags */
	uint64_t position;    /* where the next read continues */
	struct trace_seq seq; /* text that was made and not yet read */
	size_t taken;	      /* bytes of it that were read */
	size_t given;	      /* bytes that this read call has given so far */
	bool is_shown;	      /* `show` has been called */
	size_t index;	      /* free for `next` */
	void *private;	      /* free for the file, as is: */
	size_t private_bytes;
	const char *store_text;	   /* while `store` runs: its text */
	const char *why;	   /* what is wrong with it, or NULL */
	size_t why_pos;		   /* where */
	_Atomic bool is_cancelled; /* nobody sleeps in it: trace_fs_cancel() */
	char text[];
};

struct trace_file {
	const char *name;
	uint16_t mode;
	bool root_only;	   /* instances do not have it */
	size_t store_max;  /* longest text that `store` takes; longer ones are -EINVAL */
	const void *about; /* free for files that share their members: what this one is about */
	/*
	 * What is read is gone, and what comes is new: there are no positions in it. Other files
	 * begin anew with `rewind`.
	 */
	bool is_stream;

	/* The whole text. 0 or -errno. */
	int (*show)(struct trace_handle *handle, struct trace_seq *seq);
	/*
	 * Append one piece of at most 4 KiB to the empty `seq`, or what room was made for: 1, or 0
	 * at the end, or -errno.
	 */
	int (*next)(struct trace_handle *handle, struct trace_seq *seq);
	/* Bytes read, 0 at the end, or -errno. */
	int64_t (*read)(struct trace_handle *handle, char *buf, size_t len);
	/*
	 * The text of one write, a copy, ended by NUL. 0 or -errno: then error_log has the text,
	 * and what trace_handle_blame() was told.
	 */
	int (*store)(struct trace_handle *handle, char *text);
	/* Bytes taken or -errno. */
	int64_t (*write)(struct trace_handle *handle, const char *buf, size_t len);
	/* Truncation belongs here. */
	int (*open)(struct trace_handle *handle);
	int (*close)(struct trace_handle *handle);
	/* See trace_fs_poll(). */
	bool (*poll)(struct trace_handle *handle);
	/* Reading begins anew at 0. */
	void (*rewind)(struct trace_handle *handle);
};

/* A group of files: those of the directory of an instance, and others. */
struct trace_file_table {
	const struct trace_file *const *files;
	size_t nr;
	const struct trace_file *const *cpu_files; /* in each per_cpu/cpuN; node->arg is N */
	size_t nr_cpu;
	/* Or NULL: in trace_stat/ of the root, for each CPU, with its number behind the name. */
	const struct trace_file *stat;
};

/*
 * A directory whose children are made when somebody looks, and go when nobody holds it or anything
 * in it. Such directories may lie in each other.
 */
struct trace_dir {
	/* See trace_dir_begin() in fs_tree.h. 0 or -ENOMEM. Arrays lock held. */
	int (*fill)(struct trace_node *dir);
};

extern const struct trace_file_table trace_config_files; /* fs_config.c, and so on */
extern const struct trace_file_table trace_option_files;
extern const struct trace_file_table trace_thread_files;
extern const struct trace_file_table trace_info_files;
extern const struct trace_file_table trace_buffer_files;
extern const struct trace_file_table trace_function_files;
extern const struct trace_file_table trace_marker_files;
/* Of features, see instance/feature.h. */
extern const struct trace_file_table trace_graph_files;
extern const struct trace_file_table trace_latency_files;
extern const struct trace_file_table trace_pid_files;
extern const struct trace_file_table trace_profile_files;
extern const struct trace_file_table trace_snapshot_files;
extern const struct trace_file_table trace_stack_files;
/* Of an instance and of a CPU. */
extern const struct trace_file trace_trace_file;
extern const struct trace_file trace_pipe_file;
extern const struct trace_file trace_pipe_raw_file;
/* One for each option; node->arg is its number, node->name its name. */
extern const struct trace_file trace_option_file;
extern const struct trace_file trace_tracer_option_file;

/* ---- fs_pipe.c: files that hand out the sub-buffers of a CPU as they are ---- */

/* Which buffer of an instance; it may return NULL: there is none. With the read lock. */
typedef struct ring_buffer *(*trace_raw_buffer_fn)(const struct trace_array *tr);
int trace_raw_open(struct trace_handle *handle);
int trace_raw_close(struct trace_handle *handle);
/* At most the rest of one sub-buffer: bytes, or -errno; -EAGAIN when there is nothing now. */
int64_t trace_raw_read(struct trace_handle *handle, trace_raw_buffer_fn buffer_of, char *buf,
		       size_t len);

/* The CPU that a file is about, or RING_BUFFER_ALL_CPUS. */
int trace_handle_cpu(const struct trace_handle *handle);
/* ---- fs_store.c ---- */

/* Give the file what was written as one text. Bytes taken or -errno. */
int64_t trace_handle_store(struct trace_handle *handle, const char *buf, size_t len);
/*
 * For `store`, before it fails: what is wrong with its text, `at` a place in it. `why` is kept.
 * Without this, -EINVAL and the like are logged with words that fit any file, others not at all.
 */
void trace_handle_blame(struct trace_handle *handle, const char *at, const char *why);
/* For `store`: all of `text` as a decimal number. -EINVAL, -ERANGE; the blame is told. */
int trace_handle_number(struct trace_handle *handle, const char *text, uint64_t *out_value);
/* The same, as microseconds that are kept as nanoseconds. */
int trace_handle_us(struct trace_handle *handle, char *text, _Atomic uint64_t *out_ns);
/* The reverse, cut, not rounded: as in Linux, and in the header of `trace`. 0. */
int trace_show_us(struct trace_seq *seq, uint64_t ns);

/*
 * Room in the handle's empty text for the line of an event of `event_bytes`. Without the memory for
 * it a long line will be cut.
 */
void trace_handle_make_room(struct trace_handle *handle, size_t event_bytes);

/*
 * Build the tree of an instance and show it; the global one's is the root. 0 or -ENOMEM. Config
 * lock held, but for the root.
 */
int trace_fs_create(struct trace_array *tr);
/* Walkers find it no more; it is freed when the last of them has left. Arrays lock held. */
void trace_fs_detach(struct trace_array *tr);
/*
 * Show the options of a new tracer in every instance. -ENOMEM: nothing was done. Config lock held.
 */
int trace_fs_add_tracer(struct tracer *tracer);
/* The node that the first `len` bytes of `path` name, held; NULL when there is none. */
struct trace_node *trace_fs_find(const char *path, size_t len);
/*
 * For an open file: `node` stays, and a reference of the instance that it belongs to, or NULL: it
 * has been removed. And the end of both.
 */
struct trace_array *trace_fs_get_array(struct trace_node *node);
void trace_fs_put_array(struct trace_node *node, struct trace_array *tr);

#endif

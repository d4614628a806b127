/*
 * The definition of a file of tracefs, struct trace_file, and an open file, struct trace_handle.
 * Each group of files has its own fs_*.c with a const table of struct trace_file.
 *
 * For reading, a file makes its whole text at once (`show`), or piece by piece (`next`), or hands
 * out bytes itself (`read`). For writing, it takes a whole command as text (`store`), or bytes
 * (`write`). A member left out (NULL) fails with -EINVAL, as on Linux.
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
	unsigned int flags;	   /* enum trace_fs_flags */
	uint64_t position;	   /* position of the next read */
	struct trace_seq seq;	   /* text that was made and not yet read */
	size_t taken;		   /* bytes of `seq` that were read */
	size_t given;		   /* bytes that the running read call has returned so far */
	bool is_shown;		   /* `show` has been called */
	size_t index;		   /* for `next`, to use as it likes */
	void *private;		   /* for the file, to use as it likes */
	size_t private_bytes;	   /* the same */
	const char *store_text;	   /* while `store` runs: its text */
	const char *why;	   /* the mistake in that text, or NULL */
	size_t why_pos;		   /* index of the mistake in it */
	bool has_lines;		   /* that text is a list of lines: error_log shows just one */
	char why_where[80];	   /* name in error_log instead of the file's; "": the file's */
	_Atomic bool is_cancelled; /* reads do not sleep: between trace_fs_cancel() and resume */
	char text[];
};

struct trace_file {
	const char *name;
	const char *log_name; /* name in error_log; NULL: as its directory's */
	uint16_t mode;
	bool root_only; /* only the global instance has it */
	bool kept_only; /* only instances of instance/kept.h have it */
	/* Reading consumes, so there are no positions. Other files can be read anew by `rewind`. */
	bool is_stream;
	bool is_quick;	   /* a write waits for nothing, not even for other CPUs */
	size_t store_max;  /* longest text that `store` takes; a longer one is -EINVAL */
	const void *about; /* for files that share functions: tells them which file it is */

	/* Write the whole text to `seq`. 0 or -errno. */
	int (*show)(struct trace_handle *handle, struct trace_seq *seq);
	/*
	 * Write the next piece of the text to the empty `seq`: at most 4 KiB, or the room made by
	 * trace_handle_make_room(). 1; 0 at the end; -errno.
	 */
	int (*next)(struct trace_handle *handle, struct trace_seq *seq);
	/* Returns the bytes read, 0 at the end, or -errno. */
	int64_t (*read)(struct trace_handle *handle, char *buf, size_t len);
	/*
	 * Take a command. `text` is a copy of one write, ended by NUL, and may be changed. 0, or
	 * -errno: then the text goes to error_log, with the words of trace_handle_blame().
	 */
	int (*store)(struct trace_handle *handle, char *text);
	/* Returns the bytes taken, or -errno. */
	int64_t (*write)(struct trace_handle *handle, const char *buf, size_t len);
	/* Opened; with TRACE_FS_TRUNC in handle->flags this truncates. 0, or -errno: not opened. */
	int (*open)(struct trace_handle *handle);
	/* 0 or -errno; it is closed in any case. */
	int (*close)(struct trace_handle *handle);
	/* The answer of trace_fs_poll(); NULL: always true. */
	bool (*poll)(struct trace_handle *handle);
	/* The answer of trace_fs_events(), whose reads do not wait; NULL: as poll says. */
	uint32_t (*events)(struct trace_handle *handle, uint32_t wanted);
	/* The next read begins anew at position 0. */
	void (*rewind)(struct trace_handle *handle);
};

/* A group of files, by where they are in the tree. */
struct trace_file_table {
	const struct trace_file *const *files;
	size_t nr;
	const struct trace_file *const *cpu_files; /* in each per_cpu/cpuN; node->arg is N */
	size_t nr_cpu;
	/*
	 * NULL, or a file that is in trace_stat/ of the root once per CPU, as NAME with the number.
	 */
	const struct trace_file *stat;
	/*
	 * A directory in the root of each instance, or of the global one only, or NULL; its
	 * children have ids of their own.
	 */
	const struct trace_dir *dir;
	bool is_dir_root_only;
	const char *dir_name;
	uint64_t dir_ids; /* number of ids reserved for them */
};

/*
 * A directory whose children are made when they are looked for, and freed when neither the
 * directory nor anything in it is held. Such directories may contain each other.
 */
struct trace_dir {
	/* Make the children: see trace_dir_begin() in fs_tree.h. 0 or -ENOMEM. Arrays lock held. */
	int (*fill)(struct trace_node *dir);
	/*
	 * NULL, or the version, from 1, of the children's source. When it has changed they are made
	 * anew, even while some of them are held: those that are the same stay, with their name,
	 * `arg` and id.
	 */
	uint64_t (*version)(void);
	/* mkdir and rmdir in it: see trace_fs_mkdir(); no lock is held. NULL: -EPERM. */
	int (*make)(const char *name);
	int (*remove)(const char *name);
};

/* An entry of the list of tables that features have. */
struct trace_files {
	const struct trace_file_table *table;
	struct trace_files *next;
};
/* Give each instance the files of a feature; for its init(). */
void trace_files_register(struct trace_files *files);

extern const struct trace_file_table trace_config_files; /* fs_config.c, and so on */
extern const struct trace_file_table trace_option_files;
extern const struct trace_file_table trace_thread_files;
extern const struct trace_file_table trace_info_files;
extern const struct trace_file_table trace_buffer_files;
extern const struct trace_file_table trace_function_files;
extern const struct trace_file_table trace_marker_files;
extern const struct trace_file_table trace_kept_files;
/* Of features, where they are not defined beside the feature itself. */
extern const struct trace_file_table trace_event_files;
extern const struct trace_file_table trace_graph_files;
extern const struct trace_file_table trace_snapshot_files;
/* Of an event, of a system: event_filter_file.c. */
extern const struct trace_file trace_event_filter_file;
extern const struct trace_file trace_system_filter_file;
/* Of an instance: event_set_files.c. */
extern const struct trace_file trace_available_events_file;
extern const struct trace_file trace_set_event_file;
/* Of the global instance: fs_printk.c. */
extern const struct trace_file trace_printk_formats_file;
/* Of an instance: event_show_files.c. */
extern const struct trace_file trace_show_event_filters_file;
extern const struct trace_file trace_show_event_triggers_file;
/* Of the global instance: dyn_event_file.c. */
extern const struct trace_file trace_dynamic_events_file;
/* Of an event: trigger_file.c; node->arg is its struct trace_event. */
extern const struct trace_file trace_event_trigger_file;
extern const struct trace_file trace_event_inject_file; /* event_inject.c */
/* Of an instance and of a CPU. */
extern const struct trace_file trace_trace_file;
extern const struct trace_file trace_pipe_file;
extern const struct trace_file trace_pipe_raw_file;
/* One for each option; node->arg is its number, node->name its name. */
extern const struct trace_file trace_option_file;
extern const struct trace_file trace_tracer_option_file;

/* ---- fs_pipe.c: files that hand out the sub-buffers of a CPU as they are ---- */

/* Says which buffer of an instance is read; NULL: there is none. The read lock is held. */
typedef struct ring_buffer *(*trace_raw_buffer_fn)(const struct trace_array *tr);
int trace_raw_open(struct trace_handle *handle);
int trace_raw_close(struct trace_handle *handle);
/*
 * Read at most the rest of one sub-buffer. Returns the bytes read, or -errno; -EAGAIN when there is
 * nothing to read now.
 */
int64_t trace_raw_read(struct trace_handle *handle, trace_raw_buffer_fn buffer_of, char *buf,
		       size_t len);

/* The CPU that a file is about, or RING_BUFFER_ALL_CPUS. */
int trace_handle_cpu(const struct trace_handle *handle);

/* ---- fs_store.c ---- */

/* Call `store` with a written text. Returns the bytes taken, which is all of them, or -errno. */
int64_t trace_handle_store(struct trace_handle *handle, const char *buf, size_t len);
/*
 * For `store`, before it fails: record the mistake in the text for error_log. `at` points into the
 * text; `why` is a string that lasts. Without this a mistake of the user, such as -EINVAL, is
 * logged in words that fit any file, and other errors are not logged.
 */
void trace_handle_blame(struct trace_handle *handle, const char *at, const char *why);
/* As trace_handle_blame(), where error_log is to name `where` instead of the file. */
void trace_handle_blame_in(struct trace_handle *handle, const char *where, const char *at,
			   const char *why);
/*
 * For `store`: call `fn` with each line of `text`, cut off before a `#`, up to the first error. The
 * effects of the lines before it stay, as on Linux.
 */
int trace_handle_lines(struct trace_handle *handle, char *text,
		       int (*fn)(struct trace_handle *handle, char *line));
/*
 * For `store`: cut the next word off a text with blanks between words. NULL behind the last; *rest
 * moves behind the word.
 */
char *trace_handle_word(char **rest);
/* For `store`: all of `text` as a decimal number. 0, or -EINVAL, -ERANGE after a call of blame. */
int trace_handle_number(struct trace_handle *handle, const char *text, uint64_t *out_value);
/* The same for a file that takes 0 or 1 only; another number is -EINVAL after a call of blame. */
int trace_handle_switch(struct trace_handle *handle, const char *text, bool *out_on);
/* The same for a number of microseconds, which is stored as nanoseconds. */
int trace_handle_us(struct trace_handle *handle, char *text, _Atomic uint64_t *out_ns);
/* For `show`: nanoseconds as microseconds, rounded down, as on Linux. Returns 0. */
int trace_show_us(struct trace_seq *seq, uint64_t ns);

/*
 * Make room in the handle's empty `seq` for the line of an event of `event_bytes` bytes. If there
 * is no memory for it, a long line will be cut.
 */
void trace_handle_make_room(struct trace_handle *handle, size_t event_bytes);

/* The node that the first `len` bytes of `path` name, held; NULL when there is none. */
struct trace_node *trace_fs_find(const char *path, size_t len);
/*
 * For opening a file: hold `node`, and get a reference to its instance. NULL, with neither, when
 * the instance has been removed. trace_fs_put_array() ends both.
 */
struct trace_array *trace_fs_get_array(struct trace_node *node);
void trace_fs_put_array(struct trace_node *node, struct trace_array *tr);

#endif

/*
 * Features: what there is besides instances and their buffers, one struct each. It says what the
 * feature does at the moments that concern it; a member that is NULL: nothing. The table of all is
 * made in start/features.c. Whoever has news walks it, and need not know who is in it.
 *
 * Context:   thread, may block. Locks as each member says.
 * Ownership: features are const and there for good.
 */
#ifndef TRACE_FEATURE_H
#define TRACE_FEATURE_H

#include <stdbool.h>
#include <stdint.h>

struct trace_array;
struct trace_boot_param;
struct trace_command;
struct trace_file_table;
struct trace_thread;
struct tracer;

struct trace_feature {
	const char *name;
	/* In trace_init(), in the order of the table; the global instance is there. 0 or -errno. */
	int (*init)(void);

	/* Boot parameters, see start/boot.h; the last has no name. */
	const struct trace_boot_param *params;
	/* In trace_boot_start(), before a tracer starts, and in trace_boot_finish(). No lock held.
	 */
	void (*boot_start)(struct trace_array *tr);
	void (*boot_finish)(void);

	/*
	 * A thread was made by `parent_pid`, and does not run yet; a thread ends, and calls this.
	 * At the end the last of the table comes first.
	 */
	void (*thread_created)(int32_t parent_pid, int32_t pid, struct trace_thread *thread);
	void (*thread_exited)(int32_t pid, struct trace_thread *thread);

	/*
	 * The life of an instance that is not the global one. All with the config lock held, but
	 * instance_free.
	 *
	 * made: nobody knows it yet. -errno: it does not come to be, and is freed.
	 * hidden: out of the list, nobody finds it any more. Arrays lock held as well.
	 * gone: its tracer has ended, probes may be on their way yet. When tracing is dead it is
	 * the last that is heard of it.
	 * free: nobody is left who could look at it.
	 */
	int (*instance_made)(struct trace_array *tr);
	void (*instance_hidden)(struct trace_array *tr);
	void (*instance_gone)(struct trace_array *tr);
	void (*instance_free)(struct trace_array *tr);

	/* Its files in tracefs, see fs/fs_file.h. */
	const struct trace_file_table *files;
	/* Its commands of set_ftrace_filter, see tracers/function_commands.h; the last has no name.
	 */
	struct trace_command *commands;

	/* An option of a tracer has changed. It may refuse with -errno. Config lock held. */
	int (*tracer_option)(struct trace_array *tr, const struct tracer *tracer, uint32_t bit,
			     bool on);
	/*
	 * In an instance `old` has ended, and `next` is about to begin. -errno: it does not, and the
	 * instance is left without. Config lock held.
	 */
	int (*tracer_changes)(struct trace_array *tr, const struct tracer *old,
			      const struct tracer *next);
	/* A tracer is about to be known. -errno: it will not be. Config lock held. */
	int (*tracer_added)(struct tracer *tracer);
};

/* Ends with NULL. Empty before trace_init(). */
extern const struct trace_feature *const *trace_features;

int trace_features_instance_made(struct trace_array *tr);
void trace_features_instance_hidden(struct trace_array *tr);
void trace_features_instance_gone(struct trace_array *tr);
void trace_features_instance_free(struct trace_array *tr);
int trace_features_tracer_added(struct tracer *tracer);
int trace_features_tracer_changes(struct trace_array *tr, const struct tracer *old,
				  const struct tracer *next);
int trace_features_tracer_option(struct trace_array *tr, const struct tracer *tracer, uint32_t bit,
				 bool on);

#endif

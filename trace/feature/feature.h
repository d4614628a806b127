/*
 * Features: all that there is besides instances and their buffers. Each feature is a struct of
 * functions, which are called at start and when threads, instances and tracers come and go; NULL
 * means that the feature does nothing then. The table of all features is in start/features.c. The
 * functions at the end of this header go through the table, so that instance/ need not know which
 * features there are.
 *
 * Whatever else a feature has, init() adds to the list of its kind (list.h): files, triggers, reactors
 * and so on. The header of the kind says how; nothing here knows of it.
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
struct trace_thread;
struct tracer;

struct trace_feature {
	const char *name;
	/* Is the README's part about the feature true in this run? NULL: in every run. */
	bool (*is_there)(void);
	/*
	 * Called by trace_init() in the order of the table. The global instance exists. 0, -errno.
	 */
	int (*init)(void);

	/* Boot parameters, see feature/boot.h; the last has no name. */
	const struct trace_boot_param *params;
	/*
	 * Called by trace_boot_start() before a tracer starts, and by trace_boot_finish(). No lock.
	 */
	void (*boot_start)(struct trace_array *tr);
	void (*boot_finish)(void);
	/*
	 * Called by trace_boot_start() for an instance of trace_instance=NAME[^FLAG],EVENTS with
	 * the events, which may be cut up. Config lock held.
	 */
	void (*boot_instance)(struct trace_array *tr, char *events);

	/*
	 * Called before the CPUs of trace_plat_cpu_online() change, and with `is_done` afterwards.
	 * Config lock held.
	 */
	void (*cpus_change)(bool is_done);

	/*
	 * created: thread `pid` was made by `parent_pid` and does not run yet. exited: thread
	 * `pid`, which calls this, is about to end; features are called from the last to the first.
	 */
	void (*thread_created)(int32_t parent_pid, int32_t pid, struct trace_thread *thread);
	void (*thread_exited)(int32_t pid, struct trace_thread *thread);

	/*
	 * The life of an instance other than the global one. The config lock is held, except in
	 * instance_free.
	 *
	 *   made    it was made, and is in no list yet. -errno: it is freed again
	 *   hidden  it was taken out of the list. The arrays lock is held, too
	 *   gone    its tracer has ended, but callbacks may still be running. When tracing is dead
	 *           the instance is never freed, and this is the last call for it
	 *   free    it has no users any more: free the feature's data for it
	 */
	int (*instance_made)(struct trace_array *tr);
	void (*instance_hidden)(struct trace_array *tr);
	void (*instance_gone)(struct trace_array *tr);
	void (*instance_free)(struct trace_array *tr);

	/* Is there a command of that name for set_ftrace_filter? */
	bool (*has_command)(const char *name);

	/*
	 * Option `option`, of enum trace_option, of the instance was set or cleared. Config lock
	 * held.
	 */
	void (*option_changed)(struct trace_array *tr, uint32_t option, bool on);
	/* Option `bit` of a tracer is being changed. -errno refuses that. Config lock held. */
	int (*tracer_option)(struct trace_array *tr, const struct tracer *tracer, uint32_t bit,
			     bool on);
	/*
	 * In an instance the tracer `old` has ended and `next` is about to begin. -errno: it does
	 * not begin, and the instance is left with the nop tracer. Config lock held.
	 */
	int (*tracer_changes)(struct trace_array *tr, const struct tracer *old,
			      const struct tracer *next);
	/* A tracer is being registered. -errno: registering fails. Config lock held. */
	int (*tracer_added)(struct tracer *tracer);
};

/* Ends with NULL. Empty before trace_init(). */
extern const struct trace_feature *const *trace_features;

/* Call that function of every feature, in the order of the table, up to the first error. */
int trace_features_instance_made(struct trace_array *tr);
void trace_features_instance_hidden(struct trace_array *tr);
void trace_features_instance_gone(struct trace_array *tr);
void trace_features_instance_free(struct trace_array *tr);
void trace_features_option_changed(struct trace_array *tr, uint32_t option, bool on);
int trace_features_tracer_added(struct tracer *tracer);
int trace_features_tracer_changes(struct trace_array *tr, const struct tracer *old,
				  const struct tracer *next);
int trace_features_tracer_option(struct trace_array *tr, const struct tracer *tracer, uint32_t bit,
				 bool on);

#endif

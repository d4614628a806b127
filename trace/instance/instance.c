/*
 * See instance.h, and <trace/trace.h> for users inside the kernel.
 */
#include <trace/ftrace.h>
#include <trace/trace.h>
#include "feature/feature.h"
#include "grace.h"
#include "instance.h"
#include "printk.h"
#include "text/str.h"

/* Options that a new instance does not take over from the global one. */
#define OPTIONS_NOT_INHERITED                                                                      \
	(TRACE_OPT_BIT(TRACE_OPT_FUNCTION_FORK) | TRACE_OPT_BIT(TRACE_OPT_EVENT_FORK) |            \
	 TRACE_OPT_BIT(TRACE_OPT_PRINTK_DEST) | TRACE_OPT_BIT(TRACE_OPT_COPY_MARKER))

#define WAIT_NS 1000000ull /* between two looks whether trace_printk() has left an instance */

const struct trace_grace *trace_grace;

/* The instance and the ops of its function tracer. */
struct instance {
	struct trace_array tr;
	struct ftrace_ops ops;
	struct ftrace_after after; /* frees it after its removal */
};

static struct trace_array *instance_find(const char *name)
{
	struct trace_array *tr = trace_global_array();

	while (tr && (tr = trace_array_next(tr))) {
		if (trace_streq(tr->name, name))
			return tr;
	}
	return NULL;
}

static int instance_check_name(const char *name)
{
	size_t len = trace_strnlen(name, TRACE_INSTANCE_NAME);

	if (len == TRACE_INSTANCE_NAME)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < len; i++) {
		if (name[i] == '/')
			return -EINVAL;
	}
	return len ? 0 : -EINVAL;
}

static void instance_list_add(struct trace_array *tr)
{
	struct trace_array *last = trace_global_array();

	trace_plat_lock(&trace_arrays_lock);
	while (last->next)
		last = last->next;
	last->next = tr;
	trace_plat_unlock(&trace_arrays_lock);
}

/* Take an instance out of the list. Returns -EBUSY when it has references. */
static int instance_list_remove(struct trace_array *tr)
{
	struct trace_array *before = trace_global_array();
	int err = -EBUSY;

	trace_plat_lock(&trace_arrays_lock);
	if (!tr->nr_refs) {
		while (before->next != tr)
			before = before->next;
		before->next = tr->next;
		trace_features_instance_hidden(tr);
		err = 0;
	}
	trace_plat_unlock(&trace_arrays_lock);
	return err;
}

static void fill_in(struct instance *instance, const char *name)
{
	struct trace_array *tr = &instance->tr, *global = trace_global_array();

	trace_strcpy(tr->name, name, sizeof(tr->name));
	tr->options = global->options & ~OPTIONS_NOT_INHERITED;
	tr->wanted_bytes = global->wanted_bytes;
	tr->is_expanded = true;
	tr->buffer_percent = TRACE_BUFFER_PERCENT_DEFAULT;
	tr->tracer = &tracer_nop;
	tr->clock = &trace_clocks[0];
	tr->ops = &instance->ops;
	for (struct tracer *tracer = NULL; (tracer = tracer_next(tracer));)
		tr->tracer_bits[tracer->index] = tracer->default_bits;
}

int trace_instance_make(const char *name, struct trace_kept *kept, struct ring_buffer *buffer,
			struct trace_array **out_tr)
{
	struct instance *instance;
	int err = instance_check_name(name);

	if (err)
		return err;
	if (!trace_global_array())
		return -ENODEV;
	if (instance_find(name))
		return -EEXIST;
	instance = trace_plat_alloc(sizeof(*instance));
	if (!instance)
		return -ENOMEM;
	fill_in(instance, name);
	instance->tr.kept = kept;
	err = buffer ? trace_array_init_buffer(&instance->tr, buffer)
		     : trace_array_init(&instance->tr, instance->tr.wanted_bytes);
	if (err)
		goto free_instance;
	err = trace_features_instance_made(&instance->tr);
	if (err)
		goto release;
	instance_list_add(&instance->tr);
	*out_tr = &instance->tr;
	return 0;

release:
	trace_features_instance_free(&instance->tr);
	if (buffer)
		instance->tr.buffer = NULL; /* it stays the caller's */
	trace_array_release(&instance->tr);
free_instance:
	trace_plat_free(instance, sizeof(*instance));
	return err;
}

/* No thread is on its way to callbacks of its ops and probes any more. */
static void free_instance(struct ftrace_after *after)
{
	struct instance *instance =
		(struct instance *)(void *)((char *)after - offsetof(struct instance, after));

	trace_features_instance_free(&instance->tr);
	trace_array_release(&instance->tr);
	trace_plat_free(instance, sizeof(*instance));
}

/* Destroy an instance, which is out of the list and has no references. Config lock held. */
static void destroy(struct trace_array *tr)
{
	struct instance *instance = (struct instance *)tr;

	if (tr->options & TRACE_OPT_BIT(TRACE_OPT_PRINTK_DEST))
		trace_printk_redirect(trace_global_array());
	tracer_switch(tr, tracer_nop.name);
	trace_features_instance_gone(tr);
	if (ftrace_is_dead()) {
		/* Sites may go on calling its ops, whose callbacks use it: never free it. */
		ring_buffer_record_off(tr->buffer);
		return;
	}
	trace_plat_synchronize_preempt(); /* the last user may still be in trace_array_printk() */
	while (tr->nr_printing) /* calls of trace_printk() that have found it are counted by now */
		trace_plat_pause(WAIT_NS, false);
	instance->after.fn = free_instance;
	trace_grace_call_after(&instance->after);
}

int trace_instance_create(const char *name)
{
	struct trace_array *tr;
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_instance_make(name, NULL, NULL, &tr);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

/* Config lock held. */
static int remove_locked(struct trace_array *tr)
{
	int err;

	if (tr && tr->kept)
		return -EBUSY;
	err = tr ? instance_list_remove(tr) : -ENOENT;
	if (!err)
		destroy(tr);
	return err;
}

int trace_instance_remove(const char *name)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = remove_locked(instance_find(name));
	trace_plat_unlock(&trace_config_lock);
	return err;
}

struct trace_array *trace_array_get_by_name(const char *name)
{
	struct trace_array *tr;
	int err = instance_check_name(name);

	if (err)
		return NULL;
	trace_plat_lock(&trace_config_lock);
	tr = instance_find(name);
	if (!tr)
		err = trace_instance_make(name, NULL, NULL, &tr);
	if (!err) {
		trace_plat_lock(&trace_arrays_lock);
		tr->nr_refs++;
		trace_plat_unlock(&trace_arrays_lock);
	}
	trace_plat_unlock(&trace_config_lock);
	return err ? NULL : tr;
}

void trace_array_put(struct trace_array *tr)
{
	trace_plat_lock(&trace_arrays_lock);
	tr->nr_refs--;
	trace_plat_unlock(&trace_arrays_lock);
}

int trace_array_destroy(struct trace_array *tr)
{
	struct trace_array *other = NULL;
	int err;

	trace_plat_lock(&trace_config_lock);
	while ((other = trace_array_next(other)) && other != tr)
		;
	err = remove_locked(other == trace_global_array() ? NULL : other);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

/*
 * Boot parameters about tracing: remembered as text, carried out when tracing is there. See
 * <trace/trace.h>.
 */
#include <trace/ftrace.h>
#include <trace/trace.h>
#include "instance/array.h"
#include "instance/instance.h"
#include "instance/snapshot.h"
#include "print/dump.h"
#include "text/str.h"
#include "tracers/graph_tracer.h"
#include "tracers/stack_tracer.h"

#define PARAM_MAX    2048u /* as long as a command line */
#define INSTANCE_END ' '   /* no value has one */

static struct {
	char tracer[100];
	char filter[PARAM_MAX];
	char notrace[PARAM_MAX];
	char graph_filter[PARAM_MAX];
	char graph_notrace[PARAM_MAX];
	char graph_max_depth[32];
	char options[PARAM_MAX];
	char clock[32];
	char stack_filter[PARAM_MAX];
	bool stack_tracer;
	char instances[PARAM_MAX];
	bool wants_snapshot;	  /* alloc_snapshot */
	bool wants_boot_snapshot; /* ftrace_boot_snapshot */
} params;

/* A number with a suffix K, M or G. 0 for anything else. */
static size_t parse_size(const char *text)
{
	char digits[24];
	size_t len = trace_strnlen(text, sizeof(digits));
	unsigned int shift = 0;
	uint64_t value;

	if (len == sizeof(digits)) /* no number so long is a size */
		return 0;
	trace_strcpy(digits, text, sizeof(digits));
	switch (len ? digits[len - 1] | 0x20 : 0) {
	case 'k':
		shift = 10;
		break;
	case 'm':
		shift = 20;
		break;
	case 'g':
		shift = 30;
		break;
	default:
		break;
	}
	if (shift)
		digits[len - 1] = '\0';
	if (trace_parse_u64(digits, 0, &value) || value > (1ull << 40 >> shift))
		return 0;
	return value << shift;
}

static void take_size(const char *value)
{
	size_t bytes = parse_size(value);

	if (!bytes)
		trace_plat_log("trace: trace_buf_size=%s is no size", value);
	else
		trace_set_boot_size(bytes < RING_SUBBUF_BYTES ? RING_SUBBUF_BYTES : bytes);
}

/* The parameter may come several times, one instance each. */
static void add_instance(const char *name)
{
	size_t len = trace_strlen(params.instances);

	if (len + trace_strlen(name) + 2 > sizeof(params.instances)) {
		trace_plat_log("trace: trace_instance=%s: too many", name);
		return;
	}
	trace_strcpy(params.instances + len, name, sizeof(params.instances) - len);
	len = trace_strlen(params.instances);
	params.instances[len] = INSTANCE_END;
	params.instances[len + 1] = '\0';
}

/* Parameters that are no texts to keep. */
static bool take_other(const char *name, const char *value)
{
	if (trace_streq(name, "trace_buf_size"))
		take_size(value);
	else if (trace_streq(name, "ftrace_dump_on_oops"))
		trace_dump_set_mode(value);
	else if (trace_streq(name, "trace_instance"))
		add_instance(value);
	else if (trace_streq(name, "alloc_snapshot"))
		params.wants_snapshot = true;
	else if (trace_streq(name, "ftrace_boot_snapshot"))
		params.wants_snapshot = params.wants_boot_snapshot = true;
	else
		return false;
	return true;
}

/* Half a list would be something else than what was asked for. */
static void keep(const char *name, const char *value, char *text, size_t size)
{
	if (trace_strlen(value) < size)
		trace_strcpy(text, value, size);
	else
		trace_plat_log("trace: %s=: too long, ignored", name);
}

bool trace_boot_param(const char *name, const char *value)
{
	const struct {
		const char *name;
		char *text;
		size_t size;
	} texts[] = {
		{ "ftrace", params.tracer, sizeof(params.tracer) },
		{ "ftrace_filter", params.filter, sizeof(params.filter) },
		{ "ftrace_notrace", params.notrace, sizeof(params.notrace) },
		{ "ftrace_graph_filter", params.graph_filter, sizeof(params.graph_filter) },
		{ "ftrace_graph_notrace", params.graph_notrace, sizeof(params.graph_notrace) },
		{ "ftrace_graph_max_depth", params.graph_max_depth,
		  sizeof(params.graph_max_depth) },
		{ "trace_options", params.options, sizeof(params.options) },
		{ "trace_clock", params.clock, sizeof(params.clock) },
		{ "stacktrace_filter", params.stack_filter, sizeof(params.stack_filter) },
	};

	params.stack_tracer |= trace_str_starts(name, "stacktrace");
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(texts); i++) {
		if (trace_streq(name, texts[i].name)) {
			keep(name, value, texts[i].text, texts[i].size);
			return true;
		}
	}
	return take_other(name, value) || trace_streq(name, "stacktrace");
}

/* Cut the next item off a list; NULL at the end. */
static char *next_item_until(char **list, char end_of_item)
{
	char *item = *list, *end = item;

	if (!*item)
		return NULL;
	while (*end && *end != end_of_item)
		end++;
	*list = *end ? end + 1 : end;
	*end = '\0';
	return item;
}

static char *next_item(char **list)
{
	return next_item_until(list, ',');
}

static void set_filters(char *list, const char *param,
			int (*set)(const char *buf, size_t len, bool reset))
{
	char *item;

	while ((item = next_item(&list))) {
		if (*item && set(item, trace_strlen(item), false))
			trace_plat_log("trace: %s: no function matches %s", param, item);
	}
}

static int set_graph_function(const char *buf, size_t len, bool reset)
{
	return ftrace_set_filter(&trace_graph_of(trace_global_array())->sets, buf, len, reset);
}

static int set_graph_notrace(const char *buf, size_t len, bool reset)
{
	return ftrace_set_notrace(&trace_graph_of(trace_global_array())->sets, buf, len, reset);
}

static void set_graph_depth(struct trace_array *tr)
{
	uint64_t depth;

	if (trace_parse_u64(params.graph_max_depth, 0, &depth) || depth > UINT32_MAX)
		trace_plat_log("trace: ftrace_graph_max_depth=%s is no depth",
			       params.graph_max_depth);
	else
		trace_graph_of(tr)->max_depth = (uint32_t)depth;
}

static void set_options(struct trace_array *tr)
{
	char *list = params.options, *item;

	while ((item = next_item(&list))) {
		if (*item && trace_option_parse(tr, item))
			trace_plat_log("trace: trace_options: no option %s", item);
	}
}

static void set_clock(struct trace_array *tr)
{
	const struct trace_clock *clock = trace_clock_find(params.clock);

	if (clock)
		trace_array_set_clock(tr, clock);
	else
		trace_plat_log("trace: trace_clock: no clock %s", params.clock);
}

static void start_tracer(struct trace_array *tr)
{
	int err = tracer_switch(tr, params.tracer);

	if (!tracer_find(params.tracer))
		trace_plat_log("trace: cannot start tracer %s: no such tracer", params.tracer);
	else if (err == -ENOMEM)
		trace_plat_log("trace: cannot start tracer %s: no memory", params.tracer);
	else if (err)
		trace_plat_log("trace: cannot start tracer %s: error %d", params.tracer, -err);
	else
		trace_plat_log("Starting tracer '%s'", params.tracer);
}

/* NAME, or NAME,EVENTS: there are no events. */
static void make_instances(void)
{
	char *list = params.instances, *item, *name;
	int err;

	while ((item = next_item_until(&list, INSTANCE_END))) {
		name = next_item(&item);
		if (item && *item)
			trace_plat_log("trace: trace_instance: %s: no such event", item);
		err = trace_instance_create(name ? name : "");
		if (err)
			trace_plat_log("trace: trace_instance: cannot make %s: error %d",
				       name ? name : "one without a name", -err);
	}
}

static void make_room_for_snapshot(struct trace_array *tr)
{
	if (params.wants_snapshot && trace_snapshot_alloc(tr))
		trace_plat_log("trace: alloc_snapshot: no memory");
}

void trace_boot_finish(void)
{
	if (params.wants_boot_snapshot)
		tracing_snapshot();
}

void trace_boot_start(void)
{
	struct trace_array *tr = trace_global_array();

	if (!tr)
		return;
	set_filters(params.filter, "ftrace_filter", ftrace_set_global_filter);
	set_filters(params.notrace, "ftrace_notrace", ftrace_set_global_notrace);
	set_filters(params.graph_filter, "ftrace_graph_filter", set_graph_function);
	set_filters(params.graph_notrace, "ftrace_graph_notrace", set_graph_notrace);
	if (params.graph_max_depth[0])
		set_graph_depth(tr);
	trace_plat_lock(&trace_config_lock);
	if (params.clock[0])
		set_clock(tr);
	make_room_for_snapshot(tr);
	if (params.tracer[0])
		start_tracer(tr);
	set_options(tr); /* the tracer's are known while it runs */
	trace_plat_unlock(&trace_config_lock);
	if (params.stack_tracer)
		stack_tracer_boot(params.stack_filter);
	make_instances();
}

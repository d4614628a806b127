/*
 * Boot parameters about tracing: remembered as text, carried out when tracing is there. See
 * <trace/trace.h>.
 */
#include <trace/trace.h>
#include "feature/boot.h"
#include "features.h"
#include "instance/array.h"
#include "instance/instance.h"
#include "instance/kept.h"
#include "instance/printk.h"
#include "instance/warning.h"
#include "text/str.h"

#define INSTANCE_END ' ' /* between names in params.instances; no value has a blank in it */

static struct {
	char tracer[100];
	char options[TRACE_BOOT_PARAM_MAX];
	char clock[32];
	char instances[TRACE_BOOT_PARAM_MAX];
	bool off_after_boot;
} boot_params;

/* A number with a suffix K, M or G. 0 for anything else. */
static size_t boot_parse_size(const char *text)
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
	size_t bytes = boot_parse_size(value);

	if (!bytes)
		trace_plat_log("trace: trace_buf_size=%s is no size", value);
	else
		trace_set_boot_size(bytes < RING_SUBBUF_BYTES ? RING_SUBBUF_BYTES : bytes);
}

/* The parameter may come several times, one instance each. */
static void add_instance(const char *name)
{
	size_t len = trace_strlen(boot_params.instances);

	if (len + trace_strlen(name) + 2 > sizeof(boot_params.instances)) {
		trace_plat_log("trace: trace_instance=%s: too many", name);
		return;
	}
	trace_strcpy(boot_params.instances + len, name, sizeof(boot_params.instances) - len);
	len = trace_strlen(boot_params.instances);
	boot_params.instances[len] = INSTANCE_END;
	boot_params.instances[len + 1] = '\0';
}

static void want_off_after_boot(const char *value)
{
	(void)value; /* as on Linux the name alone asks for it */
	boot_params.off_after_boot = true;
}

/* A value that is too long is ignored: half a list would be something else than the user wanted. */
static void boot_keep(const char *name, const char *value, char *text, size_t size)
{
	if (trace_strlen(value) < size)
		trace_strcpy(text, value, size);
	else
		trace_plat_log("trace: %s=: too long, ignored", name);
}

static const struct trace_boot_param own_params[] = {
	{ .name = "ftrace", .text = boot_params.tracer, .size = sizeof(boot_params.tracer) },
	{ .name = "trace_options",
	  .text = boot_params.options,
	  .size = sizeof(boot_params.options) },
	{ .name = "trace_clock", .text = boot_params.clock, .size = sizeof(boot_params.clock) },
	{ .name = "trace_buf_size", .take = take_size },
	{ .name = "trace_instance", .take = add_instance },
	{ .name = "traceoff_on_warning", .take = trace_off_on_warning_want },
	{ .name = "traceoff_after_boot", .take = want_off_after_boot },
	{ .name = NULL },
};

static bool take_one_of(const struct trace_boot_param *param, const char *name, const char *value)
{
	while (param->name && !trace_streq(param->name, name))
		param++;
	if (!param->name)
		return false;
	if (param->text)
		boot_keep(name, value, param->text, param->size);
	if (param->take)
		param->take(value);
	return true;
}

bool trace_boot_param(const char *name, const char *value)
{
	bool is_known = take_one_of(own_params, name, value);

	for (const struct trace_feature *const *at = trace_feature_table; *at && !is_known; at++) {
		if ((*at)->params)
			is_known = take_one_of((*at)->params, name, value);
	}
	return is_known;
}

static void boot_set_options(struct trace_array *tr)
{
	char *list = boot_params.options, *item;

	while ((item = trace_boot_item(&list, ','))) {
		if (*item && trace_option_parse(tr, item))
			trace_plat_log("trace: trace_options: no option %s", item);
	}
}

static void boot_set_clock(struct trace_array *tr)
{
	const struct trace_clock *clock = trace_clock_find(boot_params.clock);

	if (clock)
		trace_array_set_clock(tr, clock);
	else
		trace_plat_log("trace: trace_clock: no clock %s", boot_params.clock);
}

static void start_tracer(struct trace_array *tr)
{
	int err = tracer_switch(tr, boot_params.tracer);

	if (!tracer_find(boot_params.tracer))
		trace_plat_log("trace: cannot start tracer %s: no such tracer", boot_params.tracer);
	else if (err == -ENOMEM)
		trace_plat_log("trace: cannot start tracer %s: no memory", boot_params.tracer);
	else if (err)
		trace_plat_log("trace: cannot start tracer %s: error %d", boot_params.tracer, -err);
	else
		trace_plat_log("Starting tracer '%s'", boot_params.tracer);
}

/* Config lock held. */
static struct trace_array *find_instance(const char *name)
{
	struct trace_array *tr = NULL;

	while ((tr = trace_array_next(tr)) && !trace_streq(tr->name, name))
		continue;
	return tr;
}

static void boot_array_off(struct trace_array *tr)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_PARAM, .name = tr->name };

	trace_array_off(tr, &from);
	if (tr->kept)
		tr->kept->stays_off = true;
}

/* `flags`, with ^ between, is cut up. */
static void take_flags(struct trace_array *tr, char *flags)
{
	char *flag;

	while ((flag = trace_boot_item(&flags, '^'))) {
		if (trace_streq(flag, "traceoff"))
			boot_array_off(tr);
		else if (trace_streq(flag, "traceprintk") || trace_streq(flag, "printk") ||
			 trace_streq(flag, "trace_printk"))
			trace_printk_redirect(tr);
		else
			trace_plat_log("trace: trace_instance: no flag %s, for %s", flag, tr->name);
	}
}

/* The flags come first: with ^traceoff nothing is recorded. */
static void set_up_instance(const char *name, char *flags, char *events)
{
	struct trace_array *tr;

	trace_plat_lock(&trace_config_lock);
	tr = find_instance(name);
	if (tr)
		take_flags(tr, flags);
	for (const struct trace_feature *const *at = trace_features; tr && *events && *at; at++) {
		if ((*at)->boot_instance)
			(*at)->boot_instance(tr, events);
	}
	trace_plat_unlock(&trace_config_lock);
}

/* Make the instance `name`: in the memory of that name, as a copy of `source`, or a usual one. */
static int make_instance(const char *name, const char *memory, const char *source)
{
	int err;

	if (memory && source)
		return -EINVAL;
	if (memory)
		err = trace_kept_create(name, memory);
	else
		err = source ? trace_kept_backup(name, source) : trace_instance_create(name);
	if (err == -ENOENT)
		trace_plat_log("trace: trace_instance=%s: there is no %s %s", name,
			       memory ? "memory" : "instance in memory that survives,",
			       memory ? memory : source);
	else if (err)
		trace_plat_log("trace: trace_instance: cannot make %s: error %d",
			       *name ? name : "one without a name", -err);
	return err;
}

/* Cut the item before `end_of_item` off the text; "" when there is none. */
static char *boot_cut(char **text, char end_of_item)
{
	char *item = trace_boot_item(text, end_of_item);

	return item ? item : *text;
}

/* `item` is NAME[^FLAG]...[@MEMORY][,EVENTS] or NAME=SOURCE, and is cut up. */
static void boot_make_instance(char *item)
{
	char *memory = boot_cut(&item, ','), *source = boot_cut(&memory, '@');
	char *flags = boot_cut(&source, '='), *name = boot_cut(&flags, '^');

	if (!make_instance(name, *memory ? memory : NULL, *source ? source : NULL))
		set_up_instance(name, flags, item);
}

static void boot_make_instances(void)
{
	char *list = boot_params.instances, *item;

	while ((item = trace_boot_item(&list, INSTANCE_END)))
		boot_make_instance(item);
	trace_kept_boot_done();
}

void trace_boot_finish(void)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_BOOT };
	struct trace_array *tr = trace_global_array();

	for (const struct trace_feature *const *at = trace_features; *at; at++) {
		if ((*at)->boot_finish)
			(*at)->boot_finish();
	}
	if (boot_params.off_after_boot && tr)
		trace_array_off(tr,
				&from); /* behind the features: one of them may take a snapshot */
}

void trace_boot_start(void)
{
	struct trace_array *tr = trace_global_array();

	if (!tr)
		return;
	for (const struct trace_feature *const *at = trace_features; *at; at++) {
		if ((*at)->boot_start)
			(*at)->boot_start(tr);
	}
	trace_plat_lock(&trace_config_lock);
	if (boot_params.clock[0])
		boot_set_clock(tr);
	if (boot_params.tracer[0])
		start_tracer(tr);
	boot_set_options(
		tr); /* behind the tracer, whose own options are known only while it runs */
	trace_plat_unlock(&trace_config_lock);
	boot_make_instances();
}

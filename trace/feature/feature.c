/*
 * See feature.h.
 */
#include "feature.h"
#include <stddef.h>

static const struct trace_feature *const nothing[] = { NULL };

const struct trace_feature *const *trace_features = nothing;

int trace_features_instance_made(struct trace_array *tr)
{
	int err = 0;

	for (const struct trace_feature *const *at = trace_features; *at && !err; at++) {
		if ((*at)->instance_made)
			err = (*at)->instance_made(tr);
	}
	return err;
}

void trace_features_instance_hidden(struct trace_array *tr)
{
	for (const struct trace_feature *const *at = trace_features; *at; at++) {
		if ((*at)->instance_hidden)
			(*at)->instance_hidden(tr);
	}
}

void trace_features_instance_gone(struct trace_array *tr)
{
	for (const struct trace_feature *const *at = trace_features; *at; at++) {
		if ((*at)->instance_gone)
			(*at)->instance_gone(tr);
	}
}

void trace_features_instance_free(struct trace_array *tr)
{
	for (const struct trace_feature *const *at = trace_features; *at; at++) {
		if ((*at)->instance_free)
			(*at)->instance_free(tr);
	}
}

int trace_features_tracer_added(struct tracer *tracer)
{
	int err = 0;

	for (const struct trace_feature *const *at = trace_features; *at && !err; at++) {
		if ((*at)->tracer_added)
			err = (*at)->tracer_added(tracer);
	}
	return err;
}

int trace_features_tracer_changes(struct trace_array *tr, const struct tracer *old,
				  const struct tracer *next)
{
	int err = 0;

	for (const struct trace_feature *const *at = trace_features; *at && !err; at++) {
		if ((*at)->tracer_changes)
			err = (*at)->tracer_changes(tr, old, next);
	}
	return err;
}

int trace_features_tracer_option(struct trace_array *tr, const struct tracer *tracer, uint32_t bit,
				 bool on)
{
	int err = 0;

	for (const struct trace_feature *const *at = trace_features; *at && !err; at++) {
		if ((*at)->tracer_option)
			err = (*at)->tracer_option(tr, tracer, bit, on);
	}
	return err;
}

void trace_features_option_changed(struct trace_array *tr, uint32_t option, bool on)
{
	for (const struct trace_feature *const *feature = trace_features; *feature; feature++) {
		if ((*feature)->option_changed)
			(*feature)->option_changed(tr, option, on);
	}
}

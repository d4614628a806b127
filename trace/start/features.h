/*
 * The features that this build has, each defined in the module that it is: see feature/feature.h.
 */
#ifndef TRACE_FEATURES_H
#define TRACE_FEATURES_H

#include "feature/feature.h"

#define TRACE_FEATURE(name, needs, sources) extern const struct trace_feature trace_feature_##name;
#include "start/features.list"
#undef TRACE_FEATURE

/* All of them, from before trace_init() on; ends with NULL. */
extern const struct trace_feature *const trace_feature_table[];

#endif

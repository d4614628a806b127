/* Static keys of <trace/static_key.h> are static branches here. */
#ifndef TRACE_PLAT_STATIC_KEY_H
#define TRACE_PLAT_STATIC_KEY_H

#include <arch/static_branch.h>

#define TRACE_PLAT_STATIC_BRANCH(key) static_branch(key)

#endif

/* In this kernel the static keys of <trace/static_key.h> are tested by <arch/static_branch.h>. */
#ifndef TRACE_PLAT_STATIC_KEY_H
#define TRACE_PLAT_STATIC_KEY_H

#include <arch/static_branch.h>

#define TRACE_PLAT_STATIC_BRANCH(key) static_branch(key)

#endif

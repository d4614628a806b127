/*
 * The events of the guest that the samples of Linux come from (tests/golden). To be included by one
 * file of a program, which then has their tracepoints.
 */
#ifndef GOLD_H
#define GOLD_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include "host/types.h"

/* As in Linux a type, whose name fields have, not a macro that stands for another name. */
#undef bool
typedef _Bool bool;

__attribute__((unused)) static void strscpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
}

/* The header includes itself as ../../kernel/golden_events.h: in Linux that is where it is. */
/* clang-format off */
#undef linux
#define kernel golden/linux-6.1/capture
/* clang-format on */
#define CREATE_TRACE_POINTS
#include "../../golden/linux-6.1/capture/golden_events.h"

#endif

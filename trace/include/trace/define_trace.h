/*
 * The end of a header with definitions of trace events, see <trace/trace_events.h>. In the one file
 * that defined CREATE_TRACE_POINTS this reads the header again, once for each stage. Each stage
 * gives the words of a definition another meaning: stages/clear.h lists those words.
 *
 * No guard: a file may create the events of several headers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifdef CREATE_TRACE_POINTS

/* The header includes this file each time it is read. */
#undef CREATE_TRACE_POINTS

#include <stddef.h>
#include <trace/errno.h>
#include <trace/platform.h>
#include <trace/trace_events.h>

#ifndef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE TRACE_SYSTEM
#define TRACE_EVENTS_OWN_FILE
#endif

/* The formatter would put blanks into the path. */
/* clang-format off */
#ifdef TRACE_INCLUDE_PATH
#define TRACE_EVENTS_HEADER_(file) TRACE_EVENT_STRING(TRACE_INCLUDE_PATH/file.h)
#else
#define TRACE_EVENTS_HEADER_(file) <trace/events/file.h>
#endif
/* clang-format on */
#define TRACE_EVENTS_HEADER(file) TRACE_EVENTS_HEADER_(file)

#define TRACE_HEADER_MULTI_READ

/* Definitions are written for Linux's warnings, not for those of every host. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Waddress-of-packed-member"

/* A freestanding compiler would call these even for a few bytes. */
#pragma push_macro("memcpy")
#pragma push_macro("memset")
#undef memcpy
#undef memset
#define memcpy __builtin_memcpy
#define memset __builtin_memset

#include <trace/stages/words.h>

#include <trace/stages/define.h>
#include TRACE_EVENTS_HEADER(TRACE_INCLUDE_FILE)
#include <trace/stages/entry.h>
#include TRACE_EVENTS_HEADER(TRACE_INCLUDE_FILE)
#include <trace/stages/offsets.h>
#include TRACE_EVENTS_HEADER(TRACE_INCLUDE_FILE)
#include <trace/stages/sizes.h>
#include TRACE_EVENTS_HEADER(TRACE_INCLUDE_FILE)
#include <trace/stages/fields.h>
#include TRACE_EVENTS_HEADER(TRACE_INCLUDE_FILE)
#include <trace/stages/text.h>
#include TRACE_EVENTS_HEADER(TRACE_INCLUDE_FILE)
#include <trace/stages/probe.h>
#include TRACE_EVENTS_HEADER(TRACE_INCLUDE_FILE)
#include <trace/stages/call.h>
#include TRACE_EVENTS_HEADER(TRACE_INCLUDE_FILE)
#undef __entry
#include <trace/stages/declare.h>

#pragma pop_macro("memcpy")
#pragma pop_macro("memset")
#pragma GCC diagnostic pop

#undef TRACE_HEADER_MULTI_READ
#undef TRACE_EVENTS_HEADER
#undef TRACE_EVENTS_HEADER_
#ifdef TRACE_EVENTS_OWN_FILE
#undef TRACE_EVENTS_OWN_FILE
#undef TRACE_INCLUDE_FILE
#endif
#undef TRACE_INCLUDE_PATH

#define CREATE_TRACE_POINTS

#endif

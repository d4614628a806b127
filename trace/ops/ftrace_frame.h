/*
 * A frame of a shadow stack: a call whose return is hooked. graph/ makes and uses them; what they
 * are is said down here because those who wait until a thread has left some code look at the return
 * addresses in them (ftrace_grace.h).
 */
#ifndef FTRACE_FRAME_H
#define FTRACE_FRAME_H

#include <stdatomic.h>
#include <stdint.h>

/* Of a little-endian machine. */
struct fgraph_head {
	uint8_t user;
	uint8_t flags;
	uint16_t level;
};

struct fgraph_frame {
	uint64_t calltime; /* trace_plat_clock_ns() */
	uint64_t sleep_ns; /* of the thread, at entry */
	uint64_t data;	   /* its user's */
	uint64_t child_ns; /* in calls below of the same user; API users */
	uintptr_t slot;	   /* where on the stack the return address lies */
	uint32_t func;	   /* call site, packed */
	uint32_t ret;	   /* return address, packed */
	union {
		/* 0-7: user, 8-15: enum fgraph_frame_flags, 16-31: level */
		_Atomic uint32_t head;
		struct fgraph_head part; /* the same, for its thread to read */
	};
	uint32_t outer; /* of a special frame: graph_next of the user before it */
};

#endif

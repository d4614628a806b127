/*
 * A frame of a shadow stack: a call whose return is hooked. graph/ makes and uses the frames. The
 * struct is declared in ops/, the folder below, because ftrace_grace.c looks at the return
 * addresses in them to find out whether a thread has left some code.
 */
#ifndef FTRACE_FRAME_H
#define FTRACE_FRAME_H

#include <stdatomic.h>
#include <stdint.h>

/* The parts of a frame's `head`, on a little-endian machine. */
struct fgraph_head {
	uint8_t user;
	uint8_t flags;
	uint16_t level;
};

struct fgraph_frame {
	union {
		struct {
			uint64_t calltime; /* trace_plat_clock_ns() at entry */
			/* Time that the thread had slept until entry: trace_thread.sleep_ns. */
			uint64_t sleep_ns;
			uint64_t data;	   /* for the user of the frame */
			uint64_t child_ns; /* time in calls below that the same user traced */
		};
		struct { /* of a probe: kprobes/return_probe.h */
			uint64_t words[3];
			uint64_t handle;
		};
	};
	uintptr_t slot; /* address of the return address on the stack */
	uint32_t func;	/* call site: trace_plat_ip_pack() */
	uint32_t ret;	/* return address: trace_plat_ip_pack() */
	union {
		/* 0-7: user, 8-15: enum fgraph_frame_flags, 16-31: level */
		_Atomic uint32_t head;
		struct fgraph_head part; /* the same, for its thread to read */
	};
	uint32_t outer; /* of a special frame: graph_next of the user before it */
};

#endif

/*
 * A signal as its events tell of it, see <trace/events/signal.h>.
 *
 * Context: any.
 */
#ifndef KERNEL_SIGNAL_TOLD_H
#define KERNEL_SIGNAL_TOLD_H

struct trace_signal {
	int sig, error, code;
	const char *comm; /* 16 bytes: of the thread that it is for */
	int pid;
	int group;  /* 1: for the process, 0: for one thread */
	int result; /* what has become of it, TRACE_SIGNAL_* as in Linux */
};

#endif

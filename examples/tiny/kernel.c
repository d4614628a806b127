/*
 * A kernel that traces itself: the calls of its functions in their order, their callers, and the
 * time that each takes. The callbacks only note in `calls` what they see; it is printed when
 * tracing has ended.
 */
#include <trace/arch_text.h>
#include <trace/defaults.h>
#include <trace/fgraph.h>
#include <trace/ftrace.h>
#include <trace/heap.h>
#include "tiny.h"

#define MAX_CALLS  64
#define HEAP_BYTES (1u << 20)

struct call {
	uintptr_t func;
	uintptr_t parent;
	uint64_t ns; /* a return: the time from the call to here */
	uint32_t depth;
	bool is_return;
};

static struct call calls[MAX_CALLS];
static size_t nr_calls;

static void note(struct call call)
{
	if (nr_calls < MAX_CALLS)
		calls[nr_calls++] = call;
}

/* ---- The function trace ---- */

static void on_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	(void)ops;
	(void)fregs;
	note((struct call){ .func = ip, .parent = parent_ip });
}

static struct ftrace_ops function_ops = { .func = on_call };

TRACE_NOINLINE static void trace_functions(void)
{
	bool holds;

	nr_calls = 0;
	if (register_ftrace_function(&function_ops))
		return;
	holds = demo(3);
	unregister_ftrace_function(&function_ops);

	print("function trace of demo(3), which is %s:", holds ? "true" : "false");
	for (size_t i = 0; i < nr_calls; i++)
		print("%ps <-%ps", (void *)calls[i].func, (void *)calls[i].parent);
}

/* ---- The graph ---- */

static bool on_entry(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	(void)gops;
	note((struct call){ .func = ent->func, .depth = ent->depth });
	return true;
}

static void on_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	(void)gops;
	note((struct call){ .func = ret->func,
			    .ns = ret->rettime - ret->calltime,
			    .depth = ret->depth,
			    .is_return = true });
}

static struct fgraph_ops graph_ops = { .entryfunc = on_entry, .retfunc = on_return };

/* A call that is followed by its own return is printed on one line, any other call on two. */
static void print_graph(void)
{
	for (size_t i = 0; i < nr_calls; i++) {
		const struct call *call = &calls[i];
		int indent = 2 * (int)call->depth;

		if (call->is_return) {
			print("%9llu ns | %*s}", (unsigned long long)call->ns, indent, "");
		} else if (i + 1 < nr_calls && calls[i + 1].is_return) {
			print("%9llu ns | %*s%ps();", (unsigned long long)calls[++i].ns, indent, "",
			      (void *)call->func);
		} else {
			print("%9s    | %*s%ps() {", "", indent, "", (void *)call->func);
		}
	}
}

TRACE_NOINLINE static void trace_graph(void)
{
	nr_calls = 0;
	if (ftrace_set_notrace(&graph_ops.ops, "square", sizeof("square") - 1, true) ||
	    register_ftrace_graph(&graph_ops))
		return;
	demo(2);
	unregister_ftrace_graph(&graph_ops);

	print("graph of demo(2), without square():");
	print_graph();
}

/* ---- Start ---- */

extern const struct trace_symbol symbols[]; /* made from the first link: Makefile */
extern const size_t nr_symbols;
extern char text_end[];

void main(void);

void main(void)
{
	static uint8_t heap[HEAP_BYTES];
	struct ftrace_totals totals;

	machine_init();
	trace_heap_give(heap, sizeof(heap));
	trace_symbols_set(symbols, nr_symbols, (uintptr_t)text_end);
	ftrace_init();
	text_poke_selftest();
	ftrace_totals(&totals);
	print("%llu functions can be traced", (unsigned long long)totals.sites);
	trace_functions();
	trace_graph();
	power_off();
}

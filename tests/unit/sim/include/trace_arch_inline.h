/*
 * The simulated machine as host of trace/arch/x86_64: contracts are in <trace/arch_host.h>. The
 * view of text is text itself; who asks for it when it is not there, or with interrupts on, fails
 * the test (sim_text.h).
 */
#ifndef SIM_TRACE_ARCH_INLINE_H
#define SIM_TRACE_ARCH_INLINE_H

/* Where a process may have memory. */
#define SIM_EXEC_BASE  0x60000000ul
#define SIM_EXEC_BYTES TRACE_EXEC_MAX

bool sim_is_text(uintptr_t addr);
void sim_view_open(void);
void sim_view_close(void);
struct trace_arch_view sim_view_enter(void);
void sim_view_leave(struct trace_arch_view view);
void *sim_view_of(uintptr_t addr);
void sim_relax(void);
void sim_serialise(void);

static inline bool trace_arch_is_text(uintptr_t addr)
{
	return sim_is_text(addr);
}

static inline void trace_arch_view_open(void)
{
	sim_view_open();
}

static inline void trace_arch_view_close(void)
{
	sim_view_close();
}

static inline struct trace_arch_view trace_arch_view_enter(void)
{
	return sim_view_enter();
}

static inline void trace_arch_view_leave(struct trace_arch_view view)
{
	sim_view_leave(view);
}

static inline void *trace_arch_view_of(uintptr_t addr)
{
	return sim_view_of(addr);
}

static inline void trace_arch_serialise(void)
{
	sim_serialise();
}

static inline void trace_arch_relax(void)
{
	sim_relax();
}

static inline uintptr_t trace_arch_exec_start(void)
{
	return SIM_EXEC_BASE;
}

static inline size_t trace_arch_exec_bytes(void)
{
	return SIM_EXEC_BYTES;
}

#endif

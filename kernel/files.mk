# Without call sites: probes run through these, or they answer for the tracer.
KERNEL_NOTRACE_SRCS := \
	kernel/count.c \
	kernel/events.c \
	kernel/no_tables.c \
	kernel/noise.c \
	kernel/process/process_events.c \
	kernel/process/user_return.c \
	kernel/process/unwind/cfi.c \
	kernel/process/unwind/cfi_cursor.c \
	kernel/process/unwind/cfi_entry.c \
	kernel/process/unwind/cfi_run.c \
	kernel/process/unwind/unwind.c \
	kernel/sched/sched_tracepoints.c \
	kernel/profile.c \
	kernel/pstore/pstore_ftrace.c \
	kernel/pstore/zone.c \
	kernel/string.c \
	kernel/symbols.c \
	kernel/time.c \
	kernel/trace_defer.c \
	kernel/trace_host.c \
	kernel/trace_places.c \
	kernel/trace_probes.c
# Each system call passes it, and mostly has nothing to do there.
CFLAGS_kernel/process/user_return.c := -momit-leaf-frame-pointer
CFLAGS_kernel/syscall/syscall.c := -momit-leaf-frame-pointer
# All other sources of kernel/ have them.
KERNEL_SRCS := $(filter-out $(KERNEL_NOTRACE_SRCS),$(sort $(wildcard kernel/*.c kernel/*/*.c kernel/*/*/*.c)))

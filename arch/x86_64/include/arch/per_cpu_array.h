/*
 * Arrays with an element for each CPU, which probes know as per-CPU variables: this_cpu_ptr(@NAME)
 * in an argument is the element of the CPU that is hit.
 *
 * 	static struct timer_queue queues[MAX_CPUS];
 * 	PER_CPU_ARRAY(queues);
 *
 *   queues -> | of CPU 0 | of CPU 1 | ...
 *
 * Context: per_cpu_this(): any. With preemption on, the thread may be on another CPU by now.
 */
#ifndef ARCH_PER_CPU_ARRAY_H
#define ARCH_PER_CPU_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <arch/cpu_local.h>

struct per_cpu_array {
	uintptr_t start;
	size_t bytes;	/* of all elements */
	size_t element; /* bytes of one */
};

/* The table of them, which the linker makes. */
extern const struct per_cpu_array __start_per_cpu_arrays[], __stop_per_cpu_arrays[];

/* Behind the definition of the array, at most once. */
#define PER_CPU_ARRAY(array)                                                                       \
	static const struct per_cpu_array per_cpu_array_##array                                    \
		__attribute__((used, section("per_cpu_arrays"), aligned(8))) = {                   \
			(uintptr_t)(array), sizeof(array), sizeof((array)[0])                      \
		}

/*
 * The address in this CPU's element that lies as far into it as `addr` into its own; 0 when `addr` is
 * in no such array.
 */
static inline uintptr_t per_cpu_this(uintptr_t addr)
{
	const struct per_cpu_array *array = __start_per_cpu_arrays;

	for (; array < __stop_per_cpu_arrays; array++) {
		if (addr - array->start < array->bytes)
			return array->start + cpu_local_read(id) * array->element +
			       (addr - array->start) % array->element;
	}
	return 0;
}

#endif

/*
 * Ring buffer: the public write side and the recording switches. See <trace/ring_buffer.h>.
 *
 * Locking: none here. The gate of a CPU counts reasons not to record, in one word with the mask
 * that the fast path uses: any reason, or a clock of its own, sends writers to the slow path.
 */
#include "ring_private.h"
#include "print/str.h"

static struct trace_ring_cpu *this_cpu(struct ring_buffer *buffer)
{
	return buffer->cpu[trace_plat_cpu_id()];
}

/* The slow rest of reserving. Preemption is off, and on again when there is no room. */
static TRACE_NOINLINE void *reserve_rest(struct trace_ring_cpu *rc, size_t len)
{
	void *payload = trace_ring_reserve_slow(rc, len);

	if (!payload)
		trace_plat_preempt_enable();
	return payload;
}

void *trace_ring_lock_short(struct ring_buffer *buffer, uint64_t step)
{
	struct trace_ring_cpu *rc;
	uint64_t word;
	void *payload;

	trace_plat_preempt_disable();
	rc = this_cpu(buffer);
	payload = trace_ring_try_step(rc, step, &word);
	if (TRACE_UNLIKELY(!payload))
		return reserve_rest(rc, (uint32_t)step - RING_HEAD_BYTES);
	return payload;
}

void *trace_ring_lock_any(struct ring_buffer *buffer, size_t len)
{
	trace_plat_preempt_disable();
	return reserve_rest(this_cpu(buffer), len);
}

static TRACE_NOINLINE void publish_rest(struct trace_ring_cpu *rc)
{
	trace_ring_publish(rc);
	trace_plat_preempt_enable();
}

void ring_buffer_unlock_commit(struct ring_buffer *buffer, void *payload)
{
	struct trace_ring_cpu *rc = this_cpu(buffer);

	if (TRACE_UNLIKELY(!trace_ring_try_commit_payload(rc, payload))) {
		publish_rest(rc);
		return;
	}
	trace_plat_preempt_enable();
}

void ring_buffer_discard_commit(struct ring_buffer *buffer, void *payload, size_t len)
{
	trace_ring_discard(this_cpu(buffer), payload, len);
	trace_plat_preempt_enable();
}

int ring_buffer_write(struct ring_buffer *buffer, const void *data, size_t len)
{
	void *payload = ring_buffer_lock_reserve(buffer, len);

	if (!payload)
		return -EBUSY;
	memcpy(payload, data, len);
	ring_buffer_unlock_commit(buffer, payload);
	return 0;
}

void trace_ring_gate(struct trace_ring_cpu *rc, int delta)
{
	uint64_t old = atomic_load(&rc->gate), new_gate, count;

	do {
		count = (old >> 32) + (uint64_t)(int64_t)delta;
		new_gate = count << 32;
		if (!count && !rc->clock)
			new_gate |= ring_size(rc) - 1;
	} while (!atomic_compare_exchange_weak(&rc->gate, &old, new_gate));
}

static void gate_all(struct ring_buffer *buffer, int delta)
{
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		trace_ring_gate(buffer->cpu[cpu], delta);
}

void ring_buffer_record_disable(struct ring_buffer *buffer)
{
	gate_all(buffer, 1);
}

void ring_buffer_record_enable(struct ring_buffer *buffer)
{
	gate_all(buffer, -1);
}

void ring_buffer_record_disable_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	if (cpu < buffer->nr_cpus)
		trace_ring_gate(buffer->cpu[cpu], 1);
}

void ring_buffer_record_enable_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	if (cpu < buffer->nr_cpus)
		trace_ring_gate(buffer->cpu[cpu], -1);
}

void ring_buffer_record_off(struct ring_buffer *buffer)
{
	if (!atomic_exchange(&buffer->is_off, 1))
		gate_all(buffer, 1);
}

void ring_buffer_record_on(struct ring_buffer *buffer)
{
	if (atomic_exchange(&buffer->is_off, 0))
		gate_all(buffer, -1);
}

bool ring_buffer_record_is_set_on(struct ring_buffer *buffer)
{
	return !atomic_load(&buffer->is_off);
}

bool ring_buffer_record_is_on(struct ring_buffer *buffer, int cpu)
{
	for (uint32_t i = 0; i < buffer->nr_cpus; i++) {
		if (cpu != RING_BUFFER_ALL_CPUS && (uint32_t)cpu != i)
			continue;
		if (atomic_load(&buffer->cpu[i]->gate) >> 32)
			return false;
	}
	return true;
}

void ring_buffer_change_overwrite(struct ring_buffer *buffer, bool overwrite)
{
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		atomic_store(&buffer->cpu[cpu]->overwrite, overwrite);
}

uint64_t ring_buffer_time_stamp(struct ring_buffer *buffer)
{
	return buffer->clock ? buffer->clock() : trace_plat_clock_ns();
}

uint32_t ring_buffer_subbuf_size(struct ring_buffer *buffer)
{
	return buffer->subbuf_size;
}

size_t ring_buffer_size(struct ring_buffer *buffer, uint32_t cpu)
{
	return cpu < buffer->nr_cpus ? (size_t)buffer->cpu[cpu]->nr_slots * buffer->subbuf_size : 0;
}

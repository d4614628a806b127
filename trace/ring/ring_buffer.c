/*
 * Ring buffer: the public write side and the recording switches. See <trace/ring_buffer.h>.
 *
 * Locking: none. The gate of a CPU is one word: it has the reasons not to record, and the mask of
 * the fast path. The mask is 0, which sends writers to the slow path, while there is any reason,
 * the ring is full, or its clock is not the default.
 */
#include "ring_private.h"
#include "text/str.h"

#define RING_LONG_QUICK 4096u /* bytes of payload: from there on the slow path does it */

static struct trace_ring_cpu *this_cpu(struct ring_buffer *buffer)
{
	return buffer->cpu[trace_plat_cpu_id()]; /* plain load: only this CPU exchanges it */
}

/* The slow rest of reserving. Preemption is off; it is on again when the result is NULL. */
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

/*
 * Claim room for an event with a head of two words, as trace_ring_try_step(): that has written the first of
 * them as if it were the only one, the number of words in it.
 */
static TRACE_ALWAYS_INLINE void *try_reserve_long(struct trace_ring_cpu *rc, uint32_t len)
{
	uint32_t bytes = 2 * RING_HEAD_BYTES + (uint32_t)ring_round_len(len), *payload;
	uint64_t word;

	payload = trace_ring_try_step(rc, RING_EVENT_ONE + bytes, &word);
	if (TRACE_UNLIKELY(!payload))
		return NULL;
	payload[-1] += RING_TYPE_LONG - (bytes / 4 - 1);
	payload[0] = bytes - RING_HEAD_BYTES;
	return payload + 1;
}

void *trace_ring_lock_any(struct ring_buffer *buffer, size_t len)
{
	struct trace_ring_cpu *rc;
	void *payload = NULL;

	trace_plat_preempt_disable();
	rc = this_cpu(buffer);
	if (TRACE_LIKELY(len > RING_SHORT_PAYLOAD && len < RING_LONG_QUICK))
		payload = try_reserve_long(rc, (uint32_t)len);
	return TRACE_LIKELY(payload) ? payload : reserve_rest(rc, len);
}

static TRACE_NOINLINE void publish_rest(struct trace_ring_cpu *rc)
{
	trace_ring_publish(rc);
	trace_plat_preempt_enable();
}

/*
 * Commit an event that does not start at the commit of the ring which this CPU has now. There are
 * two ways for that to happen. Either our event interrupted another one in this ring, whose commit
 * will publish it. Or an exchange of twins came between our look-up of the ring and our claim: then
 * our event is in the twin's ring. An exchange happens only while no event is open in both rings,
 * so ours is the outermost one there, and nothing is open in the ring that is here now.
 */
static TRACE_NOINLINE void commit_rest(struct ring_buffer *buffer)
{
	const struct trace_ring_cpu *rc = this_cpu(buffer);

	if (trace_ring_load(&rc->commit) == trace_ring_load(&rc->tail.lo))
		trace_ring_publish(this_cpu(__atomic_load_n(&buffer->twin, __ATOMIC_ACQUIRE)));
	trace_plat_preempt_enable();
}

void ring_buffer_unlock_commit(struct ring_buffer *buffer, void *payload)
{
	struct trace_ring_cpu *rc = this_cpu(buffer);

	if (TRACE_UNLIKELY(!trace_ring_is_outermost(rc, payload))) {
		commit_rest(buffer);
		return;
	}
	if (TRACE_UNLIKELY(!trace_ring_move_commit(rc, trace_ring_load(&rc->tail.lo)))) {
		publish_rest(rc);
		return;
	}
	trace_plat_preempt_enable();
}

/* The ring in which `payload` lies: this CPU's, or after an exchange that of the twin. */
static struct trace_ring_cpu *ring_buffer_home_of(struct ring_buffer *buffer, const void *payload)
{
	struct trace_ring_cpu *rc = this_cpu(buffer);
	uint64_t pos = (uint64_t)((const uint8_t *)payload - rc->base);

	if (pos >> rc->subbuf_shift < rc->nr_slots)
		return rc;
	return this_cpu(__atomic_load_n(&buffer->twin, __ATOMIC_ACQUIRE));
}

void ring_buffer_discard_commit(struct ring_buffer *buffer, void *payload, size_t len)
{
	trace_ring_discard(ring_buffer_home_of(buffer, payload), payload, len);
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

/* The high half of the gate as 64-bit values: bits on top, and from GATE_ONE a count below them. */
#define GATE_OFF  ((uint64_t)RING_GATE_OFF << 32)
#define GATE_FULL ((uint64_t)RING_GATE_FULL << 32)
#define GATE_ONE  ((uint64_t)1 << 32)
#define GATE_HIGH (~(uint64_t)0 << 32)

/*
 * The bits in `gate` that stop recording. The mark of a full ring is left out on purpose: the
 * change of the gate may have made room, and the next writer finds out.
 */
static uint64_t gate_reasons(uint64_t gate)
{
	return gate & (~(uint64_t)RING_GATE_OPEN << 32);
}

static uint64_t gate_with_mask(const struct trace_ring_cpu *rc, uint64_t reasons)
{
	if (rc->clock)
		return reasons | (uint64_t)RING_GATE_CLOCK << 32;
	return reasons ? reasons : ring_size(rc) - 1;
}

/*
 * Preemption is off from the look at clock and size to the exchange. Whoever changes those closes
 * the gate first and waits for such sections, so no old mask is stored after the change.
 */
void trace_ring_gate(struct trace_ring_cpu *rc, int nr)
{
	uint64_t old, new_gate, delta = (uint64_t)(int64_t)nr * GATE_ONE;

	trace_plat_preempt_disable();
	old = atomic_load(&rc->gate);
	do
		new_gate = gate_with_mask(rc, gate_reasons(old) + delta);
	while (!atomic_compare_exchange_weak(&rc->gate, &old, new_gate));
	trace_plat_preempt_enable();
}

void trace_ring_gate_off(struct ring_shared *shared, struct trace_ring_cpu *rc)
{
	uint64_t old, new_gate;
	bool is_off;

	trace_plat_preempt_disable();
	do {
		is_off = atomic_load(&shared->is_off);
		old = atomic_load(&rc->gate);
		do
			new_gate = gate_with_mask(rc, (gate_reasons(old) & ~GATE_OFF) |
							      (is_off ? GATE_OFF : 0));
		while (!atomic_compare_exchange_weak(&rc->gate, &old, new_gate));
		/* Another CPU may have switched, and stored its gate, since we loaded is_off. */
	} while (is_off != (bool)atomic_load(&shared->is_off));
	trace_plat_preempt_enable();
}

void trace_ring_gate_full(struct trace_ring_cpu *rc)
{
	uint64_t old = atomic_load(&rc->gate);

	while (!atomic_compare_exchange_weak(&rc->gate, &old, (old & GATE_HIGH) | GATE_FULL))
		;
}

static void gate_all(struct ring_buffer *buffer, int delta)
{
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		trace_ring_gate(trace_ring_of(buffer, cpu), delta);
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
		trace_ring_gate(trace_ring_of(buffer, cpu), 1);
}

void ring_buffer_record_enable_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	if (cpu < buffer->nr_cpus)
		trace_ring_gate(trace_ring_of(buffer, cpu), -1);
}

static void gate_off_all(struct ring_buffer *buffer)
{
	for (uint32_t cpu = 0; buffer && cpu < buffer->nr_cpus; cpu++)
		trace_ring_gate_off(buffer->shared, trace_ring_of(buffer, cpu));
}

/* A ring may be missed because it is exchanged meanwhile: ring_twin.c then sets its gate again. */
static bool ring_buffer_switch_all(struct ring_buffer *buffer, bool is_off)
{
	if (atomic_exchange(&buffer->shared->is_off, is_off) == is_off)
		return false;
	gate_off_all(buffer);
	gate_off_all(__atomic_load_n(&buffer->twin, __ATOMIC_ACQUIRE));
	return true;
}

bool ring_buffer_record_off(struct ring_buffer *buffer)
{
	return ring_buffer_switch_all(buffer, true);
}

bool ring_buffer_record_on(struct ring_buffer *buffer)
{
	return ring_buffer_switch_all(buffer, false);
}

bool ring_buffer_record_is_set_on(struct ring_buffer *buffer)
{
	return !atomic_load(&buffer->shared->is_off);
}

const _Atomic uint32_t *ring_buffer_off_word(const struct ring_buffer *buffer)
{
	return &buffer->shared->is_off;
}

bool ring_buffer_record_is_on(struct ring_buffer *buffer, int cpu)
{
	for (uint32_t i = 0; i < buffer->nr_cpus; i++) {
		struct trace_ring_cpu *rc = trace_ring_of(buffer, i);
		bool is_absent = !__atomic_load_n(&rc->base, __ATOMIC_RELAXED);

		if (cpu == RING_BUFFER_ALL_CPUS ? is_absent : (uint32_t)cpu != i)
			continue;
		if (trace_ring_closed_by(atomic_load(&rc->gate)))
			return false;
	}
	return true;
}

static void set_overwrite(struct ring_buffer *buffer, bool overwrite)
{
	for (uint32_t cpu = 0; buffer && cpu < buffer->nr_cpus; cpu++) {
		struct trace_ring_cpu *rc = trace_ring_of(buffer, cpu);

		atomic_store(&rc->overwrite, overwrite);
		trace_ring_unmark_full(rc);
	}
}

void ring_buffer_change_overwrite(struct ring_buffer *buffer, bool overwrite)
{
	trace_ring_forbid_swap(buffer);
	set_overwrite(buffer, overwrite);
	set_overwrite(buffer->twin, overwrite);
	trace_ring_allow_swap(buffer);
}

uint64_t ring_buffer_time_stamp(struct ring_buffer *buffer)
{
	ring_clock_fn clock = buffer->shared->clock;
	uint64_t now;

	trace_plat_preempt_disable();
	now = clock ? clock() : trace_plat_clock_ns();
	trace_plat_preempt_enable();
	return now;
}

size_t ring_buffer_size(struct ring_buffer *buffer, uint32_t cpu)
{
	const struct trace_ring_cpu *rc;
	uint32_t nr_slots;

	if (cpu >= buffer->nr_cpus)
		return 0;
	rc = trace_ring_of(buffer, cpu);
	nr_slots = rc->nr_slots;
	if (!nr_slots)
		nr_slots = trace_ring_slots_for(ring_size(rc), rc->asked_bytes);
	return (size_t)nr_slots << rc->subbuf_shift;
}

/*
 * See cpumask.h.
 */
#include <trace/trace_seq.h>
#include "array.h"
#include "cpumask.h"
#include "snapshot.h"
#include "text/str.h"

#define CHUNK_BITS   32u
#define CHUNK_DIGITS 8u

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * 0 if `text` consists of groups of one to eight hex digits with commas between, otherwise -errno.
 */
static int cpumask_check(const char *text)
{
	unsigned int digits = 0;

	for (; *text; text++) {
		if (*text == ',') {
			if (!digits || !text[1])
				return -EINVAL;
			digits = 0;
			continue;
		}
		if (digit_of(*text) < 0)
			return -EINVAL;
		digits++;
		if (digits > CHUNK_DIGITS)
			return -EOVERFLOW;
	}
	return 0;
}

/* Set wanted[cpu] for each CPU in the mask. Goes backwards: the last digit has CPUs 0 to 3. */
static int parse(const char *text, bool *wanted, uint32_t nr_cpus)
{
	size_t len = trace_strlen(text);
	uint32_t bit = 0, chunk = 0;

	while (len--) {
		if (text[len] == ',') {
			chunk += CHUNK_BITS;
			bit = 0;
			continue;
		}
		for (uint32_t i = 0; i < 4; i++, bit++) {
			uint32_t cpu = chunk + bit;

			if (!(digit_of(text[len]) >> i & 1))
				continue;
			if (cpu >= nr_cpus)
				return -EOVERFLOW;
			wanted[cpu] = true;
		}
	}
	return 0;
}

static void cpumask_apply(struct trace_array *tr, uint32_t cpu, bool wanted)
{
	struct trace_array_cpu *state = &tr->cpus[cpu];
	struct ring_buffer *buffers[TRACE_MAX_BUFFERS];

	if (wanted == !state->is_masked)
		return;
	state->is_masked = !wanted;
	trace_snapshot_pause(tr);
	trace_snapshot_buffers(tr, buffers);
	for (int i = 0; i < TRACE_MAX_BUFFERS && buffers[i]; i++) {
		if (wanted)
			ring_buffer_record_enable_cpu(buffers[i], cpu);
		else
			ring_buffer_record_disable_cpu(buffers[i], cpu);
	}
	trace_snapshot_resume(tr);
}

int trace_cpumask_set(struct trace_array *tr, const char *text)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	bool *wanted;
	int err;

	err = cpumask_check(text);
	if (err)
		return err;
	wanted = trace_plat_alloc(nr_cpus * sizeof(*wanted));
	if (!wanted)
		return -ENOMEM;
	err = parse(text, wanted, nr_cpus);
	for (uint32_t cpu = 0; !err && cpu < nr_cpus; cpu++)
		cpumask_apply(tr, cpu, wanted[cpu]);
	trace_plat_free(wanted, nr_cpus * sizeof(*wanted));
	return err;
}

void trace_cpumask_show(struct trace_array *tr, struct trace_seq *seq)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	uint32_t nr_chunks = (nr_cpus + CHUNK_BITS - 1) / CHUNK_BITS;

	for (uint32_t chunk = nr_chunks; chunk-- > 0;) {
		uint32_t bits = 0, nr = nr_cpus - chunk * CHUNK_BITS;

		if (nr > CHUNK_BITS)
			nr = CHUNK_BITS;
		for (uint32_t i = 0; i < nr; i++)
			bits |= (uint32_t)!tr->cpus[chunk * CHUNK_BITS + i].is_masked << i;
		trace_seq_printf(seq, "%0*x%s", (int)((nr + 3) / 4), bits, chunk ? "," : "\n");
	}
}

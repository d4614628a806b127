/*
 * The values that an entry of a histogram keeps: an interrupt, or an NMI, before every single instruction of
 * replacing it replaces it, too, or something of another entry. Compiled as in the kernel.
 *
 * links: trace/hist/hist_record.c
 */
#include "unit.h"
#include "fast.h"
#include "hist/hist_record.h"

#define MAX_INSNS 512u
#define WORDS	  3u

static struct hist_records *records;
static _Atomic uint64_t places[2];
static uint64_t irq_value;
static uint32_t irq_place;
static uint32_t nr_replaced;

static bool is_greater(uint64_t kept, uint64_t value)
{
	return value > kept;
}

static void fill(void *context, _Atomic uint64_t *record)
{
	hist_record_set(record, 1, *(uint64_t *)context * 3);
	hist_record_set(record, 2, ~*(uint64_t *)context);
}

static TRACE_NOINLINE void keep(uint32_t place, uint64_t value)
{
	const struct hist_record_wish wish = { value, is_greater, fill, &value };

	nr_replaced += trace_hist_record_replace(records, &places[place], &wish);
}

static void keep_one(void *arg)
{
	keep(0, (uint64_t)(uintptr_t)arg);
}

/* Twice, so that what was free is used again. */
static void keep_in_irq(void)
{
	keep(irq_place, irq_value);
	keep(irq_place, irq_value + 1);
}

static uint64_t read_place(uint32_t place)
{
	uint64_t words[WORDS];

	trace_hist_record_read(records, &places[place], words);
	assert_int_equal(words[1], words[0] * 3);
	assert_int_equal(words[2], ~words[0]);
	return words[0];
}

static void begin(void)
{
	trace_hist_records_clear(records);
	places[0] = places[1] = 0;
	keep(0, 10);
	nr_replaced = 0;
}

/* An interrupt at each instruction in turn, while place 0 gets 20. */
static void at_each(uint32_t place, uint64_t value, uint64_t want0, uint64_t want1)
{
	uint8_t *insns[MAX_INSNS];
	size_t nr, nr_came = 0;

	records = trace_hist_records_create(2, WORDS);
	assert_non_null(records);
	irq_place = place;
	irq_value = value;
	begin();
	fast_trace(keep_one, (void *)20, insns, MAX_INSNS, &nr);
	assert_in_range(nr, 50, MAX_INSNS - 1);
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = keep_in_irq };

		begin();
		if (fast_run_at(keep_one, (void *)20, &point, 1))
			nr_came++;
		else
			keep_in_irq();
		assert_int_equal(read_place(0), want0);
		if (want1)
			assert_int_equal(read_place(1), want1);
		assert_in_range(nr_replaced, 1, 3);
		/* No record was lost: all but those that are kept can be had again. */
		assert_in_range(records->nr_taken, 1, 4);
	}
	assert_in_range(nr_came, nr - 10, nr);
	trace_hist_records_destroy(records);
}

static void greater(void **state)
{
	(void)state;
	at_each(0, 30, 31, 0);
}

static void smaller(void **state)
{
	(void)state;
	at_each(0, 12, 20, 0);
}

static void of_another_entry(void **state)
{
	(void)state;
	at_each(1, 100, 20, 101);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(greater),
		cmocka_unit_test(smaller),
		cmocka_unit_test(of_another_entry),
	};

	fast_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

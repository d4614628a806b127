/*
 * Runs samples of golden_hist.h, each of which is a test. To be included by one test file.
 */
#ifndef GOLDEN_HIST_RUN_H
#define GOLDEN_HIST_RUN_H

#include "golden_hist.h"

#define GOLDEN_SAMPLES_MAX 40

static const struct golden_rules *golden_rules;

HELPER void golden_one(void **state)
{
	golden_replay(*state, golden_rules);
}

HELPER int golden_begin_one(void **state)
{
	void *ignored = NULL;
	int err = tracefs_reset(&ignored);

	(void)state;
	fake_thread_add(557, "sh");
	fake_cpus[0].pid = 557;
	return err;
}

HELPER int golden_end_one(void **state)
{
	const struct golden_sample *sample = *state;
	void *ignored = NULL;

	golden_end();
	fake_cpus[0].pid = 0;
	/* Files of synthetic events may stay for a while. */
	return sample->is_synthetic || sample->synthetic ? 0 : tracefs_check(&ignored);
}

/* Run all samples. Returns the status for main(). */
HELPER int golden_run_samples(const struct golden_sample *samples, size_t nr,
			      const struct golden_rules *rules)
{
	struct CMUnitTest tests[GOLDEN_SAMPLES_MAX];

	if (nr > GOLDEN_SAMPLES_MAX)
		return 1;
	golden_rules = rules;
	for (size_t i = 0; i < nr; i++)
		tests[i] = (struct CMUnitTest){ samples[i].name, golden_one, golden_begin_one,
						golden_end_one, (void *)(uintptr_t)&samples[i] };
	return _cmocka_run_group_tests("samples", tests, nr, golden_setup, NULL);
}

#endif

/* The lists of probes, as a test reads them: all lines, by the function of their file. */
#ifndef KPROBE_LIST_H
#define KPROBE_LIST_H

typedef size_t (*kprobe_list_next_fn)(uint64_t *cursor, char *buf, size_t size);

/* All of the list, which ends for good. Good until the next call. */
static const char *kprobe_list_of(kprobe_list_next_fn next)
{
	static char text[1000];
	uint64_t cursor = 0;
	size_t len = 0, nr;

	while ((nr = next(&cursor, text + len, sizeof(text) - len)))
		len += nr;
	assert_int_equal(next(&cursor, text + len, sizeof(text) - len), 0);
	text[len] = '\0';
	return text;
}

#endif

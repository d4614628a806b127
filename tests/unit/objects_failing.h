/*
 * Each allocation, and each call of the host that may fail, fails in turn while an object is made,
 * changed or removed. A line that is refused leaves the state of tracefs as it was, and nothing
 * allocated. Included by one test file, after objects.h.
 */
#ifndef OBJECTS_FAILING_H
#define OBJECTS_FAILING_H

#define STATE_BYTES (1u << 19)

/* ---- The state of tracefs: the text of files ---- */

struct failing_state {
	char text[STATE_BYTES];
	size_t len;
};

static struct failing_state failing_before, failing_after;

static void failing_add(struct failing_state *state, const char *path, const char *text)
{
	int len = snprintf(state->text + state->len, STATE_BYTES - state->len, "== %s\n%s", path,
			   text);

	assert_true(len >= 0 && state->len + (size_t)len < STATE_BYTES);
	state->len += (size_t)len;
}

/* Files of which each read is another one, or waits, are left out. */
static bool failing_is_stable(const struct trace_node *node)
{
	return node->mode & 0444 && !strstr(node->name, "pipe") && !strstr(node->name, "raw");
}

static void failing_walk(struct failing_state *state, const char *dir)
{
	struct trace_node *top = node_of(dir), *node = NULL;
	char path[200];

	while (top && (node = trace_fs_next_child(top, node))) {
		snprintf(path, sizeof(path), "%s/%s", dir, node->name);
		if (node->is_dir)
			failing_walk(state, path);
		else if (failing_is_stable(node))
			failing_add(state, path, cat(path));
	}
}

static void failing_look(struct failing_state *state, const struct object *object)
{
	state->len = 0;
	for (size_t i = 0; i < sizeof(object_lists) / sizeof(object_lists[0]); i++)
		failing_add(state, object_lists[i], cat(object_lists[i]));
	for (size_t i = 0; i < sizeof(object->dirs) / sizeof(object->dirs[0]); i++) {
		if (object->dirs[i])
			failing_walk(state, object->dirs[i]);
	}
	failing_add(state, "", "");
}

/* ---- One failure ---- */

enum failing_kind {
	FAILING_ALLOCATION, /* one fails, the others do not */
	FAILING_MEMORY,	    /* from one on all fail */
	FAILING_HOST,	    /* one call of the host fails */
	NR_FAILING
};

/* The call number `nr` of its kind fails. Returns whether it was reached, and what became of the line. */
static bool failing_write(enum failing_kind kind, long nr, const struct object_line *line,
			  int *out_err)
{
	bool was_reached;

	fake_alloc_fails_once = kind == FAILING_ALLOCATION;
	fake_alloc_budget = kind == FAILING_HOST ? -1 : nr;
	fake_host_budget = kind == FAILING_HOST ? nr : -1;
	fake_nr_refused = 0;
	*out_err = object_write(line);
	was_reached = fake_nr_refused > 0;
	fake_alloc_budget = fake_host_budget = -1;
	fake_alloc_fails_once = false;
	return was_reached;
}

static void failing_compare(const struct object *object, uint32_t line, enum failing_kind kind,
			    long nr)
{
	size_t at = 0;

	failing_look(&failing_after, object);
	if (strcmp(failing_before.text, failing_after.text) == 0)
		return;
	while (failing_before.text[at] == failing_after.text[at])
		at++;
	at = at > 100 ? at - 100 : 0;
	fail_msg("%s: line %u, failure %ld of kind %d: before\n%.300s\nafter\n%.300s", object->name,
		 line, nr, kind, failing_before.text + at, failing_after.text + at);
}

/* The lines before number `nr`, or from it on. */
static void failing_lines(const struct object *object, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		int err = object_write(&object->lines[i]);

		if (err)
			fail_msg("%s: %s: %d\n%s", object->name, object->lines[i].text, err,
				 cat("error_log"));
	}
}

/*
 * One line with one failure, among the others. Returns whether there are so many calls. A line that
 * got along without is not written again.
 */
static bool failing_once(const struct object *object, uint32_t line, enum failing_kind kind,
			 long nr)
{
	bool was_reached;
	int err;

	failing_lines(object, 0, line);
	failing_look(&failing_before, object);
	was_reached = failing_write(kind, nr, &object->lines[line], &err);
	if (err)
		failing_compare(object, line, kind, nr);
	failing_lines(object, line + !err, object_nr_lines(object));
	return was_reached;
}

/* Memory that is kept for later is kept once; what is lost is lost each time. */
static void failing_leaves_nothing(const struct object *object, uint32_t line,
				   enum failing_kind kind, long nr)
{
	long out;

	for (int i = 0; i < 3; i++) {
		out = object_memory();
		(void)failing_once(object, line, kind, nr);
		assert_int_equal(echo("", "error_log"), 0);
		if (object_memory() <= out)
			return;
	}
	fail_msg("%s: line %u, failure %ld of kind %d loses memory", object->name, line, nr, kind);
}

static void failing_object(const struct object *object)
{
	for (uint32_t line = 0; line < object_nr_lines(object); line++) {
		for (enum failing_kind kind = 0; kind < NR_FAILING; kind++) {
			long nr = 0, out;

			do {
				out = object_memory();
				if (!failing_once(object, line, kind, nr))
					break;
				assert_int_equal(echo("", "error_log"), 0);
				if (object_memory() > out)
					failing_leaves_nothing(object, line, kind, nr);
			} while (++nr);
		}
	}
}

HELPER void refused_changes_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		failing_lines(&objects[i], 0, object_nr_lines(&objects[i]));
		failing_object(&objects[i]);
	}
	assert_int_equal(fake_nr_bugs, 0);
	assert_int_equal(fake_nr_probes, 0);
}

#endif

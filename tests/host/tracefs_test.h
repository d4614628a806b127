/* Between tracefs.c, which runs the tests, and tracefs_dynamic.c. One thread runs one test. */
#ifndef TRACEFS_TEST_H
#define TRACEFS_TEST_H

#include <stdbool.h>
#include <tracefs.h>

extern struct tep_handle *tep;	     /* the formats of the kernel's events */
extern struct tracefs_instance *box; /* made for the test, and removed behind it */

/* Print an expectation that does not hold, with errno; the program then ends with 1. Gives `what`. */
#define EXPECT(what) expect((what), #what, __FILE_NAME__, __LINE__)
bool expect(bool holds, const char *what, const char *file, int line);

/* Does a file have this text? If not, what it has is printed. */
bool has_text(struct tracefs_instance *instance, const char *file, const char *wanted);

/* How often the events of this name are in the box's pages, which are read away; those with a `text`, or all if it is NULL. */
int count_events(const char *name, const char *text);

void test_probes(void);
void test_histograms(void);
void test_queries(void);

#endif

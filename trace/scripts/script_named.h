/*
 * Scripts with a name, which users make and remove as directories of tracefs: see script_files.c.
 *
 *   make --> no program --write--> program --enable--> it runs --disable, exit()--> its tables are kept
 *                ^---------------------'   ^---------------------------------------'
 *
 * Context:   thread.
 * Locking:   trace_scripts_lock() for all, where nothing else is said. Readers of the directory hold
 *            the arrays lock, and take only a lock of the names inside.
 * Ownership: a named script belongs to the list until it is removed; one with open files is not.
 */
#ifndef TRACE_SCRIPT_NAMED_H
#define TRACE_SCRIPT_NAMED_H

#include "script.h"

#define SCRIPTS_MAX	  32u
#define SCRIPT_NAME_BYTES 64u

struct script_named {
	char name[SCRIPT_NAME_BYTES];
	uint64_t number; /* from 1; no other one ever has the same */
	char *text;	 /* of the program, or NULL */
	size_t text_bytes;
	struct trace_script *script; /* of the text; NULL: none, or it could not be started */
	uint32_t nr_open;	     /* files */
	uint32_t nr_printing;	     /* those of them that print tables of the script */
	bool has_reader;	     /* of the output */
};

void trace_scripts_lock(void);
void trace_scripts_unlock(void);

/* NULL: it was removed. */
struct script_named *trace_script_named_of(uint64_t number);
/*
 * The name, number and place in the list of the `index`-th; false: there are fewer. Any lock may be
 * held but that of the names.
 */
bool trace_script_named_at(size_t index, char *out_name, uint64_t *out_number, size_t *out_place);
/* Changes whenever one is made or removed; no lock. */
uint64_t trace_script_named_version(void);

/* No lock held. 0; -EEXIST; -EINVAL; -ENAMETOOLONG; -ENOSPC: there are SCRIPTS_MAX; -ENOMEM. */
int trace_script_named_make(const char *name);
/* No lock held. 0; -ENOENT; -EBUSY: it runs, or a file of it is open. */
int trace_script_named_remove(const char *name);

/*
 * Have a program, in the place of the one before. 0; -EBUSY: that runs, or its tables are being read;
 * -ENOMEM; an error of trace_script_create(), with *out_error.
 */
int trace_script_named_write(struct script_named *named, const char *text,
			     struct trace_script_error *out_error);
/*
 * Start its program, anew if it has run, or stop it. 0, also if it is so already; -ENODATA: there is
 * no program; -EBUSY: the tables of its last run are being read; errors of trace_script_create()
 * and trace_script_start().
 */
int trace_script_named_switch(struct script_named *named, bool on);
bool trace_script_named_is_on(const struct script_named *named);

#endif

/*
 * A file system for code under test on the build host: a few files and directories, found by their
 * whole path, some of which have their readers wait.
 */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <kernel/vfs.h>

struct node {
	char path[VFS_PATH_MAX];
	struct vfs_stat stat;
	char text[600];
	bool waits;	 /* who reads an empty one waits; a write adds to the text */
	uint32_t events; /* what file_events() finds, besides text */
	uint32_t asked;	 /* the events that were asked for last */
	bool is_nonblock;
	bool is_gone; /* its directory still has the name */
};

/* The root, /d with /d/a, /d/b, /d/dd; /f with "hello"; /w, which waits. */
void files_reset(void);
struct node *files_find(const char *path);
struct node *files_add(const char *path, enum vfs_type type, const char *text);
/* Put text into a file that waits, and wake its readers. */
void files_say(const char *path, const char *text);
/* Another file with the same name. */
void files_replace(const char *path);
/* Open files. */
long files_nr_open(void);
/* The flags of the last open, and the last call that was to change something. */
extern uint32_t files_last_flags;
extern char files_last_call[2 * VFS_PATH_MAX + 16];
/* Threads that wait in a read. */
extern _Atomic uint32_t files_nr_readers;
/* The calls of vfs_open() that fail from now on: 1 the next one. 0: none */
extern uint32_t files_fail_open_at;
/* The answer of vfs_stat(), whatever it is asked for; 0: the usual one. */
extern int files_stat_error;

#endif

/*
 * Input of filters: the files named as arguments one after the other (standard input when there are
 * none), line by line.
 *
 * Context: thread. Locking: none. Ownership: reader_open/reader_close; the line is the reader's.
 */
#ifndef KERNEL_CMD_READER_H
#define KERNEL_CMD_READER_H

#include <kernel/command.h>

#define READER_BYTES	4096u
#define READER_LINE_MAX 65536u

struct reader {
	struct command_env *env;
	struct file *file; /* NULL between files */
	const char *path;  /* of file; "-" for standard input */
	char **paths;	   /* still to come */
	int nr_paths;
	int nr_failed; /* files that could not be opened or read */
	char *buf;     /* READER_BYTES */
	size_t pos;
	size_t len;
	char *line;
	size_t line_size;
};

/* False, after a message, when out of memory. */
bool reader_open(struct reader *reader, struct command_env *env, int nr_paths, char **paths);
void reader_close(struct reader *reader);
/* Go to the next file; what is left of this one is passed over. False behind the last one. */
bool reader_next_file(struct reader *reader);
/*
 * The next line of this file, with its newline if it has one, NUL behind. Length, 0 at the end of
 * the file (also after an error, which was reported, and when the command should stop).
 */
size_t reader_line(struct reader *reader, char **out_line);
/* The same through all files. */
size_t reader_any_line(struct reader *reader, char **out_line);
/* Bytes as they come: what is there, at least one; 0 at the end. */
size_t reader_chunk(struct reader *reader, char **out_bytes);

#endif

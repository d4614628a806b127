/*
 * Input of filters: the files named as arguments one after the other (standard input when there are
 * none), line by line.
 *
 * Context: thread. Locking: none. Ownership: reader_open/reader_close; a line or chunk belongs to
 * the reader and is good until the next call.
 */
#ifndef KERNEL_CMD_READER_H
#define KERNEL_CMD_READER_H

#include <kernel/command.h>

#define READER_BYTES	4096u
#define READER_LINE_MAX 65536u /* with NUL; a longer line is given in pieces */

struct reader {
	struct command_env *env;
	struct file *file; /* NULL between files */
	const char *path;  /* of file; "-" for standard input */
	char **paths;	   /* the files still to come */
	int nr_paths;
	int nr_failed; /* files that could not be opened, or not be read to their end */
	char *buf;     /* READER_BYTES of room for bytes of the file */
	size_t pos;    /* bytes of `buf` that were given out */
	size_t len;    /* bytes in `buf` */
	char *line;    /* the last line */
	size_t line_size;
};

/* Then reader_next_file() or reader_any_line(). False, after a message, when out of memory. */
bool reader_open(struct reader *reader, struct command_env *env, int nr_paths, char **paths);
void reader_close(struct reader *reader);
/*
 * Go to the next file that can be opened; the rest of this one is skipped. A file that cannot be
 * opened is reported and counted. False behind the last file.
 */
bool reader_next_file(struct reader *reader);
/*
 * The next line of this file, with its newline if it has one, NUL behind. Length, 0 at the end of
 * the file (also after an error such as a lack of memory for the line, which was reported and
 * counted, and when the command should stop).
 */
size_t reader_line(struct reader *reader, char **out_line);
/* The same through all files, one after the other. */
size_t reader_any_line(struct reader *reader, char **out_line);
/* The next bytes of this file, as many as one read gives. Their number; 0 at the end, as above. */
size_t reader_chunk(struct reader *reader, char **out_bytes);

#endif

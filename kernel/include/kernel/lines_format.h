/*
 * The table of source lines, made by tools/lines, in the section .lines:
 *
 *   header | offsets of the files' paths | paths, each with a NUL | rows, by ascending address
 *
 * A row says: from this address on, machine code is of this line of this file. It is stored as the
 * difference from the row before:
 *
 *   0x00-0xef        address + (byte & 15), line + (byte >> 4) - 7
 *   LINES_FAR a l    the same, with a and l as numbers of any size; l is zigzag: 0 -1 1 -2 2
 *   LINES_FILE n     the rows that follow are of file n
 *   LINES_END        nothing is known from the last row's address on; the rows go on behind
 *
 * Numbers have 7 bits a byte, the lowest first; all bytes but the last have the highest bit set.
 */
#ifndef KERNEL_LINES_FORMAT_H
#define KERNEL_LINES_FORMAT_H

#include <stdint.h>

enum {
	LINES_FAR = 0xf0,
	LINES_FILE = 0xf1,
	LINES_END = 0xf2,
	LINES_NEAR_ADDR = 16,
	LINES_NEAR_LINE = 7, /* -7 to 7 */
};

struct lines_header {
	uint64_t base; /* the address before the first row */
	uint32_t nr_files;
	uint32_t file_pos; /* from the start of the header: uint32_t for each file, of its path */
	uint32_t row_pos;
	uint32_t row_bytes;
};

extern const struct lines_header lines_blob; /* nr_files 0: there is no table */

#endif

/*
 * The program that a regular expression becomes: shared by regex_compile.c and regex.c.
 *
 * Context, locking, ownership: as regex.h.
 */
#ifndef KERNEL_REGEX_CODE_H
#define KERNEL_REGEX_CODE_H

#include <kernel/base.h>

#define REGEX_CODE_MAX	  512u
#define REGEX_CLASSES_MAX 96u
#define REGEX_DEPTH_MAX	  16u
#define REGEX_STACK_MAX	  (2 * REGEX_CODE_MAX)

enum regex_op {
	REGEX_CLASS, /* one character of a class, then the next instruction */
	REGEX_SPLIT, /* go on at x and at y */
	REGEX_JUMP,  /* go on at x */
	REGEX_BEGIN, /* only at the start of the text: x */
	REGEX_END,   /* only at its end: x */
	REGEX_MATCH,
};

struct regex_insn {
	uint8_t op;
	uint8_t class;
	uint16_t x;
	uint16_t y;
};

/* Instructions that wait for the next character. */
struct regex_set {
	uint32_t nr;
	uint16_t pcs[REGEX_CODE_MAX];
	uint8_t marks[REGEX_CODE_MAX]; /* visited */
};

struct regex {
	uint32_t nr_code;
	uint32_t nr_classes;
	bool has_first;	   /* `first` says what a match can begin with */
	uint8_t first[32]; /* bit per character */
	struct regex_insn code[REGEX_CODE_MAX];
	uint8_t classes[REGEX_CLASSES_MAX][32];
	struct regex_set sets[2];
	uint16_t stack[REGEX_STACK_MAX];
};

#endif

/*
 * The program that a regular expression becomes: regex_compile.c makes it, regex.c runs it.
 *
 * Context, locking, ownership: as in regex.h.
 */
#ifndef KERNEL_REGEX_CODE_H
#define KERNEL_REGEX_CODE_H

#include <kernel/base.h>

#define REGEX_CODE_MAX	  512u
#define REGEX_CLASSES_MAX 96u
#define REGEX_DEPTH_MAX	  16u /* groups inside each other */
#define REGEX_STACK_MAX	  (2 * REGEX_CODE_MAX)

enum regex_op {
	REGEX_CLASS, /* one character of a class, then the next instruction */
	REGEX_SPLIT, /* go on at x and at y */
	REGEX_JUMP,  /* go on at x */
	REGEX_BEGIN, /* at the start of the text go on at x; elsewhere no match */
	REGEX_END,   /* at the end of the text go on at x; elsewhere no match */
	REGEX_MATCH, /* the expression has matched */
};

struct regex_insn {
	uint8_t op;    /* enum regex_op */
	uint8_t class; /* REGEX_CLASS: index in `classes` */
	uint16_t x;
	uint16_t y;
};

/* The instructions that the ways through the program have reached at one place of the text. */
struct regex_set {
	uint32_t nr;
	uint16_t pcs[REGEX_CODE_MAX];  /* those of type CLASS and MATCH */
	uint8_t marks[REGEX_CODE_MAX]; /* bool by pc: was reached */
};

struct regex {
	uint32_t nr_code;
	uint32_t nr_classes;
	bool has_first;	   /* `first` has the characters that a match can begin with */
	uint8_t first[32]; /* a bit for each character */
	struct regex_insn code[REGEX_CODE_MAX];
	uint8_t classes[REGEX_CLASSES_MAX][32];
	struct regex_set sets[2];	 /* this character's and the next one's, while matching */
	uint16_t stack[REGEX_STACK_MAX]; /* of regex_add_reachable() */
};

#endif

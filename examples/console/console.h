/* Declarations that the files of this kernel share; the machine is that of tiny.h. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include "tiny.h"

/* console.c: one round of what this kernel does besides, and is not Ctrl-C typed behind it? */
bool console_round(void);
/* Carry out a line as if it was typed. */
void console_line(char *line);
/* Text without its NUL. */
void console_text(const char *text, size_t len);

/* bt.c: the command `bt [-c LINE] SCRIPT` or `bt -l PATTERN`; argv[0] is "bt". */
void bt(int argc, char **argv);

/* machine_faults.c, faults.asm: reads of addresses that are not there fail. After machine_init(). */
void machine_faults_init(void);

#endif

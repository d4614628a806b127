/*
 * Backslash escapes of echo -e and printf.
 *
 * Context: any. Locking, ownership: none.
 */
#ifndef KERNEL_CMD_ESCAPE_H
#define KERNEL_CMD_ESCAPE_H

/*
 * The character that the escape at `pos` (behind the backslash) stands for. Returns where the text
 * goes on; an unknown escape stands for the backslash itself.
 */
const char *escape_char(const char *pos, char *out_c);

#endif

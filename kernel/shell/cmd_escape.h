/*
 * Backslash escapes of echo -e and printf. They differ a little, and are what bash makes of them:
 *
 *            in echo -e           in the format of printf   in an argument of %b
 *   octal    \0, then 3 digits    3 digits                  3 digits, a 0 before not counted
 *   \" \' \?  are no escapes       are                       are none
 *
 * Context: any. Locking, ownership: none.
 */
#ifndef KERNEL_CMD_ESCAPE_H
#define KERNEL_CMD_ESCAPE_H

enum escape_kind {
	ESCAPE_ECHO,
	ESCAPE_FORMAT,
	ESCAPE_ARGUMENT
};

/*
 * The character that the escape at `pos` (behind the backslash) stands for. Returns where the text
 * goes on; an unknown escape stands for the backslash itself.
 */
const char *escape_char(const char *pos, enum escape_kind kind, char *out_c);

#endif

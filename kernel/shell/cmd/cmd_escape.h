/*
 * Backslash escapes of echo -e and printf. They differ a little, as in bash:
 *
 *            in echo -e           in the format of printf   in an argument of %b
 *   octal    \0, then 3 digits    3 digits                  3 digits, a 0 before not counted
 *   \" \' \?  are no escapes       are                       are none
 *
 * Context: any. Locking, ownership: none. The code is in cmd_echo.c.
 */
#ifndef KERNEL_CMD_ESCAPE_H
#define KERNEL_CMD_ESCAPE_H

enum escape_kind {
	ESCAPE_ECHO,	/* echo -e */
	ESCAPE_FORMAT,	/* the format of printf */
	ESCAPE_ARGUMENT /* an argument of printf's %b */
};

/*
 * Set *out_c to the character of the escape at `pos` (behind the backslash), and return the
 * position behind it. An unknown escape is none: *out_c is a backslash, and the text goes on at
 * `pos`.
 */
const char *escape_char(const char *pos, enum escape_kind kind, char *out_c);

#endif

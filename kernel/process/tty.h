/*
 * The files of the terminal, between each other and for processes: see <kernel/tty.h>.
 *
 * Locking: said at each function.
 */
#ifndef KERNEL_PROCESS_TTY_H
#define KERNEL_PROCESS_TTY_H

#include <kernel/lock.h>
#include <kernel/tty.h>

struct process;

/* struct termios as the kernel has it on Linux. */
#define TTY_NCCS 19
struct user_termios {
	uint32_t iflag, oflag, cflag, lflag;
	uint8_t line;
	uint8_t cc[TTY_NCCS];
};

struct user_winsize {
	uint16_t rows, columns, xpixel, ypixel;
};

#define VINTR	0
#define VQUIT	1
#define VERASE	2
#define VKILL	3
#define VEOF	4
#define VTIME	5
#define VMIN	6
#define VSUSP	10
#define VEOL	11
#define VWERASE 14
#define VLNEXT	15
#define VEOL2	16

#define INLCR 0x40u
#define IGNCR 0x80u
#define ICRNL 0x100u
#define IXON  0x400u
#define OPOST 0x1u
#define ONLCR 0x4u

#define ISIG	0x1u
#define ICANON	0x2u
#define ECHO	0x8u
#define ECHOE	0x10u
#define ECHOK	0x20u
#define ECHONL	0x40u
#define NOFLSH	0x80u
#define TOSTOP	0x100u
#define ECHOCTL 0x200u
#define ECHOKE	0x800u
#define IEXTEN	0x8000u

#define TTY_BYTES 4096u /* typed, and not read yet; also of a line */

struct tty {
	struct mutex lock;
	struct user_termios termios;
	struct user_winsize winsize;
	/*
	 * Cells by growing positions: [tail, ready) can be read, [ready, head) is the line being typed. A
	 * cell is a byte, TTY_LINE_END with the last one of a line, TTY_EOF for an end without a byte.
	 */
	uint16_t cells[TTY_BYTES];
	uint32_t tail, ready, head;
	bool takes_literally;	    /* Ctrl-V was typed */
	uint32_t nr_programs;	    /* that the kernel's shell has given the terminal to */
	int32_t job;		    /* of the shell, that they belong to */
	_Atomic int32_t session;    /* it is the controlling terminal of that one; 0: of none */
	_Atomic int32_t foreground; /* its group that may read; 0: all of the session */
	_Atomic uint32_t
		keys; /* bytes of SIGINT, SIGQUIT, SIGTSTP, lowest first, VLNEXT; 0: none */
	_Atomic bool is_literal;  /* the byte that arrives next is no key */
	_Atomic bool keeps_typed; /* NOFLSH */
	_Atomic bool is_flushed;  /* a key has sent a signal: what was typed before is forgotten */
};
extern struct tty tty;

#define TTY_LINE_END 0x100u
#define TTY_EOF	     0x200u

/* tty_line.c; the lock is held. Take what was typed: edit, echo, make lines. */
void tty_pump(void);
/* Forget what was typed. */
void tty_flush_input(void);
/* How many bytes a read would give now; with an end of file, 1 more. */
size_t tty_nr_ready(void);
/* Take up to `len` bytes, in canonical mode of one line. */
size_t tty_take(uint8_t *to, size_t len);

/* tty.c. Settings have changed, lock held: of the keys, for interrupts. */
void tty_note_settings(void);
/* May the running process change the terminal? 0; -EIO, or -ERESTARTSYS with SIGTTOU sent. */
int tty_check_change(void);
/* Is the process in the foreground of its terminal? */
bool tty_is_foreground(const struct process *process);

/*
 * The kernel gives a program the terminal, as leader of a session, or, if its shell has just done so with
 * another one of the same job, as one more member; then takes it back, with the settings of the start.
 * True: it has it.
 */
bool tty_begin_program(struct process *process, int32_t job);
void tty_end_program(void);
/* A process ends, or gives its terminal up: if it leads the session, all of that lose it. */
void tty_disassociate(struct process *process);

#endif

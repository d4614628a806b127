/*
 * Terminals, the console and those of pty.h: what they have in common. See <kernel/tty.h>.
 *
 * Context:   thread of a program, unless said.
 * Locking:   tty.lock guards settings and what was typed; session and group are read without it.
 * Ownership: tty_get() gives a reference for tty_put().
 */
#ifndef KERNEL_PROCESS_TTY_H
#define KERNEL_PROCESS_TTY_H

#include <kernel/lock.h>
#include <kernel/tty.h>

struct file;
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

struct tty;

/* How a kind of terminal does things. tty.lock is held in echo() and getc_now(). */
struct tty_ops {
	/* To who types, a newline as the settings have it. */
	void (*echo)(struct tty *tty, const char *text, size_t len);
	int (*getc_now)(
		void); /* the next typed byte, or -errno; NULL: they come by tty_receive() */
	/* Until done(arg), as waitq_wait() that can be interrupted; and have all who wait look again. */
	int (*wait)(struct tty *tty, bool (*done)(void *arg), void *arg, uint64_t timeout_ns);
	void (*wake)(struct tty *tty);
	void (*drain)(void); /* until all is sent; NULL: it is */
};

struct tty {
	const struct tty_ops *ops;
	uint64_t id; /* no two have had the same; the lower half is the number of the device */
	bool reads_of_others; /* processes whose terminal it is not may read */
	/* A file that was opened before the last hang-up, of which it has the number in `pos`, is of no use. */
	_Atomic uint32_t nr_hang_ups;
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
#define TTY_ID_CONSOLE 0x501u

/* By its id; NULL: there is none any more, or the id is 0. NULL may be put. */
struct tty *tty_get(uint64_t id);
void tty_put(struct tty *tty);

#define TTY_LINE_END 0x100u
#define TTY_EOF	     0x200u

/* tty_line.c; the lock is held. Take what was typed: edit, echo, make lines. */
void tty_pump(struct tty *tty);
/* The same of one byte, for which there has to be room. */
bool tty_has_room(struct tty *tty);
void tty_receive(struct tty *tty, uint8_t byte);
/* Forget what was typed. */
void tty_flush_input(struct tty *tty);
/* How many bytes a read would give now; with an end of file, 1 more. */
size_t tty_nr_ready(struct tty *tty);
/* Take up to `len` bytes, in canonical mode of one line. */
size_t tty_take(struct tty *tty, uint8_t *to, size_t len);

/* tty.c. The settings at the start, and a change of them, lock held: of the keys, for interrupts. */
extern const struct user_termios tty_start_settings;
void tty_note_settings(struct tty *tty);
/* The signal that a typed byte sends, or 0, in any context; and its echo, "" for none. */
int tty_key_signal(struct tty *tty, uint8_t byte);
const char *tty_key_echo(const struct tty *tty, int sig);
/* A signal for the group in the foreground; without one, for all of the session. */
void tty_tell(struct tty *tty, int sig);
/* The session has no terminal any more. Lock held. */
void tty_forget_session(struct tty *tty);
/* May the running process change the terminal, or write? 0; -EIO, or -ERESTARTSYS with SIGTTOU sent. */
int tty_check_change(struct tty *tty);
int tty_check_write(struct tty *tty);
/* Is it the controlling terminal of the process? Is the process in its foreground? May it read? */
bool tty_is_terminal_of(struct tty *tty, const struct process *process);
bool tty_is_foreground(struct tty *tty, const struct process *process);
bool tty_reads_of(struct tty *tty, const struct process *process);
/* Are there `len` bytes to read, or as many as the settings say? */
bool tty_has_bytes(struct tty *tty, size_t len);
/* Was it hung up since the file was opened? */
bool tty_is_gone(struct tty *tty, const struct file *file);
/* read(): bytes; 0 at the end, or after it was hung up; -EAGAIN, -EINTR, -ERESTARTSYS, -EIO. */
ssize_t tty_read_bytes(struct tty *tty, const struct file *file, void *buf, size_t len);

/* tty_ioctl.c. -ENOTTY: another call. */
long tty_control(struct tty *tty, unsigned int cmd, unsigned long arg);
/* The leader of a session without a terminal makes this its own. 0; -EPERM: another session has it. */
long tty_take_terminal(struct tty *tty);

/*
 * tty_console.c. The kernel gives a program the console, as leader of a session, or, if its shell has just done so with
 * another one of the same job, as one more member; then takes it back, with the settings of the start.
 * True: it has it.
 */
bool tty_begin_program(struct process *process, int32_t job);
void tty_end_program(void);
/* A process ends, or gives its terminal up: if it leads the session, all of that lose it. */
void tty_disassociate(struct process *process);

#endif

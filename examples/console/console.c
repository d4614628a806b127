/*
 * A kernel with a console, at which its own functions can be asked questions: `bt` with a script. It
 * has one CPU and no threads. What it does besides is a round of work, again and again.
 */
#include <trace/arch_text.h>
#include <trace/defaults.h>
#include <trace/fs.h>
#include <trace/ftrace.h>
#include <trace/heap.h>
#include <trace/trace.h>
#include "console.h"

#define HEAP_BYTES (24u << 20)
#define LINE_BYTES 512
#define WORDS_MAX  8
#define CTRL_C	   3

#define SERIAL	       0x3f8
#define SERIAL_STATUS  0x3fd
#define SERIAL_HAS_ONE 1

static uint8_t in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

/* ---- Characters ---- */

void console_text(const char *text, size_t len)
{
	for (char piece[2] = ""; len--; text++) {
		piece[0] = *text;
		console_write(piece);
	}
}

static void console_out(void *arg, const char *text, size_t len)
{
	(void)arg;
	console_text(text, len);
}

/* The next key; 0: none is there. */
static char take_key(void)
{
	return in8(SERIAL_STATUS) & SERIAL_HAS_ONE ? (char)in8(SERIAL) : '\0';
}

/* Keys that were typed while a script ran, for the lines that come. */
static char typed[LINE_BYTES];
static size_t nr_typed, nr_taken;

static char wait_for_key(void)
{
	char key = '\0';

	if (nr_taken < nr_typed)
		return typed[nr_taken++];
	nr_taken = nr_typed = 0;
	while (!key)
		key = take_key();
	return key;
}

static void read_line(char *line)
{
	size_t len = 0;

	do {
		line[len] = wait_for_key();
	} while (line[len] != '\n' && line[len] != '\r' && ++len < LINE_BYTES - 1);
	line[len] = '\0';
}

bool console_round(void)
{
	char key = take_key();

	demo(3);
	if (key && key != CTRL_C && nr_typed < sizeof(typed))
		typed[nr_typed++] = key;
	return key != CTRL_C;
}

/* ---- Lines ---- */

/* Cut a line into words, at blanks that are not between '' or "". */
static int cut(char *line, char **words)
{
	int nr = 0;

	while (nr < WORDS_MAX) {
		char end = ' ';

		while (*line == ' ')
			line++;
		if (!*line)
			break;
		if (*line == '\'' || *line == '"')
			end = *line++;
		words[nr++] = line;
		while (*line && *line != end)
			line++;
		if (*line)
			*line++ = '\0';
	}
	return nr;
}

void console_line(char *line)
{
	char *words[WORDS_MAX];

	switch (line[0]) {
	case 'b':
		bt(cut(line, words), words);
		break;
	case 'd': /* demo N */
		print("%s", demo((unsigned int)(line[5] - '0')) ? "true" : "false");
		break;
	case 'o': /* off */
		power_off();
	case '\0':
		break;
	default: /* a line for the files of the library, as `cat available_events` */
		if (trace_fs_command(line, console_out, NULL, NULL))
			print("that was not possible");
	}
}

/* ---- Start ---- */

extern const struct trace_symbol symbols[]; /* made from the first link: Makefile */
extern const size_t nr_symbols;
extern char text_end[];

void main(void);

void main(void)
{
	static uint8_t heap[HEAP_BYTES];
	static char line[LINE_BYTES];

	trace_one_cpu.stack_top = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t);
	machine_init();
	machine_faults_init();
	trace_heap_give(heap, sizeof(heap));
	trace_symbols_set(symbols, nr_symbols, (uintptr_t)text_end);
	ftrace_init();
	trace_boot_param("trace_buf_size", "64K");
	text_poke_selftest();
	if (trace_init())
		power_off();
	trace_boot_start();
	for (;;) {
		console_write("> ");
		read_line(line);
		console_write("\n");
		console_line(line);
	}
}

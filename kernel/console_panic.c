/* The console of a dying machine: polled, no lock, no interrupt. */
#include <arch/uart.h>
#include <kernel/console.h>
#include <kernel/printk.h>
#include <kernel/pstore.h>
#include "console_priv.h"
#include "dmesg.h"

static uint64_t next_message;
static struct dmesg_line line;

void console_panic_write(const char *buf, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (buf[i] == '\n')
			uart_early_putc(UART_COM1, '\r');
		uart_early_putc(UART_COM1, (uint8_t)buf[i]);
	}
}

static void console_show_line(void)
{
	console_panic_write(line.text, line.len);
	console_panic_write("\n", 1);
}

/* Show all messages that were not shown yet; in a panic without time stamps. */
void console_panic_messages(void)
{
	pstore_panic_messages();
	while (dmesg_read(&next_message, &line))
		console_show_line();
}

void console_panic_skip_to(uint64_t seq, enum log_level level)
{
	next_message = seq;
	while (dmesg_read(&next_message, &line)) {
		if (line.level <= level)
			console_show_line();
	}
}

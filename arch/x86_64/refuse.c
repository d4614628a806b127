/* See refuse.h. */
#include <arch/cpu.h>
#include <arch/uart.h>

#include "refuse.h"

static void refuse_say(const char *text)
{
	for (; *text; text++)
		uart_early_putc(UART_COM1, (uint8_t)*text);
}

void arch_refuse(const char *why)
{
	uart_init();
	refuse_say("\r\nFathom cannot start: ");
	refuse_say(why);
	refuse_say("\r\nSystem halted.\r\n");
	arch_halt_forever();
}

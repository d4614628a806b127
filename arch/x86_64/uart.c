/*
 * Serial ports, polled: early boot, panic. See <arch/uart.h>.
 */
#include "uart_regs.h"
#include <arch/cpu.h>
#include <arch/uart.h>

#define PATIENCE 4000000u /* polls, which take seconds on any machine */

static const uint16_t bases[UART_NR_PORTS] = { [UART_COM1] = 0x3f8, [UART_COM2] = 0x2f8 };
static bool is_there[UART_NR_PORTS];

uint16_t uart_base(unsigned int port)
{
	return bases[port];
}

bool uart_present(unsigned int port)
{
	return port < UART_NR_PORTS && is_there[port];
}

static bool probe(uint16_t base)
{
	outb(base + UART_SCR, 0x5a);
	if (inb(base + UART_SCR) != 0x5a)
		return false;
	outb(base + UART_SCR, 0xa5);
	return inb(base + UART_SCR) == 0xa5;
}

static void set_up(uint16_t base)
{
	outb(base + UART_IER, 0);
	outb(base + UART_LCR, LCR_DLAB);
	outb(base + UART_DATA, UART_DIVISOR);
	outb(base + UART_IER, 0);
	outb(base + UART_LCR, LCR_8N1);
	outb(base + UART_IIR, FCR_ENABLE | FCR_TRIGGER_8);
	outb(base + UART_MCR, MCR_DTR | MCR_RTS | MCR_OUT2);
}

void uart_init(void)
{
	unsigned int port;

	for (port = 0; port < UART_NR_PORTS; port++) {
		if (is_there[port])
			continue;
		is_there[port] = probe(bases[port]);
		if (is_there[port])
			set_up(bases[port]);
	}
}

static void wait_for(unsigned int port, uint8_t status)
{
	uint32_t polls;

	for (polls = 0; polls < PATIENCE; polls++) {
		if (inb(bases[port] + UART_LSR) & status)
			return;
		arch_cpu_relax();
	}
}

void uart_early_putc(unsigned int port, uint8_t byte)
{
	if (!uart_present(port))
		return;
	wait_for(port, LSR_TX_EMPTY);
	outb(bases[port] + UART_DATA, byte);
}

void uart_flush(unsigned int port)
{
	if (uart_present(port))
		wait_for(port, LSR_TX_ALL_OUT);
}

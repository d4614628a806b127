/*
 * The two serial ports, 16550 compatible, 115200 8N1: COM1 is the console, COM2 the machine
 * channel. Polled output works from the first instruction of C; interrupts come later, when the
 * interrupt controllers are up.
 *
 *   uart_init --> uart_early_putc (polled)
 *             --> uart_start(port, client): rx called per byte; uart_tx_kick() makes the
 *                 transmitter ask tx for bytes until it has none
 *
 * Context:   uart_early_putc - any, NMI and panic included. The rest - see each function.
 * Locking:   a port's transmitter has a spin lock of its own, taken with interrupts off; tx is
 *            called under it. Polled output takes none.
 * Ownership: the client table must live forever.
 */
#ifndef ARCH_UART_H
#define ARCH_UART_H

#include <stdbool.h>
#include <stdint.h>

enum uart_port {
	UART_COM1,
	UART_COM2,
	UART_NR_PORTS
};

/* Both are called with interrupts off, from the interrupt or from uart_tx_kick(). */
struct uart_client {
	void (*rx)(unsigned int port, uint8_t byte);
	/* The next byte to send; false when there is none. Must not call back into uart. */
	bool (*tx)(unsigned int port, uint8_t *out_byte);
};

/* Find and set up both ports for polled use. Repeatable. Boot CPU, interrupts off. */
void uart_init(void);
bool uart_present(unsigned int port);
/* Send one byte, waiting for room; gives up on a dead port. Any context. */
void uart_early_putc(unsigned int port, uint8_t byte);
/* Wait until the last byte has left the chip. Any context. */
void uart_flush(unsigned int port);

/* Go over to interrupts. -ENODEV: no such port or no route for its interrupt. After apic_init(). */
int uart_start(unsigned int port, const struct uart_client *client);
/*
 * tx has bytes now. Does not wait. Any context but NMI; the caller holds no lock that tx takes.
 * Does nothing before uart_start().
 */
void uart_tx_kick(unsigned int port);

#endif

/*
 * The two serial ports, 16550 compatible, 115200 8N1: COM1 is the console, COM2 a machine
 * channel. Polled output works once uart_init() has run, which needs nothing of the kernel;
 * interrupts come later, when the interrupt controllers are up.
 *
 *   uart_init --> uart_early_putc (polled)
 *             --> uart_start(port, client): rx is called for each byte that comes; uart_tx_kick()
 *                 makes the transmitter call tx for bytes until that has none
 *
 * Context:   uart_early_putc - any, NMI and panic included. The rest - see each function.
 * Locking:   a port's transmitter has a spin lock of its own, taken with interrupts off; tx is
 *            called under it. Polled output takes none.
 * Ownership: struct uart_client is the caller's, and stays for ever.
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
	/*
	 * Can rx take a byte? If not, bytes stay in the chip until uart_rx_resume(). Optional; may
	 * be called under the port's lock.
	 */
	bool (*rx_room)(unsigned int port);
	/* The next byte to send; false when there is none. Must not call back into uart. */
	bool (*tx)(unsigned int port, uint8_t *out_byte);
	/* tx may have been called: there may be room. Optional; called without the port's lock. */
	void (*sent)(unsigned int port);
};

/* Find and set up both ports for polled use. Repeatable. Boot CPU, interrupts off. */
void uart_init(void);
bool uart_present(unsigned int port);
/* Send one byte, waiting for room; gives up on a dead port. Any context. */
void uart_early_putc(unsigned int port, uint8_t byte);
/* Wait until the last byte has left the chip. Any context. */
void uart_flush(unsigned int port);

/*
 * Go over to interrupts, which come to the running CPU. After apic_init(). -ENODEV when there is no
 * such port or its interrupt has no route, -EBUSY when it was started before; then `client` is not
 * used.
 */
int uart_start(unsigned int port, const struct uart_client *client);
/*
 * Say that tx has bytes now. Does not wait for them to be sent. Does nothing before uart_start().
 * Any context but NMI; the caller holds no lock that tx takes.
 */
void uart_tx_kick(unsigned int port);
/* Say that there is room again. Any context but NMI. */
void uart_rx_resume(unsigned int port);

#endif

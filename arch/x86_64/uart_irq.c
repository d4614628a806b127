/*
 * Serial ports, interrupt driven. See <arch/uart.h>.
 */
#include "irq_stats.h"
#include "raw_lock.h"
#include "uart_regs.h"
#include <arch/apic.h>
#include <arch/sections.h>
#include <arch/trap.h>
#include <arch/uart.h>
#include <trace/events/irq.h>

#define MAX_ROUNDS 64 /* an interrupt serves the chip so often at most */

/* The state of one port's transmitter; `lock` guards it and the port's IER. */
struct uart_line {
	struct raw_lock lock;
	const struct uart_client *client; /* NULL until uart_start() has worked */
	bool is_sending;		  /* the transmit interrupt is on */
	bool is_rx_paused;		  /* the receive interrupt is off */
	uint8_t isa_irq;
};

static struct uart_line lines[UART_NR_PORTS] = {
	[UART_COM1] = { .isa_irq = 4 },
	[UART_COM2] = { .isa_irq = 3 },
};

/* Switch on the interrupts that the line wants now. Its lock is held. */
static void uart_set_interrupts(unsigned int port)
{
	const struct uart_line *line = &lines[port];

	outb(uart_base(port) + UART_IER,
	     (line->is_rx_paused ? 0 : IER_RX_READY) | (line->is_sending ? IER_TX_EMPTY : 0));
}

/*
 * Fill the FIFO if it is empty. Afterwards the transmit interrupt is on if there is, or may be,
 * more to send. The line's lock is held.
 */
static void uart_transmit(unsigned int port)
{
	uint16_t base = uart_base(port);
	struct uart_line *line = &lines[port];
	bool is_more = true;
	uint8_t byte;
	int sent;

	if (inb(base + UART_LSR) & LSR_TX_EMPTY) {
		for (sent = 0; sent < UART_FIFO_BYTES; sent++) {
			if (!line->client->tx(port, &byte))
				break;
			outb(base + UART_DATA, byte);
		}
		is_more = sent > 0;
	}
	if (line->is_sending == is_more)
		return;
	line->is_sending = is_more;
	uart_set_interrupts(port);
}

static void uart_tell_sent(unsigned int port)
{
	if (lines[port].client->sent)
		lines[port].client->sent(port);
}

void uart_tx_kick(unsigned int port)
{
	struct uart_line *line = &lines[port];
	uint64_t flags;

	if (!line->client)
		return;
	flags = raw_lock(&line->lock);
	if (!line->is_sending)
		uart_transmit(port);
	raw_unlock(&line->lock, flags);
	uart_tell_sent(port);
}

static bool uart_has_room(unsigned int port)
{
	const struct uart_client *client = lines[port].client;

	return !client->rx_room || client->rx_room(port);
}

/* Asks again under the lock: uart_rx_resume() may just have found nothing to resume. */
static void uart_rx_pause(unsigned int port)
{
	struct uart_line *line = &lines[port];
	uint64_t flags = raw_lock(&line->lock);

	if (!uart_has_room(port)) {
		line->is_rx_paused = true;
		uart_set_interrupts(port);
	}
	raw_unlock(&line->lock, flags);
}

void uart_rx_resume(unsigned int port)
{
	struct uart_line *line = &lines[port];
	uint64_t flags = raw_lock(&line->lock);

	if (line->is_rx_paused) {
		line->is_rx_paused = false;
		uart_set_interrupts(port); /* raises an interrupt for the bytes that have come */
	}
	raw_unlock(&line->lock, flags);
}

static void uart_receive(unsigned int port)
{
	uint16_t base = uart_base(port);

	while (inb(base + UART_LSR) & LSR_RX_READY) {
		if (!uart_has_room(port)) {
			uart_rx_pause(port);
			return;
		}
		lines[port].client->rx(port, inb(base + UART_DATA));
	}
}

/*
 * The interrupt is edge triggered: the chip raises no other while it has a reason left. So serve it
 * until it has none.
 */
static void uart_interrupt(unsigned int port)
{
	struct uart_line *line = &lines[port];
	uint64_t flags;
	int rounds;

	irq_stats_count(SMP_IRQ_UART);
	apic_eoi();
	trace_irq_handler_entry(line->isa_irq, smp_irq_name(SMP_IRQ_UART));
	for (rounds = 0; rounds < MAX_ROUNDS; rounds++) {
		if (inb(uart_base(port) + UART_IIR) & IIR_NONE)
			break;
		uart_receive(port);
		flags = raw_lock(&line->lock);
		if (line->is_sending)
			uart_transmit(port);
		raw_unlock(&line->lock, flags);
		uart_tell_sent(port);
	}
	trace_irq_handler_exit(line->isa_irq, rounds > 0);
}

static IRQ_ENTRY void uart_com1_interrupt(struct trap_frame *regs)
{
	(void)regs;
	uart_interrupt(UART_COM1);
}

static IRQ_ENTRY void uart_com2_interrupt(struct trap_frame *regs)
{
	(void)regs;
	uart_interrupt(UART_COM2);
}

int uart_start(unsigned int port, const struct uart_client *client)
{
	struct uart_line *line = &lines[port];
	uint64_t flags;
	int err;

	if (!uart_present(port))
		return -ENODEV;
	err = arch_irq_register(APIC_VECTOR_ISA_BASE + line->isa_irq,
				port == UART_COM1 ? uart_com1_interrupt : uart_com2_interrupt);
	if (!err)
		err = ioapic_route_isa(line->isa_irq, cpu_local_read(apic_id));
	if (err)
		return err;

	flags = raw_lock(&line->lock);
	line->client = client; /* the chip raises no interrupt before the next line */
	outb(uart_base(port) + UART_IER, IER_RX_READY);
	uart_transmit(port);
	raw_unlock(&line->lock, flags);
	return 0;
}

/*
 * Registers of a 16550, as offsets from its port base.
 */
#ifndef UART_REGS_H
#define UART_REGS_H

#include <stdint.h>

#define UART_DATA 0 /* THR, RBR; divisor low with LCR_DLAB */
#define UART_IER  1 /* divisor high with LCR_DLAB */
#define UART_IIR  2 /* FCR when written */
#define UART_LCR  3
#define UART_MCR  4
#define UART_LSR  5
#define UART_SCR  7

#define IER_RX_READY 0x01
#define IER_TX_EMPTY 0x02

#define IIR_NONE 0x01

#define FCR_ENABLE    0x01
#define FCR_TRIGGER_8 0x80

#define LCR_8N1	 0x03
#define LCR_DLAB 0x80

#define MCR_DTR	 0x01
#define MCR_RTS	 0x02
#define MCR_OUT2 0x08 /* lets the interrupt out of the chip */

#define LSR_RX_READY   0x01
#define LSR_TX_EMPTY   0x20 /* room for a whole FIFO */
#define LSR_TX_ALL_OUT 0x40

#define UART_FIFO_BYTES 16
#define UART_DIVISOR	1 /* 115200 baud */

/* Base of a port, whether or not it is there. */
uint16_t uart_base(unsigned int port);

#endif

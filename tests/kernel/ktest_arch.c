/* Page tables and their rights, executable memory, accesses that may fault, the serial port. */
#include <arch/cpu.h>
#include <arch/nofault.h>
#include <arch/paging.h>
#include <arch/sections.h>
#include <arch/uart.h>
#include "ktest.h"
#include <kernel/mm.h>
#include <kernel/text.h>
#include <trace/arch_exec.h>
#include "write_nofault.h"

#define TEST_VIRT (VMAP_END - (64 << 20)) /* far from what vmalloc() hands out */

static uint8_t some_data = 0xc3;
static const uint8_t some_constant = 0x55;

/* True when `addr` can be read and not written. */
static bool is_read_only(const void *addr)
{
	uint8_t byte;

	return arch_read_nofault(&byte, addr, 1) && !write_nofault((void *)addr, byte);
}

static void test_rights(void)
{
	const void *text = (const void *)test_rights;

	KTEST_CHECK(is_read_only(text));
	KTEST_CHECK(is_read_only(&some_constant));
	KTEST_CHECK(is_read_only((const void *)EXEC_BASE));
	KTEST_CHECK(is_read_only(arch_phys_to_virt(arch_virt_to_phys(text))));
	KTEST_CHECK(is_read_only(arch_phys_to_virt(arch_virt_to_phys(&some_constant))));
	KTEST_CHECK(is_read_only(arch_phys_to_virt(arch_virt_to_phys(exec_pool_start))));
	KTEST_CHECK(!is_read_only(&some_data));
	KTEST_CHECK(!is_read_only(arch_phys_to_virt(arch_virt_to_phys(&some_data))));
	KTEST_CHECK(arch_check_wx() == 0);
}

static void test_guard_pages(void)
{
	uint8_t byte;

	KTEST_CHECK(!arch_read_nofault(&byte, boot_stack_guard, 1));
	KTEST_CHECK(!arch_read_nofault(&byte, boot_stack_guard + 4095, 1));
	KTEST_CHECK(arch_read_nofault(&byte, boot_stack, 1));
	KTEST_CHECK(!arch_read_nofault(&byte, (const void *)CPU_STACK_BASE, 1));
	KTEST_CHECK(!arch_read_nofault(&byte, NULL, 1));
	KTEST_CHECK(!arch_read_nofault(&byte, (const void *)0x100000, 1)); /* boot/ is gone */
}

/* The walk finds a second, writable mapping of text: it is not right just because it is silent. */
static void test_wx_check_finds(void)
{
	uint64_t text = arch_virt_to_phys((const void *)text_start);

	if (!KTEST_NEED(arch_map(TEST_VIRT, text, PAGE_WRITE) == 0))
		return;
	KTEST_CHECK(arch_check_wx() == 1);
	arch_unmap(TEST_VIRT);
	KTEST_CHECK(arch_check_wx() == 0);
}

static void test_map(void)
{
	void *page = alloc_pages(0);
	uint64_t phys;

	if (!KTEST_NEED(page != NULL))
		return;
	KTEST_CHECK(arch_map(TEST_VIRT, arch_virt_to_phys(page), PAGE_WRITE | PAGE_EXEC) ==
		    -EINVAL);
	KTEST_CHECK(arch_map(0x400000, arch_virt_to_phys(page), PAGE_WRITE) == -EINVAL);
	KTEST_CHECK(!arch_lookup(TEST_VIRT, &phys));

	KTEST_CHECK(arch_map(TEST_VIRT, arch_virt_to_phys(page), PAGE_WRITE) == 0);
	KTEST_CHECK(arch_map(TEST_VIRT, arch_virt_to_phys(page), 0) == -EEXIST);
	KTEST_CHECK(arch_lookup(TEST_VIRT + 5, &phys) && phys == arch_virt_to_phys(page) + 5);
	*(volatile uint32_t *)TEST_VIRT = 0x12345678;
	KTEST_CHECK(*(volatile uint32_t *)page == 0x12345678);

	arch_unmap(TEST_VIRT);
	arch_flush_tlb_all_cpus(TEST_VIRT, 1);
	KTEST_CHECK(!arch_lookup(TEST_VIRT, &phys));
	KTEST_CHECK(!arch_read_nofault(&phys, (const void *)TEST_VIRT, 1));
	free_pages(page, 0);
}

/* A large page counts as mapped. */
static void test_map_in_large_page(void)
{
	void *block = alloc_pages(PAGE_MAX_ORDER);

	if (!KTEST_NEED(block != NULL))
		return;
	KTEST_CHECK(arch_map((uintptr_t)block, arch_virt_to_phys(block), 0) == -EEXIST);
	free_pages(block, PAGE_MAX_ORDER);
}

static _Atomic uint32_t nr_asked;

static void uart_take(unsigned int port, uint8_t byte)
{
	(void)port;
	(void)byte;
	atomic_fetch_add(&nr_asked, 1);
}

static bool uart_give(unsigned int port, uint8_t *out_byte)
{
	(void)port;
	(void)out_byte;
	atomic_fetch_add(&nr_asked, 1);
	return false;
}

/* A port has one client: who comes later gets an error and is not called. */
static void test_uart_has_one_client(void)
{
	static const struct uart_client other = { .rx = uart_take, .tx = uart_give };

	KTEST_CHECK(uart_start(UART_COM1, &other) == -EBUSY);
	uart_tx_kick(UART_COM1);
	KTEST_CHECK(atomic_load(&nr_asked) == 0);
}

static void test_alias(void)
{
	uintptr_t code;
	uint8_t ret = 0xc3, before = 0;
	bool could_write, could_read_closed;
	uint64_t irqs, root;

	mutex_lock(&text_mutex);
	code = trace_exec_alloc(1);
	if (!KTEST_NEED(code != 0)) {
		mutex_unlock(&text_mutex);
		return;
	}
	KTEST_CHECK(!arch_read_nofault(&before, arch_alias_of(code), 1));
	irqs = arch_irq_save();
	root = arch_alias_enter();
	could_read_closed = arch_read_nofault(&before, arch_alias_of(code), 1);
	arch_alias_open();
	arch_read_nofault(&before, arch_alias_of(code), 1);
	could_write = write_nofault(arch_alias_of(code), ret);
	arch_alias_leave(root);
	arch_irq_restore(irqs);
	KTEST_CHECK(!could_read_closed);
	KTEST_CHECK(could_write);
	KTEST_CHECK(*(volatile uint8_t *)code == ret);
	((void (*)(void))code)();

	write_nofault((void *)code, before);
	KTEST_CHECK(*(volatile uint8_t *)code == ret); /* only through the alias */
	irqs = arch_irq_save();
	root = arch_alias_enter();
	write_nofault(arch_alias_of(code), before);
	arch_alias_leave(root);
	arch_alias_close();
	arch_irq_restore(irqs);
	KTEST_CHECK(*(volatile uint8_t *)code == before);
	trace_exec_free(code, 1);
	mutex_unlock(&text_mutex);
}

static void test_exec_alloc(void)
{
	static const size_t sizes[] = { 1, 64, 65, 128, 4096, 5000 };
	uintptr_t got[ARRAY_SIZE(sizes)];
	size_t before;

	mutex_lock(&text_mutex);
	before = trace_exec_used();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		got[i] = trace_exec_alloc(sizes[i]);
		KTEST_CHECK(got[i] != 0 && got[i] % TRACE_EXEC_UNIT == 0);
		KTEST_CHECK(arch_exec_contains(got[i]) &&
			    arch_exec_contains(got[i] + sizes[i] - 1));
		for (size_t k = 0; k < i; k++)
			KTEST_CHECK(got[i] + sizes[i] <= got[k] || got[k] + sizes[k] <= got[i]);
	}
	KTEST_CHECK(trace_exec_used() - before == (1 + 1 + 2 + 2 + 64 + 79) * TRACE_EXEC_UNIT);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		trace_exec_free(got[i], sizes[i]);
	KTEST_CHECK(trace_exec_used() == before);
	KTEST_CHECK(trace_exec_alloc(0) == 0);
	KTEST_CHECK(trace_exec_alloc(EXEC_BYTES + 1) == 0);
	KTEST_CHECK(trace_exec_alloc(SIZE_MAX - 10) == 0);
	mutex_unlock(&text_mutex);
}

/* The inner one of two finds interrupts off, and leaves them so. */
static void test_irq_flags(void)
{
	uint64_t outer = trace_plat_irq_save(), inner = trace_plat_irq_save();
	bool was_off;

	trace_plat_irq_restore(inner);
	was_off = trace_plat_irqs_disabled();
	trace_plat_irq_restore(outer);
	KTEST_CHECK(was_off && !trace_plat_irqs_disabled());
}

const struct ktest ktest_arch[] = {
	{ "arch_rights", test_rights },
	{ "arch_guard_pages", test_guard_pages },
	{ "arch_wx_walk_reports_a_breach", test_wx_check_finds },
	{ "arch_map", test_map },
	{ "arch_map_in_large_page", test_map_in_large_page },
	{ "uart_has_one_client", test_uart_has_one_client },
	{ "arch_alias", test_alias },
	{ "trace_exec_alloc", test_exec_alloc },
	{ "trace_irq_flags", test_irq_flags },
	{ 0 },
};

; boot.asm - from the boot loader to C.
;
; In:    32-bit protected mode, paging off, and either the registers of multiboot2: eax = magic, ebx
;        = information; or those of PVH (`qemu -kernel` comes in by that note): ebx = information,
;        which begins with a magic.
; Calls: arch_start(struct handover *), on the boot stack, in long mode, interrupts off.
;
; The first page tables map the first 4 GiB at 0 and in the direct map, and the first GiB at
; KERNEL_BASE, all writable and executable; paging_init() replaces them.

%include "boot.inc"

MB2_MAGIC	equ 0xe85250d6
MB2_LOADED	equ 0x36d76289
PVH_LOADED	equ 0x336ec578
NR_BOOT_PDS	equ 4			; page directories; each maps 1 GiB

extern arch_start
extern kernel_phys_start
extern kernel_phys_end

section .boot.header progbits alloc noexec nowrite align=8

mb2_header:
	dd	MB2_MAGIC
	dd	0			; i386, protected mode
	dd	mb2_header.end - mb2_header
	dd	-(MB2_MAGIC + 0 + (mb2_header.end - mb2_header)) & 0xffffffff
.console:
	align	8, db 0
	dw	4, 1			; console, optional
	dd	12
	dd	1 << 1			; text mode will do
	align	8, db 0
	dw	0, 0			; end
	dd	8
.end:

section .note.pvh note alloc noexec nowrite align=4
	dd	4, 4, 18		; name size, value size, XEN_ELFNOTE_PHYS32_ENTRY
	db	"Xen", 0
	dd	_start

section .boot.text progbits alloc exec nowrite align=16
bits 32

global _start:function
_start:
	cli
	cld
	mov	ebp, eax
	rdtsc
	mov	esp, PHYS(boot_stack_top)
	mov	[PHYS(boot_handover) + handover.boot_tsc], eax
	mov	[PHYS(boot_handover) + handover.boot_tsc + 4], edx
	mov	[PHYS(boot_handover) + handover.info_phys], ebx
	mov	dword [PHYS(boot_handover) + handover.phys_start], kernel_phys_start
	mov	dword [PHYS(boot_handover) + handover.phys_end], kernel_phys_end

	mov	esi, message.loader
	cmp	ebp, MB2_LOADED
	je	.loaded
	mov	ebp, [ebx]
	cmp	ebp, PVH_LOADED
	jne	refuse
.loaded:
	mov	[PHYS(boot_handover) + handover.magic], ebp
	call	check_cpu
	call	make_tables

	mov	eax, cr4
	or	eax, CR4_PAE | CR4_PGE
	mov	cr4, eax
	mov	eax, PHYS(boot_pml4)
	mov	cr3, eax
	mov	ecx, MSR_EFER
	rdmsr
	or	eax, EFER_LME | EFER_NXE
	wrmsr
	mov	eax, cr0
	and	eax, ~(0x60000000)	; caches on
	or	eax, CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_PE
	mov	cr0, eax
	lgdt	[boot_gdt.pointer]
	jmp	0x08:long_mode

; Returns only on a CPU that has CPUID, long mode, NX and CMPXCHG16B, which the kernel needs.
check_cpu:
	mov	esi, message.long_mode
	pushfd				; CPUID exists when EFLAGS.ID can be changed
	pop	eax
	mov	ecx, eax
	xor	eax, 1 << 21
	push	eax
	popfd
	pushfd
	pop	eax
	xor	eax, ecx
	test	eax, 1 << 21
	jz	refuse
	mov	eax, 0x80000000
	cpuid
	cmp	eax, 0x80000001
	jb	refuse
	mov	eax, 0x80000001
	cpuid
	test	edx, 1 << 29
	jz	refuse
	mov	esi, message.nx
	test	edx, 1 << 20
	jz	refuse
	mov	esi, message.cx16
	mov	eax, 1
	cpuid
	test	ecx, 1 << 13
	jz	refuse
	ret

; The tables are in .bss, which the loader zeroed, so only entries that are present are written.
make_tables:
	mov	eax, PHYS(boot_pdpt_low) + (PTE_PRESENT | PTE_WRITE)
	mov	[PHYS(boot_pml4)], eax
	mov	[PHYS(boot_pml4) + DIRECT_MAP_SLOT * 8], eax
	mov	eax, PHYS(boot_pdpt_high) + (PTE_PRESENT | PTE_WRITE)
	mov	[PHYS(boot_pml4) + 511 * 8], eax

	mov	eax, PHYS(boot_pds) + (PTE_PRESENT | PTE_WRITE)
	mov	[PHYS(boot_pdpt_high) + 510 * 8], eax
	mov	edi, PHYS(boot_pdpt_low)
	mov	ecx, NR_BOOT_PDS
.next_pd:
	mov	[edi], eax
	add	eax, 4096
	add	edi, 8
	loop	.next_pd

	mov	eax, PTE_PRESENT | PTE_WRITE | PTE_LARGE
	mov	edi, PHYS(boot_pds)
	mov	ecx, NR_BOOT_PDS * 512
.next_page:
	mov	[edi], eax
	add	eax, 2 << 20
	add	edi, 8
	loop	.next_page
	ret

; Say `Fathom cannot start: ` and the text at esi on COM1, and stop.
refuse:
	mov	ebx, esi
	mov	edi, uart_setup
.setup:
	movzx	edx, byte [edi]
	cmp	edx, 0xff
	je	.say
	add	edx, COM1
	mov	al, [edi + 1]
	out	dx, al
	add	edi, 2
	jmp	.setup
.say:
	mov	esi, message.start
	call	print
	mov	esi, ebx
	call	print
	mov	esi, message.end
	call	print
.halt:
	cli
	hlt
	jmp	.halt

print:
	mov	ah, [esi]
	test	ah, ah
	jz	.done
	mov	ecx, 100000		; a port that is not there never gets ready
.wait:
	mov	edx, COM1 + 5
	in	al, dx
	test	al, 0x20
	loopz	.wait
	mov	edx, COM1
	mov	al, ah
	out	dx, al
	inc	esi
	jmp	print
.done:
	ret

bits 64
long_mode:
	mov	eax, 0x10
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	xor	eax, eax
	mov	fs, eax
	mov	gs, eax
	mov	rsp, boot_stack_top
	xor	ebp, ebp		; 0: backtraces end here
	mov	rdi, boot_handover
	mov	rax, arch_start
	push	0			; arch_start() has no return address
	jmp	rax

section .boot.rodata progbits alloc noexec nowrite align=8

	align	8
boot_gdt:
	dq	0
	dq	0x00af9b000000ffff	; 64-bit code, accessed
	dq	0x00cf93000000ffff	; data, accessed
.end:
.pointer:
	dw	boot_gdt.end - boot_gdt - 1
	dq	boot_gdt

uart_setup:				; pairs of register and value, for 115200 baud, 8N1; 0xff ends them
	db	1, 0x00, 3, 0x80, 0, 0x01, 1, 0x00, 3, 0x03, 2, 0x07, 4, 0x03, 0xff

message:
.start:		db	13, 10, "Fathom cannot start: ", 0
.loader:	db	"it must be loaded by GRUB (multiboot2 command) or another loader that knows multiboot2 or PVH", 0
.long_mode:	db	"this CPU has no 64-bit long mode", 0
.nx:		db	"this CPU has no NX (no-execute pages); it may be off in the firmware set-up", 0
.cx16:		db	"this CPU has no CMPXCHG16B", 0
.end:		db	13, 10, "System halted.", 13, 10, 0

section .bss align=4096 nobits
global boot_stack_guard
global boot_stack
global boot_stack_top
boot_pml4:	resb 4096
boot_pdpt_low:	resb 4096
boot_pdpt_high:	resb 4096
boot_pds:	resb 4096 * NR_BOOT_PDS
boot_stack_guard: resb 4096		; unmapped by paging_init()
boot_stack:	resb 16384
boot_stack_top:
boot_handover:	resb handover_size

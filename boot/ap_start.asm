; ap_start - from reset to smp_ap_entry(), for every CPU but the first.
;
; The first part is a template: arch/x86_64/smp.c copies it to a page below 1 MiB, writes struct
; ap_params at the page's end, and sends the page's number as startup vector. The CPU comes in with
; CS:IP = page << 8 : 0 (Intel SDM volume 3, "MP Initialization"). It turns on protected mode, paging
; and long mode at once, with page tables that have the kernel half and this page, and then leaves the
; page for ap_high in the kernel's text.
;
; The parameters are for one CPU. Another one that comes here woke up too late, and halts.

%include "offsets.inc"		; struct ap_params, from the start of the page

CR0_LONG_MODE	equ 0x80010033	; PG WP NE ET MP PE; caches on
CR4_PAE		equ 1 << 5
MSR_EFER	equ 0xc0000080
EFER_LME_NXE	equ 1 << 8 | 1 << 11

CODE64		equ 0x08
DATA		equ 0x10

%define at(label) ((label) - ap_start)

extern smp_ap_entry
global ap_start, ap_start_bytes

section .rodata
align 16
bits 16
ap_start:
	cli
	cld
	mov	ax, cs
	mov	ds, ax
	cmp	dword [AP_IS_ARMED], 1
	jne	.halt
	mov	eax, 1
	cpuid
	shr	ebx, 24			; low 8 bits of the initial APIC id
	cmp	bl, [AP_APIC_ID]
	jne	.halt

	xor	esi, esi
	mov	si, cs
	shl	esi, 4			; esi: address of this page
	lea	eax, [esi + at(gdt)]
	mov	[at(gdt_pointer.base)], eax
	lea	eax, [esi + at(long_mode)]
	mov	[at(far_target)], eax

	o32 lgdt [at(gdt_pointer)]
	mov	eax, CR4_PAE
	mov	cr4, eax
	mov	eax, [AP_ROOT]
	mov	cr3, eax
	mov	ecx, MSR_EFER
	rdmsr
	or	eax, EFER_LME_NXE
	wrmsr
	mov	eax, CR0_LONG_MODE
	mov	cr0, eax
	jmp	far dword [at(far_target)]
.halt:
	hlt
	jmp	.halt

align 8
gdt:
	dq	0
	dq	0x00af9b000000ffff	; CODE64, accessed: the CPU does not write to this page
	dq	0x00cf93000000ffff	; DATA
gdt_pointer:
	dw	gdt_pointer - gdt - 1
.base:	dd	0
align 4
far_target:
	dd	0
	dw	CODE64

align 8
bits 64
long_mode:
	mov	esi, esi		; the upper half is undefined after the switch
	mov	ax, DATA
	mov	ds, ax
	mov	es, ax
	mov	ss, ax
	mov	rax, [rsi + AP_KERNEL_ROOT]
	mov	rsp, [rsi + AP_STACK_TOP]
	mov	rdi, [rsi + AP_CPU]
	mov	rcx, qword ap_high
	jmp	rcx
.end:

align 4
ap_start_bytes:
	dd	long_mode.end - ap_start

section .text
; In: rax kernel's root, rsp stack, rdi CPU number.
ap_high:
	mov	cr3, rax
	xor	ebp, ebp		; 0: backtraces end here
	call	smp_ap_entry
	ud2

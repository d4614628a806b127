; Start of the first CPU, which QEMU enters at _start in 32-bit mode (the PVH protocol of Xen), and of the others, which
; begin in a copy of ap_start in 16-bit mode; the entries of interrupts, and the switch of stacks.

extern main, ap_main, thread_main, on_call, on_timer

STACK_BYTES	equ 16384		; SMP_STACK_BYTES
NR_STACKS	equ 4

section .note.pvh note alloc noexec nowrite align=4
	dd	4, 4, 18		; bytes of name and value; XEN_ELFNOTE_PHYS32_ENTRY
	db	"Xen", 0
	dd	_start

section .bss
	alignb	4096
pml4:	resb	4096
pdpt:	resb	4096
pages:	resb	4 * 4096
	alignb	16
global boot_stacks
boot_stacks:
	resb	NR_STACKS * STACK_BYTES

section .data
	align	8
gdt:	dq	0, 0x00209a0000000000	; 8: 64-bit code
	dq	0x00cf9a000000ffff	; 16: 32-bit code
	dq	0x00cf92000000ffff	; 24: data
gdt_pointer:
	dw	31
	dd	gdt
nr_started:
	dd	0

section .text.boot
bits 32
global _start
_start:
	mov	edi, pages		; 4 GiB in pages of 2 MiB, mapped one to one, readable, writable, executable
	mov	eax, 0x83
.next_page:
	mov	[edi], eax
	add	eax, 2 << 20
	add	edi, 8
	cmp	edi, pages + 4 * 4096
	jne	.next_page
	mov	dword [pml4], pdpt + 3
	mov	dword [pdpt], pages + 3
	mov	dword [pdpt + 8], pages + 0x1003
	mov	dword [pdpt + 16], pages + 0x2003
	mov	dword [pdpt + 24], pages + 0x3003

all_cpus:
	cld
	mov	eax, cr4
	or	eax, 1 << 5		; PAE
	mov	cr4, eax
	mov	eax, pml4
	mov	cr3, eax
	mov	ecx, 0xc0000080		; EFER
	rdmsr
	or	eax, 1 << 8		; long mode
	wrmsr
	mov	eax, cr0
	or	eax, 1 << 31		; paging
	mov	cr0, eax
	lgdt	[gdt_pointer]
	jmp	8:.long_mode

bits 64
.long_mode:
	xor	eax, eax
	mov	ss, eax
	mov	edi, 1
	lock xadd [nr_started], edi	; the number of this CPU
	cmp	edi, NR_STACKS
	jae	.too_many
	lea	eax, [rdi + 1]
	imul	eax, STACK_BYTES
	lea	rsp, [boot_stacks + rax]
	xor	ebp, ebp		; where frames end
	test	edi, edi
	jnz	.other
	call	main
.other:
	call	ap_main
.too_many:
	cli
	hlt
	jmp	.too_many

; The other CPUs begin with a copy of this at AP_START, because they start in 16-bit mode, below 1 MiB.
bits 16
global ap_start, ap_start_end
ap_start:
	cli
	xor	ax, ax
	mov	ds, ax
	o32 lgdt [AP_START + .gdt_pointer - ap_start]
	mov	eax, cr0
	or	al, 1			; protected mode
	mov	cr0, eax
	jmp	dword 16:.protected
.gdt_pointer:
	dw	31
	dd	gdt
bits 32
.protected:
	mov	eax, 24
	mov	ds, eax
	mov	ss, eax
	jmp	16:all_cpus
ap_start_end:
AP_START	equ 0x8000

bits 64
%macro save 0
	push	rax
	push	rcx
	push	rdx
	push	rsi
	push	rdi
	push	r8
	push	r9
	push	r10
	push	r11
%endmacro
%macro restore 0
	pop	r11
	pop	r10
	pop	r9
	pop	r8
	pop	rdi
	pop	rsi
	pop	rdx
	pop	rcx
	pop	rax
%endmacro

; An interrupt of other CPUs, and of the timer: what C may change is saved.
global call_entry, timer_entry
call_entry:
	save
	call	on_call			; aligned: the CPU pushed 5 words on an aligned stack, this 9
	restore
	iretq

timer_entry:
	save
	mov	rdi, [rsp + 72]		; rip
	call	on_timer
	restore
	iretq

; void switch_stacks(uintptr_t *out_rsp, uintptr_t rsp): rbp lies below the return address, where a frame has it.
global switch_stacks, thread_begin
switch_stacks:
	push	rbp
	push	rbx
	push	r12
	push	r13
	push	r14
	push	r15
	mov	[rdi], rsp
	mov	rsp, rsi
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbx
	pop	rbp
	ret

; A new thread comes here from switch_stacks.
thread_begin:
	sti
	call	thread_main

; Start: QEMU finds the note, loads the image and enters _start in 32-bit mode (the PVH protocol of Xen).

extern main, trace_breakpoint_dispatch

section .note.pvh note alloc noexec nowrite align=4
	dd	4, 4, 18		; bytes of name and value; XEN_ELFNOTE_PHYS32_ENTRY
	db	"Xen", 0
	dd	_start

section .bss
	alignb	4096
pml4:	resb	4096
pdpt:	resb	4096
pages:	resb	4096
	resb	16384
stack_top:

section .data
	align	8
gdt:	dq	0, 0x00209a0000000000	; 64-bit code
gdt_pointer:
	dw	15
	dd	gdt

section .text.boot
bits 32
global _start
_start:
	cld
	mov	esp, stack_top
	mov	dword [pml4], pdpt + 3
	mov	dword [pdpt], pages + 3
	mov	edi, pages		; 1 GiB in pages of 2 MiB, mapped one to one, readable, writable, executable
	mov	eax, 0x83
.next_page:
	mov	[edi], eax
	add	eax, 2 << 20
	add	edi, 8
	cmp	edi, pages + 4096
	jne	.next_page

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
	call	main
	ud2

; #BP. The handler may push on the interrupted stack, which is this one. To make room for that, the five words that the
; CPU has pushed are copied further down.
global breakpoint
breakpoint:
	times 5	push qword [rsp + 32]	; ss, rsp, rflags, cs, rip
	push	rax
	push	rcx
	push	rdx
	push	rsi
	push	rdi
	push	r8
	push	r9
	push	r10
	push	r11
	sub	rsp, 8			; 16-byte aligned for C
	lea	rdi, [rsp + 80]		; rip
	lea	rsi, [rsp + 104]	; rsp
	xor	edx, edx		; the other registers are not passed on: nobody here needs them
	call	trace_breakpoint_dispatch
	test	al, al
	jz	.unknown
	add	rsp, 8
	pop	r11
	pop	r10
	pop	r9
	pop	r8
	pop	rdi
	pop	rsi
	pop	rdx
	pop	rcx
	pop	rax
	iretq
.unknown:
	ud2				; there is no handler for it: the machine resets

; Start: QEMU finds the note, loads the image and enters _start in 32-bit mode (the PVH protocol of Xen).

extern main

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
	xor	ebp, ebp		; where frames end
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

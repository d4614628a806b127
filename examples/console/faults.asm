; Entries for #GP and #PF, which the kernel runs into when a script reads an address that is not there.

extern machine_fault

section .text

; In:    an error code, rip, cs, rflags, rsp, ss, pushed by the CPU.
; Calls: machine_fault(rip), which returns where to go on.
; Keeps: everything.
global fault_entry
fault_entry:
	push	rax
	push	rcx
	push	rdx
	push	rsi
	push	rdi
	push	r8
	push	r9
	push	r10
	push	r11
	mov	rdi, [rsp + 10 * 8]
	cld
	call	machine_fault
	mov	[rsp + 10 * 8], rax
	pop	r11
	pop	r10
	pop	r9
	pop	r8
	pop	rdi
	pop	rsi
	pop	rdx
	pop	rcx
	pop	rax
	add	rsp, 8			; the error code
	iretq

; kprobe_forms.asm - one function for each form of an instruction that a probe can be at; see
; ktest_kprobe_forms.c, which runs them.
;
; Each begins with what its instruction needs, and ends at `done`, or, when the instruction has gone
; to another place, at `elsewhere`. What each begins with: kprobe_form_in; what comes out of it:
; kprobe_form_out; kprobe_form_memory is what they read and write.

default rel
[warning -ea-dispsize]
[warning -prefix-seg]

NEEDS_REFUSAL	equ 1	; is not run: a probe is refused
NEEDS_SSE	equ 2
NEEDS_AVX	equ 4
NEEDS_BMI	equ 8

STACK_WORDS	equ 64

struc form_state
.regs:	resq 16		; as instructions number them
.flags:	resq 1
.elsewhere: resq 1
.stack:	resq STACK_WORDS
endstruc

extern __fentry__

section __mcount_loc progbits alloc noexec nowrite align=8

section .bss align=64
	resb 16384		; for handlers that are called from detours
global kprobe_form_stack
kprobe_form_stack:
	resq STACK_WORDS
global kprobe_form_in
kprobe_form_in:
	resb form_state_size
global kprobe_form_out
kprobe_form_out:
	resb form_state_size
saved_rsp:
	resq 1
target:
	resq 1

section .data align=64
global kprobe_form_memory
kprobe_form_memory:
	times 1024 db 0

; ---- Running one ----

section .text

; void kprobe_form_run(uintptr_t form): registers, flags and stack as in kprobe_form_in, and back.
; Context: interrupts are off.
global kprobe_form_run:function (kprobe_form_run.end - kprobe_form_run)
	align 16
kprobe_form_run:
	push rbx
	push rbp
	push r12
	push r13
	push r14
	push r15
	mov [saved_rsp], rsp
	mov [target], rdi
	lea rsp, [kprobe_form_stack]
	mov rdi, rsp
	lea rsi, [kprobe_form_in + form_state.stack]
	mov ecx, STACK_WORDS
	rep movsq
	add rsp, STACK_WORDS * 8 / 2
	push qword [kprobe_form_in + form_state.flags]
	popfq
	mov rax, [kprobe_form_in + form_state.regs + 0]
	mov rcx, [kprobe_form_in + form_state.regs + 8]
	mov rdx, [kprobe_form_in + form_state.regs + 16]
	mov rbx, [kprobe_form_in + form_state.regs + 24]
	mov rbp, [kprobe_form_in + form_state.regs + 40]
	mov rsi, [kprobe_form_in + form_state.regs + 48]
	mov rdi, [kprobe_form_in + form_state.regs + 56]
	mov r8, [kprobe_form_in + form_state.regs + 64]
	mov r9, [kprobe_form_in + form_state.regs + 72]
	mov r10, [kprobe_form_in + form_state.regs + 80]
	mov r11, [kprobe_form_in + form_state.regs + 88]
	mov r12, [kprobe_form_in + form_state.regs + 96]
	mov r13, [kprobe_form_in + form_state.regs + 104]
	mov r14, [kprobe_form_in + form_state.regs + 112]
	mov r15, [kprobe_form_in + form_state.regs + 120]
	jmp [target]
.end:

; Where forms end.
elsewhere:
	mov qword [kprobe_form_out + form_state.elsewhere], 1
done:
	mov [kprobe_form_out + form_state.regs + 0], rax
	mov [kprobe_form_out + form_state.regs + 8], rcx
	mov [kprobe_form_out + form_state.regs + 16], rdx
	mov [kprobe_form_out + form_state.regs + 24], rbx
	mov [kprobe_form_out + form_state.regs + 32], rsp
	mov [kprobe_form_out + form_state.regs + 40], rbp
	mov [kprobe_form_out + form_state.regs + 48], rsi
	mov [kprobe_form_out + form_state.regs + 56], rdi
	mov [kprobe_form_out + form_state.regs + 64], r8
	mov [kprobe_form_out + form_state.regs + 72], r9
	mov [kprobe_form_out + form_state.regs + 80], r10
	mov [kprobe_form_out + form_state.regs + 88], r11
	mov [kprobe_form_out + form_state.regs + 96], r12
	mov [kprobe_form_out + form_state.regs + 104], r13
	mov [kprobe_form_out + form_state.regs + 112], r14
	mov [kprobe_form_out + form_state.regs + 120], r15
	mov rsp, [saved_rsp]
	pushfq
	pop qword [kprobe_form_out + form_state.flags]
	cld
	lea rsi, [kprobe_form_stack]
	lea rdi, [kprobe_form_out + form_state.stack]
	mov ecx, STACK_WORDS
	rep movsq
	pop r15
	pop r14
	pop r13
	pop r12
	pop rbp
	pop rbx
	ret

; ---- What forms are made with ----

; The table: struct kprobe_form.
section .rodata
	align 8
global kprobe_forms
kprobe_forms:

; Code that may be probed, as that of C files: linker.ld.
section .probed.text progbits alloc exec nowrite align=16

%assign nr_forms 0

; form NEEDS: begins one. Then what comes before the instruction, `probed INSTRUCTION`, form_end.
%macro form 1
%push form
%assign %$needs %1
%assign nr_forms nr_forms + 1
%xdefine %$name kprobe_form_ %+ nr_forms
global %$name:function (%$name %+ .end - %$name)
	align 16
%$name:
	call __fentry__		; a call site, as at the start of every function that may be probed
.start:
section __mcount_loc
	dq %$name
section .probed.text
%endmacro

%macro probed 1+
%defstr %$text %1
.insn:
	%1
%endmacro

; .there is elsewhere, .back a function that returns.
%macro form_end 0
	jmp near done
.there:
	jmp near elsewhere
.back:
	ret
.end:
section .rodata.names
%%text:
	db %$text, 0
section .rodata
	dq %%text, %$name %+ .insn, %$name %+ .start, %$needs
section .probed.text
%pop
%endmacro

; Those that need nothing in front.
%macro plain 1+
	form 0
	probed %1
	form_end
%endmacro

%macro refused 1+
	form NEEDS_REFUSAL
	probed %1
	form_end
%endmacro

%macro bmi 1+
	form NEEDS_BMI
	probed %1
	form_end
%endmacro

; takes BYTES, INSTRUCTION: it leaves that many on the stack as they happen to be.
%macro takes 2+
	form 0
	probed %2
	mov rax, rsp
	lea rsp, [rsp + %1]
	form_end
%endmacro

; Vectors are in registers only inside of the form.
%macro vector 2+
	form %1
	movdqu xmm0, [rsi]
	movdqu xmm1, [rsi + 16]
	probed %2
	movdqu [rdi], xmm0
	movdqu [rdi + 16], xmm1
	form_end
%endmacro

%define memory kprobe_form_memory


; ---- Registers, memory, operands that count from the instruction ----

%macro two_operands 1-*
%rep %0
	plain %1 rax, r9
	plain %1 [rsi + 8], edx
	plain %1 dl, [r13]
	plain %1 qword [rel memory + 40], 0x12345678
	plain %1 word [rel memory + 48], 0x1234
	plain %1 byte [rel memory + 56], 0x77
	plain %1 al, 9
	plain %1 eax, 0x12345678
%rotate 1
%endrep
%endmacro
	two_operands add, or, adc, sbb, and, sub, xor, cmp

%macro one_operand 1-*
%rep %0
	plain %1 r8b
	plain %1 dword [rbx + rcx * 8 + 4]
	plain %1 qword [rel memory + 72]
%rotate 1
%endrep
%endmacro
	one_operand not, neg, inc, dec, mul, imul

%macro shifts 1-*
%rep %0
	plain %1 rax, 1
	plain %1 r10w, cl
	plain %1 dword [rel memory + 80], 5
%rotate 1
%endrep
%endmacro
	shifts rol, ror, rcl, rcr, shl, shr, sar

	plain mov rax, r15
	plain mov r12, [r12]
	plain mov [rsp - 16], rdx
	plain mov rax, [rsp + 8]
	plain mov al, [rbp]
	plain mov cl, 0x5a
	plain mov r10b, 0x77
	plain mov byte [rel memory + 17], 0x33
	plain test al, 0x21
	plain test eax, 0x12345678
	plain cmp qword [rel memory + 24], -3
	plain mov ah, bl
	plain mov sil, dil
	plain mov eax, [abs memory + rcx * 8]
	plain mov rax, [abs qword memory + 8]
	plain mov [abs qword memory + 16], al
	plain mov eax, [abs qword memory + 12]
	plain mov rax, 0x1122334455667788
	plain mov qword [rel memory + 88], -2
	plain mov eax, [rsi + rcx * 4 - 8]
	plain lea rax, [rel memory]
	plain lea rdx, [rsi + rdi * 2 + 0x1234]
	plain lea eax, [rel memory]
	plain movzx eax, byte [rel memory + 3]
	plain movzx r8d, word [rsi]
	plain movsx rax, byte [rdi]
	plain movsxd rax, dword [rel memory + 4]
	plain imul rax, [rel memory + 8], 0x1234567
	plain imul eax, [rsi], 9
	plain test rax, rdx
	plain test byte [rel memory + 1], 0x40
	plain test qword [rel memory + 8], 0x1000
	plain xchg rax, rdx
	plain xchg [rsi], rcx
	plain xchg [rel memory + 64], r11
	plain cmpxchg [rsi], rdx
	plain xadd [rel memory + 24], rax
	plain xadd r8, r9
	plain cmpxchg16b [rel memory + 128]
	plain cmpxchg8b [rsi]
	plain bswap r9
	plain cbw
	plain cwde
	plain cdqe
	plain cwd
	plain cdq
	plain cqo
	plain bt [rsi], rcx
	plain bts qword [rel memory + 16], 7
	plain btr rax, 3
	plain btc dword [rsi], ecx
	plain bsf rax, r9
	plain bsr rax, [rel memory + 16]
	plain shld rax, rdx, 7
	plain shrd [rel memory + 32], rax, cl
	plain lahf
	plain sahf
	plain clc
	plain stc
	plain cmc
	plain cld
	plain std
	plain cli
	plain mov rdx, cr0
	plain mov rax, cr4
	plain mov r9, dr7
	plain mov cr2, rsi
	plain clts
	plain invlpg [rel memory + 512]
	plain wbinvd
	plain mov eax, ds
	plain mov [rel memory + 6], ds
	plain str ax
	plain sldt [rsi]
	plain smsw [rel memory + 8]
	plain sgdt [rel memory + 100]
	plain lar eax, dx
	plain cpuid
	plain pause
	plain nop
	plain nop dword [rax + rax]
	plain db 0xf3, 0x0f, 0x1e, 0xfa
	plain prefetcht0 [rsi]
	plain lfence
	plain mfence
	plain clflush [rel memory]
	plain movnti [rel memory + 16], rax

; ---- Prefixes ----

	plain lock add qword [rel memory + 8], 1
	plain lock xadd [rsi], rax
	plain lock cmpxchg [rel memory + 8], rdx
	plain lock bts dword [rsi], 5
	plain lock cmpxchg16b [rel memory + 256]
	plain lock not word [rsi]
	plain mov rax, [gs:0]
	plain mov rax, [fs:rsi]
	plain mov ax, [fs:rel memory + 2]
	plain mov rax, [es:rsi]
	plain cs mov rax, [rel memory + 16]
	plain a32 lea rax, [esi + 4]
	plain db 0x66, 0x66, 0x48, 0x8b, 0x06
	plain db 0xf2, 0x48, 0x8b, 0x06
	plain db 0x48, 0x66, 0x8b, 0x06

; ---- Strings ----

%macro strings 1-*
%rep %0
	plain movs%1
	plain rep movs%1
	plain stos%1
	plain rep stos%1
	plain lods%1
	plain rep lods%1
	plain cmps%1
	plain repe cmps%1
	plain repne cmps%1
	plain scas%1
	plain repne scas%1
	plain repe scas%1
%rotate 1
%endrep
%endmacro
	strings b, w, d, q

; ---- The stack ----

	plain push rax
	plain push r15
	plain push rsp
	plain push qword [rsp + 8]
	plain push qword [rel memory + 8]
	plain push 5
	plain push -0x12345678
	plain push word 7
	plain pop rax
	plain pop r14
	plain pop qword [rel memory + 8]
	plain pop qword [rsp + 8]
	plain pop word [rsi]
	plain pushfq
	plain pushfw
	takes 32, enter 32, 0
	takes 16, enter 16, 1
	plain add rsp, 24
	takes 40, lea rsp, [rsp - 40]
	plain push fs
	takes 8, sub rsp, 8
	form 0
	lea rax, [rsp + 16]
	push rax
	probed pop rsp
	form_end
	form 0
	push 0x8d5
	probed popfq
	form_end
	form 0
	push word 0x495
	probed popfw
	form_end
	form 0
	lea rbp, [rsp + 24]
	probed leave
	form_end
	form 0
	lea rax, [rsp + 24]
	probed mov rsp, rax
	form_end
	form 0
	mov edx, 5
	probed div r9
	form_end
	form 0
	mov rdx, -1
	probed idiv qword [rel memory + 24]
	form_end
	form 0
	mov eax, 0x123
	probed div cl
	form_end
	form 0
	lea rbx, [rel memory]
	probed xlatb
	form_end

; ---- Conditions: all flags are tried ----

%macro conditions 1-*
%rep %0
	plain set%1 al
	plain set%1 byte [rel memory + 9]
	plain cmov%1 rax, rdx
	plain cmov%1 eax, [rel memory + 12]
	plain j%1 short .there
	plain j%1 near .there
%rotate 1
%endrep
%endmacro
	conditions o, no, b, ae, z, nz, be, a, s, ns, p, np, l, ge, le, g

%macro loops 1-*
%rep %0
	plain %1 .there
	form 0
	mov ecx, 1
	probed %1 .there
	form_end
	form 0
	lea rcx, [rcx - 3]
	probed %1 .there
	form_end
%rotate 1
%endrep
%endmacro
	loops loop, loope, loopne, jrcxz

; ---- Elsewhere and back ----

	plain jmp short .there
	plain jmp near .there
	plain call .there
	plain call .back
	plain bnd jmp near .there

; The address in a register; in memory.
%macro through 1-*
%rep %0
	form 0
	lea %1, [.there]
	probed jmp %1
	form_end
	form 0
	lea %1, [.there]
	probed call %1
	form_end
	form 0
	lea %1, [.back]
	probed call %1
	form_end
%rotate 1
%endrep
%endmacro
	through rax, rcx, rbp, r8, r11, r12, r15

%macro through_memory 1-*
%rep %0
	form 0
	lea rax, [.there]
	mov %1, rax
	probed jmp qword %1
	form_end
	form 0
	lea rax, [.there]
	mov %1, rax
	probed call qword %1
	form_end
	form 0
	lea rax, [.back]
	mov %1, rax
	probed call qword %1
	form_end
%rotate 1
%endrep
%endmacro
	through_memory [rsi + 8], [rel memory + 64], [rbx + rcx * 8], [rsp + 16], [rsp]
	through_memory [r12], [r13], [rbp], [abs memory + rcx * 8], [rdi - 0x80], [rsi + r14 * 2]

	form 0
	lea rax, [.there]
	push rax
	probed ret
	form_end
	form 0
	lea rax, [.there]
	push rax
	probed ret 24
	form_end
	form 0
	lea rax, [.there]
	push rax
	probed db 0xf3, 0xc3
	form_end

; ---- With VEX, and what came with it ----

	bmi andn rax, rdx, [rel memory + 8]
	bmi bextr eax, [rel memory + 16], ecx
	bmi blsi rax, r9
	bmi blsr eax, [rsi]
	bmi bzhi rax, [rel memory], rcx
	bmi mulx r8, r9, [rel memory + 8]
	bmi pdep rax, rdx, [rel memory + 16]
	bmi pext eax, edx, r8d
	bmi rorx rax, [rel memory + 8], 7
	bmi rorx r9d, edx, 3
	bmi sarx rax, [rsi], rcx
	bmi shlx r10, r9, rcx
	bmi popcnt rax, [rel memory + 8]
	bmi tzcnt eax, [rsi]
	bmi lzcnt rax, [rel memory + 8]
	bmi movbe [rel memory + 8], rax
	bmi movbe ecx, [rsi]
	bmi crc32 eax, byte [rel memory]
	vector NEEDS_SSE, paddb xmm0, [rsi + 32]
	vector NEEDS_SSE, pshufd xmm0, [rel memory + 64], 0x1b
	vector NEEDS_SSE, movups xmm1, [rel memory + 3]
	vector NEEDS_SSE, movntdq [rel memory + 128], xmm1
	vector NEEDS_SSE, pshufb xmm0, xmm1
	vector NEEDS_SSE, palignr xmm0, [rel memory + 32], 5
	vector NEEDS_SSE, cvtsi2sd xmm0, qword [rel memory + 8]
	vector NEEDS_SSE, pextrq [rel memory + 8], xmm0, 1
	vector NEEDS_SSE, movmskps eax, xmm0
	vector NEEDS_SSE, ucomiss xmm0, xmm1
	vector NEEDS_SSE, pcmpistri xmm0, [rel memory + 16], 0x18
	vector NEEDS_AVX, vpaddb xmm0, xmm1, [rel memory + 32]
	vector NEEDS_AVX, vpshufd xmm0, [rel memory + 64], 0x4e
	vector NEEDS_AVX, vmovdqu [rel memory + 96], ymm1
	vector NEEDS_AVX, vpalignr ymm0, ymm1, [rsi], 3
	vector NEEDS_AVX, vpblendvb xmm0, xmm1, [rel memory + 16], xmm1
	vector NEEDS_AVX, vzeroupper
	vector NEEDS_AVX, vpermq ymm0, [rel memory + 8], 0x1b

; ---- No probe can be at these ----

	refused a32 loop .there
	refused db 0x67, 0xe3, 0
	refused o16 ret
	refused db 0x66, 0xe9, 0, 0, 0, 0
	refused db 0x67, 0x8b, 0x05, 0, 0, 0, 0
	refused jmp [gs:rsi]
	refused call [esi]
	refused syscall
	refused sysret
	refused sysenter
	refused sysexit
	refused iretq
	refused swapgs
	refused db 0xf3, 0x0f, 0x01, 0xec	; uiret
	refused vmcall
	refused sti
	refused hlt
	refused mwait
	refused int3
	refused int 0x80
	refused db 0xf1
	refused ud2
	refused db 0x0f, 0xb9, 0xc0
	refused mov ss, ax
	refused retf
	refused jmp far [rsi]
	refused call far [rsi]
	refused db 0xc7, 0xf8, 0, 0, 0, 0
	refused db 0x0f, 0x01, 0xd5
	refused db 0xc6, 0xf8, 0

section .rodata
	dq 0, 0, 0, 0

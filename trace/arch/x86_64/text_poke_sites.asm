; text_poke_sites - private code that the boot self-test patches; see text_poke_test.c.
;
; In:    called from C.
; Out:   rax: 1 NOP, 2 CALL, 3 JMP at the site; 0 when the stack was not as it should be.
; Keeps: all but rax and the flags.

section .text

global text_poke_test_run:function (text_poke_test_run.end - text_poke_test_run)
global text_poke_test_site
global text_poke_test_called:function (text_poke_test_called.end - text_poke_test_called)
global text_poke_test_jumped

	align	16
text_poke_test_run:
	push	rbp
	mov	rbp, rsp
	mov	eax, 1
.site:
	db	0x0f, 0x1f, 0x44, 0x00, 0x00	; the 5-byte NOP
.behind:
	cmp	rsp, rbp			; a call that was not returned from shows here
	je	.done
	xor	eax, eax
.done:
	mov	rsp, rbp
	pop	rbp
	ret
.jumped:
	mov	eax, 3
	jmp	.behind
.end:
text_poke_test_site equ text_poke_test_run.site
text_poke_test_jumped equ text_poke_test_run.jumped

	align	16
text_poke_test_called:
	lea	rax, [rel text_poke_test_run.behind]
	cmp	rax, [rsp]			; the return address that was pushed for us
	mov	eax, 2
	je	.done
	xor	eax, eax
.done:
	ret
.end:

	.text
	.globl assembly_routine, assembly_label, assembly_end
	.type assembly_routine, @function
assembly_routine:
	mov %edi, %eax
inner_label:
	ret
	.size assembly_routine, . - assembly_routine
assembly_end:
	.balign 64
	.space 64, 0xcc			# belongs to no function
	.globl after_gap
	.type after_gap, @function
after_gap:
	ret
	.size after_gap, 1
	.balign 64, 0xcc
assembly_label:
	nop
	ret
assembly_label.local:
	ret
	.type assembly_alias, @function
	.globl assembly_alias, __a_much_worse_alias
	.set assembly_alias, after_gap
	.set __a_much_worse_alias, after_gap
	.balign 16
	.globl __fentry__
	.type __fentry__, @function
__fentry__:
	ret
	.size __fentry__, 1
	.section .note.GNU-stack,"",@progbits

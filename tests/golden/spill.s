# Written by hand: all flags and registers are live where the counter goes. What it needs waits below the red zone.
# measures: edges events
	.text
	.globl	dispatch
	.type	dispatch, @function
dispatch:
	addq	%rdi, %rsi
	jo	2f
	jmp	fits
2:	jmp	overflowed
	.size	dispatch, .-dispatch
	.section	.note.GNU-stack,"",@progbits

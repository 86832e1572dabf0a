# Written by hand: system calls. One that ends the process goes by way of the runtime, one whose number is another constant does not.
# measures: edges
	.text
	.globl	leave
	.type	leave, @function
leave:
	movl	$231, %eax	# exit_group
	syscall
	hlt
	.size	leave, .-leave

	.globl	whoami
	.type	whoami, @function
whoami:
	movl	$39, %eax	# getpid
	syscall
	ret
	.size	whoami, .-whoami
	.section	.note.GNU-stack,"",@progbits

/* SPDX-License-Identifier: MIT */
/* When the process ends, a thread waits on a stack to which unmeasured code has switched by hand. From there the activations on
 * the thread's own stack cannot be seen. */
/* options: -pthread -fomit-frame-pointer */
/* build: $PLAIN -DLIB -c $SRC -o other.o */
/* build: $CC $SRC other.o -o program */
/* bounds: allowed because the thread's own stack is not followed */
/* expect: main 1 */
/* expect: thread 1 */
/* expect: waits 1 */
/* expect: work 30 */
/* line: BEHIND 0 */
#ifdef LIB
/* on_stack(top, f): calls f there. Nothing leads from there to the caller, as in a context that has been begun. */
__asm__(".text\n.globl on_stack\n.type on_stack, @function\non_stack:\n\t.cfi_startproc\n\tpush %rbx\n\t.cfi_def_cfa_offset 16\n"
        "\t.cfi_offset rbx, -16\n\tmov %rsp, %rbx\n\tmov %rdi, %rsp\n\t.cfi_undefined rip\n\tcall *%rsi\n\tmov %rbx, %rsp\n"
        "\tpop %rbx\n\tret\n\t.cfi_endproc\n.size on_stack, .-on_stack\n.section .note.GNU-stack,\"\",@progbits\n");
#else
#include "situation.h"
#include <pthread.h>
#include <unistd.h>

void on_stack(char *top, void (*f)(void));
static char stack[1 << 16] __attribute__((aligned(64)));

FUNC static void
waits(void)
{
	work_times(10);
	pause();
	STEP; /* @BEHIND */
}

FUNC static void *
thread(void *arg)
{
	work_times(20);
	on_stack(stack + sizeof stack, waits);
	STEP; /* @BEHIND */
	return arg;
}

int
main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread, NULL);
	usleep(200000);
	return 0;
}
#endif

#include "machine/fiber.h"

#include <errno.h>
#include <sys/mman.h>

#ifdef FL_DEBUG
#define STACK_SIZE (1UL << 20)
#else
#define STACK_SIZE (256UL << 10)
#endif
#define GUARD_SIZE 65536UL

/* ---- the sanitizers: which stack is in use ---- */

#ifdef __has_feature
#define BUILT_WITH(sanitizer) __has_feature(sanitizer)
#else
#define BUILT_WITH(sanitizer) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || BUILT_WITH(address_sanitizer)
#define ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__) || BUILT_WITH(thread_sanitizer)
#define THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

static void tell_init(struct fiber *f)
{
#ifdef THREAD_SANITIZER
	f->sanitizer = __tsan_create_fiber(0);
#else
	f->sanitizer = NULL;
#endif
}

static void tell_fini(struct fiber *f)
{
#ifdef THREAD_SANITIZER
	__tsan_destroy_fiber(f->sanitizer);
#endif
	f->sanitizer = NULL;
}

static void tell_leave(struct fiber *from, const struct fiber *to, bool ended)
{
#ifdef ADDRESS_SANITIZER
	__sanitizer_start_switch_fiber(ended ? NULL : &from->sanitizer, to->bottom, to->size);
#elif defined(THREAD_SANITIZER)
	from->sanitizer = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(to->sanitizer, 0);
#endif
	(void)from, (void)to, (void)ended;
}

static void tell_enter(struct fiber *to)
{
#ifdef ADDRESS_SANITIZER
	/* Where the one before has its stack: news only of the host program's. */
	__sanitizer_finish_switch_fiber(to->sanitizer, &to->from->bottom, &to->from->size);
#endif
	(void)to;
}

/* ---- switching ---- */

#ifdef __x86_64__

/* Save what a callee must keep, change stacks, restore; a new fiber begins in fl_fiber_entry. */
void fl_fiber_switch(void **save_sp, void *load_sp);
void fl_fiber_entry(void);

__asm__(".text\n"
	".globl fl_fiber_switch\n"
	".type fl_fiber_switch, @function\n"
	"fl_fiber_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size fl_fiber_switch, . - fl_fiber_switch\n"
	".globl fl_fiber_entry\n"
	".type fl_fiber_entry, @function\n"
	"fl_fiber_entry:\n"
	"	movq %rbx, %rdi\n"
	"	callq *%r12\n"
	"	hlt\n"
	".size fl_fiber_entry, . - fl_fiber_entry\n");

static void begin(struct fiber *f)
{
	tell_enter(f);
	f->fn(f->arg);
}

/* The frame that fl_fiber_switch() pops: six registers (rbx, r12 are used) and where to go. */
static void set_up(struct fiber *f)
{
	u64 *top = (u64 *)(f->stack + f->size);

	*--top = 0; /* the end of the call chain, and the alignment of a call */
	*--top = 0;
	*--top = (u64)(uintptr_t)fl_fiber_entry;
	*--top = 0;			/* rbp */
	*--top = (u64)(uintptr_t)f;	/* rbx */
	*--top = (u64)(uintptr_t)begin; /* r12 */
	*--top = 0;
	*--top = 0;
	*--top = 0;
	f->sp = top;
}

static void change(struct fiber *from, struct fiber *to)
{
	fl_fiber_switch(&from->sp, to->sp);
}

#else

static void begin(unsigned int low, unsigned int high)
{
	struct fiber *f = (struct fiber *)((uintptr_t)low | (uintptr_t)high << 32);

	tell_enter(f);
	f->fn(f->arg);
}

static void set_up(struct fiber *f)
{
	getcontext(&f->ucontext);
	f->ucontext.uc_stack.ss_sp = f->stack;
	f->ucontext.uc_stack.ss_size = f->size;
	makecontext(&f->ucontext, (void (*)(void))begin, 2, (unsigned int)(uintptr_t)f,
		    (unsigned int)((u64)(uintptr_t)f >> 32));
}

static void change(struct fiber *from, struct fiber *to)
{
	swapcontext(&from->ucontext, &to->ucontext);
}

#endif

int fiber_init(struct fiber *f, void (*fn)(void *arg), void *arg)
{
	char *p = mmap(NULL, STACK_SIZE + GUARD_SIZE, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(p + GUARD_SIZE, STACK_SIZE, PROT_READ | PROT_WRITE)) {
		munmap(p, STACK_SIZE + GUARD_SIZE);
		return -ENOMEM;
	}
	f->stack = p + GUARD_SIZE;
	f->bottom = f->stack;
	f->size = STACK_SIZE;
	f->fn = fn;
	f->arg = arg;
	tell_init(f);
	set_up(f);
	return 0;
}

void fiber_fini(struct fiber *f)
{
	if (!f->stack)
		return;
	tell_fini(f);
	munmap(f->stack - GUARD_SIZE, STACK_SIZE + GUARD_SIZE);
}

void fiber_switch(struct fiber *from, struct fiber *to, bool ended)
{
	to->from = from;
	tell_leave(from, to, ended);
	change(from, to);
	tell_enter(from);
}

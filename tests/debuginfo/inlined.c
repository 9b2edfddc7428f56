/* Calls inlined into each other; test_code.c knows the lines. */
#define always_inline inline __attribute__((always_inline))

volatile int sink;
int outer(int n);
int main(int argc, char **argv);

static always_inline void innermost(int n)
{
	sink = n;
}

static always_inline void middle(int n)
{
	innermost(n * 3);
}

__attribute__((noinline)) int outer(int n)
{
	middle(n + 1);
	return n;
}

int main(int argc, char **argv)
{
	return outer(argc) + (argv == 0);
}

/* Structs that are hard to lay out: compiled by test_layouts.sh in every way it knows. */
enum flags {
	FLAG_A = 1,
	FLAG_B = 2,
	FLAG_C = 4,
	FLAG_D = 64,
};
enum small { SMALL_NEGATIVE = -1, SMALL_LARGE = 200 };

struct bits {
	char a;
	int b : 5;
	int c : 27;
	unsigned d : 3;
	unsigned : 0;
	unsigned e : 9;
	long f : 40;
	_Bool g : 1;
	short h;
	char i : 2;
	unsigned char j : 7;
};

struct flexible {
	int n;
	char data[];
};

union both {
	struct {
		int x;
		short y;
	};
	long l;
	struct {
		char k : 4;
		char m : 4;
	} bits;
};

struct outer {
	struct bits bits;
	union both both;
	struct flexible *pointer;
	int (*function)(int, const char *, ...);
	int matrix[2][3];
	int (*rows)[4];
	enum flags flags : 8;
	enum small small;
	const volatile char *const text;
	struct {
		char first;
		long second;
	} pairs[3];
	char far[40000];
	unsigned last : 1;
};

struct __attribute__((packed)) packed {
	char a;
	long b;
	int c : 3;
};

struct __attribute__((aligned(64))) aligned {
	char a;
	struct packed p;
};

struct empty {
};

struct outer outer;
struct aligned aligned;
struct flexible *flexible;
struct empty empty;

int main(void)
{
	return outer.bits.a + aligned.a;
}

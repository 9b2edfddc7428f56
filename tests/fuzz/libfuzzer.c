/* libFuzzer's door to one target: FUZZ_TARGET is the function, given by the Makefile. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FUZZ_TARGET(data, size);
	return 0;
}

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "machine/knobs.h"

void fuzz_kernel(const u8 *data, size_t size)
{
	struct fl_error err = {0};
	struct knobs knobs;
	char *text = strndup((const char *)data, size);

	fuzz_require(text);
	fuzz_require_error(knobs_parse(&knobs, text, &err), &err);
	knob_by_name(text, strlen(text));
	profile_of_release(text);
	free(text);
}

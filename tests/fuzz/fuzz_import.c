#include "fuzz/fuzz.h"
#include "host/import.h"

void fuzz_import(const u8 *data, size_t size)
{
	struct recording_info info = {.source = "imported", .page_size = 4096};
	struct import_result result = {0};
	struct import_options options = {.skip_damaged = size % 2};
	struct fl_error err = {0};
	FILE *text, *out;

	if (!size)
		return;
	text = fmemopen((void *)data, size, "r");
	out = fuzz_nowhere();
	fuzz_require(text);
	fuzz_require_error(trace_import(text, "fuzz.txt", &options, out, &info, &result, &err),
			   &err);
	fclose(text);
	fclose(out);
	recording_info_fini(&info);
}

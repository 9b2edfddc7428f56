#include "fuzz/fuzz.h"
#include "lab/script.h"

static void forget_figure(void *ctx, const char *name, const char *svg)
{
	(void)ctx;
	fuzz_require(name[0] && svg[0]);
}

void fuzz_script(const u8 *data, size_t size)
{
	struct run_config defaults;
	struct fl_error err = {0};
	FILE *out = fuzz_nowhere();
	struct lab_script script = {
		.path = "fuzz.lua",
		.text = (const char *)data,
		.len = size,
		.defaults = &defaults,
		.out = out,
		.figure = forget_figure,
	};
	u32 limit;

	run_config_init(&defaults);
	fuzz_require_error(lab_script_run(&script, &limit, &err), &err);
	fclose(out);
}

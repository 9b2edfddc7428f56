#include <unistd.h>

#include "debuginfo/btf.h"
#include "debuginfo/layout.h"
#include "fuzz/fuzz.h"

#define TYPES_MAX 50

void fuzz_btf(const u8 *data, size_t size)
{
	struct fl_error err = {0};
	struct btf_file b;
	struct type *t;
	char path[40];
	u32 pos = 0, nr = 0;
	int fd = fuzz_file(data, size, path);
	int ret = btf_open(&b, path, &err);

	fuzz_require_error(ret, &err);
	if (!ret) {
		FILE *f = fuzz_nowhere();

		while (nr++ < TYPES_MAX && type_next(&b.types, &pos, &t, &err) > 0) {
			cJSON_Delete(layout_json(&b.types, t, LAYOUT_EXPAND, &err));
			layout_print(f, &b.types, t, LAYOUT_EXPAND, &err);
		}
		type_find(&b.types, "outer", 0, &t, &err);
		pos = 0;
		while (btf_next_function(&b, &pos))
			;
		fclose(f);
	}
	btf_close(&b);
	close(fd);
}

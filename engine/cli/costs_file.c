#include "cli/costs_file.h"

#include <stdlib.h>
#include <string.h>

#include "cli/user_files.h"
#include "lab/textfile.h"

#define COSTS_LIMIT (1u << 20)

int costs_path(char *path, struct fl_error *err)
{
	int ret = user_path(USER_CONFIG, "costs", path);

	return ret ? fl_error_set(err, ret, "--costs", 0,
				  "no home folder, expected HOME or XDG_CONFIG_HOME")
		   : 0;
}

int costs_load(u64 *cost_ps, const char *path, struct fl_error *err)
{
	char *text;
	size_t len;
	int ret;

	costs_default(cost_ps);
	ret = textfile_read(path, COSTS_LIMIT, &text, &len, err);
	if (ret)
		return ret;
	ret = costs_parse(cost_ps, path, text, len, err);
	free(text);
	return ret;
}

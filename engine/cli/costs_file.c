#include "cli/costs_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/textfile.h"

#define COSTS_LIMIT (1u << 20)

int costs_path(char *path, size_t size, struct fl_error *err)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config == '/')
		snprintf(path, size, "%s/foliolab/costs", config);
	else if (home && *home == '/')
		snprintf(path, size, "%s/.config/foliolab/costs", home);
	else
		return fl_error_set(err, -ENOENT, "--costs", 0,
				    "no home folder, expected HOME or XDG_CONFIG_HOME");
	return 0;
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

int costs_make_folder(const char *path)
{
	char dir[512];

	snprintf(dir, sizeof(dir), "%s", path);
	for (char *p = dir + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		if (mkdir(dir, 0700) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return 0;
}

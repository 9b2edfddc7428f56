#include "cli/user_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
	const char *variable, *in_home;
} places[] = {
	[USER_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
	[USER_STATE] = {"XDG_STATE_HOME", ".local/state"},
};

int user_path(enum user_place place, const char *name, char *path)
{
	const char *folder = getenv(places[place].variable), *home = getenv("HOME");
	int n;

	if (folder && *folder == '/')
		n = snprintf(path, USER_PATH, "%s/foliolab/%s", folder, name);
	else if (home && *home == '/')
		n = snprintf(path, USER_PATH, "%s/%s/foliolab/%s", home, places[place].in_home,
			     name);
	else
		return -ENOENT;
	return n < USER_PATH ? 0 : -ENAMETOOLONG;
}

int user_make_folders(const char *path)
{
	char dir[USER_PATH];

	snprintf(dir, sizeof(dir), "%s", path);
	for (char *p = dir + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		if (mkdir(dir, 0700) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return 0;
}

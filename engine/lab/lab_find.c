#include "lab/lab_find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/strutil.h"

bool lab_join(char *to, const char *a, const char *b)
{
	return snprintf(to, LAB_PATH, "%s/%s", a, b) < LAB_PATH;
}

static bool is_file(const char *dir, const char *name)
{
	char path[LAB_PATH];
	struct stat st;

	return lab_join(path, dir, name) && !stat(path, &st) && S_ISREG(st.st_mode);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* ---- labs ---- */

/* Below the folder of the binary: build/, build/asan/, bin/ of an installation. */
static bool root_near_binary(char *root)
{
	static const char *const ways[] = {"../labs", "../../labs", "../share/foliolab/labs"};
	char exe[LAB_PATH], path[LAB_PATH], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return false;
	exe[n] = 0;
	slash = strrchr(exe, '/');
	if (!slash)
		return false;
	*slash = 0;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		char *full = lab_join(path, exe, ways[i]) ? realpath(path, NULL) : NULL;
		bool good = full && is_file(full, "README.md") && strlen(full) < LAB_PATH;

		if (good)
			strcpy(root, full);
		free(full);
		if (good)
			return true;
	}
	return false;
}

int lab_find_root(char *root, struct fl_error *err)
{
	const char *env = getenv("FOLIOLAB_LABS");

	if (env && *env) {
		snprintf(root, LAB_PATH, "%s", env);
		if (is_dir(root))
			return 0;
		return fl_error_set(err, -ENOENT, env, 0,
				    "FOLIOLAB_LABS is no folder, expected the one with the labs");
	}
	if (root_near_binary(root))
		return 0;
	snprintf(root, LAB_PATH, "%s/labs", FL_PKGDATADIR);
	if (is_dir(root))
		return 0;
	return fl_error_set(err, -ENOENT, root, 0,
			    "no labs here, expected them installed or FOLIOLAB_LABS set");
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

int lab_find_all(const char *root, struct lab_list *ret, struct fl_error *err)
{
	DIR *d = opendir(root);
	struct dirent *e;

	ret->nr = 0;
	if (!d)
		return fl_error_set(err, -errno, root, 0, "%s, expected the folder with the labs",
				    strerror(errno));
	while ((e = readdir(d))) {
		char path[LAB_PATH];

		if (!isdigit((unsigned char)e->d_name[0]) || strlen(e->d_name) >= 64 ||
		    ret->nr == LABS_MAX || !lab_join(path, root, e->d_name) ||
		    !is_file(path, "lab.lua"))
			continue;
		strcpy(ret->names[ret->nr++], e->d_name);
	}
	closedir(d);
	qsort(ret->names, ret->nr, sizeof(ret->names[0]), compare_names);
	return 0;
}

/* "1", "01", "01-what" and the whole name all mean lab 01-what-... */
static bool name_matches(const char *name, const char *what)
{
	size_t len = strlen(what);

	if (len && strspn(what, "0123456789") == len && len < 9)
		return atoi(name) == atoi(what);
	return !strncmp(name, what, len) && len > 2;
}

static int unknown_lab(const char *what, const struct lab_list *all, struct fl_error *err)
{
	const char *names[LABS_MAX];
	struct name_list list = {"lab", names, all->nr};
	char text[sizeof(err->text)];

	for (unsigned int i = 0; i < all->nr; i++)
		names[i] = all->names[i];
	return fl_error_set(err, -ENOENT, NULL, 0, "%s",
			    describe_unknown(text, sizeof(text), what, &list));
}

int lab_find(const char *what, char *dir, struct fl_error *err)
{
	char root[LAB_PATH];
	struct lab_list all;
	int ret;

	if (strchr(what, '/') || is_file(what, "lab.lua")) {
		char *full = realpath(what, NULL);

		if (full && strlen(full) < LAB_PATH && is_file(full, "lab.lua")) {
			strcpy(dir, full);
			free(full);
			return 0;
		}
		free(full);
		return fl_error_set(err, -ENOENT, what, 0,
				    "no lab.lua there, expected a lab's folder");
	}
	ret = lab_find_root(root, err);
	if (!ret)
		ret = lab_find_all(root, &all, err);
	for (unsigned int i = 0; !ret && i < all.nr; i++)
		if (name_matches(all.names[i], what))
			return lab_join(dir, root, all.names[i]) ? 0 : -ENAMETOOLONG;
	return ret ? ret : unknown_lab(what, &all, err);
}

int lab_find_solution(const char *dir, char *path, struct fl_error *err)
{
	const char *name = strrchr(dir, '/') ? strrchr(dir, '/') + 1 : dir;

	snprintf(path, LAB_PATH, "%.200s/../../tests/solutions/%.60s.lua", dir, name);
	if (!access(path, R_OK)) {
		char *full = realpath(path, NULL);

		if (full && strlen(full) < LAB_PATH)
			strcpy(path, full);
		free(full);
		return 0;
	}
	if (is_file(dir, "solution.lua")) {
		lab_join(path, dir, "solution.lua");
		return 0;
	}
	snprintf(path, LAB_PATH, "tests/solutions/%.60s.lua", name);
	return fl_error_set(err, -ENOENT, path, 0,
			    "missing solution, expected it there or as solution.lua in the lab's "
			    "folder");
}

/* ---- a student's files ---- */

static int make_dirs(char *path, struct fl_error *err)
{
	for (char *p = path + 1;; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0777) && errno != EEXIST) {
			int error = errno;

			return fl_error_set(err, -error, path, 0,
					    "%s, expected a folder for progress", strerror(error));
		}
		*p = c;
		if (!c)
			return 0;
	}
}

int lab_state_dir(const char *name, bool make, char *dir, struct fl_error *err)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (state && *state == '/')
		n = snprintf(dir, LAB_PATH, "%s/foliolab/%s", state, name);
	else
		n = snprintf(dir, LAB_PATH, "%s/.local/state/foliolab/%s",
			     home && *home ? home : "/tmp", name);
	if (n >= LAB_PATH)
		return fl_error_set(err, -ENAMETOOLONG, NULL, 0,
				    "XDG_STATE_HOME is too long, expected a shorter path");
	return make ? make_dirs(dir, err) : 0;
}

#include "cli/lab_autograder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/out.h"
#include "lab/lab_find.h"
#include "lib/strutil.h"
#include "lib/zip.h"

#define FILE_MAX (256L << 20) /* bytes of a file that is packed */

/* In names and texts %s is the lab's name; a text has at most MAX_NAMES of them. */
#define MAX_NAMES 4

struct template
{
	const char *name, *text;
	bool executable;
};

static const struct template gradescope[] = {
	{"setup.sh",
	 "#!/bin/bash\n"
	 "# Prepares the machine that grades: FolioLab and what it needs.\n"
	 "set -e\n"
	 "cd \"$(dirname \"$0\")\"\n"
	 "export DEBIAN_FRONTEND=noninteractive\n"
	 "apt-get update\n"
	 "apt-get install -y --no-install-recommends ./foliolab.deb\n",
	 true},
	{"run_autograder",
	 "#!/bin/bash\n"
	 "# Grades the answers.lua in /autograder/submission. Whose it is: its field 'student',\n"
	 "# else the address of the account that handed it in.\n"
	 "cd /autograder || exit 2\n"
	 "mkdir -p results\n"
	 "who=$(grep -o '\"email\": *\"[^\"]*\"' submission_metadata.json 2>/dev/null |\n"
	 "\thead -n 1 | cut -d'\"' -f4)\n"
	 "foliolab grade source/lab/%s --submission submission --student \"${who:-guest}\" \\\n"
	 "\t--format gradescope -o results/results.json\n"
	 "# 1 is less than full marks; anything above is the autograder's own fault.\n"
	 "[ $? -le 1 ]\n",
	 true},
	{NULL, NULL, false},
};

static const struct template prairielearn[] = {
	{"questions/%s/info.json",
	 "{\n"
	 "  \"uuid\": \"@UUID@\",\n"
	 "  \"title\": \"FolioLab %s\",\n"
	 "  \"topic\": \"Page cache\",\n"
	 "  \"type\": \"v3\",\n"
	 "  \"gradingMethod\": \"External\",\n"
	 "  \"externalGradingOptions\": {\n"
	 "    \"enabled\": true,\n"
	 "    \"image\": \"foliolab-grader\",\n"
	 "    \"entrypoint\": \"/grade/tests/run.sh\",\n"
	 "    \"timeout\": 300\n"
	 "  }\n"
	 "}\n",
	 false},
	{"questions/%s/question.html",
	 "<pl-question-panel>\n"
	 "  <p>Do the lab with <code>foliolab lab run %s</code>, pack your answers with\n"
	 "  <code>foliolab lab package %s -o answers.lua</code>, and hand in that file.</p>\n"
	 "  <pl-file-upload file-names=\"answers.lua\"></pl-file-upload>\n"
	 "</pl-question-panel>\n"
	 "<pl-submission-panel>\n"
	 "  <pl-external-grader-results></pl-external-grader-results>\n"
	 "  <pl-file-preview></pl-file-preview>\n"
	 "</pl-submission-panel>\n",
	 false},
	{"questions/%s/tests/run.sh",
	 "#!/bin/bash\n"
	 "# Grades the answers.lua in /grade/student.\n"
	 "mkdir -p /grade/results\n"
	 "cd /grade/tests || exit 2\n"
	 "foliolab grade lab/%s --submission /grade/student --format prairielearn \\\n"
	 "\t-o /grade/results/results.json\n"
	 "# The grader's own fault takes no attempt.\n"
	 "[ $? -le 1 ] || echo '{\"gradable\": false, \"message\": \"The grader is broken.\"}' \\\n"
	 "\t>/grade/results/results.json\n",
	 true},
	{"docker/Dockerfile",
	 "# docker build -t foliolab-grader .\n"
	 "FROM debian:12-slim\n"
	 "COPY foliolab.deb /\n"
	 "RUN apt-get update && apt-get install -y --no-install-recommends /foliolab.deb && \\\n"
	 "    rm -rf /foliolab.deb /var/lib/apt/lists/*\n",
	 false},
	{NULL, NULL, false},
};

static const struct platform {
	const char *name;
	const struct template *templates;
	const char *lab;     /* where the lab's folder goes, before its name; %s */
	const char *program; /* and the package */
} platforms[] = {
	{"gradescope", gradescope, "lab/", "foliolab.deb"},
	{"prairielearn", prairielearn, "questions/%s/tests/lab/", "docker/foliolab.deb"},
};

/* ---- files ---- */

static int zip_error(int code, const char *path, struct fl_error *err)
{
	return fl_error_set(err, code, path, 0, "%s, expected a file that fits into the package",
			    code == -E2BIG ? "too large" : strerror(-code));
}

/* All of the regular file @path. */
static int read_whole(const char *path, char **data_ret, size_t *len_ret, struct fl_error *err)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;
	struct stat st;
	int ret = 0;

	if (!f)
		return zip_error(-errno, path, err);
	if (fstat(fileno(f), &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -EINVAL;
	else if (st.st_size > FILE_MAX)
		ret = -E2BIG;
	else if (!(data = malloc(st.st_size + 1)))
		ret = -ENOMEM;
	else if (fread(data, 1, st.st_size, f) != (size_t)st.st_size)
		ret = -EIO;
	fclose(f);
	if (ret) {
		free(data);
		return zip_error(ret, path, err);
	}
	*data_ret = data;
	*len_ret = st.st_size;
	return 0;
}

static int pack_file(struct zip *z, const char *path, const char *name, struct fl_error *err)
{
	char *data = NULL;
	size_t len = 0;
	int ret = read_whole(path, &data, &len, err);

	if (ret)
		return ret;
	ret = zip_add(z, name, data, len, false);
	free(data);
	return ret ? zip_error(ret, path, err) : 0;
}

/* The lab's folder under @prefix, without what begins with a dot and without a solution. */
static int pack_lab(struct zip *z, const char *dir, const char *prefix, struct fl_error *err)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort), ret = 0;

	if (n < 0)
		return zip_error(-errno, dir, err);
	for (int i = 0; i < n; i++) {
		char path[LAB_PATH], name[ZIP_NAME_MAX];
		const char *file = list[i]->d_name;
		struct stat st;

		if (!ret && *file != '.' && strcmp(file, "solution.lua") &&
		    lab_join(path, dir, file) && !stat(path, &st) && S_ISREG(st.st_mode)) {
			snprintf(name, sizeof(name), "%.120s/%.120s", prefix, file);
			ret = pack_file(z, path, name, err);
		}
		free(list[i]);
	}
	free(list);
	return ret;
}

/* ---- what is made for the platform ---- */

/* @text with @lab for each %s and an identity of the lab's own for @UUID@; the caller frees it. */
static char *fill(const char *text, const char *lab)
{
	size_t room = strlen(text) + MAX_NAMES * strlen(lab) + 64;
	char *filled = malloc(room), *to = filled;
	u64 id = 0xcbf29ce484222325ULL;

	if (!filled)
		return NULL;
	for (const char *c = lab; *c; c++)
		id = (id ^ (unsigned char)*c) * 0x100000001b3ULL;
	while (*text) {
		if (!strncmp(text, "%s", 2)) {
			to = stpcpy(to, lab);
			text += 2;
		} else if (!strncmp(text, "@UUID@", 6)) {
			to += sprintf(to, "%08x-%04x-4000-8000-%012" PRIx64, (u32)(id >> 32),
				      (unsigned int)(id & 0xffff), id >> 16);
			text += 6;
		} else {
			*to++ = *text++;
		}
	}
	*to = 0;
	return filled;
}

static int pack_template(struct zip *z, const struct template *t, const char *lab,
			 struct fl_error *err)
{
	char *name = fill(t->name, lab), *text = fill(t->text, lab);
	int ret = name && text ? zip_add(z, name, text, strlen(text), t->executable) : -ENOMEM;

	free(name);
	free(text);
	return ret ? zip_error(ret, t->name, err) : 0;
}

static int pack(struct zip *z, const struct platform *p, const char *dir, const char *program,
		struct fl_error *err)
{
	const char *lab = strrchr(dir, '/') + 1;
	char prefix[ZIP_NAME_MAX], *folder;
	int ret = 0;

	for (const struct template *t = p->templates; t->name && !ret; t++)
		ret = pack_template(z, t, lab, err);
	folder = fill(p->lab, lab);
	if (!folder)
		return zip_error(-ENOMEM, dir, err);
	snprintf(prefix, sizeof(prefix), "%.100s%.60s", folder, lab);
	free(folder);
	if (!ret)
		ret = pack_lab(z, dir, prefix, err);
	if (!ret)
		ret = pack_file(z, program, p->program, err);
	if (!ret)
		zip_finish(z);
	return ret;
}

static const struct platform *find_platform(const char *name, struct fl_error *err)
{
	const char *names[ARRAY_SIZE(platforms)];
	struct name_list list = {"platform", names, ARRAY_SIZE(platforms)};
	char text[sizeof(err->text)];

	for (size_t i = 0; i < ARRAY_SIZE(platforms); i++) {
		if (!strcmp(platforms[i].name, name))
			return &platforms[i];
		names[i] = platforms[i].name;
	}
	fl_error_set(err, -EINVAL, "--for", 0, "%s",
		     describe_unknown(text, sizeof(text), name, &list));
	return NULL;
}

int lab_autograder(const char *dir, const char *platform, const char *program, const char *output,
		   struct fl_error *err)
{
	const struct platform *p = find_platform(platform, err);
	struct zip z;
	struct out o;
	int ret;

	if (!p)
		return -EINVAL;
	if (!program)
		return fl_error_set(
			err, -EINVAL, "--program", 0,
			"is missing, expected the Debian package of FolioLab that is to "
			"grade ('make deb')");
	ret = out_open(&o, output, err);
	if (ret)
		return ret;
	ret = zip_init(&z, o.f);
	if (!ret)
		ret = pack(&z, p, dir, program, err);
	else
		zip_error(ret, output, err);
	zip_fini(&z);
	if (!ret)
		return out_commit(&o, err);
	out_abort(&o);
	return ret;
}

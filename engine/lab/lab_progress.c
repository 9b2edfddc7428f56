#include "lab/lab_progress.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/textfile.h"

static const char *const status_names[] = {"open", "right", "revealed"};

void lab_progress_fini(struct lab_progress *p)
{
	for (unsigned int i = 0; i < p->nr; i++)
		free(p->items[i].given);
	free(p->items);
	p->items = NULL;
	p->nr = 0;
}

struct lab_item *lab_progress_item(struct lab_progress *p, const char *id)
{
	struct lab_item *items;

	for (unsigned int i = 0; i < p->nr; i++)
		if (!strcmp(p->items[i].id, id))
			return &p->items[i];
	items = realloc(p->items, (p->nr + 1) * sizeof(*items));
	if (!items)
		return NULL;
	p->items = items;
	memset(&items[p->nr], 0, sizeof(*items));
	snprintf(items[p->nr].id, sizeof(items->id), "%s", id);
	return &items[p->nr++];
}

double lab_progress_points(const struct lab_progress *p)
{
	double sum = 0;

	for (unsigned int i = 0; i < p->nr; i++)
		sum += p->items[i].points;
	return sum;
}

/* ---- reading ---- */

static double number(const cJSON *obj, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);

	return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

static const char *string(const cJSON *obj, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);

	return cJSON_IsString(v) ? v->valuestring : "";
}

static int read_items(struct lab_progress *p, const cJSON *list)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, list)
	{
		struct lab_item *item = lab_progress_item(p, string(c, "id"));
		const char *status = string(c, "status");

		if (!item)
			return -ENOMEM;
		for (unsigned int i = 0; i < ARRAY_SIZE(status_names); i++)
			if (!strcmp(status, status_names[i]))
				item->status = i;
		item->points = number(c, "points");
		item->lost = number(c, "lost");
		item->hints = number(c, "hints");
		item->wrong = number(c, "wrong");
		if (cJSON_HasObjectItem(c, "given") && !item->given)
			item->given = strdup(string(c, "given"));
	}
	return 0;
}

int lab_progress_load(const char *name, struct lab_progress *ret, struct fl_error *err)
{
	char dir[LAB_PATH], *text;
	size_t len;
	cJSON *obj;
	int error;

	memset(ret, 0, sizeof(*ret));
	error = lab_state_dir(name, false, dir, err);
	if (error)
		return error;
	if (!lab_join(ret->path, dir, "progress.json"))
		return fl_error_set(err, -ENAMETOOLONG, dir, 0, "path too long");
	if (access(ret->path, F_OK))
		return 0;
	error = textfile_read(ret->path, 1 << 20, &text, &len, err);
	if (error)
		return error;
	obj = cJSON_Parse(text);
	free(text);
	if (!cJSON_IsObject(obj)) {
		cJSON_Delete(obj);
		return fl_error_set(err, -EINVAL, ret->path, 0,
				    "not FolioLab's progress, expected JSON ('foliolab lab reset' "
				    "starts over)");
	}
	snprintf(ret->student, sizeof(ret->student), "%s", string(obj, "student"));
	ret->steps_done = number(obj, "steps_done");
	error = read_items(ret, cJSON_GetObjectItemCaseSensitive(obj, "questions"));
	cJSON_Delete(obj);
	return error ? fl_error_set(err, error, NULL, 0, "out of memory") : 0;
}

/* ---- writing ---- */

static cJSON *to_json(const struct lab_progress *p, const char *name)
{
	cJSON *obj = cJSON_CreateObject(), *list;
	char seed[16];

	snprintf(seed, sizeof(seed), "%08x", lab_seed(p->student));
	cJSON_AddStringToObject(obj, "lab", name);
	cJSON_AddStringToObject(obj, "student", p->student);
	cJSON_AddStringToObject(obj, "seed", seed);
	cJSON_AddNumberToObject(obj, "steps_done", p->steps_done);
	list = cJSON_AddArrayToObject(obj, "questions");
	for (unsigned int i = 0; i < p->nr; i++) {
		const struct lab_item *item = &p->items[i];
		cJSON *c = cJSON_CreateObject();

		cJSON_AddStringToObject(c, "id", item->id);
		cJSON_AddStringToObject(c, "status", status_names[item->status]);
		cJSON_AddNumberToObject(c, "points", item->points);
		cJSON_AddNumberToObject(c, "lost", item->lost);
		cJSON_AddNumberToObject(c, "hints", item->hints);
		cJSON_AddNumberToObject(c, "wrong", item->wrong);
		if (item->given)
			cJSON_AddStringToObject(c, "given", item->given);
		cJSON_AddItemToArray(list, c);
	}
	return obj;
}

/* The text to a file beside @path, which it then replaces. */
static int replace_file(const char *path, const char *text, struct fl_error *err)
{
	char tmp[LAB_PATH + 16];
	size_t len = strlen(text);
	bool good;
	int fd;

	snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path);
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return fl_error_set(err, -errno, path, 0, "%s", strerror(errno));
	good = write(fd, text, len) == (ssize_t)len && write(fd, "\n", 1) == 1 && !fsync(fd);
	if (close(fd) || !good || rename(tmp, path)) {
		int error = errno;

		unlink(tmp);
		return fl_error_set(err, -error, path, 0, "%s", strerror(error));
	}
	return 0;
}

int lab_progress_save(const struct lab_progress *p, const char *name, struct fl_error *err)
{
	char dir[LAB_PATH], *text;
	cJSON *obj;
	int ret = lab_state_dir(name, true, dir, err);

	if (ret)
		return ret;
	obj = to_json(p, name);
	text = cJSON_Print(obj);
	cJSON_Delete(obj);
	if (!text)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = replace_file(p->path, text, err);
	free(text);
	return ret;
}

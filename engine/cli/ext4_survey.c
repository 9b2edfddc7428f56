#include "cli/ext4_survey.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json.h"
#include "lib/strutil.h"
#include "machine/knobs.h"

#define INLINE_DATA_FL 0x10000000 /* EXT4_INLINE_DATA_FL */
#define PATH_COLUMN    40
#define CELL	       48

struct ext4_survey {
	char image[4096];
	struct ext4_image_super super;
	struct ext4_mount_config config;
	unsigned int page_size;
	const char *kernels[EXT4_SURVEY_KERNELS];
	struct ext4_judge *judges[EXT4_SURVEY_KERNELS];
	unsigned int nr;
	struct ext4_image_list list;
};

/* ---- making ---- */

static void take_kernels(struct ext4_survey *s, const struct ext4_survey_args *args)
{
	const struct profile_info *p;

	s->nr = args->nr_kernels;
	memcpy(s->kernels, args->kernels, sizeof(s->kernels));
	for (unsigned int i = 0; !args->nr_kernels && (p = profile_info(i)); i++)
		if (s->nr < EXT4_SURVEY_KERNELS)
			s->kernels[s->nr++] = p->name;
}

static int read_image(struct ext4_survey *s, const struct ext4_survey_args *args,
		      struct fl_error *err)
{
	const char *path = ext4_image_split(args->word, s->image, sizeof(s->image));
	struct ext4_image *image;
	int ret = ext4_image_open(s->image, &image, err);

	if (ret)
		return ret;
	s->super = *ext4_image_super(image);
	ext4_image_mount_config(&s->super, &s->config);
	ret = ext4_image_walk(image, path ? path : "", args->max, &s->list, err);
	ext4_image_close(image);
	if (!ret && args->mount_options)
		ret = ext4_parse_options(&s->config, args->mount_options, err);
	/* As mounting settles it; what it refuses shows in the verdicts. */
	if (s->config.opts & EXT4_MOUNT_JOURNAL_DATA && !s->config.delalloc_given)
		s->config.opts &= ~(EXT4_MOUNT_DELALLOC | EXT4_MOUNT_DIOREAD_NOLOCK);
	return ret;
}

int ext4_survey_make(const struct ext4_survey_args *args, struct ext4_survey **ret,
		     struct fl_error *err)
{
	struct ext4_survey *s = calloc(1, sizeof(*s));
	int error;

	*ret = NULL;
	if (!s)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	s->page_size = args->page_size;
	take_kernels(s, args);
	error = read_image(s, args, err);
	for (unsigned int i = 0; i < s->nr && !error; i++)
		error = ext4_judge_open(s->kernels[i], s->page_size, s->super.block_size,
					&s->config, &s->judges[i], err);
	if (error) {
		ext4_survey_free(s);
		return error;
	}
	*ret = s;
	return 0;
}

void ext4_survey_free(struct ext4_survey *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->nr; i++)
		ext4_judge_close(s->judges[i]);
	ext4_image_list_fini(&s->list);
	free(s);
}

/* ---- words ---- */

struct bit_name {
	u32 bit;
	const char *name;
};

static const struct bit_name feature_names[] = {
	{EXT4_FEATURE_HAS_JOURNAL, "has_journal"},
	{EXT4_FEATURE_EXTENTS, "extent"},
	{EXT4_FEATURE_VERITY, "verity"},
	{EXT4_FEATURE_ENCRYPT, "encrypt"},
	{EXT4_FEATURE_INLINE_DATA, "inline_data"},
	{EXT4_FEATURE_BIGALLOC, "bigalloc"},
	{0},
};

static const struct bit_name option_names[] = {
	{EXT4_MOUNT_JOURNAL_DATA, "data=journal"},     {EXT4_MOUNT_ORDERED_DATA, "data=ordered"},
	{EXT4_MOUNT_WRITEBACK_DATA, "data=writeback"}, {EXT4_MOUNT_DELALLOC, "delalloc"},
	{EXT4_MOUNT_DIOREAD_NOLOCK, "dioread_nolock"}, {0},
};

static const struct bit_name flag_names[] = {
	{EXT4_JOURNAL_DATA_FL, "journal_data"}, {EXT4_ENCRYPT_FL, "encrypt"},
	{EXT4_EXTENTS_FL, "extents"},		{EXT4_VERITY_FL, "verity"},
	{INLINE_DATA_FL, "inline_data"},	{0},
};

static cJSON *names_json(const struct bit_name *names, u32 bits)
{
	cJSON *list = cJSON_CreateArray();

	for (; names->name; names++)
		if (bits & names->bit)
			cJSON_AddItemToArray(list, cJSON_CreateString(names->name));
	return list;
}

static void print_names(FILE *f, const struct bit_name *names, u32 bits)
{
	const char *sep = "";

	for (; names->name; names++) {
		if (!(bits & names->bit))
			continue;
		fprintf(f, "%s%s", sep, names->name);
		sep = " ";
	}
	fprintf(f, "%s", *sep ? "" : "none");
}

/* Any bytes may be a name: what is no UTF-8 or moves the cursor becomes '?'. */
static const char *printable(const char *path, char *buf, size_t size)
{
	size_t n = 0;

	while (*path && n + 5 < size) {
		unsigned char c = *path;
		int len = c < 0x80   ? 1
			  : c < 0xc2 ? 0
			  : c < 0xe0 ? 2
			  : c < 0xf0 ? 3
			  : c < 0xf5 ? 4
				     : 0;
		bool ok = len && c >= 0x20 && c != 0x7f;

		for (int i = 1; i < len && ok; i++)
			ok = (path[i] & 0xc0) == 0x80;
		/* Overlong forms, surrogates, past the end, and the C1 controls. */
		if (ok && len > 1) {
			unsigned char d = path[1];

			ok = !(c == 0xe0 && d < 0xa0) && !(c == 0xed && d > 0x9f) &&
			     !(c == 0xf0 && d < 0x90) && !(c == 0xf4 && d > 0x8f) &&
			     !(c == 0xc2 && d < 0xa0);
		}
		if (!ok) {
			buf[n++] = '?';
			path++;
			continue;
		}
		memcpy(buf + n, path, len);
		n += len;
		path += len;
	}
	buf[n] = 0;
	return buf;
}

static u64 count_large(const struct ext4_survey *s, unsigned int kernel)
{
	u64 n = 0;

	for (size_t i = 0; i < s->list.nr; i++)
		n += ext4_judge_file(s->judges[kernel], s->list.entries[i].flags).max_order > 0;
	return n;
}

/* ---- text ---- */

/* "9", "2..9", "verity", "verity, flag +j". */
static const char *cell(const struct ext4_verdict *v, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = 0;
	if (v->max_order && v->min_order != v->max_order && v->min_order)
		n = snprintf(buf, size, "%u..%u", v->min_order, v->max_order);
	else if (v->max_order)
		n = snprintf(buf, size, "%u", v->max_order);
	for (enum ext4_obstacle i = 0; i < EXT4_OBSTACLES && n < size; i++)
		if (v->obstacles & BIT(i))
			n += snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
				      ext4_obstacle_name(i));
	return buf;
}

/* Do all files fare the same under both kernels? */
static bool same_column(const struct ext4_survey *s, unsigned int a, unsigned int b)
{
	static const u32 flags[] = {0, EXT4_JOURNAL_DATA_FL};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		struct ext4_verdict x = ext4_judge_file(s->judges[a], flags[i]);
		struct ext4_verdict y = ext4_judge_file(s->judges[b], flags[i]);

		if (x.min_order != y.min_order || x.max_order != y.max_order ||
		    x.obstacles != y.obstacles)
			return false;
	}
	return true;
}

/* Neighbouring kernels that agree share a column. */
struct column {
	unsigned int first, last;
	char title[CELL];
	int width;
};

static unsigned int make_columns(const struct ext4_survey *s, struct column *columns)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		if (nr && same_column(s, columns[nr - 1].first, i))
			columns[nr - 1].last = i;
		else
			columns[nr++] = (struct column){.first = i, .last = i};
	}
	for (unsigned int i = 0; i < nr; i++) {
		struct column *c = &columns[i];
		char buf[CELL];

		if (c->first == c->last)
			snprintf(c->title, CELL, "%.40s", s->kernels[c->first]);
		else
			snprintf(c->title, CELL, "%.20s..%.20s", s->kernels[c->first],
				 s->kernels[c->last]);
		c->width = strlen(c->title);
		for (size_t k = 0; k < s->list.nr; k++) {
			struct ext4_verdict v =
				ext4_judge_file(s->judges[c->first], s->list.entries[k].flags);

			c->width = max(c->width, (int)strlen(cell(&v, buf, sizeof(buf))));
		}
	}
	return nr;
}

static int path_width(const struct ext4_survey *s)
{
	char buf[4200];
	size_t width = 4;

	for (size_t i = 0; i < s->list.nr; i++)
		width = max(width, strlen(printable(s->list.entries[i].path, buf, sizeof(buf))));
	return min_t(size_t, width, PATH_COLUMN);
}

static void print_head(struct out *o, const struct ext4_survey *s)
{
	char name[4200], size[24], page[24];

	fprintf(o->f, "%s: blocks of %s, pages of %s\nfeatures: ",
		printable(s->image, name, sizeof(name)),
		format_size(s->super.block_size, size, sizeof(size)),
		format_size(s->page_size, page, sizeof(page)));
	print_names(o->f, feature_names, s->config.features);
	fprintf(o->f, "\nmounted with: ");
	print_names(o->f, option_names, s->config.opts);
	fprintf(o->f, "\n\n");
}

static void print_row(FILE *f, const struct ext4_survey *s, const struct ext4_image_entry *e,
		      const struct column *columns, unsigned int nr, int width)
{
	char buf[4200], size[24], text[CELL];

	fprintf(f, "%-*s %10s", width, printable(e->path, buf, sizeof(buf)),
		format_size(e->size, size, sizeof(size)));
	for (unsigned int i = 0; i < nr; i++) {
		struct ext4_verdict v = ext4_judge_file(s->judges[columns[i].first], e->flags);

		cell(&v, text, sizeof(text));
		if (i + 1 < nr)
			fprintf(f, "  %-*s", columns[i].width, text);
		else
			fprintf(f, "  %s", text);
	}
	fputc('\n', f);
}

static u32 print_table(struct out *o, const struct ext4_survey *s, const struct column *columns,
		       unsigned int nr)
{
	int width = path_width(s);
	u32 obstacles = 0;

	fprintf(o->f, "%s%-*s %10s", o->colour ? "\033[1m" : "", width, "file", "size");
	for (unsigned int i = 0; i < nr; i++)
		fprintf(o->f, i + 1 < nr ? "  %-*s" : "  %*s", i + 1 < nr ? columns[i].width : 0,
			columns[i].title);
	fprintf(o->f, "%s\n", o->colour ? "\033[0m" : "");
	for (size_t k = 0; k < s->list.nr; k++) {
		print_row(o->f, s, &s->list.entries[k], columns, nr, width);
		for (unsigned int i = 0; i < nr; i++)
			obstacles |= ext4_judge_file(s->judges[columns[i].first],
						     s->list.entries[k].flags)
					     .obstacles;
	}
	return obstacles;
}

static void print_legend(FILE *f, u32 obstacles)
{
	if (obstacles)
		fputc('\n', f);
	for (enum ext4_obstacle i = 0; i < EXT4_OBSTACLES; i++)
		if (obstacles & BIT(i))
			fprintf(f, "%-13s %s\n", ext4_obstacle_name(i), ext4_obstacle_text(i));
}

void ext4_survey_text(struct out *o, const void *data)
{
	const struct ext4_survey *s = data;
	struct column columns[EXT4_SURVEY_KERNELS];
	unsigned int nr = make_columns(s, columns);

	print_head(o, s);
	print_legend(o->f, print_table(o, s, columns, nr));
	fprintf(o->f, "\n%zu files%s; large folios:", s->list.nr,
		s->list.more ? " (there are more, see --max)" : "");
	for (unsigned int i = 0; i < nr; i++)
		fprintf(o->f, "%s %" PRIu64 " in %s", i ? "," : "",
			count_large(s, columns[i].first), columns[i].title);
	fputc('\n', o->f);
}

/* ---- JSON ---- */

static cJSON *verdict_json(const struct ext4_verdict *v)
{
	cJSON *obj = cJSON_CreateObject(), *why;

	json_add_u64(obj, "min_order", v->min_order);
	json_add_u64(obj, "max_order", v->max_order);
	why = cJSON_AddArrayToObject(obj, "why");
	for (enum ext4_obstacle i = 0; i < EXT4_OBSTACLES; i++)
		if (v->obstacles & BIT(i))
			cJSON_AddItemToArray(why, cJSON_CreateString(ext4_obstacle_name(i)));
	return obj;
}

static cJSON *file_json(const struct ext4_survey *s, const struct ext4_image_entry *e)
{
	cJSON *obj = cJSON_CreateObject(), *kernels;
	char buf[4200];

	cJSON_AddStringToObject(obj, "path", printable(e->path, buf, sizeof(buf)));
	json_add_u64(obj, "ino", e->ino);
	json_add_u64(obj, "size", e->size);
	cJSON_AddItemToObject(obj, "flags", names_json(flag_names, e->flags));
	kernels = cJSON_AddObjectToObject(obj, "kernels");
	for (unsigned int i = 0; i < s->nr; i++) {
		struct ext4_verdict v = ext4_judge_file(s->judges[i], e->flags);

		cJSON_AddItemToObject(kernels, s->kernels[i], verdict_json(&v));
	}
	return obj;
}

cJSON *ext4_survey_json(const void *data)
{
	const struct ext4_survey *s = data;
	cJSON *obj = cJSON_CreateObject(), *list;
	char buf[4200];

	cJSON_AddStringToObject(obj, "image", printable(s->image, buf, sizeof(buf)));
	json_add_u64(obj, "block_size", s->super.block_size);
	json_add_u64(obj, "page_size", s->page_size);
	cJSON_AddItemToObject(obj, "features", names_json(feature_names, s->config.features));
	cJSON_AddItemToObject(obj, "mount_options", names_json(option_names, s->config.opts));
	list = cJSON_AddArrayToObject(obj, "kernels");
	for (unsigned int i = 0; i < s->nr; i++) {
		cJSON *k = cJSON_CreateObject();

		cJSON_AddStringToObject(k, "name", s->kernels[i]);
		json_add_u64(k, "files", s->list.nr);
		json_add_u64(k, "large", count_large(s, i));
		cJSON_AddItemToArray(list, k);
	}
	list = cJSON_AddArrayToObject(obj, "files");
	for (size_t i = 0; i < s->list.nr; i++)
		cJSON_AddItemToArray(list, file_json(s, &s->list.entries[i]));
	cJSON_AddBoolToObject(obj, "more", s->list.more);
	return obj;
}

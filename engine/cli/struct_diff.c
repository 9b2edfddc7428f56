#include "cli/struct_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

/* "  48     4": where a field is and how long; bit-fields in bits of their byte: "48:3 2b". */
static void place_text(const struct layout_field *f, char *buf, size_t size)
{
	if (!f->type && !*f->name)
		snprintf(buf, size, "%11s", "");
	else if (f->bit_field)
		snprintf(buf, size, "%4" PRIu64 ":%" PRIu64 " %3" PRIu64 "b", f->bit / 8,
			 f->bit % 8, f->bits);
	else
		snprintf(buf, size, "%4" PRIu64 "  %5" PRIu64, f->bit / 8, f->bits / 8);
}

static void print_row(FILE *f, const struct diff_row *row)
{
	static const char signs[] = {
		[DIFF_SAME] = ' ', [DIFF_RENAMED] = '~', [DIFF_OURS] = '<', [DIFF_KERNEL] = '>'};
	char ours[64], kernel[64];

	place_text(&row->ours, ours, sizeof(ours));
	place_text(&row->kernel, kernel, sizeof(kernel));
	fprintf(f, "%c %-26s %-11s   %-26s %-11s", signs[row->what], row->ours.name, ours,
		row->kernel.name, kernel);
	if (*row->reason)
		fprintf(f, "  %s", row->reason);
	fputc('\n', f);
}

int struct_diff_print(FILE *f, const char *name, const struct struct_diff *d)
{
	u32 count[DIFF_KERNEL + 1] = {0};

	fprintf(f, "struct %s: the miniature's %" PRIu64 " bytes beside the kernel's %" PRIu64 "\n",
		name, d->our_size, d->kernel_size);
	fprintf(f, "  %-26s %-11s   %-26s %-11s\n", "here", "  at   size", "there", "  at   size");
	for (size_t i = 0; i < d->nr; i++) {
		print_row(f, &d->rows[i]);
		count[d->rows[i].what]++;
	}
	fprintf(f, "%u same, ~ %u renamed, < %u only here, > %u only there\n", count[DIFF_SAME],
		count[DIFF_RENAMED], count[DIFF_OURS], count[DIFF_KERNEL]);
	return 0;
}

/* ---- JSON ---- */

static int add_side(cJSON *obj, const struct layout_field *f, const char *name, const char *offset,
		    const char *size)
{
	if (!*f->name)
		return 0;
	if (!cJSON_AddStringToObject(obj, name, f->name))
		return -ENOMEM;
	if (json_add_u64(obj, offset, f->bit / 8))
		return -ENOMEM;
	return json_add_u64(obj, size, DIV_ROUND_UP(f->bits, (u64)8));
}

static int add_row(cJSON *list, const struct diff_row *row)
{
	cJSON *obj = cJSON_CreateObject();
	int ret;

	cJSON_AddItemToArray(list, obj);
	ret = add_side(obj, &row->ours, "name", "offset", "size");
	if (!ret)
		ret = add_side(obj, &row->kernel, "kernel_name", "kernel_offset", "kernel_size");
	if (!ret && !cJSON_AddStringToObject(obj, "what", diff_what_name(row->what)))
		ret = -ENOMEM;
	if (!ret && *row->reason && !cJSON_AddStringToObject(obj, "reason", row->reason))
		ret = -ENOMEM;
	return ret;
}

int struct_diff_json(FILE *f, const char *name, const struct struct_diff *d, struct fl_error *err)
{
	cJSON *obj = cJSON_CreateObject(), *list;
	char *text = NULL;
	int ret = 0;

	if (!cJSON_AddStringToObject(obj, "name", name) || json_add_u64(obj, "size", d->our_size) ||
	    json_add_u64(obj, "kernel_size", d->kernel_size))
		ret = -ENOMEM;
	list = cJSON_AddArrayToObject(obj, "fields");
	for (size_t i = 0; i < d->nr && !ret; i++)
		ret = add_row(list, &d->rows[i]);
	if (!ret)
		text = cJSON_Print(obj);
	cJSON_Delete(obj);
	if (!text)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	fprintf(f, "%s\n", text);
	free(text);
	return 0;
}

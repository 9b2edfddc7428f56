#include "debuginfo/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct own_field own_fields[] = {
#define OWN(in, name, kernel, reason) {#in, #name, #kernel, reason},
#include "debuginfo/own-fields.txt"
#undef OWN
};

const struct own_field *own_field(unsigned int nr)
{
	return nr < ARRAY_SIZE(own_fields) ? &own_fields[nr] : NULL;
}

const struct own_field *own_field_find(const char *in, const char *name)
{
	const struct own_field *f;

	for (unsigned int i = 0; (f = own_field(i)); i++)
		if (!strcmp(f->in, in) && !strcmp(f->name, name))
			return f;
	return NULL;
}

const char *diff_what_name(enum diff_what what)
{
	static const char *const names[] = {
		[DIFF_SAME] = "same",
		[DIFF_RENAMED] = "renamed",
		[DIFF_OURS] = "only here",
		[DIFF_KERNEL] = "only there",
	};

	return names[what];
}

/* ---- the rows ---- */

static struct diff_row *add_row(struct struct_diff *d)
{
	if (d->nr == d->room) {
		size_t room = d->room ? 2 * d->room : 64;
		struct diff_row *more = realloc(d->rows, room * sizeof(*more));

		if (!more)
			return NULL;
		d->rows = more;
		d->room = room;
	}
	memset(&d->rows[d->nr], 0, sizeof(*d->rows));
	d->rows[d->nr].reason = "";
	return &d->rows[d->nr++];
}

struct taking {
	struct struct_diff *d;
	const char *in; /* the struct's name */
};

static int take_ours(void *ctx, const struct layout_field *f)
{
	struct taking *t = ctx;
	struct diff_row *row = add_row(t->d);
	const struct own_field *own = own_field_find(t->in, f->name);

	if (!row)
		return -ENOMEM;
	row->what = DIFF_OURS;
	row->ours = *f;
	if (own)
		row->reason = own->reason;
	return 0;
}

static bool same_field(const struct taking *t, const struct diff_row *row, const char *kernel)
{
	const struct own_field *own = own_field_find(t->in, row->ours.name);

	return row->what == DIFF_OURS && *row->ours.name &&
	       !strcmp(own && strcmp(own->kernel, "-") ? own->kernel : row->ours.name, kernel);
}

static int take_kernel(void *ctx, const struct layout_field *f)
{
	struct taking *t = ctx;
	struct diff_row *row;

	for (size_t i = 0; i < t->d->nr; i++) {
		row = &t->d->rows[i];
		if (!same_field(t, row, f->name))
			continue;
		row->what = strcmp(row->ours.name, f->name) ? DIFF_RENAMED : DIFF_SAME;
		row->kernel = *f;
		return 0;
	}
	row = add_row(t->d);
	if (!row)
		return -ENOMEM;
	row->what = DIFF_KERNEL;
	row->kernel = *f;
	return 0;
}

int struct_diff(struct struct_diff *d, struct types *ours, struct type *our, struct types *kernels,
		struct type *kernel, struct fl_error *err)
{
	struct taking t = {.d = d, .in = our->name};
	int ret;

	memset(d, 0, sizeof(*d));
	d->our_size = our->size;
	d->kernel_size = kernel->size;
	ret = layout_each_field(ours, our, 0, take_ours, &t, err);
	if (!ret)
		ret = layout_each_field(kernels, kernel, 0, take_kernel, &t, err);
	if (ret == -ENOMEM)
		fl_error_set(err, ret, NULL, 0, "out of memory");
	if (ret)
		struct_diff_fini(d);
	return ret;
}

void struct_diff_fini(struct struct_diff *d)
{
	free(d->rows);
	memset(d, 0, sizeof(*d));
}

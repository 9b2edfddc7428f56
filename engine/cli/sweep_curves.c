/* The curves of a sweep. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sweep_table.h"
#include "lab/plot.h"
#include "lib/strutil.h"

#define LABEL_MAX 40 /* bytes of a curve's name */

/* Where the points of a curve with one value of the x axis lie. */
struct place {
	double sum;
	unsigned int nr;
};

struct curves {
	const struct sweep_table *t;
	unsigned int x;			 /* axis */
	unsigned int y;			 /* measure */
	unsigned int first[PLOT_SERIES]; /* a point of each curve */
	unsigned int nr;
	struct place *places; /* of each curve, a value of the x axis each */
};

/* "64", "4k", "0.5" as a number. */
static bool axis_number(const char *value, double *ret)
{
	char *end;
	s64 size;

	if (!parse_size(value, &size)) {
		*ret = (double)size;
		return true;
	}
	*ret = strtod(value, &end);
	return end != value && !*end;
}

static bool is_numeric(const struct sweep_axis *axis)
{
	double v;

	for (unsigned int i = 0; i < axis->nr; i++)
		if (!axis_number(axis->values[i], &v))
			return false;
	return true;
}

static int find_x(const struct sweep_grid *g, const char *name, unsigned int *ret,
		  struct fl_error *err)
{
	for (unsigned int i = 0; i < g->nr_axes; i++) {
		const struct sweep_axis *axis = &g->axes[i];
		bool wanted = name ? !strcmp(axis->name, name)
				   : axis->nr > 1 && strcmp(axis->name, "seed");

		if (wanted && is_numeric(axis)) {
			*ret = i;
			return 0;
		}
	}
	return fl_error_set(
		err, -EINVAL, "--x", 0,
		"'%.40s' is no axis of numbers, expected a line of the grid whose values "
		"are numbers",
		name ? name : "(none)");
}

static int find_y(const struct sweep_grid *g, const char *name, unsigned int *ret,
		  struct fl_error *err)
{
	struct name_list list = {"measure", g->measures, g->nr_measures};
	char text[sizeof(err->text)];

	*ret = 0;
	for (unsigned int i = 0; i < g->nr_measures && name; i++)
		if (!strcmp(g->measures[i], name)) {
			*ret = i;
			return 0;
		}
	return name ? fl_error_set(err, -EINVAL, "--y", 0, "%s",
				   describe_unknown(text, sizeof(text), name, &list))
		    : 0;
}

/* Does axis @i tell curves apart? */
static bool separates(const struct curves *c, unsigned int i)
{
	const struct sweep_axis *axis = &c->t->grid->axes[i];

	return i != c->x && axis->nr > 1 && strcmp(axis->name, "seed");
}

/* "seq v6.7": the values that tell the curve of @point from others. */
static void curve_name(const struct curves *c, unsigned int point, char *name)
{
	const struct sweep_grid *g = c->t->grid;
	size_t len = 0;

	name[0] = 0;
	for (unsigned int i = 0; i < g->nr_axes && len < LABEL_MAX - 1; i++)
		if (separates(c, i))
			len += snprintf(name + len, LABEL_MAX - len, "%s%s", len ? " " : "",
					g->axes[i].values[sweep_value(g, point, i)]);
}

/* Are two points on the same curve? */
static bool together(const struct curves *c, unsigned int a, unsigned int b)
{
	const struct sweep_grid *g = c->t->grid;

	for (unsigned int i = 0; i < g->nr_axes; i++)
		if (separates(c, i) && sweep_value(g, a, i) != sweep_value(g, b, i))
			return false;
	return true;
}

/* The curve of @point, perhaps a new one; PLOT_SERIES where there are too many. */
static unsigned int curve_of(struct curves *c, unsigned int point)
{
	unsigned int i = 0;

	while (i < c->nr && !together(c, c->first[i], point))
		i++;
	if (i == c->nr && i < PLOT_SERIES)
		c->first[c->nr++] = point;
	return i;
}

static int collect(struct curves *c)
{
	const struct sweep_grid *g = c->t->grid;
	unsigned int width = g->axes[c->x].nr;

	c->places = calloc((size_t)PLOT_SERIES * width, sizeof(*c->places));
	if (!c->places)
		return -ENOMEM;
	for (unsigned int p = 0; p < g->points; p++) {
		unsigned int curve = c->t->there[p] ? curve_of(c, p) : 0;
		struct place *place;

		if (!c->t->there[p])
			continue;
		if (curve == PLOT_SERIES)
			return -E2BIG;
		place = &c->places[(size_t)curve * width + sweep_value(g, p, c->x)];
		place->sum += c->t->values[(size_t)p * g->nr_measures + c->y];
		place->nr++;
	}
	return 0;
}

static int draw(const struct curves *c, struct plot *plot)
{
	const struct sweep_axis *x = &c->t->grid->axes[c->x];
	char name[LABEL_MAX];
	int ret = 0;

	for (unsigned int i = 0; i < c->nr && !ret; i++) {
		curve_name(c, c->first[i], name);
		ret = plot_add_series(plot, name);
		for (unsigned int v = 0; v < x->nr && !ret; v++) {
			const struct place *place = &c->places[(size_t)i * x->nr + v];
			double at = 0;

			if (!place->nr)
				continue;
			axis_number(x->values[v], &at);
			ret = plot_add_point(plot, at, place->sum / place->nr);
		}
	}
	return ret;
}

static int write_plot(const struct plot *p, const char *path, struct fl_error *err)
{
	struct out o;
	int ret = out_open(&o, path, err);

	if (ret)
		return ret;
	plot_svg(p, o.f);
	return out_commit(&o, err);
}

int sweep_svg(const struct sweep_table *t, const char *x, const char *y, const char *path,
	      struct fl_error *err)
{
	struct curves c = {.t = t};
	struct plot plot;
	int ret = find_x(t->grid, x, &c.x, err);

	if (!ret)
		ret = find_y(t->grid, y, &c.y, err);
	if (ret)
		return ret;
	plot_init(&plot, PLOT_LINE);
	snprintf(plot.x, sizeof(plot.x), "%s", t->grid->axes[c.x].name);
	snprintf(plot.y, sizeof(plot.y), "%s", t->grid->measures[c.y]);
	ret = collect(&c);
	if (!ret)
		ret = draw(&c, &plot);
	if (ret)
		ret = fl_error_set(err, ret, "--svg", 0, "%s",
				   ret == -E2BIG
					   ? "more curves than fit, expected up to 8: fix some "
					     "of the other axes"
					   : "out of memory");
	else
		ret = write_plot(&plot, path, err);
	free(c.places);
	plot_fini(&plot);
	return ret;
}

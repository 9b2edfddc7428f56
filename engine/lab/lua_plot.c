/* plot.bars, plot.histogram, plot.line: from Lua tables to struct plot. */
#include "lab/lua_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lua_engine.h"
#include "lab/plot.h"

#define PLOT_TYPE  "plot"
#define TEXT_WIDTH 78
#define BINS	   10

/* ---- building ---- */

static int plot_gc(lua_State *L)
{
	plot_fini(lua_touserdata(L, 1));
	return 0;
}

static struct plot *push_plot(lua_State *L, enum plot_kind kind)
{
	struct plot *p = lua_newuserdatauv(L, sizeof(*p), 0);

	plot_init(p, kind);
	luaL_setmetatable(L, PLOT_TYPE);
	return p;
}

static void check(lua_State *L, int error)
{
	if (error == -E2BIG)
		luaL_error(L, "plot: too many values or series, expected at most %d and %d",
			   PLOT_MAX, PLOT_SERIES);
	if (error)
		luaL_error(L, "out of memory");
}

/* An optional string field of the table at 1. */
static void take_text(lua_State *L, const char *key, char *to, size_t size)
{
	if (lua_getfield(L, 1, key) != LUA_TNIL)
		snprintf(to, size, "%s", lab_lua_tolstring(L, -1, NULL));
	lua_settop(L, 2);
}

static double number_at(lua_State *L, int index, const char *what)
{
	int is_number;
	double v = lua_tonumberx(L, index, &is_number);

	if (!is_number)
		luaL_error(L, "plot: %s: a %s, expected a number", what, luaL_typename(L, index));
	return v;
}

static void take_titles(lua_State *L, struct plot *p)
{
	take_text(L, "title", p->title, sizeof(p->title));
	take_text(L, "unit", p->unit, sizeof(p->unit));
	take_text(L, "x", p->x, sizeof(p->x));
	take_text(L, "y", p->y, sizeof(p->y));
}

/* { [label] = n }: in the order of pairs(), which is the environment's. */
static void bars_by_label(lua_State *L, struct plot *p)
{
	lua_getfield(L, LUA_REGISTRYINDEX, "sorted pairs");
	lua_getfield(L, 1, "values");
	lua_call(L, 1, 1);
	for (;;) {
		lua_pushvalue(L, -1);
		lua_call(L, 0, 2);
		if (lua_isnil(L, -2))
			return;
		lab_lua_tolstring(L, -2, NULL);
		check(L, plot_add_bar(p, lua_tostring(L, -1), number_at(L, -2, "values")));
		lua_pop(L, 3);
	}
}

static int new_bars(lua_State *L)
{
	struct plot *p;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	p = push_plot(L, PLOT_BARS);
	take_titles(L, p);
	luaL_argcheck(L, lua_getfield(L, 1, "values") == LUA_TTABLE, 1, "plot.bars without values");
	if (lua_getfield(L, 1, "labels") == LUA_TNIL) {
		bars_by_label(L, p);
		lua_settop(L, 2);
		return 1;
	}
	luaL_checktype(L, 4, LUA_TTABLE);
	for (lua_Integer i = 1; lua_geti(L, 4, i) != LUA_TNIL; i++) {
		lab_lua_tolstring(L, -1, NULL);
		lua_geti(L, 3, i);
		check(L, plot_add_bar(p, lua_tostring(L, -2), number_at(L, -1, "values")));
		lua_settop(L, 4);
	}
	lua_settop(L, 2);
	return 1;
}

/* Counts of a histogram while its range is not known yet. */
struct samples {
	size_t nr;
	struct plot_point at[PLOT_MAX]; /* value, count */
};

static void take_samples(lua_State *L, struct samples *s)
{
	bool counted = lua_getfield(L, 1, "counts") == LUA_TTABLE;
	int list = lua_gettop(L);

	if (!counted && lua_getfield(L, 1, "values") != LUA_TTABLE)
		luaL_error(L, "plot.histogram without values or counts");
	list = counted ? list : list + 1;
	for (lua_Integer i = 1; lua_geti(L, list, i) != LUA_TNIL; i++) {
		struct plot_point v = {.y = 1};

		if (s->nr == PLOT_MAX)
			check(L, -E2BIG);
		if (counted) {
			luaL_argcheck(L, lua_istable(L, -1), 1,
				      "counts: { value, count } expected");
			lua_geti(L, -1, 1);
			lua_geti(L, -2, 2);
			v.x = number_at(L, -2, "counts");
			v.y = number_at(L, -1, "counts");
		} else {
			v.x = number_at(L, -1, "values");
		}
		s->at[s->nr++] = v;
		lua_settop(L, list);
	}
}

static void add_bins(lua_State *L, struct plot *p, const struct samples *s, int bins)
{
	double low = INFINITY, high = -INFINITY, width, sum[PLOT_MAX] = {0};
	char a[40], b[40], label[90];

	for (size_t i = 0; i < s->nr; i++) {
		low = min(low, s->at[i].x);
		high = max(high, s->at[i].x);
	}
	if (!s->nr)
		return;
	width = high > low ? (high - low) / bins : 1;
	if (high <= low)
		bins = 1;
	for (size_t i = 0; i < s->nr; i++)
		sum[min(bins - 1, (int)((s->at[i].x - low) / width))] += s->at[i].y;
	for (int i = 0; i < bins; i++) {
		snprintf(label, sizeof(label), "%s .. %s",
			 plot_number(low + i * width, a, sizeof(a)),
			 plot_number(low + (i + 1) * width, b, sizeof(b)));
		check(L, plot_add_bar(p, label, sum[i]));
	}
}

static int new_histogram(lua_State *L)
{
	struct samples *s;
	struct plot *p;
	lua_Integer bins;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	p = push_plot(L, PLOT_BARS);
	take_titles(L, p);
	lua_getfield(L, 1, "bins");
	bins = luaL_optinteger(L, -1, BINS);
	luaL_argcheck(L, bins >= 1 && bins <= 200, 1, "bins: 1 to 200 expected");
	s = lua_newuserdatauv(L, sizeof(*s), 0);
	s->nr = 0;
	take_samples(L, s);
	add_bins(L, p, s, bins);
	lua_settop(L, 2);
	return 1;
}

/* The points of the series table on top. */
static void take_points(lua_State *L, struct plot *p)
{
	int points;

	if (lua_getfield(L, -1, "points") != LUA_TTABLE)
		luaL_error(L, "plot.line: a series without points");
	points = lua_gettop(L);
	for (lua_Integer i = 1; lua_geti(L, points, i) != LUA_TNIL; i++) {
		if (!lua_istable(L, -1))
			luaL_error(L, "plot.line: a point is a %s, expected { x, y }",
				   luaL_typename(L, -1));
		lua_geti(L, -1, 1);
		lua_geti(L, -2, 2);
		check(L, plot_add_point(p, number_at(L, -2, "x"), number_at(L, -1, "y")));
		lua_settop(L, points);
	}
	lua_settop(L, points - 1);
}

static int new_line(lua_State *L)
{
	struct plot *p;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	p = push_plot(L, PLOT_LINE);
	take_titles(L, p);
	luaL_argcheck(L, lua_getfield(L, 1, "series") == LUA_TTABLE, 1, "plot.line without series");
	for (lua_Integer i = 1; lua_geti(L, 3, i) != LUA_TNIL; i++) {
		luaL_argcheck(L, lua_istable(L, -1), 1, "series: a list of tables expected");
		lua_getfield(L, -1, "name");
		check(L, plot_add_series(p, luaL_optstring(L, -1, "")));
		lua_pop(L, 1);
		take_points(L, p);
		lua_settop(L, 3);
	}
	lua_settop(L, 2);
	return 1;
}

/* ---- drawing ---- */

/* Push what @draw writes; nothing raises while the stream is open. */
static void push_drawn(lua_State *L, const struct plot *p, bool svg, unsigned int width)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f;
	void *copy;

	lab_lua_charge(L, 1000);
	f = open_memstream(&text, &len);
	if (!f) {
		luaL_error(L, "out of memory");
		return;
	}
	if (svg)
		plot_svg(p, f);
	else
		plot_text(p, f, width);
	if (fclose(f) || !text || !lua_checkstack(L, 3)) {
		free(text);
		luaL_error(L, "out of memory");
		return;
	}
	/* A string as text ends without its last newline, so that print() does not add an empty
	 * line. */
	if (!svg && len && text[len - 1] == '\n')
		len--;
	copy = len < LAB_LUA_OUTPUT_MAX ? text : NULL;
	lua_pushlstring(L, copy ? text : "", copy ? len : 0);
	free(text);
}

static int plot_to_text(lua_State *L)
{
	struct plot *p = luaL_checkudata(L, 1, PLOT_TYPE);
	lua_Integer width = luaL_optinteger(L, 2, TEXT_WIDTH);

	luaL_argcheck(L, width >= 20 && width <= 200, 2, "20 to 200 columns expected");
	push_drawn(L, p, false, width);
	return 1;
}

static int plot_tostring(lua_State *L)
{
	push_drawn(L, luaL_checkudata(L, 1, PLOT_TYPE), false, TEXT_WIDTH);
	return 1;
}

static int plot_to_svg(lua_State *L)
{
	push_drawn(L, luaL_checkudata(L, 1, PLOT_TYPE), true, 0);
	return 1;
}

/* figure(name, plot): show it, and hand its SVG to whoever keeps figures. */
static int figure(lua_State *L)
{
	struct lab_lua *ll = lab_lua_of(L);
	const char *name = luaL_checkstring(L, 1);
	struct plot *p = luaL_checkudata(L, 2, PLOT_TYPE);

	luaL_argcheck(L,
		      *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")] &&
			      strlen(name) < 60,
		      1, "letters a-z, digits, - and _ expected");
	push_drawn(L, p, false, TEXT_WIDTH);
	if (ll->out)
		fprintf(ll->out, "%s\n", lua_tostring(L, -1));
	push_drawn(L, p, true, 0);
	if (ll->figure)
		ll->figure(ll->figure_ctx, name, lua_tostring(L, -1));
	return 0;
}

void lab_lua_push_plot_library(lua_State *L)
{
	static const luaL_Reg meta[] = {
		{"__gc", plot_gc}, {"__tostring", plot_tostring}, {NULL, NULL}};
	static const luaL_Reg methods[] = {
		{"text", plot_to_text}, {"svg", plot_to_svg}, {NULL, NULL}};
	static const luaL_Reg library[] = {
		{"bars", new_bars}, {"histogram", new_histogram}, {"line", new_line}, {NULL, NULL}};

	if (luaL_newmetatable(L, PLOT_TYPE)) {
		luaL_setfuncs(L, meta, 0);
		luaL_newlib(L, methods);
		lua_setfield(L, -2, "__index");
		lua_pushboolean(L, false);
		lua_setfield(L, -2, "__metatable");
	}
	lua_pop(L, 1);
	luaL_newlib(L, library);
}

void lab_lua_push_figure(lua_State *L)
{
	lua_pushcfunction(L, figure);
}

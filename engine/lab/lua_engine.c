/* fl, machine, plot, figure: what an environment has beyond the language. */
#include "lab/lua_machine.h"

#include <string.h>

#include "lab/lua_engine.h"
#include "lib/prng.h"
#include "lib/strutil.h"

#define RNG_TYPE "rng"

/* ---- random numbers ---- */

static struct prng *check_rng(lua_State *L)
{
	return luaL_checkudata(L, 1, RNG_TYPE);
}

void lab_lua_push_rng(lua_State *L, u64 seed)
{
	struct prng *p = lua_newuserdatauv(L, sizeof(*p), 0);

	prng_seed(p, seed);
	luaL_setmetatable(L, RNG_TYPE);
}

static int rng_int(lua_State *L)
{
	struct prng *p = check_rng(L);
	lua_Integer low = luaL_checkinteger(L, 2), high = luaL_checkinteger(L, 3);
	u64 span = (u64)high - (u64)low;

	luaL_argcheck(L, low <= high, 3, "high is below low");
	lua_pushinteger(L,
			(lua_Integer)((u64)low + (span == UINT64_MAX ? prng_u64(p)
								     : prng_below(p, span + 1))));
	return 1;
}

static int rng_float(lua_State *L)
{
	lua_pushnumber(L, (double)(prng_u64(check_rng(L)) >> 11) * 0x1p-53);
	return 1;
}

static int rng_pick(lua_State *L)
{
	struct prng *p = check_rng(L);

	luaL_checktype(L, 2, LUA_TTABLE);
	luaL_argcheck(L, lua_rawlen(L, 2) > 0, 2, "an empty list");
	lua_geti(L, 2, (lua_Integer)prng_below(p, lua_rawlen(L, 2)) + 1);
	return 1;
}

static int rng_shuffle(lua_State *L)
{
	struct prng *p = check_rng(L);
	lua_Integer n;

	luaL_checktype(L, 2, LUA_TTABLE);
	n = (lua_Integer)lua_rawlen(L, 2);
	lab_lua_charge(L, n);
	for (lua_Integer i = n; i > 1; i--) {
		lua_Integer j = (lua_Integer)prng_below(p, i) + 1;

		lua_geti(L, 2, i);
		lua_geti(L, 2, j);
		lua_seti(L, 2, i);
		lua_seti(L, 2, j);
	}
	lua_settop(L, 2);
	return 1;
}

static void make_rng_type(lua_State *L)
{
	static const luaL_Reg methods[] = {{"int", rng_int},
					   {"float", rng_float},
					   {"pick", rng_pick},
					   {"shuffle", rng_shuffle},
					   {NULL, NULL}};

	if (luaL_newmetatable(L, RNG_TYPE)) {
		luaL_newlib(L, methods);
		lua_setfield(L, -2, "__index");
		lua_pushboolean(L, false);
		lua_setfield(L, -2, "__metatable");
	}
	lua_pop(L, 1);
}

/* ---- fl ---- */

static int fl_rng(lua_State *L)
{
	lab_lua_push_rng(L, (u64)luaL_checkinteger(L, 1));
	return 1;
}

static int fl_size(lua_State *L)
{
	lua_pushinteger(L, lab_lua_size(L, 1, "fl.size"));
	return 1;
}

static int fl_format_size(lua_State *L)
{
	lua_Integer v = luaL_checkinteger(L, 1);
	char text[24];

	luaL_argcheck(L, v >= 0, 1, "a size below 0");
	lua_pushstring(L, format_size(v, text, sizeof(text)));
	return 1;
}

/* Nanoseconds as "1.23", milliseconds. */
static int fl_ms(lua_State *L)
{
	char text[32];

	snprintf(text, sizeof(text), "%.2f", luaL_checknumber(L, 1) / 1e6);
	lua_pushstring(L, text);
	return 1;
}

static int fl_kernels(lua_State *L)
{
	const struct profile_info *p;

	lua_newtable(L);
	for (int i = 0; (p = profile_info(i)); i++) {
		lua_pushstring(L, p->name);
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

static int fl_knobs(lua_State *L)
{
	const struct knob_info *k;

	lua_newtable(L);
	for (int i = 0; (k = knob_info(i)); i++) {
		const char *const fields[][2] = {{"name", k->name},
						 {"commit", k->commit},
						 {"since", k->since},
						 {"what", k->what}};

		lua_newtable(L);
		for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
			lua_pushstring(L, fields[f][1]);
			lua_setfield(L, -2, fields[f][0]);
		}
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

/* Upvalue 1: where the next line starts. */
static int lines_step(lua_State *L)
{
	size_t len, pos = lua_tointeger(L, lua_upvalueindex(2));
	const char *text = lua_tolstring(L, lua_upvalueindex(1), &len), *end;

	if (pos >= len)
		return 0;
	end = memchr(text + pos, '\n', len - pos);
	lua_pushlstring(L, text + pos, end ? (size_t)(end - text) - pos : len - pos);
	lua_pushinteger(L, end ? end - text + 1 : (lua_Integer)len);
	lua_replace(L, lua_upvalueindex(2));
	return 1;
}

static int fl_lines(lua_State *L)
{
	luaL_checkstring(L, 1);
	lua_settop(L, 1);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, lines_step, 2);
	return 1;
}

void lab_lua_add_engine(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"rng", fl_rng},
		{"size", fl_size},
		{"format_size", fl_format_size},
		{"ms", fl_ms},
		{"kernels", fl_kernels},
		{"knobs", fl_knobs},
		{"lines", fl_lines},
		{"pattern", lab_lua_pattern},
		{NULL, NULL},
	};

	lua_getfield(L, -1, "pairs");
	lua_setfield(L, LUA_REGISTRYINDEX, "sorted pairs");
	make_rng_type(L);
	luaL_newlib(L, functions);
	lua_pushliteral(L, FL_VERSION);
	lua_setfield(L, -2, "version");
	lab_lua_push_machine_new(L, false);
	lua_pushvalue(L, -1);
	lua_setfield(L, -4, "machine");
	lua_setfield(L, -2, "machine");
	lab_lua_push_smallest(L);
	lua_setfield(L, -2, "smallest");
	lua_setfield(L, -2, "fl");
	lab_lua_push_plot_library(L);
	lua_setfield(L, -2, "plot");
	lab_lua_push_figure(L);
	lua_setfield(L, -2, "figure");
}

/* The string library as scripts get it: no bytecode, no addresses, nothing that runs for hours. */
#include "lab/lua_state.h"

#include <string.h>

#define MATCH_COST_MAX 4e9 /* some seconds at worst */

/* Calls the library's function, which is upvalue 1. */
static int call_original(lua_State *L)
{
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

static int str_rep(lua_State *L)
{
	size_t len, sep;
	lua_Integer n = luaL_checkinteger(L, 2);

	luaL_checklstring(L, 1, &len);
	luaL_optlstring(L, 3, "", &sep);
	if (n > 0 && (u64)n > LAB_LUA_STRING_MAX / max((size_t)1, len + sep))
		return luaL_error(L, "string.rep: the result is longer than %d MiB",
				  (int)(LAB_LUA_STRING_MAX >> 20));
	lab_lua_charge(L, n > 0 ? (u64)n * (len + sep) / 64 : 0);
	return call_original(L);
}

/*
 * The worst a match can cost is the length to the power of the pattern's repetitions. Lua's
 * matcher cannot be interrupted, so what might take seconds is refused.
 */
static double pattern_cost(size_t len, const char *p, size_t plen)
{
	double cost = *p == '^' ? 1 : (double)len + 1;

	for (size_t i = 0; i < plen; i++) {
		if (p[i] == '%') {
			if (i + 1 < plen && p[i + 1] == 'b')
				cost *= (double)len + 1;
			i++;
		} else if (i && (p[i] == '*' || p[i] == '+' || p[i] == '-')) {
			cost *= (double)len + 1;
		}
	}
	return cost;
}

static void check_match(lua_State *L)
{
	size_t len, plen;
	const char *p;

	luaL_checklstring(L, 1, &len);
	p = luaL_checklstring(L, 2, &plen);
	if (pattern_cost(len, p, plen) > MATCH_COST_MAX)
		luaL_error(L,
			   "a pattern with so many repetitions on a string of %d bytes may take "
			   "too long, expected a shorter string or a simpler pattern",
			   (int)len);
	lab_lua_charge(L, len / 16);
}

static int str_match(lua_State *L)
{
	check_match(L);
	return call_original(L);
}

static int str_find(lua_State *L)
{
	if (!lua_toboolean(L, 4))
		check_match(L);
	return call_original(L);
}

static int find_conversion(const char *spec)
{
	return spec[strspn(spec, "-+ #0123456789.")];
}

/* Values whose text would be an address get ours. */
static int str_format(lua_State *L)
{
	const char *f = luaL_checkstring(L, 1);
	int arg = 1, top = lua_gettop(L);

	for (; (f = strchr(f, '%')); f++) {
		int c;

		if (*++f == '%')
			continue;
		c = find_conversion(f);
		arg++;
		if (c == 'p')
			return luaL_error(L,
					  "string.format: %%p is not there, expected %%s or %%d");
		if (c == 's' && arg <= top && !lua_isstring(L, arg)) {
			lab_lua_tolstring(L, arg, NULL);
			lua_replace(L, arg);
		}
		if (!c)
			break;
	}
	return call_original(L);
}

static void wrap(lua_State *L, const char *name, lua_CFunction f)
{
	lua_getfield(L, -1, name);
	lua_pushcclosure(L, f, 1);
	lua_setfield(L, -2, name);
}

void lab_lua_add_strings(lua_State *L)
{
	static const char *const names[] = {"byte",    "char", "find",	"format", "gmatch",
					    "gsub",    "len",  "lower", "match",  "rep",
					    "reverse", "sub",  "upper", NULL};

	lua_getfield(L, LUA_REGISTRYINDEX, "lualib");
	lua_getfield(L, -1, "string");
	lab_lua_copy_allowed(L, names);
	wrap(L, "rep", str_rep);
	wrap(L, "find", str_find);
	wrap(L, "match", str_match);
	wrap(L, "gmatch", str_match);
	wrap(L, "gsub", str_match);
	wrap(L, "format", str_format);
	lua_setfield(L, -4, "string");
	lua_pop(L, 2);
}

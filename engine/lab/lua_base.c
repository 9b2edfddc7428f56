/* The language's own functions as scripts get them: by allow-list, some of them ours. */
#include "lab/lua_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- text of values ---- */

const char *lab_lua_tolstring(lua_State *L, int index, size_t *len)
{
	int type = lua_type(L, index);

	if (type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN ||
	    type == LUA_TNIL || luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
		if (type > LUA_TNIL && type != LUA_TNUMBER && type != LUA_TSTRING &&
		    type != LUA_TBOOLEAN)
			lua_pop(L, 1);
		return luaL_tolstring(L, index, len);
	}
	lua_pushstring(L, lua_typename(L, type));
	return lua_tolstring(L, -1, len);
}

static int base_tostring(lua_State *L)
{
	luaL_checkany(L, 1);
	lab_lua_tolstring(L, 1, NULL);
	return 1;
}

static int base_print(lua_State *L)
{
	struct lab_lua *ll = lab_lua_of(L);
	int n = lua_gettop(L);
	luaL_Buffer b;

	/* The text is complete before any of it is written. */
	for (int i = 1; i <= n; i++) {
		lab_lua_tolstring(L, i, NULL);
		lua_replace(L, i);
	}
	luaL_buffinit(L, &b);
	for (int i = 1; i <= n; i++) {
		if (i > 1)
			luaL_addchar(&b, '\t');
		lua_pushvalue(L, i);
		luaL_addvalue(&b);
	}
	luaL_addchar(&b, '\n');
	luaL_pushresult(&b);
	ll->printed += lua_rawlen(L, -1);
	if (ll->printed > LAB_LUA_OUTPUT_MAX)
		return luaL_error(L, "more than %d MiB printed", (int)(LAB_LUA_OUTPUT_MAX >> 20));
	if (ll->out)
		fwrite(lua_tostring(L, -1), 1, lua_rawlen(L, -1), ll->out);
	return 0;
}

/* ---- pairs and next, in the same order everywhere ---- */

struct key {
	int rank; /* 0 numbers, 1 strings, 2 the rest */
	lua_Number number;
	const char *text;
	size_t len;
	int place; /* where it stands in the list of keys */
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order;

	if (x->rank != y->rank)
		return x->rank - y->rank;
	if (x->rank == 0 && x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->rank == 1) {
		order = memcmp(x->text, y->text, min(x->len, y->len));
		if (order)
			return order;
		return x->len < y->len ? -1 : x->len > y->len;
	}
	return x->place - y->place;
}

static struct key describe_key(lua_State *L, int index, int place)
{
	struct key k = {.rank = 2, .place = place};

	if (lua_type(L, index) == LUA_TNUMBER) {
		k.rank = 0;
		k.number = lua_tonumber(L, index);
	} else if (lua_type(L, index) == LUA_TSTRING) {
		k.rank = 1;
		k.text = lua_tolstring(L, index, &k.len);
	}
	return k;
}

/* Push the list of keys of the table at @index, sorted. */
static void push_sorted_keys(lua_State *L, int index)
{
	struct key *keys;
	int n = 0;

	lua_newtable(L);
	lua_pushnil(L);
	while (lua_next(L, index)) {
		lua_pop(L, 1);
		lua_pushvalue(L, -1);
		lua_rawseti(L, -3, ++n);
	}
	lab_lua_charge(L, (u64)n * 4);
	keys = lua_newuserdatauv(L, max(1, n) * sizeof(*keys), 0);
	for (int i = 0; i < n; i++) {
		lua_rawgeti(L, -2, i + 1);
		keys[i] = describe_key(L, -1, i + 1);
		lua_pop(L, 1);
	}
	qsort(keys, n, sizeof(*keys), compare_keys);
	lua_createtable(L, n, 0);
	for (int i = 0; i < n; i++) {
		lua_rawgeti(L, -3, keys[i].place);
		lua_rawseti(L, -2, i + 1);
	}
	lua_replace(L, -3);
	lua_pop(L, 1);
}

/* Upvalues: table, list of keys, position. Keys removed meanwhile are left out. */
static int pairs_step(lua_State *L)
{
	lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));

	for (;;) {
		lua_settop(L, 0);
		if (lua_rawgeti(L, lua_upvalueindex(2), ++i) == LUA_TNIL)
			return 1;
		lua_pushvalue(L, -1);
		if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
			break;
	}
	lua_pushinteger(L, i);
	lua_replace(L, lua_upvalueindex(3));
	return 2;
}

static int base_pairs(lua_State *L)
{
	luaL_checkany(L, 1);
	if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
		lua_pushvalue(L, 1);
		lua_call(L, 1, 3);
		return 3;
	}
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	push_sorted_keys(L, 1);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, pairs_step, 3);
	return 1;
}

static int base_next(lua_State *L)
{
	lua_Integer n;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 2);
	push_sorted_keys(L, 1);
	n = (lua_Integer)lua_rawlen(L, 3);
	for (lua_Integer i = lua_isnil(L, 2) ? 0 : 1; i <= n; i++) {
		bool here = !i;

		if (i) {
			lua_rawgeti(L, 3, i);
			here = lua_rawequal(L, -1, 2);
			lua_pop(L, 1);
		}
		if (!here)
			continue;
		if (lua_rawgeti(L, 3, i + 1) == LUA_TNIL)
			return 1;
		lua_pushvalue(L, -1);
		lua_rawget(L, 1);
		return 2;
	}
	lua_pushnil(L);
	return 1;
}

/* ---- protected calls ---- */

/* A caught error may have moved a stack of megabytes: it costs more than its instructions. */
#define CAUGHT_PRICE 5000

static int finish_call(lua_State *L, int status, lua_KContext extra)
{
	if (status == LUA_OK || status == LUA_YIELD)
		return lua_gettop(L) - (int)extra;
	lab_lua_charge(L, CAUGHT_PRICE);
	lua_pushboolean(L, false);
	lua_pushvalue(L, -2);
	return 2;
}

static int base_pcall(lua_State *L)
{
	luaL_checkany(L, 1);
	lua_pushboolean(L, true);
	lua_insert(L, 1);
	return finish_call(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish_call), 0);
}

/*
 * The handler runs after the stack was unwound: where an error is raised by the hook, none is
 * called, and a handler that loops would loop for ever.
 */
static int finish_xcall(lua_State *L, int status, lua_KContext extra)
{
	if (status == LUA_OK || status == LUA_YIELD)
		return lua_gettop(L) - (int)extra;
	lab_lua_charge(L, CAUGHT_PRICE);
	lua_pushboolean(L, false);
	lua_pushvalue(L, 2);
	lua_pushvalue(L, -3);
	lua_call(L, 1, 1);
	return 2;
}

/* f, handler, true | f, arguments */
static int base_xpcall(lua_State *L)
{
	int n = lua_gettop(L);

	luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_pushboolean(L, true);
	lua_pushvalue(L, 1);
	lua_rotate(L, 3, 2);
	return finish_xcall(L, lua_pcallk(L, n - 2, LUA_MULTRET, 0, 2, finish_xcall), 2);
}

/* ---- coroutines ---- */

/* Lua's own wrap() closes a coroutine that failed, which may call the script without hooks. */
static int wrapped(lua_State *L)
{
	lua_State *co = lua_tothread(L, lua_upvalueindex(1));
	int n = lua_gettop(L), results, status;

	if (lua_status(co) == LUA_OK && !lua_gettop(co))
		return luaL_error(L, "cannot resume dead coroutine");
	if (co == L || !lua_checkstack(co, n))
		return luaL_error(L, "cannot resume this coroutine");
	lua_xmove(L, co, n);
	status = lua_resume(co, L, n, &results);
	if (status != LUA_OK && status != LUA_YIELD) {
		lua_xmove(co, L, 1);
		return lua_error(L);
	}
	luaL_checkstack(L, results, NULL);
	lua_xmove(co, L, results);
	return results;
}

static int coroutine_wrap(lua_State *L)
{
	lua_State *co;

	luaL_checktype(L, 1, LUA_TFUNCTION);
	co = lua_newthread(L);
	lua_pushvalue(L, 1);
	lua_xmove(L, co, 1);
	lua_pushcclosure(L, wrapped, 1);
	return 1;
}

/* ---- metatables ---- */

/* Finalizers run where no budget counts, and a false length sends C loops astray. */
static int base_setmetatable(lua_State *L)
{
	static const char *const refused[] = {"__gc", "__len", "__mode"};

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "nil or table");
	lua_settop(L, 2);
	if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
		return luaL_error(L, "cannot change a protected metatable");
	for (size_t i = 0; i < ARRAY_SIZE(refused) && lua_istable(L, 2); i++) {
		lua_pushstring(L, refused[i]);
		if (lua_rawget(L, 2) != LUA_TNIL)
			return luaL_error(L, "%s is not allowed in a metatable", refused[i]);
		lua_pop(L, 1);
	}
	lua_setmetatable(L, 1);
	return 1;
}

static int base_getmetatable(lua_State *L)
{
	luaL_checkany(L, 1);
	if (lua_type(L, 1) != LUA_TTABLE || !lua_getmetatable(L, 1)) {
		lua_pushnil(L);
		return 1;
	}
	luaL_getmetafield(L, 1, "__metatable");
	return 1;
}

/* ---- tables ---- */

/* No C loop may trust a length that a metatable made up later. */
static void check_plain(lua_State *L, int index)
{
	luaL_checktype(L, index, LUA_TTABLE);
	if (luaL_getmetafield(L, index, "__len") != LUA_TNIL)
		luaL_error(L, "a table with __len, expected a plain one");
}

/* Calls the library's function, which is upvalue 1. */
static int call_original(lua_State *L)
{
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

static int table_checked(lua_State *L)
{
	check_plain(L, 1);
	lab_lua_charge(L, lua_rawlen(L, 1) / 16);
	return call_original(L);
}

static int table_move(lua_State *L)
{
	lua_Integer f = luaL_checkinteger(L, 2), e = luaL_checkinteger(L, 3);

	if (e >= f && (u64)e - (u64)f > 10000000)
		return luaL_error(L, "table.move: too many elements");
	if (e >= f)
		lab_lua_charge(L, e - f);
	return call_original(L);
}

static int table_concat(lua_State *L)
{
	check_plain(L, 1);
	luaL_argcheck(L, luaL_optinteger(L, 4, 0) - luaL_optinteger(L, 3, 0) < 10000000, 4,
		      "too many elements");
	lab_lua_charge(L, lua_rawlen(L, 1));
	return call_original(L);
}

static void wrap(lua_State *L, const char *name, lua_CFunction f)
{
	lua_getfield(L, -1, name);
	lua_pushcclosure(L, f, 1);
	lua_setfield(L, -2, name);
}

static void add_table(lua_State *L)
{
	static const char *const names[] = {"concat", "insert", "move",	  "pack",
					    "remove", "sort",	"unpack", NULL};

	lua_getfield(L, -1, "table");
	lab_lua_copy_allowed(L, names);
	wrap(L, "insert", table_checked);
	wrap(L, "remove", table_checked);
	wrap(L, "sort", table_checked);
	wrap(L, "unpack", table_checked);
	wrap(L, "concat", table_concat);
	wrap(L, "move", table_move);
	lua_setfield(L, -4, "table");
	lua_pop(L, 1);
}

/* What a coroutine that ran out of its budget left open stays open. */
static int coroutine_close(lua_State *L)
{
	if (lab_lua_of(L)->exhausted)
		return luaL_error(L, "too many instructions, expected a script that ends");
	return call_original(L);
}

/* ---- all of it ---- */

static void add_library(lua_State *L, const char *lib, const char *const *names)
{
	lua_getfield(L, -1, lib);
	lab_lua_copy_allowed(L, names);
	lua_setfield(L, -4, lib);
	lua_pop(L, 1);
}

static void add_functions(lua_State *L)
{
	static const char *const names[] = {"assert",	"error",  "ipairs", "rawequal",
					    "rawget",	"rawlen", "rawset", "select",
					    "tonumber", "type",	  NULL};

	lua_getfield(L, -1, LUA_GNAME);
	for (const char *const *n = names; *n; n++) {
		lua_getfield(L, -1, *n);
		lua_setfield(L, -4, *n);
	}
	lua_pop(L, 1);
}

void lab_lua_add_base(lua_State *L)
{
	static const luaL_Reg ours[] = {
		{"pcall", base_pcall},
		{"xpcall", base_xpcall},
		{"tostring", base_tostring},
		{"print", base_print},
		{"pairs", base_pairs},
		{"next", base_next},
		{"setmetatable", base_setmetatable},
		{"getmetatable", base_getmetatable},
		{NULL, NULL},
	};
	static const char *const math[] = {
		"abs",	"acos", "asin", "atan", "ceil",	      "cos",  "deg",	    "exp",  "floor",
		"fmod", "huge", "log",	"max",	"maxinteger", "min",  "mininteger", "modf", "pi",
		"rad",	"sin",	"sqrt", "tan",	"tointeger",  "type", "ult",	    NULL};
	static const char *const coroutine[] = {"close",  "create",  "isyieldable",
						"resume", "running", "status",
						"wrap",	  "yield",   NULL};
	static const char *const utf8[] = {"char", "charpattern", "codepoint", "codes",
					   "len",  "offset",	  NULL};

	luaL_setfuncs(L, ours, 0);
	lua_pushliteral(L, "Lua 5.4");
	lua_setfield(L, -2, "_VERSION");
	lua_getfield(L, LUA_REGISTRYINDEX, "lualib");
	add_functions(L);
	add_table(L);
	add_library(L, "math", math);
	add_library(L, "coroutine", coroutine);
	lua_getfield(L, -2, "coroutine");
	lua_pushcfunction(L, coroutine_wrap);
	lua_setfield(L, -2, "wrap");
	lua_getfield(L, -1, "close");
	lua_pushcclosure(L, coroutine_close, 1);
	lua_setfield(L, -2, "close");
	lua_pop(L, 1);
	add_library(L, "utf8", utf8);
	lua_pop(L, 1);
}

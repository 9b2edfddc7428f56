#include "lab/lua_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lualib.h>

#include "lab/textfile.h"

#define HOOK_EVERY 1000
#define SCRIPT_MAX (4UL << 20)

/* ---- memory and time ---- */

static void *allocate(void *ud, void *ptr, size_t old, size_t size)
{
	struct lab_lua *ll = ud;
	void *p;

	if (!ptr)
		old = 0;
	if (!size) {
		free(ptr);
		ll->used -= old;
		return NULL;
	}
	if (size > old && ll->used + (size - old) > ll->cap)
		return NULL;
	if (size > old && ll->fail_alloc_in && !--ll->fail_alloc_in)
		return NULL;
	p = realloc(ptr, size);
	if (p)
		ll->used += size - old;
	return p;
}

static void hook(lua_State *L, lua_Debug *ar);

/* From here on every single instruction raises: no pcall gets anywhere. */
static void run_out(lua_State *L)
{
	struct lab_lua *ll = lab_lua_of(L);

	ll->exhausted = true;
	lua_sethook(L, hook, LUA_MASKCOUNT, 1);
	luaL_error(L, "too many instructions, expected a script that ends");
}

static void hook(lua_State *L, lua_Debug *ar)
{
	struct lab_lua *ll = lab_lua_of(L);

	(void)ar;
	ll->budget -= HOOK_EVERY;
	if (ll->budget < 0)
		run_out(L);
}

void lab_lua_set_budget(struct lab_lua *ll, s64 budget)
{
	ll->budget = budget;
	ll->exhausted = ll->starved = false;
	ll->printed = 0;
	lua_sethook(ll->L, hook, LUA_MASKCOUNT, HOOK_EVERY);
}

void lab_lua_charge(lua_State *L, u64 units)
{
	struct lab_lua *ll = lab_lua_of(L);

	ll->budget -= (s64)min(units, (u64)INT64_MAX / 4);
	if (ll->budget < 0)
		run_out(L);
}

/* ---- opening ---- */

void lab_lua_copy_allowed(lua_State *L, const char *const *names)
{
	lua_newtable(L);
	for (; *names; names++) {
		lua_getfield(L, -2, *names);
		lua_setfield(L, -2, *names);
	}
}

void lab_lua_push_env(lua_State *L)
{
	lua_newtable(L);
	lab_lua_add_base(L);
	lab_lua_add_strings(L);
	lab_lua_add_engine(L);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "_G");
}

/* Lua's own libraries, where only C finds them: registry.lualib. */
static int open_libraries(lua_State *L)
{
	static const luaL_Reg libraries[] = {
		{LUA_GNAME, luaopen_base},
		{LUA_COLIBNAME, luaopen_coroutine},
		{LUA_TABLIBNAME, luaopen_table},
		{LUA_STRLIBNAME, luaopen_string},
		{LUA_UTF8LIBNAME, luaopen_utf8},
		{LUA_MATHLIBNAME, luaopen_math},
		{NULL, NULL},
	};

	lua_newtable(L);
	for (const luaL_Reg *lib = libraries; lib->name; lib++) {
		luaL_requiref(L, lib->name, lib->func, 0);
		lua_setfield(L, -2, lib->name);
	}
	lua_setfield(L, LUA_REGISTRYINDEX, "lualib");
	lua_newtable(L);
	lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
	/* Methods of strings come from a table scripts cannot reach. */
	lua_newtable(L);
	lab_lua_add_strings(L);
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	lua_getfield(L, -3, "string");
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, false);
	lua_setfield(L, -2, "__metatable");
	return 0;
}

static int panic(lua_State *L)
{
	const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "?";

	fprintf(stderr, "foliolab: unprotected Lua error: %s\n", text);
	return 0;
}

int lab_lua_open(struct lab_lua **ret, struct fl_error *err)
{
	struct lab_lua *ll = calloc(1, sizeof(*ll));
	int error = -ENOMEM;

	*ret = NULL;
	if (!ll)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ll->cap = LAB_LUA_MEMORY;
	ll->out = stdout;
	run_config_init(&ll->defaults);
	ll->L = lua_newstate(allocate, ll);
	if (ll->L) {
		lua_atpanic(ll->L, panic);
		*(struct lab_lua **)lua_getextraspace(ll->L) = ll;
		lab_lua_set_budget(ll, LAB_LUA_BUDGET);
		lua_pushcfunction(ll->L, open_libraries);
		error = lab_lua_call(ll, 0, 0, err);
	}
	if (error) {
		lab_lua_close(ll);
		return err->code ? error : fl_error_set(err, error, NULL, 0, "out of memory");
	}
	*ret = ll;
	return 0;
}

void lab_lua_close(struct lab_lua *ll)
{
	if (!ll)
		return;
	if (ll->L) {
		lab_lua_set_budget(ll, LAB_LUA_BUDGET);
		lua_close(ll->L);
	}
	free(ll);
}

/* ---- errors ---- */

static const char *chunk_path(const struct lab_lua *ll, const char *name, size_t len)
{
	for (unsigned int i = 0; i < ll->nr_chunks; i++)
		if (strlen(ll->chunks[i].name) == len && !memcmp(ll->chunks[i].name, name, len))
			return ll->chunks[i].path;
	return NULL;
}

void lab_lua_error(struct lab_lua *ll, const char *message, struct fl_error *err)
{
	const char *colon = strchr(message, ':'), *path = NULL;
	unsigned int line = 0;
	int used = 0;

	if (colon)
		path = chunk_path(ll, message, colon - message);
	if (path && sscanf(colon, ":%u: %n", &line, &used) == 1 && used)
		message = colon + used;
	else
		path = NULL;
	fl_error_set(err, -EINVAL, path ? path : "", line, "%s",
		     *message ? message : "an error without a message");
}

/* Turns whatever was raised into text that begins with where. */
static int message_handler(lua_State *L)
{
	struct lab_lua *ll = lab_lua_of(L);
	const char *text;
	lua_Debug ar;

	if (lua_type(L, 1) != LUA_TSTRING) {
		text = lab_lua_tolstring(L, 1, NULL);
		lua_pushfstring(L, "error object: %s", text);
		lua_replace(L, 1);
		lua_settop(L, 1);
	}
	text = lua_tostring(L, 1);
	if (strchr(text, ':') && chunk_path(ll, text, strcspn(text, ":")))
		return 1;
	for (int level = 1; lua_getstack(L, level, &ar); level++) {
		lua_getinfo(L, "Sl", &ar);
		if (ar.currentline <= 0)
			continue;
		lua_pushfstring(L, "%s:%d: %s", ar.short_src, ar.currentline, text);
		return 1;
	}
	return 1;
}

int lab_lua_call(struct lab_lua *ll, int nargs, int nresults, struct fl_error *err)
{
	lua_State *L = ll->L;
	int base = lua_gettop(L) - nargs, status;

	lua_pushcfunction(L, message_handler);
	lua_insert(L, base);
	status = lua_pcall(L, nargs, nresults, base);
	lua_remove(L, base);
	if (status == LUA_OK && !ll->exhausted)
		return 0;
	if (status == LUA_OK) {
		lua_settop(L, base - 1);
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "too many instructions, expected a script that ends");
	}
	if (status == LUA_ERRMEM) {
		ll->starved = true;
		lua_pop(L, 1);
		lua_gc(L, LUA_GCCOLLECT);
		return fl_error_set(err, -ENOMEM, NULL, 0,
				    "out of memory, expected a script that needs less than %lu MiB",
				    LAB_LUA_MEMORY >> 20);
	}
	lab_lua_error(ll, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "?", err);
	lua_pop(L, 1);
	return -EINVAL;
}

/* ---- loading ---- */

/* Remember what @name in messages stands for; a name too long for Lua's messages is shortened. */
static const char *add_chunk(struct lab_lua *ll, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct lab_lua_chunk *c;

	if (strlen(name) >= 50)
		name = "script.lua";
	for (unsigned int i = 0; i < ll->nr_chunks; i++)
		if (!strcmp(ll->chunks[i].path, path))
			return ll->chunks[i].name;
	c = &ll->chunks[min_t(unsigned int, ll->nr_chunks, ARRAY_SIZE(ll->chunks) - 1)];
	ll->nr_chunks = min_t(unsigned int, ll->nr_chunks + 1, ARRAY_SIZE(ll->chunks));
	snprintf(c->name, sizeof(c->name), "%.55s", name);
	snprintf(c->path, sizeof(c->path), "%s", path);
	return c->name;
}

int lab_lua_load_text(struct lab_lua *ll, const char *name, const char *text, size_t len, int env,
		      struct fl_error *err)
{
	lua_State *L = ll->L;
	char chunk[64];
	int status;

	env = lua_absindex(L, env);
	snprintf(chunk, sizeof(chunk), "@%s", add_chunk(ll, name));
	status = luaL_loadbufferx(L, text, len, chunk, "t");
	if (status == LUA_OK) {
		lua_pushvalue(L, env);
		lua_setupvalue(L, -2, 1);
		return 0;
	}
	lab_lua_error(ll, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "?", err);
	lua_pop(L, 1);
	if (!err->file[0])
		snprintf(err->file, sizeof(err->file), "%s", name);
	return status == LUA_ERRMEM ? -ENOMEM : -EINVAL;
}

int lab_lua_load_file(struct lab_lua *ll, const char *path, int env, struct fl_error *err)
{
	char *text;
	size_t len;
	int ret;

	env = lua_absindex(ll->L, env);
	ret = textfile_read(path, SCRIPT_MAX, &text, &len, err);
	if (ret)
		return ret;
	ret = lab_lua_load_text(ll, path, text, len, env, err);
	free(text);
	return ret;
}

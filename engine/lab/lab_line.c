/* A line of Lua that somebody types while a step is under way. */
#include <errno.h>
#include <string.h>

#include <lauxlib.h>

#include "lab/lab.h"

/* An expression, else a statement. */
static void load_line(lua_State *L, const char *line)
{
	lua_pushfstring(L, "return %s", line);
	if (luaL_loadbufferx(L, lua_tostring(L, -1), lua_rawlen(L, -1), "=(line)", "t") != LUA_OK) {
		lua_pop(L, 1);
		if (luaL_loadbufferx(L, line, strlen(line), "=(line)", "t") != LUA_OK)
			lua_error(L);
	}
	lua_remove(L, -2);
}

/* Arguments: line, s, globals. Returns the text of the values, apart by blanks. */
static int line_protected(lua_State *L)
{
	int first, last;

	lab_push_names(L, 2, 3);
	lua_getmetatable(L, 4);
	lua_pushvalue(L, 2);
	lua_setfield(L, -2, "__newindex");
	lua_pop(L, 1);
	first = lua_gettop(L) + 1;
	load_line(L, lua_tostring(L, 1));
	lua_pushvalue(L, 4);
	lua_setupvalue(L, -2, 1);
	lua_call(L, 0, LUA_MULTRET);
	last = lua_gettop(L);
	luaL_checkstack(L, 4, NULL);
	lua_pushliteral(L, "");
	for (int i = first; i <= last; i++) {
		lua_pushstring(L, i > first ? "  " : "");
		lua_pushvalue(L, i);
		lab_push_value_text(L);
		lua_concat(L, 3);
	}
	return 1;
}

int lab_line(struct lab *lab, const char *line, FILE *out, char **ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	FILE *before = lab->ll->out;
	int error;

	*ret = NULL;
	lab->ll->out = out;
	lua_pushcfunction(L, line_protected);
	lua_pushstring(L, line);
	lua_rawgeti(L, LUA_REGISTRYINDEX, lab->s_ref);
	lua_rawgeti(L, LUA_REGISTRYINDEX, lab->env_ref);
	error = lab_lua_call(lab->ll, 3, 1, err);
	lab->ll->out = before;
	if (error)
		return error;
	*ret = strdup(lua_tostring(L, -1));
	lua_pop(L, 1);
	return *ret ? 0 : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
}

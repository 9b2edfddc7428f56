/* fl.smallest: of all that fails, what is easiest to look at. C finds it in registry.smallest. */
#include <string.h>

#include "lab/lua_engine.h"

/*
 * Delta debugging, greedy and always in the same order: lists lose halves, quarters, ... single
 * elements; whole numbers go to 0, halfway there, ... one step; then the parts of a table. What
 * still fails takes the place of what failed before.
 */
static const char source[] =
	"local function copy(x)\n"
	"	local y = {}\n"
	"	for k, v in pairs(x) do y[k] = v end\n"
	"	return y\n"
	"end\n"
	"local function without(x, from, to)\n"
	"	local y, n = copy(x), #x\n"
	"	for i = from, n do y[i] = x[i + to - from + 1] end\n"
	"	return y\n"
	"end\n"
	"local function reduce(x, try)\n"
	"	if math.type(x) == 'integer' then\n"
	"		local d = x\n"
	"		while d ~= 0 do\n"
	"			if try(x - d) then return true end\n"
	"			d = d > 0 and d // 2 or -(-d // 2)\n"
	"		end\n"
	"	elseif type(x) == 'table' then\n"
	"		local n = #x\n"
	"		local size = n\n"
	"		while size > 0 do\n"
	"			for from = 1, n, size do\n"
	"				if try(without(x, from, math.min(from + size - 1, n))) "
	"then return true end\n"
	"			end\n"
	"			size = size // 2\n"
	"		end\n"
	"		for k, v in pairs(x) do\n"
	"			local function put(w)\n"
	"				local y = copy(x)\n"
	"				y[k] = w\n"
	"				return try(y)\n"
	"			end\n"
	"			if reduce(v, put) then return true end\n"
	"		end\n"
	"	end\n"
	"	return false\n"
	"end\n"
	"local function show(x)\n"
	"	if type(x) ~= 'table' then return tostring(x) end\n"
	"	local parts, n = {}, #x\n"
	"	for k, v in pairs(x) do\n"
	"		local listed = math.type(k) == 'integer' and k >= 1 and k <= n\n"
	"		parts[#parts + 1] = (listed and '' or tostring(k) .. ' = ') .. show(v)\n"
	"	end\n"
	"	return '{' .. table.concat(parts, ', ') .. '}'\n"
	"end\n"
	"return show, function(x, fails, tries)\n"
	"	local best, why, left = x, fails(x), tries or 200\n"
	"	local function try(y)\n"
	"		if left <= 0 then return false end\n"
	"		left = left - 1\n"
	"		local w = fails(y)\n"
	"		if w then best, why = y, w end\n"
	"		return w\n"
	"	end\n"
	"	while why and left > 0 and reduce(best, try) do end\n"
	"	return best, why\n"
	"end\n";

void lab_lua_push_smallest(lua_State *L)
{
	if (luaL_loadbufferx(L, source, strlen(source), "=fl.smallest", "t") != LUA_OK)
		lua_error(L);
	lua_newtable(L);
	lab_lua_add_base(L);
	lua_setupvalue(L, -2, 1);
	lua_call(L, 0, 2);
	lua_pushvalue(L, -1);
	lua_setfield(L, LUA_REGISTRYINDEX, "smallest");
	lua_insert(L, -2);
	lua_setfield(L, LUA_REGISTRYINDEX, "show");
}

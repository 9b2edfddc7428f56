/* Where a machine's virtual time went, by the kernel's functions. Changes nothing. */
#include "lab/lua_machine.h"

#include <string.h>

#include "mm/internal.h"

/* Units of every cost, of the task and of background reclaim, since boot. */
static void all_units(const struct machine *m, u64 *units)
{
	for (unsigned int i = 0; i < COST_NR; i++)
		units[i] = m->cost_units[CONTEXT_TASK][i] + m->cost_units[CONTEXT_KSWAPD][i];
}

/* Take off what an earlier result, at @index, had counted. */
static void subtract(lua_State *L, int index, u64 *units)
{
	luaL_checktype(L, index, LUA_TTABLE);
	luaL_argcheck(L, lua_getfield(L, index, "counts") == LUA_TTABLE, index,
		      "what an earlier perf() of this machine returned expected");
	for (unsigned int i = 0; i < COST_NR; i++) {
		lua_Integer v;

		lua_getfield(L, -1, cost_info(i)->name);
		v = lua_tointeger(L, -1);
		lua_pop(L, 1);
		luaL_argcheck(L, v >= 0 && (u64)v <= units[i], index,
			      "an earlier perf() of this machine expected");
		units[i] -= v;
	}
	lua_pop(L, 1);
}

static void push_counts(lua_State *L, const u64 *units)
{
	lua_newtable(L);
	for (unsigned int i = 0; i < COST_NR; i++) {
		lua_pushinteger(L, units[i]);
		lua_setfield(L, -2, cost_info(i)->name);
	}
}

/* { function = ns }; costs of one function add up. */
static void push_functions(lua_State *L, const struct machine *m, const u64 *units)
{
	lua_newtable(L);
	for (unsigned int i = 0; i < COST_NR; i++) {
		const char *name = cost_function(&m->knobs, i);

		if (!units[i] || !m->cost_ps[i])
			continue;
		lua_getfield(L, -1, name);
		lua_pushnumber(L, lua_tonumber(L, -1) + units[i] * m->cost_ps[i] / 1000.0);
		lua_setfield(L, -3, name);
		lua_pop(L, 1);
	}
}

static int machine_perf(lua_State *L)
{
	const struct machine *m = lab_machine_check(L, 1)->run->machine;
	u64 units[COST_NR], ps = 0;

	lua_settop(L, 2);
	all_units(m, units);
	if (!lua_isnil(L, 2))
		subtract(L, 2, units);
	for (unsigned int i = 0; i < COST_NR; i++)
		ps += units[i] * m->cost_ps[i];
	lua_createtable(L, 0, 3);
	lua_pushnumber(L, ps / 1000.0);
	lua_setfield(L, -2, "ns");
	push_counts(L, units);
	lua_setfield(L, -2, "counts");
	push_functions(L, m, units);
	lua_setfield(L, -2, "functions");
	return 1;
}

void lab_machine_add_perf(lua_State *L)
{
	lua_pushcfunction(L, machine_perf);
	lua_setfield(L, -2, "perf");
}

/* Several tasks on a machine with several processors. */
#include "lab/lua_machine.h"

#include <errno.h>
#include <string.h>

#include "lab/run_tasks.h"

/* Instructions for everything that @w asks of all processors. */
static u64 price(const struct run *run, const struct workload *w)
{
	u64 n = 0, pages = (u64)run->inode->i_size >> run->machine->page_shift;

	for (size_t i = 0; i < w->nr; i++)
		n += min(workload_op_count(&w->ops[i]), 2 * pages + 2) +
		     min((u64)w->ops[i].len >> run->machine->page_shift, pages) / 16;
	return workload_tasks(w) ? n : n * run->machine->nr_cpus;
}

/* The table at @index, or nothing: schedule and sharing. */
static void take_options(lua_State *L, int index, struct run_config *config)
{
	if (lua_isnoneornil(L, index))
		return;
	luaL_checktype(L, index, LUA_TTABLE);
	if (lua_getfield(L, index, "schedule") != LUA_TNIL) {
		lua_Integer n = luaL_checkinteger(L, -1);

		luaL_argcheck(L, n >= 0, index, "schedule: a number from 0 on expected");
		config->schedule = n;
	}
	lua_pop(L, 1);
	if (lua_getfield(L, index, "sharing") != LUA_TNIL &&
	    run_sharing_by_name(luaL_checkstring(L, -1), &config->sharing))
		luaL_argerror(L, index, "sharing: own, same or threads expected");
	lua_pop(L, 1);
}

static void push_times(lua_State *L, const struct cpu_times *t)
{
	lua_createtable(L, 0, 6);
	lua_pushinteger(L, t->run_ps / 1000);
	lua_setfield(L, -2, "run");
	lua_pushinteger(L, t->spin_ps / 1000);
	lua_setfield(L, -2, "spin");
	lua_pushinteger(L, t->sleep_ps / 1000);
	lua_setfield(L, -2, "sleep");
	lua_pushinteger(L, t->stolen_ps / 1000);
	lua_setfield(L, -2, "stolen");
}

static void push_site(lua_State *L, const struct lock_site *site)
{
	lua_createtable(L, 0, 6);
	lua_pushstring(L, lock_name(site->id));
	lua_setfield(L, -2, "lock");
	lua_pushstring(L, site->function);
	lua_setfield(L, -2, "func");
	lua_pushinteger(L, site->taken);
	lua_setfield(L, -2, "taken");
	lua_pushinteger(L, site->contended);
	lua_setfield(L, -2, "contended");
	lua_pushinteger(L, site->wait_ps / 1000);
	lua_setfield(L, -2, "wait");
	lua_pushinteger(L, site->hold_ps / 1000);
	lua_setfield(L, -2, "hold");
}

static void push_report(lua_State *L, const struct tasks_report *r)
{
	lua_createtable(L, 0, 5);
	lua_pushinteger(L, r->virtual_ns);
	lua_setfield(L, -2, "ns");
	lua_pushinteger(L, r->bytes);
	lua_setfield(L, -2, "bytes");
	lua_createtable(L, r->nr, 0);
	for (unsigned int i = 0; i < r->nr; i++) {
		push_times(L, &r->task[i].times);
		lua_pushinteger(L, r->task[i].bytes);
		lua_setfield(L, -2, "bytes");
		lua_pushinteger(L, r->task[i].ns);
		lua_setfield(L, -2, "ns");
		lua_rawseti(L, -2, i + 1);
	}
	lua_setfield(L, -2, "cpus");
	push_times(L, &r->kswapd);
	lua_setfield(L, -2, "kswapd");
	lua_createtable(L, r->nr_sites, 0);
	for (unsigned int i = 0; i < r->nr_sites; i++) {
		push_site(L, &r->sites[i]);
		lua_rawseti(L, -2, i + 1);
	}
	lua_setfield(L, -2, "locks");
}

/* m:tasks(ops [, options]): the report, or nil and what broke; the machine is dead then. */
static int machine_tasks(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);
	struct tasks_report *report;
	struct fl_error err = {0};
	struct workload w;
	u64 work;
	size_t len;
	const char *text = luaL_checklstring(L, 2, &len);
	int ret;

	take_options(L, 3, &lm->run->config);
	report = lua_newuserdatauv(L, sizeof(*report), 0);
	if (workload_parse(&w, "tasks", text, len, &err))
		return luaL_error(L, "tasks: %s", err.text);
	work = price(lm->run, &w);
	workload_fini(&w);
	lab_lua_charge(L, work); /* may raise: nothing is held */
	if (workload_parse(&w, "tasks", text, len, &err))
		return luaL_error(L, "tasks: %s", err.text);
	if (workload_tasks(&w) > lm->run->machine->nr_cpus) {
		workload_fini(&w);
		return luaL_error(L, "tasks: more tasks than processors, expected cpus = N in "
				     "fl.machine");
	}
	ret = run_tasks(lm->run, &w, report, &err);
	lm->tasks = true;
	workload_fini(&w);
	if (ret == -EINVAL)
		return luaL_error(L, "tasks: %s", err.text);
	if (!ret) {
		push_report(L, report);
		return 1;
	}
	lua_pushnil(L);
	lua_pushstring(L, err.text);
	return 2;
}

void lab_machine_add_tasks(lua_State *L)
{
	lua_pushcfunction(L, machine_tasks);
	lua_setfield(L, -2, "tasks");
}

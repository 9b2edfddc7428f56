/* m:policy{}: Lua functions in place of the kernel's readahead decisions. */
#include "lab/lua_machine.h"

#include <errno.h>
#include <string.h>

/* ---- what a policy is told ---- */

static void set_integer(lua_State *L, const char *key, lua_Integer v)
{
	lua_pushinteger(L, v);
	lua_setfield(L, -2, key);
}

static void push_state(lua_State *L, const struct ra_query *q)
{
	const struct file_ra_state *ra = q->ra;

	lua_createtable(L, 0, 8);
	set_integer(L, "start", ra->start);
	set_integer(L, "size", ra->size);
	set_integer(L, "async_size", ra->async_size);
	set_integer(L, "order", ra->order);
	set_integer(L, "ra_pages", ra->ra_pages);
	set_integer(L, "mmap_miss", ra->mmap_miss);
	set_integer(L, "prev_pos", ra->prev_pos);
	set_integer(L, "prev_index", ra->prev_pos < 0 ? -1 : ra->prev_pos >> q->page_shift);
}

static void push_request(lua_State *L, const struct ra_query *q, const struct ra_window *kernel)
{
	lua_createtable(L, 0, 8);
	set_integer(L, "index", q->index);
	set_integer(L, "count", q->req_count);
	set_integer(L, "max", q->max_pages);
	set_integer(L, "limit", q->limit);
	set_integer(L, "file_pages", q->file_pages);
	if (q->folio_order >= 0)
		set_integer(L, "folio_order", q->folio_order);
	lua_pushstring(L, q->folio_order >= 0 ? "async" : "sync");
	lua_setfield(L, -2, "kind");
	if (!kernel)
		return;
	lua_createtable(L, 0, 4);
	set_integer(L, "start", kernel->start);
	set_integer(L, "size", kernel->size);
	set_integer(L, "async_size", kernel->async_size);
	set_integer(L, "order", kernel->order);
	lua_setfield(L, -2, "kernel");
}

/* ---- what it says ---- */

/* A field of the answer at the top; out of range raises. */
static lua_Integer answer(lua_State *L, const char *who, const char *key, lua_Integer dflt,
			  lua_Integer low, lua_Integer high)
{
	lua_Integer v = dflt;
	int exact = 1;

	lua_getfield(L, -1, key);
	if (!lua_isnil(L, -1))
		v = lua_tointegerx(L, -1, &exact);
	if (!exact)
		luaL_error(L, "%s: %s is '%s', expected a whole number", who, key,
			   lab_lua_tolstring(L, -1, NULL));
	if (!lua_isnil(L, -1) && (v < low || v > high))
		luaL_error(L, "%s: %s is %I, expected %I to %I", who, key, (LUAI_UACINT)v,
			   (LUAI_UACINT)low, (LUAI_UACINT)high);
	lua_pop(L, 1);
	return v;
}

static void take_window(lua_State *L, const char *who, const struct ra_query *q,
			struct ra_window *ret)
{
	lua_Integer start = q->folio_order < 0 ? q->index : q->ra->start + q->ra->size;

	ret->start = answer(L, who, "start", start, 0, (lua_Integer)q->file_pages - 1);
	ret->size = answer(L, who, "size", 0, 1, q->limit);
	ret->async_size = answer(L, who, "async_size", 0, 0, ret->size);
	ret->order = answer(L, who, "order", RA_ORDER_KERNEL, 0, q->max_order);
	if (!ret->size)
		luaL_error(L, "%s: no size, expected 1 to %I", who, (LUAI_UACINT)q->limit);
}

/* One question to Lua and its answer. */
struct consult {
	struct lab_policy *policy;
	const char *who; /* "sync_ra", "async_ra" or "order" */
	const struct ra_query *query;
	const struct ra_window *kernel; /* order only */
	struct ra_window *window;	/* the others */
	enum ra_verdict verdict;
	int order;
};

/* Arguments: the consult, the function. Protected. */
static int consult_protected(lua_State *L)
{
	struct consult *c = lua_touserdata(L, 1);

	lab_machine_note(c->policy->lm);
	lab_lua_charge(L, 50);
	push_state(L, c->query);
	push_request(L, c->query, c->kernel);
	lua_call(L, 2, 1);
	if (lua_isnil(L, -1))
		return 0;
	if (c->kernel) {
		lua_createtable(L, 0, 1);
		lua_insert(L, -2);
		lua_setfield(L, -2, "order");
		c->order = answer(L, c->who, "order", 0, 0, c->query->max_order);
	} else if (lua_istable(L, -1)) {
		take_window(L, c->who, c->query, c->window);
		c->verdict = RA_VERDICT_WINDOW;
		/* Past the end there is nothing to read: the mark's hit was in vain. */
		if (c->window->start >= c->query->file_pages)
			c->verdict = RA_VERDICT_NOTHING;
	} else if (!lua_toboolean(L, -1)) {
		c->verdict = RA_VERDICT_NOTHING;
	} else {
		return luaL_error(L, "%s: a %s, expected a table, false or nothing", c->who,
				  luaL_typename(L, -1));
	}
	return 0;
}

/* Find the policy's function and ask; an error is kept for the end of the operation. */
static void consult(struct consult *c)
{
	struct lab_machine *lm = c->policy->lm;
	lua_State *L = lm->L;
	struct fl_error *err = &c->policy->err;
	int top = lua_gettop(L);

	if (err->code || !lua_checkstack(L, 10))
		return;
	lua_pushcfunction(L, consult_protected);
	lua_pushlightuserdata(L, c);
	/* Whoever plays has the machine as its first argument. */
	lua_getiuservalue(L, 1, 2);
	lua_getfield(L, -1, c->who);
	lua_remove(L, -2);
	if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
		const char *text =
			lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "error object";

		err->code = -EINVAL;
		snprintf(err->text, sizeof(err->text), "%s", text);
		c->verdict = RA_VERDICT_KERNEL;
		c->order = RA_ORDER_KERNEL;
	}
	lua_settop(L, top);
}

static enum ra_verdict policy_sync(struct ra_policy *policy, const struct ra_query *query,
				   struct ra_window *ret)
{
	struct consult c = {.policy = container_of(policy, struct lab_policy, ops),
			    .who = "sync_ra",
			    .query = query,
			    .window = ret};

	consult(&c);
	return c.verdict;
}

static enum ra_verdict policy_async(struct ra_policy *policy, const struct ra_query *query,
				    struct ra_window *ret)
{
	struct consult c = {.policy = container_of(policy, struct lab_policy, ops),
			    .who = "async_ra",
			    .query = query,
			    .window = ret};

	consult(&c);
	return c.verdict;
}

static int policy_order(struct ra_policy *policy, const struct ra_query *query,
			const struct ra_window *kernel)
{
	struct consult c = {.policy = container_of(policy, struct lab_policy, ops),
			    .who = "order",
			    .query = query,
			    .kernel = kernel,
			    .order = RA_ORDER_KERNEL};

	consult(&c);
	return c.order;
}

/* ---- setting it ---- */

static bool take_function(lua_State *L, const char *key)
{
	int type = lua_getfield(L, 2, key);

	if (type != LUA_TNIL && type != LUA_TFUNCTION)
		luaL_error(L, "policy: %s is a %s, expected a function", key, luaL_typename(L, -1));
	lua_setfield(L, -2, key);
	return type != LUA_TNIL;
}

static void check_keys(lua_State *L)
{
	for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";

		if (strcmp(key, "sync_ra") && strcmp(key, "async_ra") && strcmp(key, "order"))
			luaL_error(L,
				   "policy: unknown field '%s', expected sync_ra, async_ra or "
				   "order",
				   key);
	}
}

static int machine_policy(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);
	struct lab_policy *p = &lm->policy;

	lua_settop(L, 2);
	lm->run->machine->ra_policy = NULL;
	p->on = false;
	if (lua_isnil(L, 2)) {
		lua_settop(L, 1);
		return 1;
	}
	luaL_checktype(L, 2, LUA_TTABLE);
	check_keys(L);
	p->lm = lm;
	lua_newtable(L);
	p->ops.sync_ra = take_function(L, "sync_ra") ? policy_sync : NULL;
	p->ops.async_ra = take_function(L, "async_ra") ? policy_async : NULL;
	p->ops.order = take_function(L, "order") ? policy_order : NULL;
	lua_setiuservalue(L, 1, 2);
	p->on = true;
	lm->run->machine->ra_policy = &p->ops;
	lua_settop(L, 1);
	return 1;
}

void lab_machine_add_policy(lua_State *L)
{
	lua_pushcfunction(L, machine_policy);
	lua_setfield(L, -2, "policy");
}

/* Programs of students: functions and workloads, and the smallest case that shows them wrong. */
#include <string.h>

#include "lab/lab_judge.h"
#include "lab/lua_engine.h"

#define CASE_TRIES     200
#define WORKLOAD_TRIES 60 /* each plays on machines */

/* Deep equality of plain values; nothing a metatable says counts. */
static bool equal_values(lua_State *L, int a, int b, int depth)
{
	bool same = true;

	a = lua_absindex(L, a);
	b = lua_absindex(L, b);
	if (lua_type(L, a) != LUA_TTABLE || lua_type(L, b) != LUA_TTABLE)
		return lua_rawequal(L, a, b);
	if (depth > 20 || !lua_checkstack(L, 8))
		return false;
	for (int turn = 0; turn < 2 && same; turn++, a ^= b, b ^= a, a ^= b)
		for (lua_pushnil(L); same && lua_next(L, a);) {
			lua_pushvalue(L, -2);
			lua_rawget(L, b);
			same = equal_values(L, -2, -1, depth + 1);
			lua_pop(L, 2);
			if (!same)
				lua_pop(L, 1);
		}
	return same;
}

/* Push the value at @index as text: "{1, 2}". */
static const char *push_shown(lua_State *L, int index)
{
	index = lua_absindex(L, index);
	lua_getfield(L, LUA_REGISTRYINDEX, "show");
	lua_pushvalue(L, index);
	if (lua_pcall(L, 1, 1, 0) != LUA_OK || lua_type(L, -1) != LUA_TSTRING) {
		lua_pop(L, 1);
		lua_pushliteral(L, "?");
	}
	return lua_tostring(L, -1);
}

/* "called with (4097, {1, 2})": the arguments are those of the list at @args. Returns the bytes. */
static size_t tell_arguments(lua_State *L, int args, struct lab_verdict *ret)
{
	size_t len = snprintf(ret->why, sizeof(ret->why), "called with (");
	int n = (int)lua_rawlen(L, args);

	for (int i = 1; i <= n && len < sizeof(ret->why) - 110; i++) {
		lua_rawgeti(L, args, i);
		len += snprintf(ret->why + len, sizeof(ret->why) - len, "%s%.100s",
				i > 1 ? ", " : "", push_shown(L, -1));
		lua_pop(L, 2);
	}
	len += snprintf(ret->why + len, sizeof(ret->why) - len, ")");
	return len;
}

/* Above the arguments lie expected and got. */
static void tell_case(lua_State *L, int args, struct lab_verdict *ret)
{
	size_t len = tell_arguments(L, args, ret);
	const char *got = push_shown(L, args + 2), *want = push_shown(L, args + 1);

	snprintf(ret->why + len, sizeof(ret->why) - len, " it returns %.60s, expected %.60s", got,
		 want);
}

/* Push the arguments of the list at @args, copied if @copy; may raise then. */
static int push_arguments(lua_State *L, int args, bool copy)
{
	int n = (int)lua_rawlen(L, args);

	luaL_checkstack(L, n + 10, NULL);
	for (int i = 1; i <= n; i++) {
		lua_rawgeti(L, args, i);
		if (!copy)
			continue;
		lab_push_copy(L, -1);
		lua_remove(L, -2);
	}
	return n;
}

static bool has_field(struct lab *lab, const struct lab_question *q, const char *field)
{
	lua_State *L = lab->ll->L;
	bool has;

	lua_rawgeti(L, LUA_REGISTRYINDEX, q->ref);
	has = lua_getfield(L, -1, field) != LUA_TNIL;
	lua_pop(L, 2);
	return has;
}

/* Arguments: the function, the list, whether to copy. Returns what the function does. */
static int apply(lua_State *L)
{
	bool copy = lua_toboolean(L, 3);

	lua_pushvalue(L, 1);
	lua_call(L, push_arguments(L, 2, copy), 1);
	return 1;
}

/* One case, its argument list on top of the stack (popped). */
static int judge_case(struct lab *lab, const struct lab_question *q, int f, struct lab_verdict *ret,
		      struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int args = lua_gettop(L), error;

	if (!lua_istable(L, args)) {
		lua_newtable(L);
		lua_replace(L, args);
	}
	lab_push_call(lab, q, "answer");
	error = lab_lua_call(lab->ll, push_arguments(L, args, false) + 1, 1, err);
	if (error)
		return error;
	lua_pushcfunction(L, apply);
	lua_pushvalue(L, f);
	lua_pushvalue(L, args);
	lua_pushboolean(L, has_field(lab, q, "valid"));
	if (lab_lua_call(lab->ll, 3, 1, err)) {
		size_t len = tell_arguments(L, args, ret);

		snprintf(ret->why + len, sizeof(ret->why) - len, ": line %u: %.400s", err->line,
			 err->text);
		err->code = 0;
		lua_settop(L, args - 1);
		return 0;
	}
	ret->right = equal_values(L, -2, -1, 0);
	if (!ret->right)
		tell_case(L, args, ret);
	lua_settop(L, args - 1);
	return 0;
}

/* ---- the smallest case ---- */

/*
 * Upvalues: lab, question, function, the table whose first element is the last case that failed.
 * Argument: a case. Does it fail?
 */
static int case_fails(lua_State *L)
{
	struct lab *lab = lua_touserdata(L, lua_upvalueindex(1));
	const struct lab_question *q = lua_touserdata(L, lua_upvalueindex(2));

	lua_settop(L, 1);
	lab_push_call(lab, q, "valid");
	if (lua_pcall(L, push_arguments(L, 1, false) + 1, 1, 0) != LUA_OK || !lua_toboolean(L, -1))
		return 0;
	lab_push_call(lab, q, "answer");
	if (lua_pcall(L, push_arguments(L, 1, false) + 1, 1, 0) != LUA_OK)
		return 0;
	lua_pushvalue(L, lua_upvalueindex(3));
	if (lua_pcall(L, push_arguments(L, 1, true), 1, 0) == LUA_OK && equal_values(L, -2, -1, 0))
		return 0;
	lua_pushvalue(L, 1);
	lua_rawseti(L, lua_upvalueindex(4), 1);
	lua_pushboolean(L, true);
	return 1;
}

/*
 * Look for the smallest of what is at @x with @fails (on top, popped), within the budget of the
 * question. What it found does not count: @fails keeps it.
 */
static void look_for_smallest(struct lab *lab, const struct lab_question *q, int x, int tries)
{
	lua_State *L = lab->ll->L;
	struct fl_error err = {0};

	lab_lua_set_budget(lab->ll, q->budget);
	lua_getfield(L, LUA_REGISTRYINDEX, "smallest");
	lua_insert(L, -2);
	lua_pushvalue(L, x);
	lua_insert(L, -2);
	lua_pushinteger(L, tries);
	lab_lua_call(lab->ll, 3, 0, &err);
	lab_lua_set_budget(lab->ll, q->budget);
}

/* The case at @args failed: tell of a smaller one, if there is one. */
static int shrink_case(struct lab *lab, const struct lab_question *q, int f, int args,
		       struct lab_verdict *ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	struct lab_verdict smaller = {0};
	int best, error = 0;

	if (lab->ll->exhausted || !has_field(lab, q, "valid"))
		return 0;
	lua_newtable(L);
	best = lua_gettop(L);
	lua_pushlightuserdata(L, lab);
	lua_pushlightuserdata(L, (void *)q);
	lua_pushvalue(L, f);
	lua_pushvalue(L, best);
	lua_pushcclosure(L, case_fails, 4);
	look_for_smallest(lab, q, args, CASE_TRIES);
	if (lua_rawgeti(L, best, 1) == LUA_TTABLE) {
		error = judge_case(lab, q, f, &smaller, err);
		if (!error && !smaller.right)
			*ret = smaller;
	}
	lua_settop(L, best - 1);
	return error;
}

/* The guarded function is at index @f. */
static int judge_cases(struct lab *lab, const struct lab_question *q, int f,
		       struct lab_verdict *ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int list, error;

	lab_push_call(lab, q, "cases");
	error = lab_lua_call(lab->ll, 1, 1, err);
	if (error)
		return error;
	list = lua_gettop(L);
	if (!lua_istable(L, list) || !lua_rawlen(L, list))
		return lab_question_error(lab, q, err,
					  "cases returned a %s, expected a list of argument lists",
					  luaL_typename(L, list));
	ret->right = true;
	for (size_t i = 1; ret->right && i <= lua_rawlen(L, list); i++) {
		ret->right = false;
		lua_rawgeti(L, list, i);
		lua_pushvalue(L, -1);
		error = judge_case(lab, q, f, ret, err);
		if (!error && !ret->right)
			error = shrink_case(lab, q, f, list + 1, ret, err);
		if (error)
			return error;
		lua_settop(L, list);
	}
	return 0;
}

/* ", after event 31 (fl_read)": where a loop over events was left to say no. */
static void tell_event(const struct lab_lua *ll, struct lab_verdict *ret)
{
	size_t len = strlen(ret->why);

	if (ll->looked.open)
		snprintf(ret->why + len, sizeof(ret->why) - len, "%safter event %llu (%s)",
			 len ? ", " : "", (unsigned long long)ll->looked.nr,
			 trace_event_info(ll->looked.id)->name);
}

/* check(s, x) with x on top of the stack (popped). What goes wrong in it is the student's. */
static void judge_check(struct lab *lab, const struct lab_question *q, struct lab_verdict *ret)
{
	lua_State *L = lab->ll->L;
	struct fl_error err = {0};

	lab->ll->looked.open = false;
	lab_push_call(lab, q, "check");
	lua_pushvalue(L, -3);
	if (lab_lua_call(lab->ll, 2, 2, &err)) {
		if (err.line)
			snprintf(ret->why, sizeof(ret->why), "%.100s:%u: %.300s",
				 strrchr(err.file, '/') ? strrchr(err.file, '/') + 1 : err.file,
				 err.line, err.text);
		else
			snprintf(ret->why, sizeof(ret->why), "%.500s", err.text);
		lua_pop(L, 1);
		return;
	}
	ret->right = lua_type(L, -2) == LUA_TBOOLEAN && lua_toboolean(L, -2);
	if (!ret->right) {
		snprintf(ret->why, sizeof(ret->why), "%.400s",
			 lua_isstring(L, -1) ? lua_tostring(L, -1) : "");
		tell_event(lab->ll, ret);
	}
	lua_pop(L, 3);
}

int lab_judge_func(struct lab *lab, const struct lab_question *q, const struct lab_value *given,
		   struct lab_verdict *ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int top = lua_gettop(L), error = 0;

	if (given->type != LAB_VALUE_LUA) {
		snprintf(ret->why, sizeof(ret->why), "there is no function yet");
		return 0;
	}
	lab_lua_set_budget(lab->ll, q->budget);
	lua_rawgeti(L, LUA_REGISTRYINDEX, given->ref);
	error = lab_push_guarded(lab, err);
	if (error)
		return error;
	lua_rawgeti(L, LUA_REGISTRYINDEX, q->ref);
	if (lua_getfield(L, -1, "check") != LUA_TNIL) {
		lua_pop(L, 2);
		judge_check(lab, q, ret);
	} else {
		lua_pop(L, 2);
		error = judge_cases(lab, q, top + 1, ret, err);
	}
	lua_settop(L, top);
	return error;
}

/* ---- workloads ---- */

static u64 count_ops(const struct workload *w)
{
	u64 n = 0;

	for (size_t i = 0; i < w->nr; i++)
		n += workload_op_count(&w->ops[i]);
	return n;
}

/* Push { { op = "3", n = , off = , len = }, ... }: what of the operations may get smaller. */
static int push_operations(lua_State *L)
{
	const struct workload *w = lua_touserdata(L, 1);

	lua_createtable(L, w->nr, 0);
	for (size_t i = 0; i < w->nr; i++) {
		const struct wl_op *op = &w->ops[i];

		lua_createtable(L, 0, 4);
		lua_pushfstring(L, "%I", (LUAI_UACINT)i);
		lua_setfield(L, -2, "op");
		lua_pushinteger(L, op->n);
		lua_setfield(L, -2, "n");
		lua_pushinteger(L, op->off);
		lua_setfield(L, -2, "off");
		lua_pushinteger(L, op->len);
		lua_setfield(L, -2, "len");
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

static s64 take_number(lua_State *L, const char *field)
{
	s64 v;

	lua_getfield(L, -1, field);
	v = lua_tointeger(L, -1);
	lua_pop(L, 1);
	return v;
}

/* Push the text of the operations in the list at index 1; false if one of them is none. */
static bool push_workload(lua_State *L, const struct workload *w)
{
	char line[256];
	luaL_Buffer b;

	luaL_buffinit(L, &b);
	for (size_t i = 1; i <= lua_rawlen(L, 1); i++) {
		struct wl_op op;

		lua_rawgeti(L, 1, i);
		lua_getfield(L, -1, "op");
		op = w->ops[lua_tointeger(L, -1)];
		lua_pop(L, 1);
		if (op.type != WL_FD)
			op.n = take_number(L, "n");
		op.off = take_number(L, "off");
		op.len = take_number(L, "len");
		lua_pop(L, 1);
		if (op.n < 1 || workload_format_op(&op, line, sizeof(line)) <= 0)
			return false;
		luaL_addstring(&b, i > 1 ? "; " : "");
		luaL_addstring(&b, line);
	}
	luaL_pushresult(&b);
	return true;
}

/*
 * Upvalues: lab, question, workload, a table: [1] the last text that failed, [2] the event where
 * the whole failed. Argument: a list of operations. Does it fail at such an event?
 */
static int workload_fails(lua_State *L)
{
	struct lab *lab = lua_touserdata(L, lua_upvalueindex(1));
	const struct lab_question *q = lua_touserdata(L, lua_upvalueindex(2));
	int same;

	lua_settop(L, 1);
	if (!lua_rawlen(L, 1) || !push_workload(L, lua_touserdata(L, lua_upvalueindex(3))))
		return 0;
	lab->ll->looked.open = false;
	lab_push_call(lab, q, "check");
	lua_pushvalue(L, 2);
	if (lua_pcall(L, 2, 1, 0) != LUA_OK || lua_toboolean(L, -1) || !lab->ll->looked.open)
		return 0;
	lua_rawgeti(L, lua_upvalueindex(4), 2);
	same = lua_tointeger(L, -1) == lab->ll->looked.id;
	if (!same)
		return 0;
	lua_pushvalue(L, 2);
	lua_rawseti(L, lua_upvalueindex(4), 1);
	lua_pushboolean(L, true);
	return 1;
}

/* @given failed at an event: tell of the smallest part of it that does. */
static void shrink_workload(struct lab *lab, const struct lab_question *q, const char *given,
			    struct lab_verdict *ret)
{
	lua_State *L = lab->ll->L;
	struct lab_verdict smaller = {0};
	struct fl_error err = {0};
	int top = lua_gettop(L);
	struct workload w;

	if (workload_parse(&w, "workload", given, strlen(given), &err))
		return;
	lua_pushcfunction(L, push_operations);
	lua_pushlightuserdata(L, &w);
	lua_newtable(L);
	lua_pushinteger(L, lab->ll->looked.id);
	lua_rawseti(L, -2, 2);
	lua_insert(L, top + 1);
	if (!lab_lua_call(lab->ll, 1, 1, &err)) {
		lua_pushlightuserdata(L, lab);
		lua_pushlightuserdata(L, (void *)q);
		lua_pushlightuserdata(L, &w);
		lua_pushvalue(L, top + 1);
		lua_pushcclosure(L, workload_fails, 4);
		look_for_smallest(lab, q, top + 2, WORKLOAD_TRIES);
		if (lua_rawgeti(L, top + 1, 1) == LUA_TSTRING) {
			const char *text = lua_tostring(L, -1);
			size_t len;

			lua_pushvalue(L, -1);
			judge_check(lab, q, &smaller);
			len = strlen(smaller.why);
			if (!smaller.right && len < sizeof(smaller.why) - 40) {
				snprintf(smaller.why + len, sizeof(smaller.why) - len,
					 ", of as little as '%s'", text);
				*ret = smaller;
			}
		}
	}
	lua_settop(L, top);
	workload_fini(&w);
	lab_lua_set_budget(lab->ll, q->budget);
}

void lab_judge_workload(struct lab *lab, const struct lab_question *q,
			const struct lab_value *given, struct lab_verdict *ret)
{
	struct fl_error err = {0};
	struct workload w;
	u64 n;

	if (given->type != LAB_VALUE_TEXT) {
		snprintf(ret->why, sizeof(ret->why), "there is no workload yet");
		return;
	}
	if (workload_parse(&w, "workload", given->text, strlen(given->text), &err)) {
		snprintf(ret->why, sizeof(ret->why), "line %u: %.400s", err.line, err.text);
		return;
	}
	n = count_ops(&w);
	workload_fini(&w);
	if (!n || n > (u64)q->max_ops) {
		snprintf(ret->why, sizeof(ret->why), "%llu operations, expected 1 to %lld",
			 (unsigned long long)n, (long long)q->max_ops);
		return;
	}
	lab_lua_set_budget(lab->ll, q->budget);
	lua_pushstring(lab->ll->L, given->text);
	judge_check(lab, q, ret);
	if (!ret->right && lab->ll->looked.open && !lab->ll->exhausted)
		shrink_workload(lab, q, given->text, ret);
}

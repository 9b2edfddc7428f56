/* answers.lua and the instructor's solution: a student's values, kept away from the lab's own. */
#include <errno.h>
#include <string.h>

#include "lab/lab.h"
#include "lab/lua_engine.h"

#define COPY_DEPTH 20

/* ---- results of a student's function are copied ---- */

static void push_copy(lua_State *L, int index, int depth)
{
	int type = lua_type(L, index);

	index = lua_absindex(L, index);
	if (type != LUA_TTABLE) {
		if (type != LUA_TNIL && type != LUA_TBOOLEAN && type != LUA_TNUMBER &&
		    type != LUA_TSTRING)
			luaL_error(L,
				   "returned a %s, expected numbers, strings, booleans or tables",
				   luaL_typename(L, index));
		lua_pushvalue(L, index);
		return;
	}
	if (depth == COPY_DEPTH)
		luaL_error(L, "returned tables in tables in tables, expected fewer levels");
	luaL_checkstack(L, 6, NULL);
	lua_newtable(L);
	for (lua_pushnil(L); lua_next(L, index);) {
		lab_lua_charge(L, 1);
		lua_pushvalue(L, -2);
		push_copy(L, -2, depth + 1);
		lua_rawset(L, -5);
		lua_pop(L, 1);
	}
}

void lab_push_copy(lua_State *L, int index)
{
	push_copy(L, index, 0);
}

/* Upvalue: the student's function. */
static int guarded_call(lua_State *L)
{
	int n;

	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	n = lua_gettop(L);
	luaL_checkstack(L, n, NULL);
	for (int i = 1; i <= n; i++)
		push_copy(L, i, 0);
	return n;
}

static void push_guard(lua_State *L, int index)
{
	lua_pushvalue(L, index);
	lua_pushcclosure(L, guarded_call, 1);
}

/* A function, or a table of functions (a policy). */
static int guard_protected(lua_State *L)
{
	if (lua_isfunction(L, 1)) {
		push_guard(L, 1);
		return 1;
	}
	lua_newtable(L);
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING || !lua_isfunction(L, -1))
			continue;
		lua_pushvalue(L, -2);
		push_guard(L, -2);
		lua_rawset(L, 2);
	}
	return 1;
}

int lab_push_guarded(struct lab *lab, struct fl_error *err)
{
	lua_State *L = lab->ll->L;

	lua_pushcfunction(L, guard_protected);
	lua_insert(L, -2);
	return lab_lua_call(lab->ll, 1, 1, err);
}

/* ---- values ---- */

static int not_that_kind(const struct lab_question *q, lua_State *L, struct fl_error *err)
{
	static const char *const expected[] = {
		[LAB_NUMBER] = "a number",
		[LAB_LIST] = "a list of numbers",
		[LAB_CHOICE] = "a letter such as \"b\"",
		[LAB_ORDER] = "letters such as \"b a c\"",
		[LAB_FUNC] = "a function",
		[LAB_WORKLOAD] = "a string of operations",
	};

	return fl_error_set(err, -EINVAL, NULL, 0, "%s: a %s, expected %s", q->id,
			    luaL_typename(L, -1), expected[q->kind]);
}

/* A list of numbers or letters becomes what would be typed. */
static void join_list(lua_State *L, char *buf, size_t n)
{
	size_t len = 0, nr = lua_rawlen(L, -1);

	buf[0] = 0;
	for (size_t i = 1; i <= nr && len < n; i++) {
		lua_rawgeti(L, -1, i);
		len += snprintf(buf + len, n - len, "%s%s", i > 1 ? " " : "",
				lua_isstring(L, -1) ? lua_tostring(L, -1) : "?");
		lua_pop(L, 1);
	}
}

/* Numbers in place of letters are places in lab.lua's list, from 1. */
static bool take_places(const struct lab_question *q, lua_State *L, struct lab_value *ret)
{
	size_t n = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;

	if (q->kind == LAB_CHOICE && lua_type(L, -1) == LUA_TNUMBER) {
		ret->type = LAB_VALUE_NUMBERS;
		ret->numbers[ret->nr++] = lua_tonumber(L, -1);
		return true;
	}
	if (q->kind != LAB_ORDER || !n || n > LAB_LIST_MAX)
		return false;
	for (size_t i = 1; i <= n; i++) {
		bool is_number = lua_rawgeti(L, -1, i) == LUA_TNUMBER;

		ret->numbers[i - 1] = lua_tonumber(L, -1);
		lua_pop(L, 1);
		if (!is_number)
			return false;
	}
	ret->type = LAB_VALUE_NUMBERS;
	ret->nr = n;
	return true;
}

static int from_text(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
		     const char *text, struct lab_value *ret, struct fl_error *err)
{
	struct lab_options o;
	char why[200];
	bool good;
	int error = lab_options_get(lab, step, q, &o, err);

	if (error)
		return error;
	good = lab_value_parse(q, &o, text, ret, why, sizeof(why));
	lab_options_free(&o);
	return good ? 0 : fl_error_set(err, -EINVAL, NULL, 0, "%s: '%.60s', %s", q->id, text, why);
}

static bool is_blank(const char *s)
{
	return !s[strspn(s, " \t\r\n")];
}

int lab_value_from_lua(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
		       struct lab_value *ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int type = lua_type(L, -1), error = 0;
	char text[sizeof(ret->text)];

	memset(ret, 0, sizeof(*ret));
	if (type == LUA_TNIL || (type == LUA_TSTRING && is_blank(lua_tostring(L, -1)))) {
		lua_pop(L, 1);
		return 0;
	}
	if (q->kind == LAB_FUNC) {
		if (type != LUA_TFUNCTION && type != LUA_TTABLE) {
			error = not_that_kind(q, L, err);
			lua_pop(L, 1);
			return error;
		}
		ret->type = LAB_VALUE_LUA;
		ret->ref = luaL_ref(L, LUA_REGISTRYINDEX);
		return 0;
	}
	if (take_places(q, L, ret)) {
		lua_pop(L, 1);
		return 0;
	}
	if (type == LUA_TTABLE && q->kind != LAB_WORKLOAD)
		join_list(L, text, sizeof(text));
	else if (type == LUA_TSTRING || (type == LUA_TNUMBER && q->kind != LAB_WORKLOAD))
		snprintf(text, sizeof(text), "%s", lua_tostring(L, -1));
	else
		error = not_that_kind(q, L, err);
	lua_pop(L, 1);
	return error ? error : from_text(lab, step, q, text, ret, err);
}

/* ---- answers.lua ---- */

static int push_student_env(lua_State *L)
{
	lab_lua_push_env(L);
	/* The lab's files are the lab's. */
	lab_lua_push_machine_new(L, true);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, "machine");
	lua_getfield(L, -2, "fl");
	lua_insert(L, -2);
	lua_setfield(L, -2, "machine");
	lua_pop(L, 1);
	return 1;
}

int lab_load_answers_text(struct lab *lab, const char *path, const char *text, size_t len,
			  struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int top = lua_gettop(L), ret;

	luaL_unref(L, LUA_REGISTRYINDEX, lab->answers_ref);
	lab->answers_ref = LUA_NOREF;
	lab_lua_set_budget(lab->ll, LAB_LUA_STUDENT_BUDGET);
	lua_pushcfunction(L, push_student_env);
	ret = lab_lua_call(lab->ll, 0, 1, err);
	if (!ret)
		ret = lab_lua_load_text(lab->ll, path, text, len, -1, err);
	if (!ret)
		ret = lab_lua_call(lab->ll, 0, 1, err);
	if (!ret && !lua_istable(L, -1))
		ret = fl_error_set(err, -EINVAL, path, 0, "returns %s%s, expected 'return { ... }'",
				   lua_isnil(L, -1) ? "" : "a ",
				   lua_isnil(L, -1) ? "nothing" : luaL_typename(L, -1));
	if (!ret) {
		/* A plain table: nothing the student does to it later matters to us. */
		lua_pushnil(L);
		lua_setmetatable(L, -2);
		lab->answers_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	} else if (!err->file[0]) {
		snprintf(err->file, sizeof(err->file), "%s", path);
	}
	lua_settop(L, top);
	return ret;
}

int lab_answer_given(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
		     struct lab_value *ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;

	memset(ret, 0, sizeof(*ret));
	if (lab->answers_ref == LUA_NOREF)
		return 0;
	lua_rawgeti(L, LUA_REGISTRYINDEX, lab->answers_ref);
	lua_pushstring(L, q->id);
	lua_rawget(L, -2);
	lua_remove(L, -2);
	return lab_value_from_lua(lab, step, q, ret, err);
}

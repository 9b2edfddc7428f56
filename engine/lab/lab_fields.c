/* lab{}, step{} and ask.KIND{}: what lab.lua says, checked field by field. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab.h"
#include "lib/strutil.h"

enum field_type { STRING, NUMBER, BOOLEAN, FUNCTION, LIST, LIST_OR_FUNCTION };

struct field {
	const char *name;
	enum field_type type;
	bool needed;
};

static const struct field lab_fields[] = {
	{"title", STRING, true}, {"summary", STRING, true}, {"minutes", NUMBER, true},
	{"steps", LIST, true},	 {NULL, 0, false},
};

static const struct field step_fields[] = {
	{"id", STRING, true},	      {"title", STRING, true},	{"brief", STRING, true},
	{"prepare", FUNCTION, false}, {"run", FUNCTION, false}, {"questions", LIST, false},
	{"reveal", STRING, false},    {NULL, 0, false},
};

#define COMMON_FIELDS                                                                              \
	{"id", STRING, true}, {"text", STRING, true}, {"points", NUMBER, false},                   \
		{"hints", LIST, false}, {"predict", BOOLEAN, false},                               \
	{                                                                                          \
		"explain", STRING, false                                                           \
	}

static const struct {
	const char *name;
	struct field fields[16];
} kinds[LAB_NR_KINDS] = {
	[LAB_NUMBER] = {"number",
			{COMMON_FIELDS,
			 {"answer", FUNCTION, true},
			 {"tolerance", NUMBER, false},
			 {"percent", NUMBER, false},
			 {"unit", STRING, false}}},
	[LAB_LIST] = {"list", {COMMON_FIELDS, {"answer", FUNCTION, true}}},
	[LAB_CHOICE] = {"choice",
			{COMMON_FIELDS,
			 {"answer", FUNCTION, true},
			 {"options", LIST_OR_FUNCTION, true},
			 {"keep", BOOLEAN, false}}},
	[LAB_ORDER] = {"order",
		       {COMMON_FIELDS,
			{"answer", FUNCTION, true},
			{"items", LIST_OR_FUNCTION, true}}},
	[LAB_FUNC] = {"func",
		      {COMMON_FIELDS,
		       {"check", FUNCTION, false},
		       {"cases", FUNCTION, false},
		       {"answer", FUNCTION, false},
		       {"valid", FUNCTION, false},
		       {"budget", NUMBER, false}}},
	[LAB_WORKLOAD] = {"workload",
			  {COMMON_FIELDS,
			   {"check", FUNCTION, true},
			   {"max_ops", NUMBER, false},
			   {"budget", NUMBER, false}}},
};

const char *lab_kind_name(enum lab_kind kind)
{
	return kinds[kind].name;
}

/* ---- checking tables while lab.lua runs: errors have its line ---- */

static bool has_type(lua_State *L, enum field_type type)
{
	int t = lua_type(L, -1);

	switch (type) {
	case STRING:
		return t == LUA_TSTRING;
	case NUMBER:
		return t == LUA_TNUMBER;
	case BOOLEAN:
		return t == LUA_TBOOLEAN;
	case FUNCTION:
		return t == LUA_TFUNCTION;
	case LIST:
		return t == LUA_TTABLE;
	case LIST_OR_FUNCTION:
		return t == LUA_TTABLE || t == LUA_TFUNCTION;
	}
	return false;
}

static const char *type_text(enum field_type type)
{
	static const char *const names[] = {
		[STRING] = "a string",
		[NUMBER] = "a number",
		[BOOLEAN] = "true or false",
		[FUNCTION] = "a function",
		[LIST] = "a list",
		[LIST_OR_FUNCTION] = "a list or a function that returns one",
	};

	return names[type];
}

static void check_unknown(lua_State *L, const char *what, const struct field *fields)
{
	const char *names[16];
	struct name_list list = {"field", names, 0};
	char text[300];

	for (; fields[list.nr].name; list.nr++)
		names[list.nr] = fields[list.nr].name;
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "[number]";
		size_t i = 0;

		while (i < list.nr && strcmp(key, names[i]))
			i++;
		if (i == list.nr)
			luaL_error(L, "%s: %s", what,
				   describe_unknown(text, sizeof(text), key, &list));
	}
}

/* The table at index 1; it gets its line under the key "line" of a table of lines. */
static void check_table(lua_State *L, const char *what, const struct field *fields)
{
	lua_Debug ar;

	if (!lua_istable(L, 1))
		luaL_error(L, "%s: a %s, expected a table: %s{ ... }", what, luaL_typename(L, 1),
			   what);
	lua_settop(L, 1);
	check_unknown(L, what, fields);
	for (; fields->name; fields++) {
		lua_getfield(L, 1, fields->name);
		if (lua_isnil(L, -1) && fields->needed)
			luaL_error(L, "%s: field '%s' is missing, expected %s", what, fields->name,
				   type_text(fields->type));
		if (!lua_isnil(L, -1) && !has_type(L, fields->type))
			luaL_error(L, "%s: field '%s' is a %s, expected %s", what, fields->name,
				   luaL_typename(L, -1), type_text(fields->type));
		lua_pop(L, 1);
	}
	ar.currentline = 0;
	if (lua_getstack(L, 1, &ar))
		lua_getinfo(L, "l", &ar);
	lua_getfield(L, LUA_REGISTRYINDEX, "lab lines");
	lua_pushvalue(L, 1);
	lua_pushinteger(L, ar.currentline);
	lua_rawset(L, -3);
	lua_pop(L, 1);
}

static void check_id(lua_State *L, const char *what)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const char *id;

	lua_getfield(L, 1, "id");
	id = lua_tostring(L, -1);
	if (!*id || id[strspn(id, allowed)] || strlen(id) >= LAB_ID_MAX)
		luaL_error(L, "%s: id '%s', expected letters, digits, - and _", what, id);
	lua_pop(L, 1);
}

static int ask_kind(lua_State *L)
{
	enum lab_kind kind = lua_tointeger(L, lua_upvalueindex(1));
	char what[40];

	snprintf(what, sizeof(what), "ask.%s", kinds[kind].name);
	check_table(L, what, kinds[kind].fields);
	check_id(L, what);
	if (kind == LAB_FUNC) {
		bool check = lua_getfield(L, 1, "check") != LUA_TNIL;
		bool cases = lua_getfield(L, 1, "cases") != LUA_TNIL;
		bool answer = lua_getfield(L, 1, "answer") != LUA_TNIL;

		if (check == cases || cases != answer)
			luaL_error(L, "ask.func: expected either 'check', or 'cases' and 'answer'");
		lua_settop(L, 1);
	}
	lua_getfield(L, LUA_REGISTRYINDEX, "lab kinds");
	lua_pushvalue(L, 1);
	lua_pushinteger(L, kind);
	lua_rawset(L, -3);
	lua_settop(L, 1);
	return 1;
}

static int ask_unknown(lua_State *L)
{
	const char *names[LAB_NR_KINDS];
	const struct name_list list = {"question kind", names, LAB_NR_KINDS};
	char text[300];

	for (int i = 0; i < LAB_NR_KINDS; i++)
		names[i] = kinds[i].name;
	return luaL_error(
		L, "%s",
		describe_unknown(text, sizeof(text), lab_lua_tolstring(L, 2, NULL), &list));
}

static int make_step(lua_State *L)
{
	check_table(L, "step", step_fields);
	check_id(L, "step");
	return 1;
}

static int make_lab(lua_State *L)
{
	check_table(L, "lab", lab_fields);
	if (lua_getfield(L, LUA_REGISTRYINDEX, "the lab") != LUA_TNIL)
		return luaL_error(L, "lab{} was called before, expected once");
	lua_pushvalue(L, 1);
	lua_setfield(L, LUA_REGISTRYINDEX, "the lab");
	return 0;
}

void lab_add_functions(lua_State *L)
{
	lua_newtable(L);
	lua_setfield(L, LUA_REGISTRYINDEX, "lab lines");
	lua_newtable(L);
	lua_setfield(L, LUA_REGISTRYINDEX, "lab kinds");
	lua_pushcfunction(L, make_lab);
	lua_setfield(L, -2, "lab");
	lua_pushcfunction(L, make_step);
	lua_setfield(L, -2, "step");
	lua_newtable(L);
	for (int i = 0; i < LAB_NR_KINDS; i++) {
		lua_pushinteger(L, i);
		lua_pushcclosure(L, ask_kind, 1);
		lua_setfield(L, -2, kinds[i].name);
	}
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, ask_unknown);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, -2);
	lua_setfield(L, -2, "ask");
}

/* ---- from the tables to struct lab ---- */

/* Where the table at @index was made; 0 if it was by none of our functions. */
static unsigned int line_of(lua_State *L, int index)
{
	unsigned int line;

	index = lua_absindex(L, index);
	lua_getfield(L, LUA_REGISTRYINDEX, "lab lines");
	lua_pushvalue(L, index);
	lua_rawget(L, -2);
	line = lua_tointeger(L, -1);
	lua_pop(L, 2);
	return line;
}

static void copy_string(lua_State *L, const char *key, char *to, size_t size)
{
	lua_getfield(L, -1, key);
	snprintf(to, size, "%s", lua_isnil(L, -1) ? "" : lua_tostring(L, -1));
	lua_pop(L, 1);
}

static double get_number(lua_State *L, const char *key, double dflt)
{
	double v = dflt;

	lua_getfield(L, -1, key);
	if (!lua_isnil(L, -1))
		v = lua_tonumber(L, -1);
	lua_pop(L, 1);
	return v;
}

static bool get_flag(lua_State *L, const char *key)
{
	bool v;

	lua_getfield(L, -1, key);
	v = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return v;
}

static unsigned int list_length(lua_State *L, const char *key)
{
	unsigned int n;

	lua_getfield(L, -1, key);
	n = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;
	lua_pop(L, 1);
	return n;
}

static int bad(const struct lab *lab, unsigned int line, struct fl_error *err, const char *fmt,
	       const char *a)
{
	char text[300];

	snprintf(text, sizeof(text), fmt, a);
	return fl_error_set(err, -EINVAL, lab->path, line, "%s", text);
}

/* What the hints of the question on top of the stack cost: { text = ..., cost = N }, or 1. */
static int read_hints(struct lab *lab, struct lab_question *q, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int top = lua_gettop(L);

	q->nr_hints = list_length(L, "hints");
	if (q->nr_hints > LAB_HINTS_MAX)
		return bad(lab, q->line, err, "question '%s': hints, expected at most 16", q->id);
	lua_getfield(L, -1, "hints");
	for (unsigned int i = 0; i < q->nr_hints; i++) {
		q->hint_cost[i] = 1;
		if (lua_rawgeti(L, top + 1, i + 1) == LUA_TTABLE &&
		    lua_getfield(L, -1, "cost") == LUA_TNUMBER)
			q->hint_cost[i] = lua_tonumber(L, -1);
		lua_settop(L, top + 1);
	}
	lua_settop(L, top);
	return 0;
}

/* The question on top of the stack, popped. */
static int read_question(struct lab *lab, struct lab_question *q, unsigned int step_line,
			 struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int ret;

	lua_getfield(L, LUA_REGISTRYINDEX, "lab kinds");
	lua_pushvalue(L, -2);
	if (!lua_istable(L, -1) || lua_rawget(L, -2) == LUA_TNIL) {
		lua_pop(L, 3);
		return bad(lab, step_line, err,
			   "a question that is none, expected ask.KIND{ ... }%s", "");
	}
	q->kind = lua_tointeger(L, -1);
	lua_pop(L, 2);
	q->line = line_of(L, -1);
	copy_string(L, "id", q->id, sizeof(q->id));
	copy_string(L, "unit", q->unit, sizeof(q->unit));
	q->points = get_number(L, "points", 4);
	q->tolerance = get_number(L, "tolerance", 0);
	q->percent = get_number(L, "percent", 0);
	q->predict = get_flag(L, "predict");
	q->keep = get_flag(L, "keep");
	q->explains = get_flag(L, "explain");
	ret = read_hints(lab, q, err);
	q->max_ops = get_number(L, "max_ops", 10000);
	q->budget = get_number(L, "budget", 0) * 1e6;
	if (!q->budget)
		q->budget = LAB_LUA_STUDENT_BUDGET;
	q->ref = luaL_ref(L, LUA_REGISTRYINDEX);
	if (!ret && q->points <= 0)
		return bad(lab, q->line, err, "question '%s': points, expected a number above 0",
			   q->id);
	return ret;
}

/* The list of questions of the step on top of the stack. */
static int read_questions(struct lab *lab, struct lab_step *step, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	unsigned int n = list_length(L, "questions");
	int ret = 0;

	step->questions = calloc(n + 1, sizeof(*step->questions));
	if (!step->questions)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	lua_getfield(L, -1, "questions");
	for (unsigned int i = 0; i < n && !ret; i++) {
		lua_rawgeti(L, -1, i + 1);
		ret = read_question(lab, &step->questions[i], step->line, err);
		step->nr_questions += !ret;
	}
	lua_pop(L, 1);
	return ret;
}

/* The step on top of the stack, popped. */
static int read_step(struct lab *lab, struct lab_step *step, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int ret;

	step->line = lua_istable(L, -1) ? line_of(L, -1) : 0;
	if (!step->line) {
		lua_pop(L, 1);
		return bad(lab, lab->line, err, "a step that is none, expected step{ ... }%s", "");
	}
	copy_string(L, "id", step->id, sizeof(step->id));
	copy_string(L, "title", step->title, sizeof(step->title));
	step->runs = get_flag(L, "run");
	step->reveals = get_flag(L, "reveal");
	ret = read_questions(lab, step, err);
	step->ref = luaL_ref(L, LUA_REGISTRYINDEX);
	return ret;
}

static int check_unique(const struct lab *lab, struct fl_error *err)
{
	for (unsigned int i = 0; i < lab->nr_steps; i++) {
		const struct lab_step *a = &lab->steps[i];

		for (unsigned int j = 0; j < i; j++)
			if (!strcmp(a->id, lab->steps[j].id))
				return bad(lab, a->line, err, "step '%s': id used before", a->id);
		for (unsigned int k = 0; k < a->nr_questions; k++)
			for (unsigned int j = 0; j <= i; j++) {
				const struct lab_step *b = &lab->steps[j];
				unsigned int end = j == i ? k : b->nr_questions;

				for (unsigned int l = 0; l < end; l++)
					if (!strcmp(a->questions[k].id, b->questions[l].id))
						return bad(lab, a->questions[k].line, err,
							   "question '%s': id used before",
							   a->questions[k].id);
			}
	}
	return 0;
}

int lab_read_table(struct lab *lab, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	unsigned int n;
	int ret = 0;

	lab->line = line_of(L, -1);
	copy_string(L, "title", lab->title, sizeof(lab->title));
	copy_string(L, "summary", lab->summary, sizeof(lab->summary));
	lab->minutes = get_number(L, "minutes", 0);
	n = list_length(L, "steps");
	lab->steps = calloc(n + 1, sizeof(*lab->steps));
	if (!lab->steps)
		ret = fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	lua_getfield(L, -1, "steps");
	for (unsigned int i = 0; i < n && !ret; i++) {
		lua_rawgeti(L, -1, i + 1);
		lab->nr_steps++;
		ret = read_step(lab, &lab->steps[i], err);
	}
	lua_pop(L, 2);
	if (!ret && !n)
		ret = bad(lab, lab->line, err, "lab without steps, expected at least one%s", "");
	return ret ? ret : check_unique(lab, err);
}

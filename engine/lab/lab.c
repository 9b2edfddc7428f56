#include "lab/lab.h"

#include <errno.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lua_engine.h"
#include "lab/plot.h"
#include "lib/printable.h"

/* ---- numbers of a student ---- */

u32 lab_seed(const char *student)
{
	unsigned char md[SHA256_DIGEST_LENGTH];
	char text[200];
	int n = snprintf(text, sizeof(text), "foliolab student %s", student);

	SHA256((const unsigned char *)text, min((size_t)n, sizeof(text) - 1), md);
	return (u32)md[0] << 24 | md[1] << 16 | md[2] << 8 | md[3];
}

bool lab_is_student(const char *name)
{
	return *name && strlen(name) < sizeof(((struct lab *)NULL)->student) && is_printable(name);
}

u64 lab_mix(const struct lab *lab, const char *what)
{
	u64 h = 0xcbf29ce484222325ull ^ lab->seed;

	for (const char *s = lab->name; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	h = (h ^ '/') * 0x100000001b3ull;
	for (; *what; what++)
		h = (h ^ (unsigned char)*what) * 0x100000001b3ull;
	return h;
}

/* ---- opening ---- */

static int push_environment(lua_State *L)
{
	lab_lua_push_env(L);
	lab_add_functions(L);
	return 1;
}

/* @text NULL: of the file. */
static int load_lab(struct lab *lab, const char *text, size_t len, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int ret;

	lua_pushcfunction(L, push_environment);
	ret = lab_lua_call(lab->ll, 0, 1, err);
	if (ret)
		return ret;
	if (text)
		ret = lab_lua_load_text(lab->ll, lab->path, text, len, -1, err);
	else
		ret = lab_lua_load_file(lab->ll, lab->path, -1, err);
	if (!ret)
		ret = lab_lua_call(lab->ll, 0, 0, err);
	lab->env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	if (ret)
		return ret;
	if (lua_getfield(L, LUA_REGISTRYINDEX, "the lab") != LUA_TTABLE)
		return fl_error_set(err, -EINVAL, lab->path, 0, "no lab{ ... }, expected one");
	return lab_read_table(lab, err);
}

static void name_lab(struct lab *lab, const char *dir)
{
	size_t len = strlen(dir);
	const char *name;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	snprintf(lab->dir, sizeof(lab->dir), "%.*s", (int)len, dir);
	name = strrchr(lab->dir, '/');
	snprintf(lab->name, sizeof(lab->name), "%.60s", name ? name + 1 : lab->dir);
	snprintf(lab->path, sizeof(lab->path), "%s/lab.lua", lab->dir);
}

int lab_open(const char *dir, const char *student, struct lab **ret, struct fl_error *err)
{
	struct lab *lab;
	int error = lab_open_text(dir, NULL, 0, student, &lab, err);

	*ret = NULL;
	if (error)
		return error;
	error = lab_images_open(lab->dir, &lab->images, err);
	if (error) {
		lab_close(lab);
		return error;
	}
	lab->ll->images = &lab->images;
	*ret = lab;
	return 0;
}

int lab_open_text(const char *dir, const char *text, size_t len, const char *student,
		  struct lab **ret, struct fl_error *err)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	int error;

	*ret = NULL;
	if (!lab)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	name_lab(lab, dir);
	snprintf(lab->student, sizeof(lab->student), "%s", student);
	lab->seed = lab_seed(student);
	lab->s_ref = lab->answers_ref = lab->env_ref = LUA_NOREF;
	error = lab_lua_open(&lab->ll, err);
	if (!error) {
		lab->ll->dir = lab->dir;
		lab->ll->out = NULL;
		error = load_lab(lab, text, len, err);
	}
	if (error) {
		if (!err->file[0])
			snprintf(err->file, sizeof(err->file), "%.250s", lab->path);
		lab_close(lab);
		return error;
	}
	*ret = lab;
	return 0;
}

void lab_close(struct lab *lab)
{
	if (!lab)
		return;
	for (unsigned int i = 0; lab->steps && i < lab->nr_steps; i++)
		free(lab->steps[i].questions);
	free(lab->steps);
	lab_lua_close(lab->ll);
	lab_images_fini(&lab->images);
	free(lab);
}

/* ---- a step ---- */

/* Argument: the lab. Returns a fresh s. */
static int make_s(lua_State *L)
{
	const struct lab *lab = lua_touserdata(L, 1);
	const char *step = lua_touserdata(L, 2);

	lua_createtable(L, 0, 8);
	lab_lua_push_rng(L, lab_mix(lab, step));
	lua_setfield(L, -2, "rng");
	lua_pushinteger(L, lab->seed);
	lua_setfield(L, -2, "seed");
	lua_pushstring(L, lab->student);
	lua_setfield(L, -2, "student");
	lua_pushinteger(L, 4096);
	lua_setfield(L, -2, "page_size");
	return 1;
}

/* Call the step's function @field with s; nothing where it has none. */
static int call_step(struct lab *lab, const struct lab_step *step, const char *field, FILE *out,
		     struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int ret;

	lab_lua_set_budget(lab->ll, LAB_LUA_BUDGET);
	lua_rawgeti(L, LUA_REGISTRYINDEX, step->ref);
	if (lua_getfield(L, -1, field) == LUA_TNIL) {
		lua_pop(L, 2);
		return 0;
	}
	lua_remove(L, -2);
	lua_rawgeti(L, LUA_REGISTRYINDEX, lab->s_ref);
	lab->ll->out = out;
	ret = lab_lua_call(lab->ll, 1, 0, err);
	lab->ll->out = NULL;
	if (ret && !err->file[0]) {
		snprintf(err->file, sizeof(err->file), "%.250s", lab->path);
		err->line = step->line;
	}
	return ret;
}

int lab_start(struct lab *lab, const struct lab_step *step, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int ret;

	luaL_unref(L, LUA_REGISTRYINDEX, lab->s_ref);
	lab->s_ref = LUA_NOREF;
	lab->ran = false;
	lua_gc(L, LUA_GCCOLLECT);
	lab_lua_set_budget(lab->ll, LAB_LUA_BUDGET);
	lua_pushcfunction(L, make_s);
	lua_pushlightuserdata(L, lab);
	lua_pushlightuserdata(L, (void *)step->id);
	ret = lab_lua_call(lab->ll, 2, 1, err);
	if (ret)
		return ret;
	lab->s_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	return call_step(lab, step, "prepare", NULL, err);
}

int lab_run(struct lab *lab, const struct lab_step *step, FILE *out, struct fl_error *err)
{
	lab->ran = true;
	return call_step(lab, step, "run", out, err);
}

/* ---- texts ---- */

/* __index of the names in {{}}: s first, then the globals of lab.lua. Upvalues: these two. */
static int name_index(lua_State *L)
{
	lua_pushvalue(L, 2);
	if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL)
		return 1;
	lua_pushvalue(L, 2);
	lua_gettable(L, lua_upvalueindex(2));
	return 1;
}

void lab_push_names(lua_State *L, int s, int globals)
{
	lua_newtable(L);
	lua_createtable(L, 0, 1);
	lua_pushvalue(L, s);
	lua_pushvalue(L, globals);
	lua_pushcclosure(L, name_index, 2);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, -2);
}

void lab_push_value_text(lua_State *L)
{
	char text[40];

	if (lua_type(L, -1) == LUA_TNUMBER && !lua_isinteger(L, -1))
		lua_pushstring(L, plot_number(lua_tonumber(L, -1), text, sizeof(text)));
	else
		lab_lua_tolstring(L, -1, NULL);
	lua_remove(L, -2);
}

/* Add the value of the expression; the names' table is at index 4. */
static void add_expression(lua_State *L, luaL_Buffer *b, const char *text, size_t len)
{
	lua_pushfstring(L, "return %s", lua_pushlstring(L, text, len));
	lua_remove(L, -2);
	if (luaL_loadbufferx(L, lua_tostring(L, -1), lua_rawlen(L, -1), "=(text)", "t") != LUA_OK)
		lua_error(L);
	lua_remove(L, -2);
	lua_pushvalue(L, 4);
	lua_setupvalue(L, -2, 1);
	lua_call(L, 0, 1);
	if (lua_isnil(L, -1))
		luaL_error(L, "is nil, expected a value");
	lab_push_value_text(L);
	luaL_addvalue(b);
}

/* Arguments: text, s, globals. Returns the text with its expressions replaced. */
static int expand_protected(lua_State *L)
{
	const char *all = lua_tostring(L, 1), *text = all, *open, *close;
	size_t *where = lua_touserdata(L, 4);
	luaL_Buffer b;

	lua_settop(L, 3);
	lab_push_names(L, 2, 3);
	luaL_buffinit(L, &b);
	while ((open = strstr(text, "{{"))) {
		luaL_addlstring(&b, text, open - text);
		*where = open - all;
		close = strstr(open, "}}");
		if (!close)
			return luaL_error(L, "{{ without }}");
		/* "{{f{}}}": the last of a row of braces closes. */
		while (close[2] == '}')
			close++;
		add_expression(L, &b, open + 2, close - open - 2);
		text = close + 2;
	}
	luaL_addstring(&b, text);
	luaL_pushresult(&b);
	return 1;
}

int lab_expand(struct lab *lab, const char *text, unsigned int line, char **ret,
	       struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	struct fl_error inner = {0};
	size_t where = 0;
	int error;

	lab_lua_set_budget(lab->ll, LAB_LUA_BUDGET);
	lua_pushcfunction(L, expand_protected);
	lua_pushstring(L, text);
	lua_rawgeti(L, LUA_REGISTRYINDEX, lab->s_ref);
	lua_rawgeti(L, LUA_REGISTRYINDEX, lab->env_ref);
	lua_pushlightuserdata(L, &where);
	error = lab_lua_call(lab->ll, 4, 1, &inner);
	if (error) {
		const char *end = strstr(text + where, "}}");
		const char *detail = strstr(inner.text, "(text):1: ");

		return fl_error_set(err, error, lab->path, line, "in '%.*s': %s",
				    end ? (int)min(end + 2 - text - (ptrdiff_t)where, 60L) : 2,
				    text + where,
				    detail ? detail + strlen("(text):1: ") : inner.text);
	}
	*ret = strdup(lua_tostring(L, -1));
	lua_pop(L, 1);
	return *ret ? 0 : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
}

/* Push the text as lab.lua has it. */
static void push_text(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
		      enum lab_text which, unsigned int nr)
{
	static const char *const fields[] = {[LAB_BRIEF] = "brief",
					     [LAB_REVEAL] = "reveal",
					     [LAB_QUESTION] = "text",
					     [LAB_HINT] = "hints",
					     [LAB_EXPLAIN] = "explain"};
	lua_State *L = lab->ll->L;

	lua_rawgeti(L, LUA_REGISTRYINDEX, which >= LAB_QUESTION ? q->ref : step->ref);
	lua_getfield(L, -1, fields[which]);
	lua_remove(L, -2);
	if (which != LAB_HINT)
		return;
	lua_rawgeti(L, -1, nr + 1);
	lua_remove(L, -2);
	if (lua_istable(L, -1)) {
		lua_getfield(L, -1, "text");
		lua_remove(L, -2);
	}
}

int lab_text(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
	     enum lab_text which, unsigned int nr, char **ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	unsigned int line = q ? q->line : step->line;
	int error;

	*ret = NULL;
	push_text(lab, step, q, which, nr);
	if (!lua_isstring(L, -1)) {
		lua_pop(L, 1);
		return fl_error_set(err, -EINVAL, lab->path, line,
				    "a text that is none, expected a string");
	}
	error = lab_expand(lab, lua_tostring(L, -1), line, ret, err);
	lua_pop(L, 1);
	return error;
}

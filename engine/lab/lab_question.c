/* Questions: options, right answers, what was typed, whether it is right. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_judge.h"
#include "lab/plot.h"
#include "lib/prng.h"
#include "lib/strutil.h"

/* ---- calling the question's functions ---- */

/* Push function @field of the question and s. */
void lab_push_call(struct lab *lab, const struct lab_question *q, const char *field)
{
	lua_State *L = lab->ll->L;

	lua_rawgeti(L, LUA_REGISTRYINDEX, q->ref);
	lua_getfield(L, -1, field);
	lua_remove(L, -2);
	lua_rawgeti(L, LUA_REGISTRYINDEX, lab->s_ref);
}

int lab_question_error(const struct lab *lab, const struct lab_question *q, struct fl_error *err,
		       const char *fmt, const char *a)
{
	char text[400];

	snprintf(text, sizeof(text), fmt, a);
	return fl_error_set(err, -EINVAL, lab->path, q->line, "question '%s': %s", q->id, text);
}

/* ---- options ---- */

void lab_options_free(struct lab_options *o)
{
	for (unsigned int i = 0; i < o->nr; i++)
		free(o->text[i]);
	o->nr = 0;
}

/* Push the list of options or items. */
static int push_options(struct lab *lab, const struct lab_question *q, struct fl_error *err)
{
	const char *field = q->kind == LAB_CHOICE ? "options" : "items";
	lua_State *L = lab->ll->L;
	int ret;

	lua_rawgeti(L, LUA_REGISTRYINDEX, q->ref);
	lua_getfield(L, -1, field);
	lua_remove(L, -2);
	if (lua_isfunction(L, -1)) {
		lab_lua_set_budget(lab->ll, LAB_LUA_BUDGET);
		lua_rawgeti(L, LUA_REGISTRYINDEX, lab->s_ref);
		ret = lab_lua_call(lab->ll, 1, 1, err);
		if (ret)
			return ret;
	}
	if (lua_istable(L, -1) && lua_rawlen(L, -1) >= 2 && lua_rawlen(L, -1) <= LAB_OPTIONS_MAX)
		return 0;
	lua_pop(L, 1);
	return lab_question_error(lab, q, err, "%s, expected a list of 2 to 26 texts", field);
}

static void shuffle(const struct lab *lab, const struct lab_question *q, struct lab_options *o)
{
	struct prng p;

	for (unsigned int i = 0; i < o->nr; i++)
		o->index[i] = i + 1;
	prng_seed(&p, lab_mix(lab, q->id));
	for (unsigned int i = o->nr; i > 1 && !q->keep; i--) {
		unsigned int j = prng_below(&p, i), other = o->index[i - 1];

		o->index[i - 1] = o->index[j];
		o->index[j] = other;
	}
}

int lab_options_get(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
		    struct lab_options *ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int error = 0;

	(void)step;
	memset(ret, 0, sizeof(*ret));
	if (q->kind != LAB_CHOICE && q->kind != LAB_ORDER)
		return 0;
	error = push_options(lab, q, err);
	if (error)
		return error;
	ret->nr = lua_rawlen(L, -1);
	shuffle(lab, q, ret);
	for (unsigned int i = 0; i < ret->nr && !error; i++) {
		if (lua_rawgeti(L, -1, ret->index[i]) == LUA_TSTRING)
			error = lab_expand(lab, lua_tostring(L, -1), q->line, &ret->text[i], err);
		else if (lua_type(L, -1) == LUA_TNUMBER)
			ret->text[i] = strdup(lua_tostring(L, -1));
		else
			error = lab_question_error(lab, q, err,
						   "an option is a %s, expected a string",
						   luaL_typename(L, -1));
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	if (error)
		lab_options_free(ret);
	return error;
}

/* ---- right answers ---- */

static int take_list(struct lab *lab, const struct lab_question *q, struct lab_value *ret,
		     struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	size_t n = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;

	if (!lua_istable(L, -1) || n > LAB_LIST_MAX)
		return lab_question_error(lab, q, err,
					  "answer is a %s, expected a list of at most 64 numbers",
					  luaL_typename(L, -1));
	ret->type = LAB_VALUE_NUMBERS;
	ret->nr = n;
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, i + 1);
		if (lua_type(L, -1) != LUA_TNUMBER)
			return lab_question_error(lab, q, err,
						  "the list has a %s, expected numbers",
						  luaL_typename(L, -1));
		ret->numbers[i] = lua_tonumber(L, -1);
		lua_pop(L, 1);
	}
	return 0;
}

/* The value on top is the right answer. */
static int take_answer(struct lab *lab, const struct lab_question *q, struct lab_value *ret,
		       struct fl_error *err)
{
	lua_State *L = lab->ll->L;

	if (q->kind == LAB_LIST || q->kind == LAB_ORDER)
		return take_list(lab, q, ret, err);
	if (lua_type(L, -1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, -1)))
		return lab_question_error(lab, q, err, "answer is a %s, expected a number",
					  luaL_typename(L, -1));
	ret->type = LAB_VALUE_NUMBERS;
	ret->nr = 1;
	ret->numbers[0] = lua_tonumber(L, -1);
	return 0;
}

int lab_answer(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
	       struct lab_value *ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	int top = lua_gettop(L), error;

	(void)step;
	memset(ret, 0, sizeof(*ret));
	lab_lua_set_budget(lab->ll, LAB_LUA_BUDGET);
	lab_push_call(lab, q, "answer");
	error = lab_lua_call(lab->ll, 1, 1, err);
	if (!error)
		error = take_answer(lab, q, ret, err);
	else if (!err->file[0])
		fl_error_set(err, error, lab->path, q->line, "question '%s': %s", q->id,
			     strdupa(err->text));
	lua_settop(L, top);
	return error;
}

/* ---- answers as text ---- */

static void format_letter(const struct lab_options *o, double index, char *buf, size_t n)
{
	for (unsigned int i = 0; o && i < o->nr; i++)
		if (o->index[i] == index)
			snprintf(buf, n, "%c", 'a' + (int)i);
}

void lab_value_format(const struct lab_question *q, const struct lab_value *v,
		      const struct lab_options *o, char *buf, size_t n)
{
	size_t len = 0;

	snprintf(buf, n, "%s", v->type == LAB_VALUE_TEXT ? v->text : "");
	if (v->type == LAB_VALUE_LUA)
		snprintf(buf, n, "(in answers.lua)");
	for (unsigned int i = 0; v->type == LAB_VALUE_NUMBERS && i < v->nr; i++) {
		char word[40] = "?";

		if (q->kind == LAB_CHOICE || q->kind == LAB_ORDER)
			format_letter(o, v->numbers[i], word, sizeof(word));
		else
			plot_number(v->numbers[i], word, sizeof(word));
		len += snprintf(buf + min(len, n), n - min(len, n), "%s%s", i ? " " : "", word);
	}
}

/* A number as people write it: 12, -3, 2.5, 0x10, 4k. */
static bool parse_number(const char *word, double *ret)
{
	bool negative = word[0] == '-';
	char *end;
	s64 size;

	if (!parse_size(word + negative, &size)) {
		*ret = negative ? -(double)size : (double)size;
		return true;
	}
	*ret = strtod(word, &end);
	return end != word && !*end && isfinite(*ret) && !strpbrk(word, "xXnN");
}

static bool parse_letter(const struct lab_options *o, const char *word, double *ret)
{
	int i = tolower((unsigned char)word[0]) - 'a';

	if (word[1] || !o || i < 0 || i >= (int)o->nr)
		return false;
	*ret = o->index[i];
	return true;
}

static void expectation(const struct lab_question *q, const struct lab_options *o, char *why,
			size_t n)
{
	char last = 'a' + (o && o->nr ? o->nr - 1 : 0);

	switch (q->kind) {
	case LAB_NUMBER:
		snprintf(why, n, "expected a number such as 12, 4k or 2.5");
		break;
	case LAB_LIST:
		snprintf(why, n, "expected numbers, such as 2 4 3 2");
		break;
	case LAB_CHOICE:
		snprintf(why, n, "expected one letter from a to %c", last);
		break;
	case LAB_ORDER:
		snprintf(why, n, "expected each letter from a to %c once, such as b a c", last);
		break;
	case LAB_WORKLOAD:
		snprintf(why, n, "expected operations, such as read 4k 16; seek 0");
		break;
	default:
		snprintf(why, n, "expected a function in answers.lua");
	}
}

/* Letters may be written without blanks: "bac". */
static bool split_letters(const char *text, char *buf, size_t n)
{
	size_t len = 0;

	for (; *text && len + 3 < n; text++)
		if (isalpha((unsigned char)*text)) {
			buf[len++] = *text;
			buf[len++] = ' ';
		} else if (!isspace((unsigned char)*text) && *text != ',') {
			return false;
		}
	buf[len] = 0;
	return true;
}

static bool each_once(const struct lab_value *v, unsigned int nr)
{
	u32 seen = 0;

	for (unsigned int i = 0; i < v->nr; i++)
		seen |= 1u << (int)v->numbers[i];
	return v->nr == nr && __builtin_popcount(seen) == (int)nr;
}

static bool parse_words(const struct lab_question *q, const struct lab_options *o, char *text,
			struct lab_value *ret)
{
	bool letters = q->kind == LAB_CHOICE || q->kind == LAB_ORDER;
	char *save, *word = strtok_r(text, " \t\r\n,", &save);

	for (; word; word = strtok_r(NULL, " \t\r\n,", &save)) {
		if (ret->nr == LAB_LIST_MAX)
			return false;
		if (letters ? !parse_letter(o, word, &ret->numbers[ret->nr])
			    : !parse_number(word, &ret->numbers[ret->nr]))
			return false;
		ret->nr++;
	}
	if (q->kind == LAB_NUMBER || q->kind == LAB_CHOICE)
		return ret->nr == 1;
	return q->kind == LAB_ORDER ? each_once(ret, o ? o->nr : 0) : ret->nr > 0;
}

bool lab_value_parse(const struct lab_question *q, const struct lab_options *o, const char *text,
		     struct lab_value *ret, char *why, size_t n)
{
	char copy[sizeof(ret->text)];
	bool good = false;

	memset(ret, 0, offsetof(struct lab_value, text) + 1);
	if (q->kind == LAB_WORKLOAD) {
		ret->type = LAB_VALUE_TEXT;
		good = text[strspn(text, " \t\r\n")] && strlen(text) < sizeof(ret->text);
		snprintf(ret->text, sizeof(ret->text), "%s", text);
	} else if (q->kind != LAB_FUNC && strlen(text) < sizeof(copy) / 2) {
		ret->type = LAB_VALUE_NUMBERS;
		snprintf(copy, sizeof(copy), "%s", text);
		good = (q->kind != LAB_ORDER || split_letters(text, copy, sizeof(copy))) &&
		       parse_words(q, o, copy, ret);
	}
	if (!good)
		expectation(q, o, why, n);
	return good;
}

/* ---- judging ---- */

static bool numbers_right(const struct lab_question *q, const struct lab_value *given,
			  const struct lab_value *right)
{
	double slack = 1e-9 + q->tolerance;

	if (given->type != LAB_VALUE_NUMBERS || given->nr != right->nr)
		return false;
	if (q->kind == LAB_NUMBER && right->nr)
		slack += fabs(right->numbers[0]) * q->percent / 100;
	else
		slack = 1e-9;
	for (unsigned int i = 0; i < right->nr; i++)
		if (!(fabs(given->numbers[i] - right->numbers[i]) <= slack))
			return false;
	return true;
}

int lab_judge(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
	      const struct lab_value *given, struct lab_verdict *ret, struct fl_error *err)
{
	struct lab_value right;
	int error;

	memset(ret, 0, sizeof(*ret));
	if (q->kind == LAB_FUNC)
		return lab_judge_func(lab, q, given, ret, err);
	if (q->kind == LAB_WORKLOAD) {
		lab_judge_workload(lab, q, given, ret);
		return 0;
	}
	error = lab_answer(lab, step, q, &right, err);
	if (!error)
		ret->right = numbers_right(q, given, &right);
	return error;
}

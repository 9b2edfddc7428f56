#include "schema/json_schema.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One check under way: where in the value it is, and what the first fault was. */
struct check {
	char path[256];
	char *why;
	size_t n;
};

static bool check_value(struct check *c, const cJSON *schema, const cJSON *value);

static bool fault(struct check *c, const char *what, const char *detail)
{
	snprintf(c->why, c->n, "%s: %s %s", *c->path ? c->path : "/", what, detail);
	return false;
}

static bool matches(const char *pattern, const char *s)
{
	regex_t re;
	bool found;

	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
		return false;
	found = !regexec(&re, s, 0, NULL, 0);
	regfree(&re);
	return found;
}

static bool is_type(const cJSON *value, const char *type)
{
	static const struct {
		const char *name;
		int type;
	} types[] = {
		{"object", cJSON_Object}, {"array", cJSON_Array}, {"string", cJSON_String},
		{"number", cJSON_Number}, {"null", cJSON_NULL},	  {"boolean", cJSON_True},
	};

	if (!strcmp(type, "integer"))
		return cJSON_IsNumber(value) &&
		       value->valuedouble == (double)(long long)value->valuedouble;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i].name))
			return (value->type & 0xff) == types[i].type ||
			       (cJSON_IsBool(value) && types[i].type == cJSON_True);
	return false;
}

/* ---- one function a keyword: @arg is its value in the schema ---- */

static bool keyword_type(struct check *c, const cJSON *schema, const cJSON *arg, const cJSON *value)
{
	(void)schema;
	return is_type(value, arg->valuestring) || fault(c, "is not of type", arg->valuestring);
}

static bool keyword_const(struct check *c, const cJSON *schema, const cJSON *arg,
			  const cJSON *value)
{
	(void)schema;
	return cJSON_Compare(arg, value, true) || fault(c, "is not", "the constant");
}

static bool keyword_enum(struct check *c, const cJSON *schema, const cJSON *arg, const cJSON *value)
{
	const cJSON *item;

	(void)schema;
	cJSON_ArrayForEach(item, arg) if (cJSON_Compare(item, value, true)) return true;
	return fault(c, "is none of", "the enum");
}

static bool keyword_minimum(struct check *c, const cJSON *schema, const cJSON *arg,
			    const cJSON *value)
{
	(void)schema;
	return value->valuedouble >= arg->valuedouble || fault(c, "is below", "the minimum");
}

static bool keyword_pattern(struct check *c, const cJSON *schema, const cJSON *arg,
			    const cJSON *value)
{
	(void)schema;
	return matches(arg->valuestring, value->valuestring) ||
	       fault(c, "does not match", arg->valuestring);
}

static bool keyword_required(struct check *c, const cJSON *schema, const cJSON *arg,
			     const cJSON *value)
{
	const cJSON *item;

	(void)schema;
	cJSON_ArrayForEach(item, arg)
	{
		if (!cJSON_GetObjectItemCaseSensitive(value, item->valuestring))
			return fault(c, "has no", item->valuestring);
	}
	return true;
}

static bool keyword_min_items(struct check *c, const cJSON *schema, const cJSON *arg,
			      const cJSON *value)
{
	(void)schema;
	return cJSON_GetArraySize(value) >= arg->valueint || fault(c, "has too few", "items");
}

/* Check a child of the value, its name appended to the path. */
static bool check_child(struct check *c, const cJSON *schema, const cJSON *child, const char *name)
{
	size_t len = strlen(c->path);
	bool ok;

	snprintf(c->path + len, sizeof(c->path) - len, "/%s", name);
	ok = check_value(c, schema, child);
	c->path[len] = 0;
	return ok;
}

static bool keyword_items(struct check *c, const cJSON *schema, const cJSON *arg,
			  const cJSON *value)
{
	const cJSON *item;
	char nr[16];
	int i = 0;

	(void)schema;
	cJSON_ArrayForEach(item, value)
	{
		snprintf(nr, sizeof(nr), "%d", i++);
		if (!check_child(c, arg, item, nr))
			return false;
	}
	return true;
}

/* The schemas a property has: by name, by pattern, else additionalProperties. */
static bool check_property(struct check *c, const cJSON *schema, const cJSON *child)
{
	const cJSON *by_name = cJSON_GetObjectItemCaseSensitive(schema, "properties");
	const cJSON *patterns = cJSON_GetObjectItemCaseSensitive(schema, "patternProperties");
	const cJSON *other = cJSON_GetObjectItemCaseSensitive(schema, "additionalProperties");
	const cJSON *named = cJSON_GetObjectItemCaseSensitive(by_name, child->string), *p;

	if (named)
		return check_child(c, named, child, child->string);
	cJSON_ArrayForEach(p, patterns)
	{
		if (matches(p->string, child->string))
			return check_child(c, p, child, child->string);
	}
	if (cJSON_IsFalse(other))
		return fault(c, "has an unknown", child->string);
	return !cJSON_IsObject(other) || check_child(c, other, child, child->string);
}

static bool keyword_properties(struct check *c, const cJSON *schema, const cJSON *arg,
			       const cJSON *value)
{
	const cJSON *child;

	(void)arg;
	cJSON_ArrayForEach(child, value) if (!check_property(c, schema, child)) return false;
	return true;
}

static bool keyword_ref(struct check *c, const cJSON *schema, const cJSON *arg, const cJSON *value)
{
	char path[4096];
	cJSON *other;
	bool ok;

	(void)schema;
	snprintf(path, sizeof(path), "%s/schema/%s", getenv("TESTDATA"), arg->valuestring);
	other = json_schema_load(path);
	ok = other ? check_value(c, other, value) : fault(c, "no schema", path);
	cJSON_Delete(other);
	return ok;
}

static bool keyword_nothing(struct check *c, const cJSON *schema, const cJSON *arg,
			    const cJSON *value)
{
	(void)c;
	(void)schema;
	(void)arg;
	(void)value;
	return true;
}

static const struct {
	const char *name;
	bool (*check)(struct check *c, const cJSON *schema, const cJSON *arg, const cJSON *value);
} keywords[] = {
	{"$schema", keyword_nothing},
	{"$comment", keyword_nothing},
	{"title", keyword_nothing},
	{"description", keyword_nothing},
	{"$ref", keyword_ref},
	{"type", keyword_type},
	{"const", keyword_const},
	{"enum", keyword_enum},
	{"minimum", keyword_minimum},
	{"pattern", keyword_pattern},
	{"required", keyword_required},
	{"items", keyword_items},
	{"minItems", keyword_min_items},
	{"properties", keyword_properties},
	{"patternProperties", keyword_properties},
	{"additionalProperties", keyword_properties},
};

static bool check_keyword(struct check *c, const cJSON *schema, const cJSON *arg,
			  const cJSON *value)
{
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (!strcmp(arg->string, keywords[i].name))
			return keywords[i].check(c, schema, arg, value);
	return fault(c, "the schema has an unknown keyword", arg->string);
}

/* Keywords stand in the order of the file: type comes first there. */
static bool check_value(struct check *c, const cJSON *schema, const cJSON *value)
{
	const cJSON *arg;

	cJSON_ArrayForEach(arg, schema) if (!check_keyword(c, schema, arg, value)) return false;
	return true;
}

cJSON *json_schema_load(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t n = 0;
	cJSON *obj = NULL;

	if (!f)
		return NULL;
	if (getdelim(&text, &n, 0, f) > 0)
		obj = cJSON_ParseWithOpts(text, NULL, true);
	free(text);
	fclose(f);
	return obj;
}

bool json_schema_holds(const char *name, const cJSON *value, char *why, size_t n)
{
	struct check c = {.why = why, .n = n};
	char file[256];
	cJSON *ref;
	bool ok;

	snprintf(file, sizeof(file), "%s.schema.json", name);
	ref = cJSON_CreateString(file);
	ok = keyword_ref(&c, NULL, ref, value);
	cJSON_Delete(ref);
	return ok;
}

/*
 * tests/schema/json_schema.h - does a JSON value keep to its schema?
 *
 * The part of JSON Schema that tests/schema/NAME.schema.json uses: type, const, enum, minimum,
 * pattern, properties, required, additionalProperties, patternProperties, items, minItems and
 * $ref to another file of the folder. Any other keyword but the descriptive ones is an error, so
 * that nothing is taken for checked that is not.
 *
 * Owner      values belong to the caller.
 */
#ifndef FL_TESTS_SCHEMA_JSON_SCHEMA_H
#define FL_TESTS_SCHEMA_JSON_SCHEMA_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Does @value keep to the schema @name ("run") of $TESTDATA/schema? If not, @why (of @n bytes)
 * gets one line: where and what.
 */
bool json_schema_holds(const char *name, const cJSON *value, char *why, size_t n);

/* Parse text of a JSON file; NULL if it is none. Free with cJSON_Delete(). */
cJSON *json_schema_load(const char *path);

#endif

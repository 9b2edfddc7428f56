/*
 * lib/json.h - what cJSON lacks: numbers of 64 bits.
 *
 * Owner      the object is the caller's.
 * Errors     -ENOMEM.
 */
#ifndef FL_LIB_JSON_H
#define FL_LIB_JSON_H

#include <cjson/cJSON.h>

#include "lib/types.h"

/*
 * Add a number to @obj exactly: cJSON's own are doubles and wrong above 2^53. Returns 0 or
 * -ENOMEM. For a reader of the tree it is a cJSON_Raw, not a cJSON_Number.
 */
int json_add_u64(cJSON *obj, const char *key, u64 value);

#endif

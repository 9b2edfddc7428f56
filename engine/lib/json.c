#include "lib/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int json_add_u64(cJSON *obj, const char *key, u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return cJSON_AddRawToObject(obj, key, text) ? 0 : -ENOMEM;
}

/*
 * cli/import_text.h - what became of the lines of a real kernel's trace, as a person reads it.
 */
#ifndef FL_CLI_IMPORT_TEXT_H
#define FL_CLI_IMPORT_TEXT_H

#include "host/import.h"

void import_result_print(FILE *f, const struct recording_info *info,
			 const struct import_result *result);

#endif

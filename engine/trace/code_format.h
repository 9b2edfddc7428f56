/*
 * trace/code_format.h - numbers that writer and reader of a recording's code positions share.
 */
#ifndef FL_TRACE_CODE_FORMAT_H
#define FL_TRACE_CODE_FORMAT_H

#define CODE_MAGIC  0x31444f43u /* "COD1" */
#define CODE_HEADER 40u		/* bytes; trace/code.h says which */

#endif

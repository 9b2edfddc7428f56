/*
 * lab/run_record.h - what a recording says about the run it is of.
 *
 * Owner      recording_info_fini() releases what is filled here.
 * Errors     -ENOMEM.
 */
#ifndef FL_LAB_RUN_RECORD_H
#define FL_LAB_RUN_RECORD_H

#include "lab/run.h"
#include "trace/recording.h"

/* Describe @run as it stands, before its first operation; @w may be NULL. */
int run_recording_info(const struct run *run, const struct workload *w,
		       struct recording_info *info);

#endif

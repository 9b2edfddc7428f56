/*
 * cli/grade_formats.h - grades in the formats of other programs.
 *
 * Source     gradescope-autograders.readthedocs.io ("Autograder Specifications"),
 *            PrairieLearn's docs/externalGrading.md, the junit-10.xsd of the Jenkins xUnit plugin.
 * Owner      JSON objects are the caller's.
 */
#ifndef FL_CLI_GRADE_FORMATS_H
#define FL_CLI_GRADE_FORMATS_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "lab/grade.h"

/* Points of the @i-th question. */
static inline double grade_points(const struct grade *g, const struct grade_result *r,
				  unsigned int i)
{
	return r->verdicts[i].right ? g->items[i].q->points : 0;
}

/* Every question right? (Scores are sums of doubles.) */
static inline bool grade_is_full(const struct grade *g, const struct grade_result *r)
{
	for (unsigned int i = 0; i < g->nr_items; i++)
		if (!r->verdicts[i].right)
			return false;
	return true;
}

/* A testsuite a submission. */
void grade_write_junit(FILE *f, const struct grade *g);
/* results.json of one submission. */
cJSON *grade_gradescope(const struct grade *g, const struct grade_result *r);
cJSON *grade_prairielearn(const struct grade *g, const struct grade_result *r);

#endif

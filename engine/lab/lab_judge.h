/*
 * lab/lab_judge.h - is a student's program right?
 *
 * Where it is not, the case that is told is made as small as it goes: of a function the
 * arguments, of a workload the operations (lab/lua_smallest.c).
 *
 * Errors     the lab's fault, as lab_judge(); what the student's program does is a verdict.
 */
#ifndef FL_LAB_LAB_JUDGE_H
#define FL_LAB_LAB_JUDGE_H

#include "lab/lab.h"

int lab_judge_func(struct lab *lab, const struct lab_question *q, const struct lab_value *given,
		   struct lab_verdict *ret, struct fl_error *err);
void lab_judge_workload(struct lab *lab, const struct lab_question *q,
			const struct lab_value *given, struct lab_verdict *ret);

/* Push function @field of the question and s. */
void lab_push_call(struct lab *lab, const struct lab_question *q, const char *field);
/* "question 'ID': " and @fmt with @a. */
int lab_question_error(const struct lab *lab, const struct lab_question *q, struct fl_error *err,
		       const char *fmt, const char *a);

#endif

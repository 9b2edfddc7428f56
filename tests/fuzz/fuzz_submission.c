#include <string.h>

#include "fuzz/fuzz.h"
#include "lab/lab.h"

/* One question of every kind. */
static const char asking[] =
	"lab { title = 'Fuzz', summary = 'A lab that judges anything.', minutes = 1, steps = {\n"
	"step { id = 'one', title = 'One', brief = 'Answer.',\n"
	" run = function(s) s.n = 4 end,\n"
	" questions = {\n"
	"  ask.number { id = 'n', points = 1, text = '?', answer = function(s) return s.n end },\n"
	"  ask.list { id = 'l', points = 1, text = '?', answer = function(s) return {1, 2} end },\n"
	"  ask.choice { id = 'c', points = 1, text = '?', options = {'a', 'b'},\n"
	"   answer = function(s) return 1 end },\n"
	"  ask.order { id = 'o', points = 1, text = '?', items = {'a', 'b', 'c'},\n"
	"   answer = function(s) return {1, 2, 3} end },\n"
	"  ask.func { id = 'f', points = 1, text = '?',\n"
	"   check = function(s, f) return f(3) == 4 end },\n"
	"  ask.workload { id = 'w', points = 1, text = '?', check = function(s, w)\n"
	"   local m = fl.machine { size = '1m' } m:play(w) return true end },\n"
	" } } } }\n";

void fuzz_submission(const u8 *data, size_t size)
{
	struct lab_verdict verdict;
	struct fl_error err = {0};
	struct lab *lab;
	const struct lab_step *step;
	int ret = lab_open_text("labs/fuzz", asking, strlen(asking), "fuzz", &lab, &err);

	if (ret)
		fprintf(stderr, "%s:%u: %s\n", err.file, err.line, err.text);
	fuzz_require(!ret);
	step = &lab->steps[0];
	fuzz_require(!lab_start(lab, step, &err) && !lab_run(lab, step, NULL, &err));
	ret = lab_load_answers_text(lab, "answers.lua", (const char *)data, size, &err);
	fuzz_require_error(ret, &err);
	for (unsigned int q = 0; !ret && q < step->nr_questions; q++) {
		struct lab_value value = {0};

		memset(&err, 0, sizeof(err));
		if (!lab_answer_given(lab, step, &step->questions[q], &value, &err))
			lab_judge(lab, step, &step->questions[q], &value, &verdict, &err);
	}
	lab_close(lab);
}

#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "lab/lab.h"

static void read_texts(struct lab *lab, const struct lab_step *step)
{
	struct fl_error err = {0};
	char *text = NULL;

	if (!lab_text(lab, step, NULL, LAB_BRIEF, 0, &text, &err))
		free(text);
}

static void ask(struct lab *lab, const struct lab_step *step, const struct lab_question *q)
{
	struct lab_options options = {.nr = 0};
	struct lab_value right, typed;
	struct lab_verdict verdict;
	struct fl_error err = {0};
	char text[600], why[200];

	if (q->kind == LAB_FUNC || q->kind == LAB_WORKLOAD)
		return;
	if (lab_options_get(lab, step, q, &options, &err))
		return;
	if (!lab_answer(lab, step, q, &right, &err)) {
		lab_value_format(q, &right, &options, text, sizeof(text));
		lab_value_parse(q, &options, text, &typed, why, sizeof(why));
		lab_judge(lab, step, q, &right, &verdict, &err);
	}
	lab_options_free(&options);
}

void fuzz_lab(const u8 *data, size_t size)
{
	struct fl_error err = {0};
	struct lab_images images = {0};
	struct lab *lab;
	FILE *out;
	int ret = lab_open_text("labs/fuzz", (const char *)data, size, "fuzz", &lab, &err);

	fuzz_require_error(ret, &err);
	if (ret)
		return;
	lab->ll->images = &images;
	out = fuzz_nowhere();
	for (unsigned int i = 0; i < lab->nr_steps; i++) {
		const struct lab_step *step = &lab->steps[i];

		if (lab_start(lab, step, &err))
			continue;
		read_texts(lab, step);
		lab_run(lab, step, out, &err);
		for (unsigned int q = 0; q < step->nr_questions; q++)
			ask(lab, step, &step->questions[q]);
	}
	fclose(out);
	lab_close(lab);
}

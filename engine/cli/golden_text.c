#include "cli/golden_text.h"

#include <string.h>

static void print_column(FILE *f, const char *title, const char *text)
{
	fprintf(f, "    %s\n", title);
	if (!text || !*text)
		fprintf(f, "      (nothing)\n");
	for (const char *p = text; p && *p;) {
		size_t len = strcspn(p, "\n");

		fprintf(f, "      %.*s\n", (int)len, p);
		p += len + (p[len] == '\n');
	}
}

/* The line of @text at *pos, moving it on; "" at the end. */
static int next_text_line(const char **pos, const char **line)
{
	const char *p = *pos;
	size_t len = p ? strcspn(p, "\n") : 0;

	*line = p ? p : "";
	if (p)
		*pos = p[len] ? p + len + 1 : p + len;
	return len;
}

/* Expected and got side by side while lines are short, one after the other else. */
static void print_sides(FILE *f, const char *expected, const char *got)
{
	const char *e = expected, *g = got;

	if (strchr(expected ? expected : "", '#') || strchr(got ? got : "", '#')) {
		print_column(f, "expected", expected);
		print_column(f, "got", got);
		return;
	}
	fprintf(f, "    %-28s  %s\n", "expected", "got");
	while ((e && *e) || (g && *g)) {
		const char *el, *gl;
		int en = next_text_line(&e, &el), gn = next_text_line(&g, &gl);
		bool differ = en != gn || strncmp(el, gl, en);

		fprintf(f, "  %c %-28.*s  %.*s\n", differ ? '!' : ' ', en, el, gn, gl);
	}
}

void golden_difference_print(FILE *f, const char *file, const struct golden_run *run,
			     const struct golden_result *result)
{
	fprintf(f, "%s:%u: %s on %s, %s: differs at '%s'\n", file, result->line, run->name, run->fs,
		run->kernel, result->op);
	print_sides(f, result->expected, result->got);
	fprintf(f, "    window after it: %s\n", result->window);
}

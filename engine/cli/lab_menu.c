/* lab list, and what `foliolab` shows on a terminal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"
#include "lab/plot.h"

/* "3 of 40 points, step 2 of 6" */
static void describe_progress(const struct lab *lab, const struct lab_progress *p, char *buf,
			      size_t n)
{
	char got[40], all[40];

	plot_number(lab_progress_points(p), got, sizeof(got));
	plot_number(lab_total_points(lab), all, sizeof(all));
	if (!*p->student)
		snprintf(buf, n, "not begun, %s points", all);
	else if (p->steps_done >= lab->nr_steps)
		snprintf(buf, n, "done, %s of %s points", got, all);
	else
		snprintf(buf, n, "step %u of %u, %s of %s points", p->steps_done + 1, lab->nr_steps,
			 got, all);
}

static int list_one(const char *root, const char *name, struct fl_error *err)
{
	struct lab_progress p;
	char dir[LAB_PATH], text[160];
	struct lab_remote *remote;
	const struct lab *lab;
	int ret;

	if (!lab_join(dir, root, name))
		return fl_error_set(err, -ENAMETOOLONG, root, 0, "path too long");
	ret = lab_progress_load(name, &p, err);
	if (ret)
		return ret;
	ret = lab_look(dir, *p.student ? p.student : LAB_DEFAULT_STUDENT, &remote, err);
	if (!ret) {
		lab = lab_remote_lab(remote);
		describe_progress(lab, &p, text, sizeof(text));
		printf("  %d  %s\n     %s\n     about %u minutes; %s\n", atoi(name), lab->title,
		       lab->summary, lab->minutes, text);
		lab_remote_close(remote);
	}
	lab_progress_fini(&p);
	return ret;
}

int lab_list(struct fl_error *err)
{
	char root[LAB_PATH];
	struct lab_list all;
	int ret = lab_find_root(root, err);

	if (!ret)
		ret = lab_find_all(root, &all, err);
	if (ret)
		return ret;
	printf("Labs\n\n");
	for (unsigned int i = 0; i < all.nr && !ret; i++)
		ret = list_one(root, all.names[i], err);
	if (!ret)
		printf("\nStart one with: foliolab lab run NUMBER [--student ID]\n");
	return ret;
}

int lab_menu(void)
{
	struct fl_error err = {0};
	struct lab_session s;
	char *line = NULL;
	size_t cap = 0;
	int ret;

	printf("FolioLab " FL_VERSION ": a kernel you can watch.\n\n");
	if (lab_list(&err))
		return cli_fail(&err);
	printf("\nWhich lab? Type its number and press Enter (q quits, foliolab --help shows all "
	       "commands). > ");
	fflush(stdout);
	if (getline(&line, &cap, stdin) < 0 || strspn(line, " \t\r\n") == strlen(line) ||
	    line[strspn(line, " \t")] == 'q') {
		free(line);
		return CLI_DONE;
	}
	line[strcspn(line, " \t\r\n")] = 0;
	ret = lab_session_open(&s, line, NULL, &err);
	free(line);
	if (ret)
		return cli_fail(&err);
	ret = lab_run_interactive(&s, &err);
	lab_session_close(&s);
	return ret ? cli_fail(&err) : CLI_DONE;
}

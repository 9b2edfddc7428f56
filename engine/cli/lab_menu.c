/* lab list, and the menu that `foliolab` shows on a terminal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"
#include "cli/view_settings.h"
#include "cli/watch.h"
#include "lab/markdown.h"
#include "lab/plot.h"
#include "lab/textfile.h"
#include "view/tui/menu.h"

#define LABS_AT_ONCE 4 /* that the menu reads */

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

/* "12 of 40" of somebody who began, else "40 points". */
static void describe_points(const struct lab *lab, const struct lab_progress *p, char *buf,
			    size_t n)
{
	char got[40], all[40];

	plot_number(lab_progress_points(p), got, sizeof(got));
	plot_number(lab_total_points(lab), all, sizeof(all));
	if (*p->student)
		snprintf(buf, n, "%s%s of %s", p->steps_done >= lab->nr_steps ? "done, " : "", got,
			 all);
	else
		snprintf(buf, n, "%s points", all);
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
		printf("  %d  %s\n     %s\n     about %u minutes; %s\n", atoi(name), lab_title(lab),
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

/* ---- on a terminal that is dumb or small ---- */

static int menu_in_text(void)
{
	struct fl_error err = {0};
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
	ret = lab_run_here(line, NULL, true, false, &err);
	free(line);
	return ret ? cli_fail(&err) : CLI_DONE;
}

/* ---- in the terminal view ---- */

struct labs_menu {
	struct tui_menu menu;
	struct tui_settings settings;
	char root[LAB_PATH];
	struct lab_list all;
	unsigned int being_read;
	struct {
		char title[200], summary[300], state[160], points[100];
		char *steps;		   /* Markdown */
		struct lab_remote *remote; /* while it is being read */
	} labs[LABS_MAX];
};

static struct labs_menu *labs_of(struct tui_menu *menu)
{
	return container_of(menu, struct labs_menu, menu);
}

static char *list_steps(const struct lab *lab)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fprintf(f, "\n## Steps, about %u minutes\n\n", lab->minutes);
	for (unsigned int i = 0; i < lab->nr_steps; i++)
		fprintf(f, "%u. %s\n", i + 1, lab->steps[i].title);
	return fclose(f) ? NULL : text;
}

static void show_lab(struct labs_menu *m, unsigned int nr, const struct lab *lab,
		     const struct lab_progress *p)
{
	m->menu.items[nr].title = m->labs[nr].title;
	snprintf(m->labs[nr].title, sizeof(m->labs[nr].title), "%s", lab_title(lab));
	snprintf(m->labs[nr].summary, sizeof(m->labs[nr].summary), "%s", lab->summary);
	describe_progress(lab, p, m->labs[nr].state, sizeof(m->labs[nr].state));
	describe_points(lab, p, m->labs[nr].points, sizeof(m->labs[nr].points));
	m->labs[nr].steps = list_steps(lab);
}

/* A lab that cannot be read is listed with the reason. */
static void show_broken(struct labs_menu *m, unsigned int nr, const char *why)
{
	m->menu.items[nr].title = m->all.names[nr];
	snprintf(m->labs[nr].state, sizeof(m->labs[nr].state), "broken: %.140s", why);
	snprintf(m->labs[nr].points, sizeof(m->labs[nr].points), "broken");
}

/* Begin to read lab @nr, or see how far that is. */
static void read_lab(struct labs_menu *m, unsigned int nr, const struct lab_progress *p,
		     struct fl_error *err)
{
	const char *student = *p->student ? p->student : LAB_DEFAULT_STUDENT;
	struct lab_remote **remote = &m->labs[nr].remote;
	struct lab_reply reply;
	char dir[LAB_PATH];

	if (!*remote) {
		if (!lab_join(dir, m->root, m->all.names[nr]))
			fl_error_set(err, -ENAMETOOLONG, m->root, 0, "path too long");
		else if (!lab_look_start(dir, student, remote, err))
			m->being_read++;
		return;
	}
	if (!lab_remote_poll(*remote, &reply))
		return;
	if (reply.error)
		*err = reply.err;
	else
		show_lab(m, nr, lab_remote_lab(*remote), p);
	lab_remote_close(*remote);
	*remote = NULL;
	m->being_read--;
}

/* Some labs are read at once, so that one that never ends holds up no other. */
static void load_lab(struct tui_menu *menu, unsigned int nr)
{
	struct labs_menu *m = labs_of(menu);
	struct tui_menu_item *item = &menu->items[nr];
	struct lab_progress p = {0};
	struct fl_error err = {0};

	if (!m->labs[nr].remote && m->being_read == LABS_AT_ONCE)
		return;
	item->summary = m->labs[nr].summary;
	item->state = m->labs[nr].points;
	if (!lab_progress_load(m->all.names[nr], &p, &err))
		read_lab(m, nr, &p, &err);
	if (err.code)
		show_broken(m, nr, err.text);
	lab_progress_fini(&p);
}

static void print_lab(struct tui_menu *menu, unsigned int nr, FILE *f, unsigned int columns)
{
	struct labs_menu *m = labs_of(menu);
	char dir[LAB_PATH], path[LAB_PATH], *text;
	size_t len;

	fprintf(f, "\n\033[1m%s\033[0m\n\n", m->labs[nr].state);
	if (!lab_join(dir, m->root, m->all.names[nr]) || !lab_join(path, dir, "README.md") ||
	    textfile_read(path, 1 << 20, &text, &len, NULL))
		return;
	markdown_print(f, text, columns, true);
	if (m->labs[nr].steps)
		markdown_print(f, m->labs[nr].steps, columns, true);
	free(text);
}

static void init_menu(struct labs_menu *m, unsigned int chosen)
{
	view_settings_load(&m->settings, NULL);
	m->menu = (struct tui_menu){
		.title = "labs",
		.nr = m->all.nr,
		.chosen = chosen,
		.load = load_lab,
		.print = print_lab,
		.settings = &m->settings,
	};
	for (unsigned int i = 0; i < m->all.nr; i++)
		m->menu.items[i].name = m->all.names[i];
}

static void forget_labs(struct labs_menu *m)
{
	m->being_read = 0;
	for (unsigned int i = 0; i < m->all.nr; i++) {
		lab_remote_close(m->labs[i].remote);
		m->labs[i].remote = NULL;
		free(m->labs[i].steps);
		m->labs[i].steps = NULL;
	}
}

/* The menu, a lab, the menu again, until nothing is chosen. */
static int menu_in_view(struct labs_menu *m, struct fl_error *err)
{
	unsigned int chosen = 0;
	int signo, ret;

	do {
		char dir[LAB_PATH];

		init_menu(m, chosen);
		ret = tui_menu_run(&m->menu, &signo, err);
		forget_labs(m);
		chosen = m->menu.chosen;
		if (ret <= 0)
			return watch_end(ret, signo);
		ret = lab_join(dir, m->root, m->all.names[chosen])
			      ? lab_run_here(dir, NULL, false, false, err)
			      : fl_error_set(err, -ENAMETOOLONG, m->root, 0, "path too long");
	} while (!ret);
	return ret;
}

int lab_menu(void)
{
	struct fl_error err = {0};
	struct labs_menu *m;
	int ret;

	if (!lab_can_view())
		return menu_in_text();
	m = calloc(1, sizeof(*m));
	if (!m)
		return cli_fail(&(struct fl_error){.code = -ENOMEM, .text = "out of memory"});
	ret = lab_find_root(m->root, &err);
	if (!ret)
		ret = lab_find_all(m->root, &m->all, &err);
	if (!ret)
		ret = menu_in_view(m, &err);
	free(m);
	return ret ? cli_fail(&err) : CLI_DONE;
}

/*
 * view/tui/menu.h - a list to choose from, with what each thing is about beside it.
 *
 * Owner      the menu belongs to the caller; strings of items last as long as it.
 * Errors     negative errno with struct fl_error.
 */
#ifndef FL_VIEW_TUI_MENU_H
#define FL_VIEW_TUI_MENU_H

#include "view/tui/tui.h"

#define TUI_MENU_MAX 128

struct tui_menu_item {
	const char *name;  /* there from the start */
	const char *title; /* the rest is NULL until load() */
	const char *summary;
	const char *state; /* how far one is */
};

struct tui_menu {
	const char *title;
	struct tui_menu_item items[TUI_MENU_MAX];
	unsigned int nr;
	unsigned int chosen; /* what is selected at first, and in the end */
	/* Fill in an item, or go on with it: called between keys until it has a title. No waiting.
	 */
	void (*load)(struct tui_menu *menu, unsigned int item);
	/* Print what it is about, at most @columns wide, with SGR. */
	void (*print)(struct tui_menu *menu, unsigned int item, FILE *f, unsigned int columns);
	const struct tui_settings *settings; /* how it looks, or NULL */
};

/* 1: menu->chosen was chosen; 0: nothing was. -EINTR: a signal, in *@signo, ended it. */
int tui_menu_run(struct tui_menu *menu, int *signo, struct fl_error *err);

#endif

/*
 * view/gui/panels.h - the panels, each in its file: what panels.def names.
 *
 * Owner      they draw into g->draw and keep nothing but where things are.
 * Errors     none.
 */
#ifndef FL_VIEW_GUI_PANELS_H
#define FL_VIEW_GUI_PANELS_H

struct box;
struct gui;

#define PANEL(name, title, draw) void draw(struct gui *g, unsigned int m, struct box box);
#include "view/gui/panels.def"
#undef PANEL

#endif

/* One picture without a window. */
#include <string.h>

#include "view/gui/internal.h"

int gui_picture(const struct tui_machine *machines, unsigned int nr,
		const struct tui_options *options, const struct gui_picture *what,
		struct font *font, struct draw *draw, struct fl_error *err)
{
	struct gui g;
	int ret = gui_init(&g, machines, nr, options, font, err);

	if (!ret) {
		g.view.theme = what->theme;
		g.focus = what->presenter ? what->presenter - 1 : PANEL_NONE;
		g.presenter = what->presenter;
		tui_goto(&g.view, what->at);
		if (what->from_ns != what->to_ns) {
			g.from_ns = what->from_ns;
			g.to_ns = what->to_ns;
			gui_select(&g, what->from_ns, what->to_ns);
		}
		gui_draw(&g, what->width, what->height);
		ret = g.draw.error;
		if (ret)
			fl_error_set(err, ret, NULL, 0, "out of memory");
		*draw = g.draw;
		memset(&g.draw, 0, sizeof(g.draw));
	}
	gui_fini(&g);
	return ret;
}

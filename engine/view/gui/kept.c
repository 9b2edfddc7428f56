/* What panels over time worked out from the whole tape, kept until it would come out differently.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/gui/internal.h"

struct gui_kept_key gui_kept_key(const struct gui *g, unsigned int m, struct box box)
{
	return (struct gui_kept_key){
		.events = g->lines[m].events,
		.from_ns = g->from_ns,
		.to_ns = g->to_ns,
		.w = box.w,
		.h = box.h,
		.unit = g->unit,
		.theme = g->view.theme,
	};
}

u32 *gui_keep(struct gui *g, unsigned int m, enum gui_kept_what what,
	      const struct gui_kept_key *key, size_t nr, bool *fresh)
{
	struct gui_kept *kept = &g->kept[m][what];
	u32 *numbers;

	*fresh = !kept->numbers || memcmp(&kept->key, key, sizeof(*key));
	if (!*fresh)
		return kept->numbers;
	numbers = realloc(kept->numbers, nr * sizeof(*numbers));
	if (!numbers) {
		g->draw.error = -ENOMEM;
		return NULL;
	}
	memset(numbers, 0, nr * sizeof(*numbers));
	kept->numbers = numbers;
	kept->key = *key;
	return numbers;
}

void gui_kept_fini(struct gui *g)
{
	for (unsigned int m = 0; m < TUI_MACHINES; m++)
		for (unsigned int i = 0; i < KEPT_NR; i++)
			free(g->kept[m][i].numbers);
}

#include "view/tui/internal.h"

static const struct tui_key keys[CMD_NR] = {
#define KEY(command, key_, other_, shown_, label_, hint_, help_)                                   \
	[CMD_##command] = {.key = key_,                                                            \
			   .other = other_,                                                        \
			   .shown = shown_,                                                        \
			   .label = label_,                                                        \
			   .help = help_,                                                          \
			   .hint = hint_},
#include "view/tui/keys.def"
#undef KEY
};

const struct tui_key *tui_key(enum tui_command cmd)
{
	return &keys[cmd];
}

enum tui_command tui_command_of(int key)
{
	for (int i = 0; i < CMD_NR; i++)
		if (keys[i].key == key || (keys[i].other && keys[i].other == key))
			return i;
	return CMD_NONE;
}

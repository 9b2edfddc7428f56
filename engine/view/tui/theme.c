/* How roles look. The dark theme is roles.def as it stands, the others are derived from it. */
#include <errno.h>
#include <string.h>

#include "view/tui/canvas.h"

#define NONE COLOUR_NONE

static const struct colour dark[ROLE_NR] = {
#define ROLE(name, fg, bg, fg8, bg8, attributes) [ROLE_##name] = {fg, bg, fg8, bg8, attributes},
#include "view/tui/roles.def"
#undef ROLE
};

enum { THEME_DARK, THEME_LIGHT, THEME_CONTRAST, THEME_MONO, THEME_PRINT, THEME_NR };

static const char *const names[] = {"dark", "light", "contrast", "mono", "print"};

const char *theme_name(unsigned int theme)
{
	return theme < THEME_NR ? names[theme] : NULL;
}

int theme_by_name(const char *name)
{
	for (int i = 0; i < THEME_NR; i++)
		if (!strcmp(names[i], name))
			return i;
	return -ENOENT;
}

/* @colour at @percent over @ground. */
static u32 mix(u32 colour, u32 ground, unsigned int percent)
{
	u32 ret = 0;

	for (int shift = 0; shift < 24; shift += 8) {
		u32 a = colour >> shift & 0xff, b = ground >> shift & 0xff;

		ret |= ((a * percent + b * (100 - percent)) / 100) << shift;
	}
	return ret;
}

static bool is_order(enum canvas_role role)
{
	return role >= ROLE_ORDER0 && role <= ROLE_ORDER9;
}

static bool is_unused(enum canvas_role role)
{
	return role >= ROLE_UNUSED0 && role <= ROLE_UNUSED9;
}

/* Dark text on a white ground; the orders keep their colours. */
static struct colour light_colour(enum canvas_role role)
{
	struct colour c = dark[role];

	if (is_order(role))
		return c;
	if (is_unused(role)) {
		c.fg = 0x202830;
		c.bg = mix(dark[ROLE_ORDER0 + (role - ROLE_UNUSED0)].bg, 0xffffff, 45);
		return c;
	}
	switch (role) {
	case ROLE_STATUS:
	case ROLE_STATUS_STRONG:
		c.fg = 0x101418;
		c.bg = 0xd8e4ee;
		c.fg8 = 0;
		c.bg8 = 7;
		break;
	case ROLE_CURRENT:
		c.fg = 0x000000;
		c.bg = 0xbcdcf4;
		c.fg8 = 7;
		break;
	case ROLE_RULE:
	case ROLE_ABSENT:
		c.fg = 0x9aa4ae;
		break;
	case ROLE_KEY:
	case ROLE_BAR:
		c.fg = 0x0868a8;
		c.fg8 = 4;
		break;
	case ROLE_BAR_DIM:
		c.fg = 0x9cc4e0;
		break;
	case ROLE_RULE_NAME:
	case ROLE_MATCH:
	case ROLE_MARK:
		c.fg = 0xa05a00;
		c.fg8 = 1;
		break;
	case ROLE_SELECT:
		c.fg = 0xffffff;
		c.bg = 0x000000;
		break;
	default:
		if (c.bg == COLOUR_NONE && c.fg != COLOUR_NONE)
			c.fg = role == ROLE_DIM || role == ROLE_HINT ? 0x56606a : 0x101418;
	}
	return c;
}

static struct colour contrast_colour(enum canvas_role role)
{
	struct colour c = dark[role];

	if (is_unused(role)) {
		c.fg = 0xffffff;
		c.bg = 0x000000;
	} else if (c.bg == COLOUR_NONE && c.fg != COLOUR_NONE) {
		c.fg = role == ROLE_MARK || role == ROLE_KEY ? 0xffd040 : 0xffffff;
	}
	c.attributes &= ~CANVAS_DIM;
	return c;
}

static struct colour mono_colour(enum canvas_role role)
{
	struct colour c = {NONE, NONE, -1, -1, dark[role].attributes};

	if (is_order(role) || role == ROLE_STATUS || role == ROLE_STATUS_STRONG ||
	    role == ROLE_READER || role == ROLE_SELECT || role == ROLE_POISON ||
	    role == ROLE_WARN || role == ROLE_CURRENT)
		c.attributes |= CANVAS_REVERSE;
	return c;
}

struct colour theme_colour(unsigned int theme, enum canvas_role role)
{
	switch (theme) {
	case THEME_LIGHT:
	case THEME_PRINT:
		return light_colour(role);
	case THEME_CONTRAST:
		return contrast_colour(role);
	case THEME_MONO:
		return mono_colour(role);
	default:
		return dark[role];
	}
}

/* Events as Lua sees them: recorded, iterated over, filtered. */
#include "lab/lua_machine.h"

#include <ctype.h>
#include <string.h>

#include "lib/strutil.h"
#include "mm/internal.h"
#include "trace/format.h"

#define RECORD_SLOTS	 65536
#define RECORD_SLOTS_MAX (1 << 22)

/* ---- names ---- */

int lab_lua_check_event(lua_State *L, int index)
{
	const char *name = luaL_checkstring(L, index), *names[EV_NR], *guess;
	int id = trace_event_by_name(name);

	if (id >= 0)
		return id;
	for (int i = 0; i < EV_NR; i++)
		names[i] = trace_event_info(i)->name;
	guess = nearest(name, names, EV_NR);
	return luaL_error(L, "unknown event '%s', expected one of engine/trace/events.def%s%s%s",
			  name, guess ? " (did you mean '" : "", guess ? guess : "",
			  guess ? "'?)" : "");
}

/* ---- one event as a table ---- */

static void set_integer(lua_State *L, const char *key, lua_Integer v)
{
	lua_pushinteger(L, v);
	lua_setfield(L, -2, key);
}

/* What a field of events.def stands for; false for what every event has anyway. */
static bool event_field(const struct lab_machine *lm, const struct trace_event *ev,
			const char *field, size_t len, s64 *ret)
{
	unsigned int shift = lm->run->machine->page_shift;
	char f = *field;

	if (len == 3 && !memcmp(field, "pfn", 3))
		*ret = ev->a;
	else if (len == 3 && !memcmp(field, "ofs", 3))
		*ret = (s64)ev->index << shift;
	else if (len == 4 && !memcmp(field, "last", 4))
		*ret = ((s64)(ev->c + 1) << shift) - 1;
	else if (len == 5 && !memcmp(field, "index", 5))
		*ret = ev->index;
	else if (len == 5 && !memcmp(field, "order", 5))
		*ret = ev->order;
	else if ((len == 1 || (len == 3 && field[1] == ':')) && f >= 'a' && f <= 'f')
		*ret = f == 'a'	  ? ev->a
		       : f == 'b' ? ev->b
		       : f == 'c' ? (s64)ev->c
		       : f == 'd' ? (s64)ev->d
		       : f == 'e' ? ev->e
				  : ev->f;
	else
		return false;
	return true;
}

/* Where the word that ends before @end begins; @end if there is none. */
static const char *word_before(const char *format, const char *end)
{
	while (end > format && (islower((unsigned char)end[-1]) || end[-1] == '_'))
		end--;
	return end;
}

/* "size={b}" and "len {a}": the word before the brace is the key; a bare "{x}" has none. */
static void set_format_fields(lua_State *L, const struct lab_machine *lm,
			      const struct trace_event *ev)
{
	const char *format = trace_event_info(ev->id)->format, *brace = format;

	while ((brace = strchr(brace, '{'))) {
		const char *end = strchr(brace, '}'), *key = brace;
		s64 v;

		if (!memcmp(brace - min_t(size_t, 2, brace - format), "0x", 2))
			key -= 2;
		if (key > format && (key[-1] == '=' || key[-1] == ' ')) {
			const char *stop = --key;

			key = word_before(format, stop);
			if (key < stop && event_field(lm, ev, brace + 1, end - brace - 1, &v)) {
				lua_pushlstring(L, key, stop - key);
				lua_pushinteger(L, v);
				lua_rawset(L, -3);
			}
		}
		brace = end;
	}
}

/* Numbers that stand for something get its name. */
static void set_names(lua_State *L, const struct trace_event *ev)
{
	static const char *const provenance[PROVENANCE_NR] = {
		"none", "sync", "async", "forced", "willneed", "write", "fault"};
	static const char *const bio_flags[] = {"write", "meta", "flush", "fua"};
	const struct knob_info *knob;

	switch (ev->id) {
	case EV_fl_window:
		lua_pushstring(L, trace_rule_name(ev->e));
		lua_setfield(L, -2, "rule");
		lua_pushstring(L, trace_rule_text(ev->e));
		lua_setfield(L, -2, "why");
		knob = ev->f ? knob_info(ev->f - 1) : NULL;
		lua_pushstring(L, knob ? knob->name : NULL);
		lua_setfield(L, -2, "knob");
		break;
	case EV_mm_filemap_add_to_page_cache:
		lua_pushstring(L, provenance[min_t(u32, ev->b, PROVENANCE_NR - 1)]);
		lua_setfield(L, -2, "provenance");
		break;
	case EV_block_bio_queue:
		set_integer(L, "sectors", ev->a);
		for (size_t i = 0; i < ARRAY_SIZE(bio_flags); i++) {
			lua_pushboolean(L, ev->b >> i & 1);
			lua_setfield(L, -2, bio_flags[i]);
		}
		break;
	case EV_mm_filemap_delete_from_page_cache:
		set_integer(L, "used", ev->b);
		break;
	default:
		break;
	}
}

void lab_lua_push_event(lua_State *L, const struct lab_machine *lm, const struct trace_event *ev,
			u64 nr)
{
	const struct trace_format format = {.page_shift = lm->run->machine->page_shift,
					    .major = FS_MAJOR,
					    .minor = lm->run->sb->s_dev};
	char text[400];
	size_t len = trace_format_event(&format, ev, text, sizeof(text));

	lua_createtable(L, 0, 16);
	set_format_fields(L, lm, ev);
	lua_pushstring(L, trace_event_info(ev->id)->name);
	lua_setfield(L, -2, "name");
	lua_pushlstring(L, text, len);
	lua_setfield(L, -2, "text");
	if (nr)
		set_integer(L, "nr", nr);
	set_integer(L, "ns", ev->ns);
	set_integer(L, "index", ev->index);
	set_integer(L, "order", ev->order);
	set_integer(L, "ino", ev->ino);
	set_names(L, ev);
}

/* ---- filters ---- */

/* Every field of the filter table must be equal. */
static bool fields_match(lua_State *L, int filter)
{
	int event = lua_gettop(L);
	bool match = true;

	lua_pushnil(L);
	while (match && lua_next(L, filter)) {
		lua_pushvalue(L, -2);
		lua_rawget(L, event);
		match = lua_rawequal(L, -1, -2);
		lua_pop(L, 2);
	}
	lua_settop(L, event);
	return match;
}

bool lab_lua_event_passes(lua_State *L, int index)
{
	bool pass;

	if (lua_isnoneornil(L, index))
		return true;
	if (lua_istable(L, index))
		return fields_match(L, index);
	luaL_checktype(L, index, LUA_TFUNCTION);
	lua_pushvalue(L, index);
	lua_pushvalue(L, -2);
	lua_call(L, 1, 1);
	pass = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return pass;
}

/* ---- recording ---- */

static int machine_record(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);
	lua_Integer slots = luaL_optinteger(L, 2, RECORD_SLOTS);

	luaL_argcheck(L, slots >= 1 && slots <= RECORD_SLOTS_MAX, 2, "1 to 4194304 slots expected");
	lua_settop(L, 1);
	if (lm->ring.sink.event) {
		trace_ring_reset(&lm->ring);
		return 1;
	}
	if (trace_ring_init(&lm->ring, slots))
		return luaL_error(L, "out of memory");
	trace_add_sink(&lm->run->machine->trace, &lm->ring.sink);
	return 1;
}

static struct lab_machine *check_recorded(lua_State *L, int index)
{
	struct lab_machine *lm = lab_machine_check(L, index);

	if (!lm->ring.sink.event)
		luaL_error(L, "nothing was recorded, expected machine{ record = true } or "
			      "m:record() before");
	return lm;
}

/* An iteration: which events, from where to where. */
struct walk {
	struct trace_ring_iter it;
	u64 nr, from, to;
	bool wanted[EV_NR];
};

/* Upvalues: machine, walk, filter. */
static int events_step(lua_State *L)
{
	struct lab_machine *lm = check_recorded(L, lua_upvalueindex(1));
	struct walk *w = lua_touserdata(L, lua_upvalueindex(2));
	struct trace_event ev;

	lua_settop(L, 0);
	lua_pushvalue(L, lua_upvalueindex(3));
	while (trace_ring_next(&w->it, &ev)) {
		w->nr++;
		if (w->nr > w->to)
			break;
		if (!(w->nr & 15))
			lab_lua_charge(L, 1);
		if (w->nr < w->from || !w->wanted[ev.id])
			continue;
		lab_lua_push_event(L, lm, &ev, w->nr);
		if (lab_lua_event_passes(L, 1)) {
			lm->ll->looked.open = true;
			lm->ll->looked.nr = w->nr;
			lm->ll->looked.id = ev.id;
			return 1;
		}
		lua_pop(L, 1);
	}
	lm->ll->looked.open = false;
	return 0;
}

/* The names at the top: a string, a list of them, or nil for all. */
static void set_wanted(lua_State *L, struct walk *w)
{
	if (lua_isnil(L, -1)) {
		memset(w->wanted, true, sizeof(w->wanted));
		return;
	}
	if (!lua_istable(L, -1)) {
		w->wanted[lab_lua_check_event(L, -1)] = true;
		return;
	}
	for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		w->wanted[lab_lua_check_event(L, -1)] = true;
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
}

static void check_keys(lua_State *L, int index)
{
	static const char *const names[] = {"name", "from", "to", "filter"};
	static const struct name_list list = {"field", names, ARRAY_SIZE(names)};
	char text[200];

	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
		size_t i = 0;

		while (i < ARRAY_SIZE(names) && strcmp(key, names[i]))
			i++;
		if (i == ARRAY_SIZE(names))
			luaL_error(L, "events: %s",
				   describe_unknown(text, sizeof(text), key, &list));
	}
}

static int machine_events(lua_State *L)
{
	struct lab_machine *lm = check_recorded(L, 1);
	struct walk *w;

	lua_settop(L, 2);
	if (lua_isnil(L, 2)) {
		lua_newtable(L);
		lua_replace(L, 2);
	}
	luaL_checktype(L, 2, LUA_TTABLE);
	check_keys(L, 2);
	lua_pushvalue(L, 1);
	w = lua_newuserdatauv(L, sizeof(*w), 0);
	memset(w, 0, sizeof(*w));
	trace_ring_begin(&lm->ring, &w->it);
	w->nr = lm->ring.dropped;
	lua_getfield(L, 2, "from");
	w->from = luaL_optinteger(L, -1, 0);
	lua_getfield(L, 2, "to");
	w->to = luaL_optinteger(L, -1, INT64_MAX);
	lua_getfield(L, 2, "name");
	set_wanted(L, w);
	lua_pop(L, 3);
	lua_getfield(L, 2, "filter");
	lua_pushcclosure(L, events_step, 3);
	return 1;
}

static int machine_events_dropped(lua_State *L)
{
	lua_pushinteger(L, check_recorded(L, 1)->ring.dropped);
	return 1;
}

void lab_machine_add_events(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"record", machine_record},
		{"events", machine_events},
		{"events_dropped", machine_events_dropped},
		{NULL, NULL},
	};

	luaL_setfuncs(L, methods, 0);
}

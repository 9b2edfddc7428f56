/* Looking at a machine: what is cached, whose window, how long reads took. Changes nothing. */
#include "lab/lua_machine.h"

#include <stdlib.h>
#include <string.h>

#include "lab/report.h"
#include "mm/internal.h"

#define MAP_COLUMNS 76 /* a map stands in a code block of a terminal of 80 */

/* ---- tables in which what is missing counts as 0 ---- */

static int zero(lua_State *L)
{
	lua_pushinteger(L, 0);
	return 1;
}

/* Give the table on top that metatable. */
static void missing_is_zero(lua_State *L)
{
	if (luaL_newmetatable(L, "counts")) {
		lua_pushcfunction(L, zero);
		lua_setfield(L, -2, "__index");
		lua_pushboolean(L, false);
		lua_setfield(L, -2, "__metatable");
	}
	lua_setmetatable(L, -2);
}

/* ---- folios ---- */

/* The first cached folio at or after @index, without a reference; NULL past the last. */
static struct folio *next_folio(const struct lab_machine *lm, pgoff_t index)
{
	XA_STATE(xas, &lm->run->inode->i_mapping->i_pages, index);
	struct folio *folio;

	xas_for_each(&xas, folio, ~0UL)
		if (!xa_is_value(folio))
			return folio;
	return NULL;
}

static struct folio *folio_at(const struct lab_machine *lm, pgoff_t index)
{
	void *entry = xa_load(&lm->run->inode->i_mapping->i_pages, index);

	return !entry || xa_is_value(entry) ? NULL : entry;
}

static u8 page_state(const struct folio *folio, pgoff_t index)
{
	return folio_machine(folio)->page_state[folio->_pfn + (index - folio->index)];
}

/* "sync", as the keys of the report, not the sentence of page_provenance_name(). */
static const char *provenance_key(u8 state)
{
	static const char *const names[PROVENANCE_NR] = {
		[PROVENANCE_NONE] = "none",	    [PROVENANCE_SYNC] = "sync",
		[PROVENANCE_ASYNC] = "async",	    [PROVENANCE_FORCED] = "forced",
		[PROVENANCE_WILLNEED] = "willneed", [PROVENANCE_WRITE] = "write",
		[PROVENANCE_FAULT] = "fault",
	};

	return names[min_t(u8, state & PAGE_PROVENANCE_MASK, PROVENANCE_NR - 1)];
}

static void set_integer(lua_State *L, const char *key, lua_Integer v)
{
	lua_pushinteger(L, v);
	lua_setfield(L, -2, key);
}

static void set_flag(lua_State *L, const char *key, bool v)
{
	lua_pushboolean(L, v);
	lua_setfield(L, -2, key);
}

static void push_folio(lua_State *L, const struct folio *folio)
{
	lua_createtable(L, 0, 10);
	set_integer(L, "index", folio->index);
	set_integer(L, "order", folio_order(folio));
	set_integer(L, "pages", folio_nr_pages(folio));
	set_flag(L, "marked", folio_test_readahead(folio));
	set_flag(L, "uptodate", folio_test_uptodate(folio));
	set_flag(L, "dirty", folio_test_dirty(folio));
	set_flag(L, "referenced", folio_test_referenced(folio));
	set_flag(L, "active", folio_test_active(folio));
	set_flag(L, "locked", folio_test_locked(folio));
	lua_pushstring(L, provenance_key(page_state(folio, folio->index)));
	lua_setfield(L, -2, "provenance");
}

static pgoff_t opt_index(lua_State *L, int index, pgoff_t dflt)
{
	lua_Integer v;

	if (lua_isnoneornil(L, index))
		return dflt;
	v = luaL_checkinteger(L, index);
	luaL_argcheck(L, v >= 0, index, "a page index below 0");
	return v;
}

/* Upvalues: machine, next index, last index. */
static int folios_step(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, lua_upvalueindex(1));
	struct folio *folio = next_folio(lm, lua_tointeger(L, lua_upvalueindex(2)));

	if (!folio || folio->index > (pgoff_t)lua_tointeger(L, lua_upvalueindex(3)))
		return 0;
	lua_pushinteger(L, folio_next_index(folio));
	lua_replace(L, lua_upvalueindex(2));
	push_folio(L, folio);
	return 1;
}

static int machine_folios(lua_State *L)
{
	pgoff_t first = opt_index(L, 2, 0), last = opt_index(L, 3, INT64_MAX);

	lab_machine_check(L, 1);
	lua_pushvalue(L, 1);
	lua_pushinteger(L, first);
	lua_pushinteger(L, last);
	lua_pushcclosure(L, folios_step, 3);
	return 1;
}

static int machine_cached(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	pgoff_t first = opt_index(L, 2, 0), last = opt_index(L, 3, INT64_MAX);
	struct folio *folio;
	u64 pages = 0, n = 0;

	if (lua_isnoneornil(L, 2) && lua_isnoneornil(L, 3)) {
		lua_pushinteger(L, lm->run->inode->i_mapping->nrpages);
		return 1;
	}
	for (pgoff_t i = first; (folio = next_folio(lm, i)) && folio->index <= last;) {
		pgoff_t from = max(folio->index, first), end = folio_next_index(folio);

		pages += min(end - 1, last) - from + 1;
		i = end;
		n++;
	}
	lab_lua_charge(L, n / 4);
	lua_pushinteger(L, pages);
	return 1;
}

static int machine_orders(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	lua_Integer count[TRACE_ORDERS] = {0};
	struct folio *folio;
	u64 n = 0;

	for (pgoff_t i = 0; (folio = next_folio(lm, i)); i = folio_next_index(folio), n++)
		count[folio_order(folio)]++;
	lab_lua_charge(L, n / 4);
	lua_newtable(L);
	for (int o = 0; o < TRACE_ORDERS; o++) {
		if (!count[o])
			continue;
		lua_pushinteger(L, count[o]);
		lua_rawseti(L, -2, o);
	}
	missing_is_zero(L);
	return 1;
}

static int machine_page(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	lua_Integer index = luaL_checkinteger(L, 2);
	struct folio *folio = index < 0 ? NULL : folio_at(lm, index);

	if (!folio)
		return 0;
	lua_createtable(L, 0, 4);
	set_integer(L, "index", index);
	lua_pushstring(L, provenance_key(page_state(folio, index)));
	lua_setfield(L, -2, "provenance");
	set_flag(L, "used", page_state(folio, index) & PAGE_USED);
	push_folio(L, folio);
	lua_setfield(L, -2, "folio");
	return 1;
}

static int machine_window(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	lua_Integer fd = luaL_optinteger(L, 2, lm->run->current);
	const struct file_ra_state *ra;

	luaL_argcheck(L, fd >= 0, 2, "a descriptor below 0");
	if (!lm->run->files[fd % RUN_DESCRIPTORS])
		return 0;
	ra = &lm->run->files[fd % RUN_DESCRIPTORS]->f_ra;
	lua_createtable(L, 0, 9);
	set_integer(L, "start", ra->start);
	set_integer(L, "size", ra->size);
	set_integer(L, "async_size", ra->async_size);
	set_integer(L, "ra_pages", ra->ra_pages);
	set_integer(L, "order", ra->order);
	set_integer(L, "prev_pos", ra->prev_pos);
	set_integer(L, "mmap_miss", ra->mmap_miss);
	set_integer(L, "mark", ra->start + ra->size - ra->async_size);
	return 1;
}

/* ---- numbers ---- */

static int machine_latency(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	lua_Number q = luaL_checknumber(L, 2);

	luaL_argcheck(L, q >= 0 && q <= 1, 2, "a quantile outside 0..1");
	lua_pushinteger(L, histogram_quantile(&lm->run->latency, (unsigned int)(q * 1000 + 0.5)));
	return 1;
}

static int machine_latencies(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	const struct histogram *h = &lm->run->latency;
	int n = 0;

	lua_newtable(L);
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->counts[i])
			continue;
		lua_createtable(L, 2, 0);
		lua_pushinteger(L, min(histogram_bucket_high(i), h->max));
		lua_rawseti(L, -2, 1);
		lua_pushinteger(L, h->counts[i]);
		lua_rawseti(L, -2, 2);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

static int machine_knob(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	size_t len;
	const char *name = luaL_checklstring(L, 2, &len);
	int id = knob_by_name(name, len);

	if (id < 0)
		return luaL_error(L,
				  "unknown knob '%s', expected one that 'foliolab kernels "
				  "--knobs' lists",
				  name);
	lua_pushboolean(L, knob_id(lm->run->machine, id));
	return 1;
}

static int machine_counters(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	const struct trace *t = &lm->run->machine->trace;

	lua_settop(L, 2);
	lua_newtable(L);
	if (!lua_isnoneornil(L, 2)) {
		int id = lab_lua_check_event(L, 2);

		for (int o = 0; o < TRACE_ORDERS; o++) {
			if (!t->count[id][o])
				continue;
			lua_pushinteger(L, t->count[id][o]);
			lua_rawseti(L, -2, o);
		}
		missing_is_zero(L);
		return 1;
	}
	for (int id = 0; id < EV_NR; id++)
		set_integer(L, trace_event_info(id)->name, trace_total(t, id));
	return 1;
}

static int machine_clock(lua_State *L)
{
	lua_pushinteger(L, lab_machine_check(L, 1)->run->machine->clock_ps / 1000);
	return 1;
}

/* ---- the report ---- */

/* Keys that are numbers become numbers, so that orders can be counted with. */
static void push_key(lua_State *L, const char *key)
{
	char *end;
	long v = strtol(key, &end, 10);

	if (*key && !*end)
		lua_pushinteger(L, v);
	else
		lua_pushstring(L, key);
}

static void push_json(lua_State *L, const cJSON *v)
{
	luaL_checkstack(L, 4, NULL);
	if (cJSON_IsObject(v)) {
		lua_newtable(L);
		for (const cJSON *c = v->child; c; c = c->next) {
			push_key(L, c->string);
			push_json(L, c);
			lua_settable(L, -3);
		}
	} else if (cJSON_IsArray(v)) {
		lua_Integer nr = 0;

		lua_newtable(L);
		for (const cJSON *c = v->child; c; c = c->next) {
			push_json(L, c);
			lua_rawseti(L, -2, ++nr);
		}
	} else if (cJSON_IsRaw(v)) {
		if (!lua_stringtonumber(L, v->valuestring))
			lua_pushstring(L, v->valuestring);
	} else if (cJSON_IsString(v)) {
		lua_pushstring(L, v->valuestring);
	} else if (cJSON_IsBool(v)) {
		lua_pushboolean(L, cJSON_IsTrue(v));
	} else if (cJSON_IsNumber(v)) {
		lua_pushnumber(L, v->valuedouble);
	} else {
		lua_pushnil(L);
	}
}

static int stats_protected(lua_State *L)
{
	push_json(L, lua_touserdata(L, 1));
	return 1;
}

static int machine_stats(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	struct report *r = lua_newuserdatauv(L, sizeof(*r), 0);
	cJSON *obj;
	int status;

	lua_pushcfunction(L, stats_protected);
	report_collect(r, lm->run);
	obj = report_json(r);
	if (!obj)
		return luaL_error(L, "out of memory");
	lua_pushlightuserdata(L, obj);
	status = lua_pcall(L, 1, 1, 0);
	cJSON_Delete(obj);
	return status == LUA_OK ? 1 : lua_error(L);
}

/* ---- the picture ---- */

/* Where the picture is, and how far the line has come. */
struct map {
	luaL_Buffer b;
	pgoff_t from, to;    /* pages shown */
	unsigned int width;  /* pages a line */
	unsigned int indent; /* of the page numbers */
};

static void map_line_start(struct map *map, pgoff_t index)
{
	char text[40];

	if (index != map->from)
		luaL_addchar(&map->b, '\n');
	snprintf(text, sizeof(text), "%*lu ", (int)map->indent, index);
	luaL_addstring(&map->b, text);
}

/* Before a folio, a gap and a line stands a blank, or the mark. */
static void map_page(struct map *map, const struct folio *folio, const struct folio *before,
		     pgoff_t index)
{
	bool marked = folio && folio->index == index && folio_test_readahead(folio);

	if (folio != before || (index - map->from) % map->width == 0)
		luaL_addchar(&map->b, marked ? '>' : ' ');
	luaL_addchar(&map->b, folio ? "0123456789ABCDEF"[folio_order(folio)] : '.');
}

static pgoff_t map_field(lua_State *L, const char *key, pgoff_t dflt)
{
	pgoff_t v;

	if (!lua_istable(L, 2))
		return dflt;
	lua_getfield(L, 2, key);
	v = opt_index(L, -1, dflt);
	lua_pop(L, 1);
	return v;
}

static pgoff_t last_cached(const struct lab_machine *lm)
{
	struct folio *folio;
	pgoff_t last = 0;

	for (pgoff_t i = 0; (folio = next_folio(lm, i)); i = folio_next_index(folio))
		last = folio_next_index(folio) - 1;
	return last;
}

/* Columns of the widest line with @width pages a line. */
static unsigned int map_columns(const struct lab_machine *lm, const struct map *map)
{
	const struct folio *before = NULL;
	unsigned int columns = 0, widest = 0;

	for (pgoff_t i = map->from; i <= map->to; i++) {
		const struct folio *folio = folio_at(lm, i);

		if ((i - map->from) % map->width == 0)
			columns = map->indent + 1;
		columns += folio != before || (i - map->from) % map->width == 0;
		widest = max(widest, ++columns);
		before = folio;
	}
	return widest;
}

/* As said, else 64 pages a line, or fewer where that would be wider than a terminal. */
static void choose_width(lua_State *L, const struct lab_machine *lm, struct map *map)
{
	char digits[24];

	map->indent = max(5, snprintf(digits, sizeof(digits), "%lu", map->to));
	map->width = min(map_field(L, "width", 0), 4096UL);
	if (map->width)
		return;
	for (map->width = 64; map->width > 32 && map_columns(lm, map) > MAP_COLUMNS;)
		map->width /= 2;
}

static int machine_map(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	const struct folio *before = NULL;
	struct map map;

	lua_settop(L, 2);
	map.from = map_field(L, "from", 0);
	map.to = map_field(L, "to", max(last_cached(lm), map.from));
	luaL_argcheck(L, map.to >= map.from && map.to - map.from < 1 << 20, 2,
		      "a range of 1 to 2^20 pages expected");
	lab_lua_charge(L, map.to - map.from);
	choose_width(L, lm, &map);
	luaL_buffinit(L, &map.b);
	for (pgoff_t i = map.from; i <= map.to; i++) {
		const struct folio *folio = folio_at(lm, i);

		if ((i - map.from) % map.width == 0)
			map_line_start(&map, i);
		map_page(&map, folio, before, i);
		before = folio;
	}
	luaL_pushresult(&map.b);
	return 1;
}

static int machine_misses(lua_State *L)
{
	const struct lab_machine *lm = lab_machine_check(L, 1);

	lua_pushinteger(L, trace_total(&lm->run->machine->trace, EV_page_cache_sync_ra));
	return 1;
}

/* ---- memory errors ---- */

static void push_signal(lua_State *L, const struct run_signal *s)
{
	lua_createtable(L, 0, 4);
	lua_pushstring(L, workload_op_name(s->op));
	lua_setfield(L, -2, "op");
	lua_pushinteger(L, s->off);
	lua_setfield(L, -2, "off");
	lua_pushstring(L, report_signal_code(s));
	lua_setfield(L, -2, "code");
	lua_pushinteger(L, s->addr_lsb);
	lua_setfield(L, -2, "lsb");
}

static int machine_signals(lua_State *L)
{
	const struct run *run = lab_machine_check(L, 1)->run;
	int n = min_t(u64, run->nr_signals, ARRAY_SIZE(run->signals));

	lua_createtable(L, n, 0);
	for (int i = 0; i < n; i++) {
		push_signal(L, &run->signals[i]);
		lua_rawseti(L, -2, i + 1);
	}
	lua_pushinteger(L, run->nr_signals);
	return 2;
}

void lab_machine_add_looks(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"cached", machine_cached},
		{"orders", machine_orders},
		{"folios", machine_folios},
		{"page", machine_page},
		{"window", machine_window},
		{"latency", machine_latency},
		{"latencies", machine_latencies},
		{"knob", machine_knob},
		{"counters", machine_counters},
		{"stats", machine_stats},
		{"clock", machine_clock},
		{"map", machine_map},
		{"signals", machine_signals},
		{"misses", machine_misses},
		{NULL, NULL},
	};

	luaL_setfuncs(L, methods, 0);
}

/* fl.machine{}: from a table to a booted miniature. */
#include "lab/lua_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_image.h"
#include "lab/lua_engine.h"
#include "lib/strutil.h"

#define MEMORY_MAX	(64LL << 30)
#define DATA_MEMORY_MAX (1LL << 30)
#define FILE_MAX	(1LL << 40)
#define FS_MAX		(1LL << 46)

s64 lab_lua_size(lua_State *L, int index, const char *what)
{
	const char *text;
	s64 v;
	int ret;

	if (lua_isinteger(L, index) || lua_type(L, index) == LUA_TNUMBER) {
		lua_Integer i;
		int exact;

		i = lua_tointegerx(L, index, &exact);
		if (!exact)
			return luaL_error(L, "%s: not a whole number, expected bytes", what);
		if (i < 0)
			return luaL_error(L, "%s: %I is negative, expected 0 or more", what,
					  (LUAI_UACINT)i);
		return i;
	}
	if (lua_type(L, index) != LUA_TSTRING)
		return luaL_error(L, "%s: a %s, expected a number or a string such as \"4k\"", what,
				  luaL_typename(L, index));
	text = lua_tostring(L, index);
	ret = parse_size(text, &v);
	if (ret)
		return luaL_error(L, "%s: '%s', expected a size such as 4096, \"64k\" or \"16m\"",
				  what, text);
	return v;
}

/* ---- fields ---- */

struct builder {
	struct run_config config;
	bool sealed; /* no files */
	bool record;
	bool fs, file; /* they were given */
};

static u64 take_count(lua_State *L, const char *name, u64 low, u64 high)
{
	int exact;
	lua_Integer v = lua_tointegerx(L, -1, &exact);

	if (!exact || v < (lua_Integer)low || (high <= INT64_MAX && v > (lua_Integer)high))
		luaL_error(L, "machine: %s: '%s', expected a whole number from %I to %I", name,
			   lab_lua_tolstring(L, -1, NULL), (LUAI_UACINT)low, (LUAI_UACINT)high);
	return v;
}

static s64 take_size(lua_State *L, const char *name, s64 max)
{
	char what[64], size[24];
	s64 v;

	snprintf(what, sizeof(what), "machine: %s", name);
	v = lab_lua_size(L, -1, what);
	if (v > max)
		luaL_error(L, "machine: %s: '%s', expected at most %s", name,
			   lab_lua_tolstring(L, -1, NULL), format_size(max, size, sizeof(size)));
	return v;
}

static const char *take_string(lua_State *L, const char *name)
{
	if (lua_type(L, -1) != LUA_TSTRING)
		luaL_error(L, "machine: %s: a %s, expected a string", name, luaL_typename(L, -1));
	return lua_tostring(L, -1);
}

static void take_fragment(lua_State *L, struct builder *b)
{
	const char *text = lab_lua_tolstring(L, -1, NULL);
	unsigned int order, percent = 100;
	int used = 0;

	if (sscanf(text, "%2u%n:%3u%n", &order, &used, &percent, &used) < 1 || text[used] ||
	    order > 13 || percent > 100)
		luaL_error(L, "machine: fragment: '%s', expected ORDER or ORDER:PERCENT", text);
	lua_pop(L, 1);
	b->config.machine.fragment_order = order;
	b->config.machine.fragment_percent = percent;
}

/* Only files of the lab's own folder, and the one the command line named. */
static void take_file(lua_State *L, struct builder *b)
{
	const struct lab_lua *ll = lab_lua_of(L);
	const char *name = take_string(L, "file");

	b->config.image = NULL;
	b->file = true;
	if (ll->defaults.file && !strcmp(name, ll->defaults.file)) {
		b->config.file = ll->defaults.file;
		return;
	}
	if (b->sealed || !ll->dir || strchr(name, '/') || name[0] == '.')
		luaL_error(L,
			   "machine: file: '%s', expected a file in the lab's folder, or the "
			   "one --file names",
			   name);
	b->config.file = lua_pushfstring(L, "%s/%s", ll->dir, name);
	lua_replace(L, -2);
}

/* A file of one of the images in the lab's folder, or the one the command line named. */
static void take_image(lua_State *L, struct builder *b)
{
	const struct lab_lua *ll = lab_lua_of(L);
	const char *word = take_string(L, "image");
	const struct lab_image_file *f = ll->images ? lab_images_find(ll->images, word) : NULL;

	if (f) {
		b->config.image = f->word;
		b->config.image_file = &f->backing;
	} else if (ll->defaults.image && !strcmp(word, ll->defaults.image)) {
		b->config.image = ll->defaults.image;
	} else {
		luaL_error(L,
			   "machine: image: '%s', expected NAME.img.xz:PATH, a file of an image in "
			   "the lab's folder, or the one --image names",
			   word);
	}
	if (b->file)
		luaL_error(L, "machine: image and file, expected one of the two");
	b->config.file = NULL;
	if (!b->fs)
		b->config.fs = "ext4";
}

enum field {
	KERNEL,
	MEMORY,
	PAGE_SIZE,
	BLOCK_SIZE,
	FS,
	SIZE,
	DISK,
	WRITTEN,
	FILE_,
	IMAGE,
	RA_KB,
	IO_KB,
	CPUS,
	SEED,
	FRAGMENT,
	DATA,
	RECORD,
	EXTENT_BLOCKS,
	EXTENT_GAP,
	FS_SIZE,
	JOURNAL,
	POWER_CUT,
	FEATURES,
	MOUNT_OPTIONS,
	DIR_FLAGS,
	SPLIT_FAILS,
	EARLY_KILL,
	NR_FIELDS
};

static const char *const field_names[NR_FIELDS] = {
	"kernel",     "memory",	     "page_size",  "block_size", "fs",	     "size",
	"disk",	      "written",     "file",	   "image",	 "ra_kb",    "io_kb",
	"cpus",	      "seed",	     "fragment",   "data",	 "record",   "extent_blocks",
	"extent_gap", "fs_size",     "journal",	   "power_cut",	 "features", "mount_options",
	"dir_flags",  "split_fails", "early_kill",
};

/* The value is on top of the stack; what stays there is kept as long as the machine. */
static void take_field(lua_State *L, struct builder *b, enum field field)
{
	struct run_config *c = &b->config;

	switch (field) {
	case KERNEL:
		c->machine.kernel = take_string(L, "kernel");
		break;
	case MEMORY:
		c->machine.memory = take_size(L, "memory", MEMORY_MAX);
		break;
	case PAGE_SIZE:
		c->machine.page_size = take_size(L, "page_size", 65536);
		break;
	case BLOCK_SIZE:
		c->block_size = take_size(L, "block_size", 65536);
		break;
	case FS:
		c->fs = take_string(L, "fs");
		b->fs = true;
		break;
	case SIZE:
		c->size = take_size(L, "size", FILE_MAX);
		break;
	case DISK:
		c->disk = take_string(L, "disk");
		break;
	case WRITTEN:
		c->written = lua_toboolean(L, -1);
		break;
	case FILE_:
		take_file(L, b);
		break;
	case IMAGE:
		take_image(L, b);
		break;
	case RA_KB:
		c->ra_bytes = take_count(L, "ra_kb", 0, 1048576) << 10;
		break;
	case IO_KB:
		c->io_bytes = take_count(L, "io_kb", 4, 1048576) << 10;
		break;
	case CPUS:
		c->machine.cpus = take_count(L, "cpus", 1, MACHINE_MAX_CPUS);
		break;
	case SEED:
		c->machine.seed = take_count(L, "seed", 0, INT64_MAX);
		break;
	case FRAGMENT:
		take_fragment(L, b);
		break;
	case DATA:
		c->machine.data = lua_toboolean(L, -1);
		break;
	case RECORD:
		b->record = lua_toboolean(L, -1);
		break;
	case EXTENT_BLOCKS:
		c->extent_blocks = take_count(L, "extent_blocks", 1, UINT32_MAX);
		break;
	case EXTENT_GAP:
		c->extent_gap = take_count(L, "extent_gap", 1, UINT32_MAX);
		break;
	case FS_SIZE:
		c->fs_bytes = take_size(L, "fs_size", FS_MAX);
		break;
	case JOURNAL:
		c->journal_bytes = take_size(L, "journal", FILE_MAX);
		break;
	case POWER_CUT:
		c->power_cut = lua_isboolean(L, -1) ? (lua_toboolean(L, -1) ? ~0ULL : 0)
						    : take_count(L, "power_cut", 1, INT64_MAX);
		break;
	case FEATURES:
		c->features = take_string(L, "features");
		break;
	case MOUNT_OPTIONS:
		c->mount_options = take_string(L, "mount_options");
		break;
	case DIR_FLAGS:
		c->dir_flags = take_string(L, "dir_flags");
		break;
	case SPLIT_FAILS:
		c->split_fails = lua_toboolean(L, -1);
		break;
	case EARLY_KILL:
		c->early_kill = lua_toboolean(L, -1);
		break;
	case NR_FIELDS:
		break;
	}
}

/* Unknown keys are mistakes. */
static void check_fields(lua_State *L, int index)
{
	static const struct name_list list = {"field", field_names, NR_FIELDS};
	char text[400];

	lua_pushnil(L);
	while (lua_next(L, index)) {
		const char *key;
		size_t i = 0;

		lua_pop(L, 1);
		key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "?";
		while (i < NR_FIELDS && strcmp(key, field_names[i]))
			i++;
		if (i == NR_FIELDS)
			luaL_error(L, "machine: %s",
				   describe_unknown(text, sizeof(text), key, &list));
	}
}

/* ---- booting ---- */

static void free_machine(struct lab_machine *lm)
{
	if (!lm->run)
		return;
	if (lm->ring.sink.event) {
		trace_remove_sink(&lm->run->machine->trace, &lm->ring.sink);
		trace_ring_fini(&lm->ring);
	}
	if (lm->ll->ends)
		lm->ll->ends(lm->ll->machine_ctx, lm->run);
	run_close(lm->run);
	lm->run = NULL;
	free(lm->past.ops);
	free(lm->queue.ops);
	lm->ll->machines--;
}

static int machine_gc(lua_State *L)
{
	free_machine(lua_touserdata(L, 1));
	return 0;
}

/* An empty machine on the stack, closed until boot(). */
static struct lab_machine *push_machine(lua_State *L)
{
	struct lab_lua *ll = lab_lua_of(L);
	struct lab_machine *lm;

	if (ll->machines >= LAB_LUA_MACHINES)
		lua_gc(L, LUA_GCCOLLECT);
	if (ll->machines >= LAB_LUA_MACHINES)
		luaL_error(L, "machine: too many machines, expected at most %d alive",
			   LAB_LUA_MACHINES);
	lm = lua_newuserdatauv(L, sizeof(*lm), 2);
	memset(lm, 0, sizeof(*lm));
	lm->ll = ll;
	luaL_setmetatable(L, MACHINE_TYPE);
	return lm;
}

static void boot(lua_State *L, struct lab_machine *lm, const struct run_config *config, bool twin)
{
	struct fl_error err = {0};

	lab_lua_charge(L, 1000);
	if (run_open(config, &lm->run, &err)) {
		luaL_error(L, "machine: %s%s%s", err.file, *err.file ? ": " : "", err.text);
		return;
	}
	lm->power_cut = config->power_cut;
	lm->twin = twin;
	lm->ll->machines++;
	if (lm->ll->booted)
		lm->ll->booted(lm->ll->machine_ctx, lm->run, twin);
}

static int new_machine(lua_State *L)
{
	struct builder b = {.config = lab_lua_of(L)->defaults,
			    .sealed = lua_toboolean(L, lua_upvalueindex(1))};
	struct lab_machine *lm;

	lua_settop(L, 1);
	if (lua_isnil(L, 1)) {
		lua_newtable(L);
		lua_replace(L, 1);
	}
	luaL_checktype(L, 1, LUA_TTABLE);
	check_fields(L, 1);
	lua_newtable(L);
	for (int i = 0; i < NR_FIELDS; i++) {
		lua_pushstring(L, field_names[i]);
		if (lua_rawget(L, 1) == LUA_TNIL) {
			lua_pop(L, 1);
			continue;
		}
		take_field(L, &b, i);
		lua_rawseti(L, 2, i + 1);
	}
	if (b.config.machine.data && b.config.machine.memory > DATA_MEMORY_MAX)
		b.config.machine.memory = DATA_MEMORY_MAX;
	lm = push_machine(L);
	lua_pushvalue(L, 2);
	lua_setiuservalue(L, -2, 1);
	boot(L, lm, &b.config, false);
	if (b.record) {
		lua_getfield(L, -1, "record");
		lua_pushvalue(L, -2);
		lua_call(L, 1, 0);
	}
	return 1;
}

static void copy_list(lua_State *L, struct op_list *to, const struct op_list *from)
{
	size_t bytes = from->nr * sizeof(*from->ops);

	if (!from->nr)
		return;
	to->ops = malloc(bytes);
	if (!to->ops) {
		luaL_error(L, "out of memory");
		return;
	}
	memcpy(to->ops, from->ops, bytes);
	to->nr = to->cap = from->nr;
}

struct lab_machine *lab_machine_twin(lua_State *L, int index)
{
	struct lab_machine *from = lab_machine_idle(L, index), *lm;
	struct run_config config = from->run->config;

	if (from->policy.on)
		luaL_error(L, "a machine with a policy has no twin, expected one without");
	if (from->tasks)
		luaL_error(L, "a machine that several tasks played on has no twin");
	lm = push_machine(L);
	lua_getiuservalue(L, index, 1);
	lua_setiuservalue(L, -2, 1);
	config.power_cut = from->power_cut;
	boot(L, lm, &config, true);
	copy_list(L, &lm->queue, &from->queue);
	lm->next = from->next;
	lm->repeat = from->repeat;
	for (size_t i = 0; i < from->past.nr; i++)
		lab_machine_replay(L, lm, &from->past.ops[i]);
	return lm;
}

static int machine_twin(lua_State *L)
{
	lab_machine_twin(L, 1);
	return 1;
}

/* ---- the type ---- */

struct lab_machine *lab_machine_check(lua_State *L, int index)
{
	struct lab_machine *lm = luaL_checkudata(L, index, MACHINE_TYPE);

	if (!lm->run)
		luaL_error(L, "a machine that did not boot");
	else if (lm->run->broken)
		luaL_error(L, "a machine that stopped in the middle, expected a new one");
	return lm;
}

struct lab_machine *lab_machine_idle(lua_State *L, int index)
{
	struct lab_machine *lm = lab_machine_check(L, index);

	if (lm->busy)
		luaL_error(L, "a policy may look at its machine, not play on it");
	return lm;
}

static int machine_tostring(lua_State *L)
{
	struct lab_machine *lm = luaL_checkudata(L, 1, MACHINE_TYPE);

	lua_pushfstring(L, "machine %s", lm->run ? lm->run->machine->kernel : "(closed)");
	return 1;
}

/* Methods (upvalue 1) first, then what is read off the machine. */
static int machine_index(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	const char *key = luaL_checkstring(L, 2);
	const struct machine *m = lm->run->machine;

	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
		return 1;
	if (!strcmp(key, "kernel"))
		lua_pushstring(L, m->kernel);
	else if (!strcmp(key, "size"))
		lua_pushinteger(L, lm->run->inode->i_size);
	else if (!strcmp(key, "page_size"))
		lua_pushinteger(L, m->page_size);
	else if (!strcmp(key, "pages"))
		lua_pushinteger(L, DIV_ROUND_UP((u64)lm->run->inode->i_size, m->page_size));
	else
		return luaL_error(L, "a machine has no '%s', expected what labs/README.md lists",
				  key);
	return 1;
}

static void make_type(lua_State *L)
{
	static const luaL_Reg meta[] = {
		{"__gc", machine_gc}, {"__tostring", machine_tostring}, {NULL, NULL}};

	if (!luaL_newmetatable(L, MACHINE_TYPE))
		return;
	luaL_setfuncs(L, meta, 0);
	lua_newtable(L);
	lua_pushcfunction(L, machine_twin);
	lua_setfield(L, -2, "twin");
	lab_machine_add_ops(L);
	lab_machine_add_looks(L);
	lab_machine_add_perf(L);
	lab_machine_add_tasks(L);
	lab_machine_add_power(L);
	lab_machine_add_events(L);
	lab_machine_add_policy(L);
	lua_pushcclosure(L, machine_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, false);
	lua_setfield(L, -2, "__metatable");
}

void lab_lua_push_machine_new(lua_State *L, bool sealed)
{
	make_type(L);
	lua_pop(L, 1);
	lua_pushboolean(L, sealed);
	lua_pushcclosure(L, new_machine, 1);
}

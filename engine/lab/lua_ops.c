/* Playing: every operation of the workload language as a method, queues, what stops before what. */
#include "lab/lua_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block/blkdev.h"

/* ---- lists of operations ---- */

static void append(lua_State *L, struct op_list *list, const struct wl_op *op)
{
	if (list->nr == MACHINE_OPS_MAX)
		luaL_error(L, "too many operations, expected at most %d", MACHINE_OPS_MAX);
	if (list->nr == list->cap) {
		size_t cap = max((size_t)16, list->cap * 2);
		struct wl_op *ops = realloc(list->ops, cap * sizeof(*ops));

		if (!ops) {
			luaL_error(L, "out of memory");
			return;
		}
		list->ops = ops;
		list->cap = cap;
	}
	list->ops[list->nr++] = *op;
}

/* Reads in a row are one line of the past. */
static void remember(lua_State *L, struct lab_machine *lm, const struct wl_op *op)
{
	struct op_list *past = &lm->past;
	struct wl_op *last = past->nr ? &past->ops[past->nr - 1] : NULL;

	if (last && op->type == WL_READ && last->type == WL_READ && last->len == op->len)
		last->n += op->n;
	else
		append(L, past, op);
}

/* Waiting for the disk moves the clock, so it is part of the past where there was something to wait
 * for. */
static void drain(lua_State *L, struct lab_machine *lm)
{
	const struct wl_op wait = {.type = PAST_WAIT, .n = 1};

	if (lm->run->machine->next_io_ps == ~0ULL)
		return;
	append(L, &lm->past, &wait);
	blk_drain(lm->run->machine);
}

int lab_machine_handle(lua_State *L, struct lab_machine *lm, const struct wl_op *op)
{
	lab_lua_charge(L, 1 + lm->run->inode->i_mapping->nrpages / 16);
	append(L, &lm->past, op);
	switch ((unsigned int)op->type) {
	case PAST_CHATTR:
		return run_set_journal_flag(lm->run, op->n);
	case PAST_REMOUNT:
		return run_remount(lm->run);
	default:
		return lab_machine_power(L, lm, op);
	}
}

void lab_machine_replay(lua_State *L, struct lab_machine *lm, const struct wl_op *op)
{
	if (op->type == PAST_WAIT)
		drain(L, lm);
	else if (op->type > PAST_WAIT)
		lab_machine_handle(L, lm, op);
	else
		lab_machine_play(L, lm, op);
}

static u64 repeats(const struct wl_op *op)
{
	return workload_op_count(op);
}

bool lab_machine_peek(const struct lab_machine *lm, struct wl_op *op)
{
	if (lm->next >= lm->queue.nr)
		return false;
	*op = lm->queue.ops[lm->next];
	if (op->type == WL_FD)
		return true;
	op->n = 1;
	if (op->type == WL_PWRITE)
		op->off += op->len * (s64)lm->repeat;
	else if (op->type == WL_TOUCH || op->type == WL_WTOUCH)
		op->off += op->step * (s64)lm->repeat;
	return true;
}

void lab_machine_advance(struct lab_machine *lm)
{
	if (++lm->repeat < repeats(&lm->queue.ops[lm->next]))
		return;
	lm->repeat = 0;
	lm->next++;
}

/* ---- playing ---- */

/* Instructions an operation stands for: one a call, one a 16 pages. */
static u64 op_price(const struct run *run, const struct wl_op *op)
{
	u64 size = run->inode->i_size, calls = repeats(op), pages;

	if (op->type == WL_READ) {
		u64 pos = min((u64)run_file(run)->f_pos, size);

		calls = min(calls, op->len ? (size - pos) / op->len + 2 : 1);
		pages = min(calls * min((u64)op->len, size), size) >> run->machine->page_shift;
	} else {
		pages = calls * (min((u64)op->len, size) >> run->machine->page_shift);
	}
	return calls + pages / 16;
}

static void play_protected(lua_State *L, struct lab_machine *lm, const struct wl_op *op, int *ret,
			   struct fl_error *err)
{
	lm->busy = true;
	lm->L = L;
	lm->policy.err.code = 0;
	*ret = run_op(lm->run, op, err);
	lm->busy = false;
	if (!*ret && lm->policy.err.code) {
		*err = lm->policy.err;
		*ret = err->code;
	}
}

/* A policy's error says itself where it was raised. */
static void raise_error(lua_State *L, const struct lab_machine *lm, const struct fl_error *err)
{
	if (lm->policy.err.code) {
		lua_pushstring(L, err->text);
		lua_error(L);
	}
	luaL_error(L, "%s", err->text);
}

void lab_machine_note(struct lab_machine *lm)
{
	const struct trace *t = &lm->run->machine->trace;
	struct lab_played *played = lm->ll->played;

	if (!played)
		return;
	played->any = true;
	played->events = t->events;
	played->last = t->last;
}

void lab_machine_play(lua_State *L, struct lab_machine *lm, const struct wl_op *op)
{
	struct fl_error err = {0};
	int ret;

	if (run_power_is_out(lm->run))
		return;
	lab_lua_charge(L, op_price(lm->run, op));
	remember(L, lm, op);
	if (lm->ll->played)
		lm->ll->played->op = *op;
	lab_machine_note(lm);
	play_protected(L, lm, op, &ret, &err);
	lab_machine_note(lm);
	if (!ret)
		return;
	raise_error(L, lm, &err);
}

/* One argument of an operation as the language writes it. */
static void add_argument(lua_State *L, luaL_Buffer *b, int index, char kind, const char *op)
{
	char what[64];

	luaL_addchar(b, ' ');
	if (kind == 'f' || kind == 'm' || lua_type(L, index) == LUA_TSTRING) {
		luaL_checkstring(L, index);
	} else if (!lua_isinteger(L, index)) {
		int exact;
		lua_Integer v = lua_tointegerx(L, index, &exact);

		snprintf(what, sizeof(what), "%s: argument %d", op, index - 1);
		if (!exact) {
			luaL_error(L,
				   "%s: a %s, expected a whole number or a string such as \"4k\"",
				   what,
				   lua_type(L, index) == LUA_TNUMBER ? "fraction"
								     : luaL_typename(L, index));
		}
		lua_pushinteger(L, v);
		lua_replace(L, index);
	}
	lua_pushvalue(L, index);
	luaL_addvalue(b);
}

/* The operation in the words of the language, so that its own checks and messages apply. */
static void build_op(lua_State *L, struct wl_op *op, enum wl_op_type type, const char *kinds)
{
	const char *name = workload_op_name(type);
	struct fl_error err = {0};
	luaL_Buffer b;
	int top = lua_gettop(L), arg = 2, ret;
	const char *text;
	size_t len;

	luaL_buffinit(L, &b);
	luaL_addstring(&b, name);
	for (; *kinds && arg <= top && !lua_isnil(L, arg); kinds++) {
		if (*kinds == '|')
			continue;
		add_argument(L, &b, arg++, *kinds, name);
	}
	for (; arg <= top; arg++)
		luaL_addstring(&b, lua_isnil(L, arg) ? "" : " ?");
	luaL_pushresult(&b);
	text = lua_tolstring(L, -1, &len);
	*op = (struct wl_op){0};
	ret = workload_parse_op(op, "", text, len, &err);
	if (ret < 0)
		luaL_error(L, "%s", err.text);
	lua_pop(L, 1);
}

static bool reads(enum wl_op_type type)
{
	return type == WL_READ || type == WL_PREAD || type == WL_SPLICE;
}

/* true, or nil and the name of @error. */
static int push_outcome(lua_State *L, int error)
{
	const char *name = error ? strerrorname_np(-error) : NULL;

	if (!error) {
		lua_pushboolean(L, true);
		return 1;
	}
	lua_pushnil(L);
	lua_pushstring(L, name ? name : "?");
	return 2;
}

static int machine_chattr(lua_State *L)
{
	static const char *const words[] = {"-j", "+j", NULL};
	struct lab_machine *lm = lab_machine_idle(L, 1);
	const struct wl_op op = {.type = PAST_CHATTR, .n = luaL_checkoption(L, 2, NULL, words)};

	return push_outcome(L, lab_machine_handle(L, lm, &op));
}

static int machine_remount(lua_State *L)
{
	const struct wl_op op = {.type = PAST_REMOUNT, .n = 1};

	return push_outcome(L, lab_machine_handle(L, lab_machine_idle(L, 1), &op));
}

/* Upvalues: type, kinds. */
static int machine_op(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);
	enum wl_op_type type = lua_tointeger(L, lua_upvalueindex(1));
	u64 bytes, errors;
	struct wl_op op;

	build_op(L, &op, type, lua_tostring(L, lua_upvalueindex(2)));
	bytes = lm->run->bytes;
	errors = lm->run->errors;
	lab_machine_play(L, lm, &op);
	if (run_power_is_out(lm->run))
		return push_outcome(L, -EIO);
	if (lm->run->errors > errors)
		return push_outcome(L, lm->run->last_error);
	if (!reads(type))
		return push_outcome(L, 0);
	lua_pushinteger(L, lm->run->bytes - bytes);
	return 1;
}

/* ---- texts ---- */

/* Parse the text at @index; the operations end up in a userdata on top, their number in *nr. */
static struct wl_op *check_workload(lua_State *L, int index, size_t *nr)
{
	struct fl_error err = {0};
	struct workload w;
	struct wl_op *ops;
	size_t len;
	const char *text = luaL_checklstring(L, index, &len);
	int ret;

	lab_lua_charge(L, len);
	luaL_argcheck(L, len <= 1 << 20, index, "more than 1 MiB of operations");
	/* Room first: what may raise must not hold the parsed workload. */
	ops = lua_newuserdatauv(L, (len / 4 + 1) * sizeof(*ops), 0);
	ret = workload_parse(&w, "workload", text, len, &err);
	if (ret) {
		luaL_error(L, "operation %d: %s", (int)err.line, err.text);
		return NULL;
	}
	*nr = min(w.nr, len / 4 + 1);
	memcpy(ops, w.ops, *nr * sizeof(*ops));
	workload_fini(&w);
	return ops;
}

static int machine_play(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);
	u64 bytes = lm->run->bytes;
	size_t nr;
	struct wl_op *ops = check_workload(L, 2, &nr);

	for (size_t i = 0; i < nr; i++)
		lab_machine_play(L, lm, &ops[i]);
	drain(L, lm);
	lua_pushinteger(L, lm->run->bytes - bytes);
	return 1;
}

static int machine_queue(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);
	size_t nr;
	struct wl_op *ops = check_workload(L, 2, &nr);

	for (size_t i = 0; i < nr; i++)
		append(L, &lm->queue, &ops[i]);
	lua_settop(L, 1);
	return 1;
}

static int machine_step(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);
	lua_Integer n = luaL_optinteger(L, 2, 1), done = 0;
	struct wl_op op;

	for (; done < n && lab_machine_peek(lm, &op); done++) {
		lab_machine_play(L, lm, &op);
		lab_machine_advance(lm);
	}
	lua_pushinteger(L, done);
	return 1;
}

static int machine_left(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	u64 left = 0;

	for (size_t i = lm->next; i < lm->queue.nr; i++)
		left += repeats(&lm->queue.ops[i]);
	lua_pushinteger(L, left - lm->repeat);
	return 1;
}

/* What is left of a repeated read goes in one piece; others are played one by one. */
static void finish(lua_State *L, struct lab_machine *lm)
{
	struct wl_op op;

	while (lab_machine_peek(lm, &op)) {
		if (op.type == WL_READ) {
			op.n = lm->queue.ops[lm->next].n - lm->repeat;
			lab_machine_play(L, lm, &op);
			lm->next++;
			lm->repeat = 0;
			continue;
		}
		lab_machine_play(L, lm, &op);
		lab_machine_advance(lm);
	}
	drain(L, lm);
}

static int machine_finish(lua_State *L)
{
	finish(L, lab_machine_idle(L, 1));
	lua_settop(L, 1);
	return 1;
}

static int machine_drain(lua_State *L)
{
	drain(L, lab_machine_idle(L, 1));
	lua_settop(L, 1);
	return 1;
}

static int machine_next_op(lua_State *L)
{
	struct lab_machine *lm = lab_machine_check(L, 1);
	struct wl_op op;
	char text[200];

	if (!lab_machine_peek(lm, &op) || workload_format_op(&op, text, sizeof(text)) < 0)
		return 0;
	lua_pushstring(L, text);
	return 1;
}

/* ---- until an event ---- */

#define CAUGHT_MAX 4096 /* events of one kind that one operation may cause and a filter sees */

/* Keeps the events of one kind that an operation causes. */
struct catcher {
	struct trace_sink sink;
	int event;
	size_t nr;
	struct trace_event events[CAUGHT_MAX];
};

static void catch_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct catcher *c = container_of(sink, struct catcher, sink);

	if (ev->id == c->event && c->nr < CAUGHT_MAX)
		c->events[c->nr++] = *ev;
}

/* Play one operation with @c listening; raises only after it stopped. */
static void play_caught(lua_State *L, struct lab_machine *lm, const struct wl_op *op,
			struct catcher *c)
{
	struct fl_error err = {0};
	int ret;

	c->nr = 0;
	if (run_power_is_out(lm->run))
		return;
	lab_lua_charge(L, op_price(lm->run, op));
	remember(L, lm, op);
	trace_add_sink(&lm->run->machine->trace, &c->sink);
	play_protected(L, lm, op, &ret, &err);
	trace_remove_sink(&lm->run->machine->trace, &c->sink);
	if (ret)
		raise_error(L, lm, &err);
}

/*
 * Play the queue of @lm until the event of @c passes the filter at index 3; leaves its table on
 * the stack and returns how many operations were played before the one that caused it; -1 when the
 * queue ended.
 */
static s64 play_until(lua_State *L, struct lab_machine *lm, struct catcher *c)
{
	struct wl_op op;

	for (s64 done = 0; lab_machine_peek(lm, &op); done++) {
		play_caught(L, lm, &op, c);
		lab_machine_advance(lm);
		for (size_t i = 0; i < c->nr; i++) {
			lab_lua_push_event(L, lm, &c->events[i], 0);
			if (lab_lua_event_passes(L, 3))
				return done;
			lua_pop(L, 1);
		}
	}
	return -1;
}

static struct catcher *push_catcher(lua_State *L)
{
	struct catcher *c = lua_newuserdatauv(L, sizeof(*c), 0);

	c->sink.event = catch_event;
	c->event = lab_lua_check_event(L, 2);
	c->nr = 0;
	return c;
}

static int machine_wait_for(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);

	lua_settop(L, 3);
	if (play_until(L, lm, push_catcher(L)) < 0)
		lua_pushnil(L);
	return 1;
}

/* A twin finds out which operation will cause the event, then this machine plays up to it. */
static int machine_stop_before(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1), *twin;
	struct catcher *c;
	struct wl_op op;
	s64 n;

	lua_settop(L, 3);
	c = push_catcher(L);
	twin = lab_machine_twin(L, 1);
	n = play_until(L, twin, c);
	if (n < 0) {
		finish(L, lm);
		lua_pushnil(L);
		return 1;
	}
	for (; n && lab_machine_peek(lm, &op); n--) {
		lab_machine_play(L, lm, &op);
		lab_machine_advance(lm);
	}
	return 1;
}

void lab_machine_add_ops(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"play", machine_play},
		{"queue", machine_queue},
		{"step", machine_step},
		{"left", machine_left},
		{"finish", machine_finish},
		{"drain", machine_drain},
		{"next_op", machine_next_op},
		{"wait_for", machine_wait_for},
		{"stop_before", machine_stop_before},
		{"chattr", machine_chattr},
		{"remount", machine_remount},
		{NULL, NULL},
	};
	static const struct {
		const char *name, *kinds;
	} ops[] = {
#define X(id, name, kinds, args, help) {name, kinds},
		WL_OPS(X)
#undef X
	};

	luaL_setfuncs(L, methods, 0);
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		luaL_gsub(L, ops[i].name, "-", "_");
		lua_pushinteger(L, i);
		lua_pushstring(L, ops[i].kinds);
		lua_pushcclosure(L, machine_op, 2);
		lua_settable(L, -3);
	}
}

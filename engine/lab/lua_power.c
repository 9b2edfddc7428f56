/* The journal, the power cut and what is on the disk after it. */
#include "lab/lua_machine.h"

#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/ext4/ext4_jbd2.h"

#define BYTES_MAX (1LL << 20)

/* ---- power ---- */

static struct lab_machine *check_cuttable(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);

	if (!lm->power_cut)
		luaL_error(L, "a disk that keeps its power, expected a machine with power_cut");
	return lm;
}

static int machine_power_cut(lua_State *L)
{
	const struct wl_op op = {.type = PAST_POWER_CUT, .n = 1};
	struct lab_machine *lm = check_cuttable(L);

	lab_machine_handle(L, lm, &op);
	return 0;
}

static int machine_sleep(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);
	lua_Number seconds = luaL_checknumber(L, 2);
	struct wl_op op = {.type = PAST_SLEEP};

	luaL_argcheck(L, seconds >= 0 && seconds <= 1000, 2, "expected 0 to 1000 seconds");
	op.n = seconds * 1e9;
	if (!run_power_is_out(lm->run))
		lab_machine_handle(L, lm, &op);
	return 0;
}

static int machine_power_is_out(lua_State *L)
{
	lua_pushboolean(L, run_power_is_out(lab_machine_check(L, 1)->run));
	return 1;
}

static int machine_disk_writes(lua_State *L)
{
	const struct lab_machine *lm = check_cuttable(L);

	lua_pushinteger(L, blk_writes_completed(lm->run->sb->s_bdev));
	return 1;
}

/* The machine goes on as another one with the disk of the dead. */
static int take_over(lua_State *L, struct lab_machine *lm)
{
	struct fl_error err = {0};
	struct run *alive;

	if (run_open_after_crash(lm->run, &alive, &err))
		return luaL_error(L, "replay: %s", err.text);
	if (lm->ring.sink.event) {
		trace_remove_sink(&lm->run->machine->trace, &lm->ring.sink);
		trace_add_sink(&alive->machine->trace, &lm->ring.sink);
	}
	if (lm->ll->ends)
		lm->ll->ends(lm->ll->machine_ctx, lm->run);
	run_close(lm->run);
	lm->run = alive;
	if (lm->ll->booted)
		lm->ll->booted(lm->ll->machine_ctx, alive, lm->twin);
	return 0;
}

int lab_machine_power(lua_State *L, struct lab_machine *lm, const struct wl_op *op)
{
	if ((unsigned int)op->type == PAST_REPLAY)
		return take_over(L, lm);
	if ((unsigned int)op->type == PAST_SLEEP)
		return run_sleep(lm->run, op->n);
	blk_cut_power(lm->run->sb->s_bdev);
	return 0;
}

static int machine_replay(lua_State *L)
{
	const struct wl_op op = {.type = PAST_REPLAY, .n = 1};
	struct lab_machine *lm = lab_machine_idle(L, 1);
	const struct recovery_info *info;

	if (!run_power_is_out(lm->run))
		return luaL_error(L, "replay: the power is on, expected it to be out");
	lab_machine_handle(L, lm, &op);
	info = &EXT4_SB(lm->run->sb)->s_recovery;
	lua_createtable(L, 0, 3);
	lua_pushinteger(L, info->end_transaction - info->start_transaction);
	lua_setfield(L, -2, "transactions");
	lua_pushinteger(L, info->nr_replays);
	lua_setfield(L, -2, "blocks");
	lua_pushinteger(L, info->nr_revoke_hits);
	lua_setfield(L, -2, "revoked");
	return 1;
}

/* ---- the journal ---- */

static int machine_journal(lua_State *L)
{
	const struct lab_machine *lm = lab_machine_check(L, 1);
	const journal_t *j =
		strcmp(lm->run->sb->s_type, "ext4") ? NULL : ext4_journal(lm->run->inode);
	const struct {
		const char *key;
		lua_Integer value;
	} fields[] = {
		{"blocks", j ? j->j_total_len : 0},
		{"free", j ? jbd2_log_space_left(j) : 0},
		{"transaction_max", j ? j->j_max_transaction_buffers : 0},
		{"handles", j ? j->j_handles : 0},
		{"extends", j ? j->j_extends : 0},
		{"restarts", j ? j->j_restarts : 0},
		{"commits", j ? j->j_commits : 0},
		{"checkpoints", j ? j->j_checkpoints : 0},
	};

	if (!j)
		return 0;
	lua_createtable(L, 0, ARRAY_SIZE(fields) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		lua_pushinteger(L, fields[i].value);
		lua_setfield(L, -2, fields[i].key);
	}
	lua_pushboolean(L, j->j_errno);
	lua_setfield(L, -2, "aborted");
	return 1;
}

static int machine_log(lua_State *L)
{
	lua_pushstring(L, lab_machine_check(L, 1)->run->machine->log);
	return 1;
}

/* ---- bytes ---- */

/* Gets the bytes of one pread. */
struct collector {
	size_t len, cap;
	char bytes[];
};

static void collect(void *ctx, const void *buf, size_t len)
{
	struct collector *c = ctx;

	len = min(len, c->cap - c->len);
	memcpy(c->bytes + c->len, buf, len);
	c->len += len;
}

static s64 check_length(lua_State *L, int index, const char *what)
{
	s64 len = lab_lua_size(L, index, what);

	luaL_argcheck(L, len <= BYTES_MAX, index, "more than 1 MiB");
	lab_lua_charge(L, len / 64);
	return len;
}

/* Arguments: machine, operation. */
static int play_protected(lua_State *L)
{
	lab_machine_play(L, lab_machine_check(L, 1), lua_touserdata(L, 2));
	return 0;
}

static int machine_bytes(lua_State *L)
{
	struct lab_machine *lm = lab_machine_idle(L, 1);
	struct wl_op op = {
		.type = WL_PREAD,
		.n = 1,
		.off = lab_lua_size(L, 2, "bytes: offset"),
		.len = check_length(L, 3, "bytes: length"),
	};
	struct run *run = lm->run;
	struct collector *c;
	int ret;

	if (!run->machine->data)
		return luaL_error(L, "bytes: no bytes are kept, expected a machine with data");
	c = lua_newuserdatauv(L, sizeof(*c) + op.len, 0);
	*c = (struct collector){.cap = op.len};
	run->consume = collect;
	run->consume_ctx = c;
	lua_pushcfunction(L, play_protected);
	lua_pushvalue(L, 1);
	lua_pushlightuserdata(L, &op);
	ret = lua_pcall(L, 2, 0, 0);
	run->consume = NULL;
	if (ret != LUA_OK)
		return lua_error(L);
	lua_pushlstring(L, c->bytes, c->len);
	return 1;
}

int lab_lua_pattern(lua_State *L)
{
	lua_Integer nr = luaL_checkinteger(L, 1);
	s64 off = lab_lua_size(L, 2, "fl.pattern: offset");
	s64 len = check_length(L, 3, "fl.pattern: length");
	luaL_Buffer b;

	luaL_argcheck(L, nr >= 1, 1, "writes are counted from 1");
	run_fill_pattern(nr, off, luaL_buffinitsize(L, &b, len), len);
	luaL_pushresultsize(&b, len);
	return 1;
}

void lab_machine_add_power(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"power_cut", machine_power_cut},
		{"sleep", machine_sleep},
		{"power_is_out", machine_power_is_out},
		{"disk_writes", machine_disk_writes},
		{"replay", machine_replay},
		{"journal", machine_journal},
		{"log", machine_log},
		{"bytes", machine_bytes},
		{NULL, NULL},
	};

	luaL_setfuncs(L, methods, 0);
}

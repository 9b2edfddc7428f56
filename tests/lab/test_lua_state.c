/*
 * The sandbox of Lua scripts: every attack ends with a refusal and leaves a state that works, no
 * allocation that fails does harm, the same script prints the same bytes.
 */
#include "unit.h"

#include <string.h>
#include <time.h>

#include "lab/lua_engine.h"

static int push_env(lua_State *L)
{
	lab_lua_push_env(L);
	lab_lua_push_rng(L, 1);
	lua_setfield(L, -2, "rng");
	return 1;
}

/* Run @text with @budget; what it prints is appended to @out (may be NULL). */
static int run(struct lab_lua *ll, const char *text, s64 budget, FILE *out, struct fl_error *err)
{
	int ret;

	memset(err, 0, sizeof(*err));
	ll->out = out;
	lab_lua_set_budget(ll, budget);
	lua_pushcfunction(ll->L, push_env);
	ret = lab_lua_call(ll, 0, 1, err);
	if (!ret)
		ret = lab_lua_load_text(ll, "attack.lua", text, strlen(text), -1, err);
	if (!ret)
		ret = lab_lua_call(ll, 0, 0, err);
	lua_settop(ll->L, 0);
	return ret;
}

static struct lab_lua *open_state(void)
{
	struct fl_error err = {0};
	struct lab_lua *ll;

	assert_int_equal(lab_lua_open(&ll, &err), 0);
	return ll;
}

struct attack {
	const char *name, *text, *refusal;
};

static const struct attack attacks[] = {
	{"loop", "while true do end", "too many instructions"},
	{"pcall loop", "while true do pcall(function() while true do end end) end",
	 "too many instructions"},
	{"pcall recursion", "local function f() pcall(f) f() end f()", NULL},
	{"xpcall handler", "while true do xpcall(error, function() while true do end end) end",
	 "too many instructions"},
	{"close in a coroutine",
	 "coroutine.wrap(function() local x <close> = setmetatable({}, {__close = function() "
	 "while true do end end}) while true do end end)()",
	 "too many instructions"},
	{"close of a coroutine",
	 "local co = coroutine.create(function() local x <close> = setmetatable({}, {__close = "
	 "function() while true do end end}) while true do end end) coroutine.resume(co) "
	 "coroutine.close(co)",
	 "too many instructions"},
	{"coroutine", "coroutine.wrap(function() while true do end end)()",
	 "too many instructions"},
	{"coroutines",
	 "while true do coroutine.resume(coroutine.create(function() while true do end "
	 "end)) end",
	 "too many instructions"},
	{"metamethod",
	 "local t = setmetatable({}, {__index = function(t, k) while true do end end}) "
	 "return t.x",
	 "too many instructions"},
	{"sort", "table.sort({3, 2, 1}, function(a, b) while true do end end)",
	 "too many instructions"},
	{"close",
	 "do local x <close> = setmetatable({}, {__close = function() while true do end end}) "
	 "end",
	 "too many instructions"},
	{"gsub function", "('a'):rep(99):gsub('a', function() while true do end end)",
	 "too many instructions"},
	{"gc", "setmetatable({}, {__gc = function() while true do end end})",
	 "__gc is not allowed"},
	{"gc of any value", "setmetatable({}, {__gc = true})", "__gc is not allowed"},
	{"false length",
	 "table.insert(setmetatable({}, {__len = function() return 1 << 40 end}), 1, 1)",
	 "__len is not allowed"},
	{"false length later",
	 "local m = {} local t = setmetatable({}, m) m.__len = function() return 1 << 40 end "
	 "table.insert(t, 1, 1)",
	 "__len"},
	{"rep", "return (''):rep(1 << 40)", NULL},
	{"rep of something", "return ('x'):rep(1 << 40)", "longer than 16 MiB"},
	{"rep by the library", "return string.rep('x', 1 << 30, 'y')", "longer than 16 MiB"},
	{"move", "table.move({}, 1, 1 << 40, 2)", "too many elements"},
	{"concat", "table.concat({}, '', 1, 1 << 40)", "too many elements"},
	{"unpack", "return table.unpack({}, 1, 1 << 40)", "too many results"},
	{"pattern", "return ('a'):rep(200):find(('.-'):rep(4) .. 'b')", "may take too long"},
	{"memory by strings", "local s = 'x' while true do s = s .. s end", "out of memory"},
	{"memory by tables", "local t = {} while true do t[#t + 1] = ('x'):rep(999) end",
	 "out of memory"},
	/* The stack or the memory, whichever ends first. */
	{"recursion", "local function f() return 1 + f() end f()", "o"},
	{"print", "while true do print(('x'):rep(1000)) end", "printed"},
	{"bytecode", "\033Lua", "attempt to load a binary chunk"},
	{"load", "load('return 1')()", "a nil value (global 'load')"},
	{"dump", "string.dump(print)", "nil value"},
	{"io", "io.open('/etc/passwd')", "a nil value (global 'io')"},
	{"os", "os.execute('true')", "a nil value (global 'os')"},
	{"require", "require('os')", "a nil value (global 'require')"},
	{"debug", "debug.getregistry()", "a nil value (global 'debug')"},
	{"dofile", "dofile('/etc/passwd')", "nil value"},
	{"collectgarbage", "collectgarbage('stop')", "nil value"},
	{"string methods", "getmetatable('').__index.upper = nil", "index a nil value"},
	{"address in format", "return ('%p'):format({})", "%p is not there"},
	{"machine metatable", "getmetatable(fl.machine{}).__gc(1)", "nil value"},
	{"file", "fl.machine{ file = '/etc/passwd' }", "file in the lab's folder"},
	{"file upwards", "fl.machine{ file = '../lab.lua' }", "file in the lab's folder"},
	{"image", "fl.machine{ image = '/etc/passwd:x' }", "an image in the lab's folder"},
	{"image upwards", "fl.machine{ image = '../13-who-gets-large-folios/plain.img.xz:note' }",
	 "an image in the lab's folder"},
	{"machines", "local t = {} for i = 1, 100 do t[i] = fl.machine{ size = '64k' } end",
	 "too many machines"},
	{"operations", "fl.machine{ size = '1g' }:play(('read 1g; seek 0;'):rep(30000))",
	 "too many instructions"},
	{"queue", "local m = fl.machine{} while true do m:queue('seek 0') end", NULL},
};

static void test_attacks(void **state)
{
	struct lab_lua *ll = open_state();
	unsigned int bad = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
		const struct attack *a = &attacks[i];
		struct fl_error err;
		clock_t start = clock();
		int ret = run(ll, a->text, 3000000, NULL, &err);
		double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;

		if (a->refusal && (!ret || !strstr(err.text, a->refusal))) {
			print_error("%s: %d '%s', expected '%s'\n", a->name, ret, err.text,
				    a->refusal);
			bad++;
		}
		if (seconds > 20)
			fail_msg("%s took %.1f s", a->name, seconds);
		/* The state still works. */
		lua_gc(ll->L, LUA_GCCOLLECT);
		ret = run(ll, "assert(('x'):upper() == 'X' and fl.machine{}:read('4k') == 4096)",
			  3000000, NULL, &err);
		if (ret)
			fail_msg("after %s: %s", a->name, err.text);
	}
	lab_lua_close(ll);
	assert_int_equal(bad, 0);
}

static const char everything[] =
	"local m = fl.machine{ kernel = 'v6.12', size = '1m', record = true }\n"
	"m:queue('read 4k 20')\n"
	"local e = m:stop_before('fl_window', { rule = 'EXPECTED' })\n"
	"m:finish()\n"
	"print(e and e.start, m:cached(), m:map{}, m:stats().ios, m:orders()[2])\n"
	"for e in m:events{ name = 'fl_window' } do print(e.text, e.why) end\n"
	"for f in m:folios() do print(f.index, f.order, f.provenance) end\n"
	"for k, v in pairs(m:window()) do print(k, v) end\n"
	"for k, v in pairs(m:counters()) do print(k, v) end\n"
	"m:policy{ sync_ra = function(ra, req) return { size = 8, async_size = 4, order = 1 } end "
	"}\n"
	"m:pread('512k', '4k')\n"
	"print(plot.bars{ title = 'x', values = { a = 1, b = 2 } }, rng:int(1, 1000000))\n"
	"print(plot.histogram{ counts = m:latencies() }:svg())\n"
	"print(plot.line{ series = { { name = 'a', points = { { 1, 2 }, { 3, 4 } } } } })\n"
	"print({}, print, m, coroutine.create(print))\n";

static void test_same_bytes(void **state)
{
	char *text[2];
	size_t len[2];

	for (int i = 0; i < 2; i++) {
		struct lab_lua *ll = open_state();
		FILE *f = open_memstream(&text[i], &len[i]);
		struct fl_error err;

		if (run(ll, everything, LAB_LUA_BUDGET, f, &err))
			fail_msg("%s", err.text);
		lab_lua_close(ll);
		fclose(f);
	}
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(text[0], text[1], len[0]);
	assert_null(strstr(text[0], "0x0"));
	free(text[0]);
	free(text[1]);
}

/* The n-th allocation of a state fails, for every n in reach: an error, no crash, no leak. */
static void test_no_memory(void **state)
{
	struct fl_error err;
	u64 step = getenv("FL_SOAK") ? 1 : 7;

	for (u64 n = 1; n < 6000; n += step) {
		struct lab_lua *ll = open_state();
		int ret;

		ll->fail_alloc_in = n;
		ret = run(ll, everything, LAB_LUA_BUDGET, NULL, &err);
		if (ret)
			assert_true(*err.text);
		n = ll->fail_alloc_in ? 6000 : n;
		ll->fail_alloc_in = 0;
		lab_lua_close(ll);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attacks),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

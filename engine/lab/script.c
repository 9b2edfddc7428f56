#include "lab/script.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/lua_engine.h"

int lab_save_figure(const char *dir, const char *name, const char *svg, struct fl_error *err)
{
	char path[4096];
	bool failed;
	FILE *f;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return fl_error_set(err, -errno, dir, 0, "%s, expected a folder for figures",
				    strerror(errno));
	snprintf(path, sizeof(path), "%s/%s.svg", dir, name);
	f = fopen(path, "we");
	if (!f)
		return fl_error_set(err, -errno, path, 0, "%s", strerror(errno));
	failed = fputs(svg, f) < 0;
	if (fclose(f) || failed)
		return fl_error_set(err, -errno, path, 0, "%s", strerror(errno));
	return 0;
}

/* Leaves the environment on the stack. */
static int push_environment(lua_State *L)
{
	lab_lua_push_env(L);
	lab_lua_push_rng(L, lab_lua_of(L)->defaults.machine.seed);
	lua_setfield(L, -2, "rng");
	return 1;
}

int lab_script_run(const struct lab_script *script, u32 *limit, struct fl_error *err)
{
	struct lab_lua *ll;
	int ret = lab_lua_open(&ll, err);

	if (ret)
		return ret;
	ll->defaults = *script->defaults;
	ll->out = script->out;
	ll->figure = script->figure;
	ll->figure_ctx = script->ctx;
	ll->played = script->played;
	if (script->stream) {
		lab_stream_watch(script->stream, ll);
		lab_stream_new_machines(script->stream, true);
	}
	lua_pushcfunction(ll->L, push_environment);
	ret = lab_lua_call(ll, 0, 1, err);
	if (!ret)
		ret = lab_lua_load_text(ll, script->path, script->text, script->len, -1, err);
	if (!ret)
		ret = lab_lua_call(ll, 0, 0, err);
	if (ret && !err->file[0])
		snprintf(err->file, sizeof(err->file), "%s", script->path);
	*limit = lab_limit_of(ll);
	lab_lua_close(ll);
	return ret;
}

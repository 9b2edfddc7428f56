/*
 * lab/lua_engine.h - the pieces of the engine's part of an environment, each pushed.
 *
 * Errors     they raise (memory); call them protected.
 */
#ifndef FL_LAB_LUA_ENGINE_H
#define FL_LAB_LUA_ENGINE_H

#include "lab/lua_state.h"

/* fl.machine; @sealed: it opens no file. */
void lab_lua_push_machine_new(lua_State *L, bool sealed);
void lab_lua_push_plot_library(lua_State *L);  /* plot */
void lab_lua_push_figure(lua_State *L);	       /* figure */
void lab_lua_push_smallest(lua_State *L);      /* fl.smallest */
void lab_lua_push_rng(lua_State *L, u64 seed); /* a generator */

#endif

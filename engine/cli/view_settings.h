/*
 * cli/view_settings.h - what the views remember: how they looked, and marked moments.
 *
 * Settings are $XDG_CONFIG_HOME/foliolab/view, a "name value" a line. Marked moments are
 * $XDG_STATE_HOME/foliolab/bookmarks/ID, a number a line, ID being the machine and workload: the
 * same run is the same recording, wherever its file lies. $XDG_STATE_HOME/foliolab/window is where
 * the window was: "x y width height".
 *
 * Invariant  files are replaced as a whole. Nothing depends on them: what cannot be read or is no
 *            setting is the default, what cannot be written is forgotten.
 */
#ifndef FL_CLI_VIEW_SETTINGS_H
#define FL_CLI_VIEW_SETTINGS_H

#include "trace/recording.h"
#include "view/tui/tui.h"

/* @info may be NULL: no moments. */
void view_settings_load(struct tui_settings *s, const struct recording_info *info);
void view_settings_save(const struct tui_settings *s, const struct recording_info *info);

#endif

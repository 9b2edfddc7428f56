/*
 * cli/user_files.h - where a person's own files are, as the XDG base directories say.
 *
 * Owner      paths go to the caller's buffer.
 * Errors     -ENOENT without a home; -ENAMETOOLONG; errno of folders.
 */
#ifndef FL_CLI_USER_FILES_H
#define FL_CLI_USER_FILES_H

#include "lib/types.h"

#define USER_PATH 512

enum user_place {
	USER_CONFIG, /* $XDG_CONFIG_HOME, else ~/.config */
	USER_STATE,  /* $XDG_STATE_HOME, else ~/.local/state */
};

/* "PLACE/foliolab/NAME"; @path has USER_PATH bytes. */
int user_path(enum user_place place, const char *name, char *path);

/* Make the folders @path is to be in, for nobody else to look into. */
int user_make_folders(const char *path);

#endif

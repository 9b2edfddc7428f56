#include "cli/version.h"

#include <cjson/cJSON.h>
#include <curses.h>
#include <ext2fs/ext2fs.h>
#include <lzma.h>
#include <openssl/crypto.h>
#include <png.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#ifndef FL_NO_GUI
#include <SDL.h>
#include <SDL_ttf.h>
#endif

#include "debuginfo/compat.h"
#include "lib/types.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static const char *openssl_version(void)
{
	return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static const char *ext2fs_version(void)
{
	const char *version = NULL;

	ext2fs_get_library_version(&version, NULL);
	return version;
}

static const char *seccomp_lib_version(void)
{
	static char text[32];
	const struct scmp_version *v = seccomp_version();

	snprintf(text, sizeof(text), "%u.%u.%u", v->major, v->minor, v->micro);
	return text;
}

static const char *libdwarf_version(void)
{
	return dwarf_package_version();
}

/* "ncurses 6.4.20221231": the number is enough. */
static const char *ncurses_version(void)
{
	const char *version = curses_version(), *blank = strchr(version, ' ');

	return blank ? blank + 1 : version;
}

static const char *png_lib_version(void)
{
	return png_get_libpng_ver(NULL);
}

#ifndef FL_NO_GUI

static const char *version_text(const SDL_version *v, char *text, size_t n)
{
	snprintf(text, n, "%u.%u.%u", v->major, v->minor, v->patch);
	return text;
}

static const char *sdl_version(void)
{
	static char text[32];
	SDL_version v;

	SDL_GetVersion(&v);
	return version_text(&v, text, sizeof(text));
}

static const char *ttf_version(void)
{
	static char text[32];

	return version_text(TTF_Linked_Version(), text, sizeof(text));
}

#endif

/* A library that is linked has a line here; its version is the one at run time. */
static const struct {
	const char *name;
	const char *(*version)(void);
} libraries[] = {
	{"liblzma", lzma_version_string},
	{"cjson", cJSON_Version},
	{"openssl", openssl_version},
	{"libext2fs", ext2fs_version},
	{"libseccomp", seccomp_lib_version},
	{"ncursesw", ncurses_version},
	{"libdwarf", libdwarf_version},
	{"libpng", png_lib_version},
	{"zlib", zlibVersion},
#ifndef FL_NO_GUI
	{"SDL2", sdl_version},
	{"SDL2_ttf", ttf_version},
#endif
};

const char *version_string(void)
{
	return FL_VERSION;
}

const char *version_compiler(void)
{
	return COMPILER;
}

const char *version_library(unsigned int nr, const char **version)
{
	if (nr >= ARRAY_SIZE(libraries))
		return NULL;
	*version = libraries[nr].version();
	return libraries[nr].name;
}

void version_print(FILE *f)
{
	const char *name, *version;

	fprintf(f, "foliolab %s\n", version_string());
	fprintf(f, "compiler: %s\n", version_compiler());
	for (unsigned int i = 0; (name = version_library(i, &version)); i++)
		fprintf(f, "%s: %s\n", name, version);
}

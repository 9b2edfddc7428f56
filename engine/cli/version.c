#include "cli/version.h"

#include <cjson/cJSON.h>
#include <lzma.h>
#include <openssl/crypto.h>

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

/* A library that is linked has a line here; its version is the one at run time. */
static const struct {
	const char *name;
	const char *(*version)(void);
} libraries[] = {
	{"liblzma", lzma_version_string},
	{"cjson", cJSON_Version},
	{"openssl", openssl_version},
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

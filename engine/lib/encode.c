#include "lib/encode.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>

void encode_entities(FILE *f, const char *text)
{
	for (; *text; text++) {
		const char *entity = *text == '&'   ? "&amp;"
				     : *text == '<' ? "&lt;"
				     : *text == '>' ? "&gt;"
				     : *text == '"' ? "&quot;"
						    : NULL;

		if (entity)
			fputs(entity, f);
		else
			fputc(*text, f);
	}
}

int encode_base64(FILE *f, const void *bytes, size_t n)
{
	unsigned char *text = malloc(4 * (n / 3 + 1) + 1);

	if (!text)
		return -ENOMEM;
	EVP_EncodeBlock(text, bytes, n);
	fputs((const char *)text, f);
	free(text);
	return 0;
}

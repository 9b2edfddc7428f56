/* lab new: a lab that works and passes its check, to start from; lab package. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/lab.h"
#include "lab/textfile.h"

static const char readme[] =
	"# A lab of your own\n"
	"\n"
	"What the lab is about, what one should know before, which sources it rests on.\n"
	"\n"
	"Edit `lab.lua`, then `foliolab lab check .` in this folder. The format and the Lua API "
	"are\n"
	"described in FolioLab's labs/README.md.\n";

static const char lab_lua[] =
	"lab {\n"
	"\ttitle = \"A lab of your own\",\n"
	"\tsummary = \"How far the kernel reads ahead of you.\",\n"
	"\tminutes = 10,\n"
	"\tsteps = {\n"
	"\t\tstep {\n"
	"\t\t\tid = \"first\",\n"
	"\t\t\ttitle = \"How much is cached?\",\n"
	"\t\t\tprepare = function(s)\n"
	"\t\t\t\ts.n = s.rng:int(3, 200)\n"
	"\t\t\t\ts.m = fl.machine { kernel = \"v6.12\", size = \"4m\" }\n"
	"\t\t\t\ts.m:queue((\"read 4k %d\"):format(s.n))\n"
	"\t\t\tend,\n"
	"\t\t\tbrief = [[\n"
	"A program reads **{{n}} pages** from the start of a file, one after the other.\n"
	"]],\n"
	"\t\t\trun = function(s)\n"
	"\t\t\t\ts.m:finish()\n"
	"\t\t\t\tprint(s.m:map {})\n"
	"\t\t\tend,\n"
	"\t\t\tquestions = {\n"
	"\t\t\t\task.number {\n"
	"\t\t\t\t\tid = \"cached\",\n"
	"\t\t\t\t\ttext = \"How many pages are cached?\",\n"
	"\t\t\t\t\tanswer = function(s) return s.m:cached() end,\n"
	"\t\t\t\t\thints = { \"Count the digits of the picture; a line is 64 pages.\" },\n"
	"\t\t\t\t},\n"
	"\t\t\t\task.func {\n"
	"\t\t\t\t\tid = \"pages\",\n"
	"\t\t\t\t\ttext = \"Write `pages(bytes)`: how many pages of 4096 bytes hold so many "
	"bytes.\",\n"
	"\t\t\t\t\tcases = function(s) return { { 1 }, { 4096 }, { 4097 }, { s.n * 4096 } } end,\n"
	"\t\t\t\t\tanswer = function(s, bytes) return (bytes + 4095) // 4096 end,\n"
	"\t\t\t\t},\n"
	"\t\t\t},\n"
	"\t\t\treveal = \"{{n}} pages were read and {{m:cached()}} are cached.\",\n"
	"\t\t},\n"
	"\t},\n"
	"}\n";

static const char answers_lua[] = "return {\n"
				  "\t-- pages of 4096 bytes that hold so many bytes\n"
				  "\tpages = function(bytes)\n"
				  "\t\treturn nil\n"
				  "\tend,\n"
				  "}\n";

static const char solution_lua[] =
	"return {\n"
	"\tsolution = {\n"
	"\t\tcached = computed,\n"
	"\t\tpages = function(bytes) return math.ceil(bytes / 4096) end,\n"
	"\t},\n"
	"\twrong = {\n"
	"\t\tpages = { function(bytes) return bytes // 4096 end },\n"
	"\t},\n"
	"}\n";

static int write_file(const char *dir, const char *name, const char *text, struct fl_error *err)
{
	char path[LAB_PATH];
	struct out o;
	int ret;

	if (!lab_join(path, dir, name))
		return fl_error_set(err, -ENAMETOOLONG, dir, 0, "path too long");
	ret = out_open(&o, path, err);
	if (ret)
		return ret;
	fputs(text, o.f);
	return out_commit(&o, err);
}

int lab_new(const char *name, struct fl_error *err)
{
	static const struct {
		const char *name, *text;
	} files[] = {{"README.md", readme},
		     {"lab.lua", lab_lua},
		     {"answers.lua", answers_lua},
		     {"solution.lua", solution_lua}};
	int ret = 0;

	if (mkdir(name, 0777))
		return fl_error_set(err, -errno, name, 0, "%s, expected the name of a new folder",
				    strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(files) && !ret; i++)
		ret = write_file(name, files[i].name, files[i].text, err);
	if (!ret)
		printf("%s/ is a lab that works. Next:\n"
		       "  foliolab lab check ./%s     prove it\n"
		       "  foliolab lab run ./%s       do it\n",
		       name, name, name);
	return ret;
}

/* ---- package ---- */

/* @text as a Lua string on @f. */
static void print_quoted(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		if ((unsigned char)*text < 0x20)
			fprintf(f, "\\%03d", *text);
		else
			fputc(*text, f);
	}
	fputc('"', f);
}

int lab_package(struct lab_session *s, const char *output, struct fl_error *err)
{
	struct out o;
	char *text;
	size_t len;
	int ret = textfile_read(s->answers, 1 << 20, &text, &len, err);

	if (ret)
		return ret;
	ret = out_open(&o, output, err);
	if (ret) {
		free(text);
		return ret;
	}
	fprintf(o.f, "-- lab %s, student ", s->lab->name);
	print_quoted(o.f, s->lab->student);
	fprintf(o.f, ", seed %08x\nlocal answers = (function(...)\n%s\nend)()\n", s->lab->seed,
		text);
	fprintf(o.f, "answers.student = answers.student or ");
	print_quoted(o.f, s->lab->student);
	fputc('\n', o.f);
	for (unsigned int i = 0; i < s->progress.nr; i++) {
		const struct lab_item *item = &s->progress.items[i];

		if (!item->given)
			continue;
		fprintf(o.f, "answers[\"%s\"] = answers[\"%s\"] or ", item->id, item->id);
		print_quoted(o.f, item->given);
		fputc('\n', o.f);
	}
	fprintf(o.f, "return answers\n");
	free(text);
	return out_commit(&o, err);
}

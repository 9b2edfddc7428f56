/*
 * Every command that prints JSON prints what its schema in tests/schema says, and the schemas
 * refuse what they should.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "schema/json_schema.h"

/* What `foliolab ARGS` prints with exit status @status, which must keep to the schema. */
static void check_status(const char *schema, int status, const char *args)
{
	char command[8192], why[512] = "";
	cJSON *value;

	snprintf(command, sizeof(command), "\"${FOLIOLAB:?}\" %s >out.json", args);
	if (WEXITSTATUS(system(command)) != status)
		fail_msg("it does not end with %d: foliolab %s", status, args);
	value = json_schema_load("out.json");
	if (!value)
		fail_msg("no JSON: foliolab %s", args);
	if (!json_schema_holds(schema, value, why, sizeof(why)))
		fail_msg("foliolab %s: %s", args, why);
	cJSON_Delete(value);
}

static void check_output(const char *schema, const char *args)
{
	check_status(schema, 0, args);
}

static void run_keeps_to_its_schema(void **state)
{
	check_output("run", "run -e 'read 4k 100' --format json");
	check_output("run", "run -e '' --format json --kernel v6.1+ORDER1 --seed 0xffff");
	check_output("run", "run -e 'mmap; touch 0 4k 99; wtouch 0' --format json --perf");
	check_output("run", "run -e 'pwrite 0 2m; fsync' --format json --kernel v6.16 --fs ext4-1k "
			    "--size 0 --fs-size 20g --journal 1m --extent-blocks 1:8192");
	check_output("run", "run -e 'read 1' --format json --measure --data --disk ram");
	check_output("explore", "run -e 'read 4k 99' --cpus 3 --explore 5 --format json");
	check_output("run", "run -e 'read 4k 99; task 2; read 64k 9' --format json --schedule 5");
	check_output("run", "run -e 'pwrite 0 64k; poison 4k; poison 4k; mmap; touch 0 4k 40; "
			    "soft-offline 8k; munmap' --format json --fs tmpfs-always --size 1m");
	check_output("run", "run -e 'pwrite 0 2m; poison 4k; soft-offline 8k' --format json "
			    "--split-fails --early-kill --kernel v6.1 --fs tmpfs-always --size 2m");
	check_output("run", "run -e 'read 1' --format json --data --file \"$TESTDATA/lib.sh\"");
	check_output("run", "run -e 'pread 1m 1; readahead 0 1m; splice 2m 64k' --format json "
			    "--disk nvme --memory 1m --fs ext4-1k --page-size 16k");
}

static void power_cut_keeps_to_its_schema(void **state)
{
	check_output("power-cut", "run --fs ext4 --size 0 --fs-size 1g --power-cut 9 --format json "
				  "-e 'pwrite 0 64k; fsync; pwrite 0 4k; fsync; pwrite 8k 4k 2'");
	check_output("power-cut", "run --fs ext4 --size 0 --fs-size 1g --power-cut 999 "
				  "--format json -e 'pwrite 0 64k; fsync'");
}

static void compare_keeps_to_its_schema(void **state)
{
	check_output("compare", "compare -e 'read 4k 100' --kernel v6.1 --kernel v7.3 "
				"--kernel v6.12 --format json");
	check_output("compare", "compare -e 'read 4k' --perf --kernel v6.1 --kernel v7.3 "
				"--format json");
}

static void sweep_keeps_to_its_schema(void **state)
{
	FILE *f = fopen("a.grid", "w");

	assert_non_null(f);
	fputs("workload w read 4k 16\nkernel v6.1 v7.3\n", f);
	assert_int_equal(fclose(f), 0);
	check_output("sweep", "sweep a.grid --format json");
}

static void kernels_keeps_to_its_schema(void **state)
{
	check_output("kernels", "kernels --format json");
	check_output("kernels", "kernels --knobs --format json");
}

static void ext4_keeps_to_its_schema(void **state)
{
	if (system("PATH=$PATH:/usr/sbin; mkdir -p files/dir; echo 1 >files/a; echo 2 >files/dir/b;"
		   "mkfs.ext4 -q -O verity -d files made.img 8m >mkfs.out 2>&1"))
		skip_because("no mkfs.ext4 here");
	check_output("ext4", "ext4 made.img --format json");
	check_output("ext4", "ext4 made.img:dir --max 1 --kernel v6.16+XAS_ORDER_CLAMP "
			     "--mount-options data=journal --format json");
	check_output("run", "run -e 'read 1' --format json --data --image made.img:dir/b");
}

static void bench_keeps_to_its_schema(void **state)
{
	check_output("bench", "bench dd --format json");
}

static void golden_keeps_to_its_schema(void **state)
{
	check_output("golden", "golden \"$TESTDATA/golden/linux-7.3.public.txt.xz\" --format json");
}

/* With rights or without: the same keys. */
static void host_keeps_to_its_schemas(void **state)
{
	assert_int_equal(system("head -c 100000 /dev/urandom >host.file && sync host.file"), 0);
	check_output("host-orders", "host orders host.file --format json");
	check_output("host-orders", "host orders host.file --map --format json");
	check_output("calibrate", "calibrate --dir . --rounds 2 --dry-run --format json");
	if (system("\"${FOLIOLAB:?}\" host diff -e 'read 4k 2' --file host.file >diff.out 2>&1; "
		   "test $? -lt 2"))
		skip_because("host diff has no profile or file system here");
	check_output("host-diff",
		     "host diff -e 'read 4k 2' --file host.file --format json -o diff.json "
		     "|| test $? = 1; cat diff.json");
}

static void where_and_names_keep_to_their_schemas(void **state)
{
	if (system("\"${FOLIOLAB:?}\" run -e 'read 4k 20' --trace code --trace-code >run.out; "
		   "echo '0 T filemap_read' >map"))
		fail_msg("no recording");
	check_output("where", "where 3 code --format json");
	check_output("names", "names --system-map map --format json");
	check_output("names", "names --system-map map --missing --format json");
}

static void struct_keeps_to_its_schema(void **state)
{
	check_output("struct", "struct folio --format json");
	check_output("struct", "struct machine --expand --format json");
	check_output("struct", "struct trace_event_id --format json");
	check_output("struct-live", "struct --live machine -e 'read 4k' --format json");
	if (system("echo 'struct folio { long flags; int other; } f;' >k.c; "
		   "gcc -g -gdwarf-4 -c k.c && pahole -J k.o"))
		skip_because("no gcc or pahole here");
	check_output("struct-diff", "struct folio --diff --vmlinux k.o --format json");
	check_output("struct-diff", "struct folio --diff --kernel-btf k.o --format json");
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void grades_keep_to_their_schemas(void **state)
{
	static const char *const formats[] = {"json", "gradescope", "prairielearn"};
	static const char *const files[] = {"good.lua", "syntax.lua", "loop.lua"};
	char args[200];

	write_file("good.lua", "return { student = 'ada', expect = 1, guilty = function() "
			       "while true do end end }");
	write_file("syntax.lua", "return {");
	write_file("loop.lua", "while true do end");
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		for (size_t j = 0; j < sizeof(files) / sizeof(*files); j++) {
			snprintf(args, sizeof(args),
				 "grade \"$FL_ROOT/labs/03-the-regression\" --submission %s "
				 "--format %s",
				 files[j], formats[i]);
			check_status(i ? formats[i] : "grade", 1, args);
		}
}

/* @change is put into a good object and must make it a bad one. */
static void refuse(const char *key, const char *json)
{
	cJSON *value = json_schema_load("good.json");
	char why[512] = "";

	assert_non_null(value);
	cJSON_DeleteItemFromObjectCaseSensitive(value, key);
	if (json)
		cJSON_AddItemToObject(value, key, cJSON_Parse(json));
	if (json_schema_holds("run", value, why, sizeof(why)))
		fail_msg("'%s': %s is taken for good", key, json ? json : "nothing");
	assert_true(*why);
	cJSON_Delete(value);
}

static void schemas_refuse_what_they_should(void **state)
{
	assert_int_equal(system("\"${FOLIOLAB:?}\" run -e 'read 4k' --format json >good.json"), 0);
	refuse("ops", NULL);
	refuse("ops", "-1");
	refuse("ops", "1.5");
	refuse("ops", "\"1\"");
	refuse("surprise", "1");
	refuse("folio_alloc_calls", "{\"x\": 1}");
	refuse("folio_alloc_calls", "[]");
	refuse("pages", "{\"read\": 1, \"used\": 1}");
	refuse("sha256", "\"abc\"");
	refuse("fs", "\"btrfs\"");
	refuse("provenance", "{\"sync\": {\"read\": 1}}");
	refuse("data", "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_keeps_to_its_schema),
		cmocka_unit_test(power_cut_keeps_to_its_schema),
		cmocka_unit_test(compare_keeps_to_its_schema),
		cmocka_unit_test(sweep_keeps_to_its_schema),
		cmocka_unit_test(kernels_keeps_to_its_schema),
		cmocka_unit_test(ext4_keeps_to_its_schema),
		cmocka_unit_test(bench_keeps_to_its_schema),
		cmocka_unit_test(golden_keeps_to_its_schema),
		cmocka_unit_test(host_keeps_to_its_schemas),
		cmocka_unit_test(struct_keeps_to_its_schema),
		cmocka_unit_test(where_and_names_keep_to_their_schemas),
		cmocka_unit_test(grades_keep_to_their_schemas),
		cmocka_unit_test(schemas_refuse_what_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

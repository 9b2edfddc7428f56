/*
 * view/test_display.c - the window on a real X server: the program itself under Xvfb.
 *
 * Proves that the screen holds, pixel for pixel, the picture of the same moment made without a
 * window (built-in font, software renderer); that keys typed at the X server do what they do
 * everywhere; that the first window takes 80 % of the display, a later one
 * the place the last one had; and that SIGTERM closes it like its own key does.
 */
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view/gui/gui.h"
#include "view/image/raster.h"
#include "view/views.h"

#define SCREEN_W 1280
#define SCREEN_H 1000
#define TRIES	 300 /* looks, POLL apart, until something has to be there */
#define POLL	 100000

/* xwd's header: as many numbers, most significant byte first. */
enum { XWD_HEADER, XWD_BITS = 11, XWD_LINE = 12, XWD_COLOURS = 19, XWD_NUMBERS = 25 };

static const struct tui_options options;
static pid_t server, program;
static const u8 *screen; /* the server's frame buffer, a file */
static size_t screen_size, line_bytes;

/* ---- processes ---- */

static pid_t start(char *const argv[], int keep)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (keep >= 0)
		dup2(keep, 3);
	if (!freopen("out.txt", "a", stdout) || !freopen("out.txt", "a", stderr))
		_exit(126);
	execvp(argv[0], argv);
	_exit(127);
}

static void stop(pid_t *pid, int signo)
{
	if (*pid > 0) {
		kill(*pid, signo);
		waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

/* How the program ends, as waitpid() has it. */
static int end_of_program(void)
{
	int status = -1;

	for (int i = 0; i < TRIES; i++) {
		if (waitpid(program, &status, WNOHANG) == program) {
			program = 0;
			return status;
		}
		usleep(POLL);
	}
	fail_msg("the program does not end");
	return -1;
}

/* ---- the screen ---- */

static bool map_screen(void)
{
	const u32 *head;
	struct stat st;
	int fd = open("Xvfb_screen0", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		return false;
	head = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (head == MAP_FAILED || ntohl(head[XWD_BITS]) != 32)
		return false;
	line_bytes = ntohl(head[XWD_LINE]);
	screen_size = st.st_size;
	screen = (const u8 *)head + ntohl(head[XWD_HEADER]) + 12 * ntohl(head[XWD_COLOURS]);
	return true;
}

/* Start a display of its own; its number goes to the environment. */
static bool start_server(void)
{
	char *const argv[] = {"Xvfb",	      "-displayfd", "3",	"-screen",   "0",
			      "1280x1000x24", "-r",	    "-noreset", "-nolisten", "tcp",
			      "-fbdir",	      ".",	    NULL};
	char number[16] = ":";
	int fds[2], nr = 0;
	FILE *f;

	assert_int_equal(pipe(fds), 0);
	server = start(argv, fds[1]);
	close(fds[1]);
	f = fdopen(fds[0], "r");
	assert_non_null(f);
	/* To the end of the line: it may come in pieces. */
	if (fscanf(f, "%d", &nr) == 1 && fgetc(f) == '\n')
		snprintf(number, sizeof(number), ":%d", nr);
	fclose(f);
	setenv("DISPLAY", number, 1);
	return number[1] && map_screen();
}

static u32 pixel(int x, int y)
{
	u32 v;

	memcpy(&v, screen + y * line_bytes + 4 * x, sizeof(v));
	return v & 0xffffff;
}

/* Pixels of the screen that are not those of @draw at a place. */
static int differences(const u32 *pixels, const struct tui_window *place)
{
	int n = 0;

	for (int y = 0; y < place->height; y++)
		for (int x = 0; x < place->width; x++)
			n += pixel(place->x + x, place->y + y) != pixels[y * place->width + x];
	return n;
}

/* The screen has to come to show the moment after event @at there. */
static void check_moment(u64 at, const struct tui_window *place)
{
	const struct gui_picture what = {.at = at, .width = place->width, .height = place->height};
	u32 *pixels = malloc((size_t)place->width * place->height * sizeof(*pixels));
	struct font *font = font_builtin();
	struct draw draw = {0};
	int left = -1;

	assert_non_null(pixels);
	assert_int_equal(gui_picture(views_machines(), 1, &options, &what, font, &draw, NULL), 0);
	raster(&draw, pixels, place->width);
	for (int i = 0; i < TRIES && left; i++) {
		left = differences(pixels, place);
		if (left)
			usleep(POLL);
	}
	draw_fini(&draw);
	font_close(font);
	free(pixels);
	if (left && system("cat out.txt"))
		print_message("nothing was said\n");
	if (left)
		fail_msg("%d pixels differ after event %llu", left, (unsigned long long)at);
}

/* ---- the program ---- */

#define OPS "read 4k 100; pread 4m 64k"

static void start_program(void)
{
	char *const argv[] = {getenv("FOLIOLAB"), "replay", "t.flt", "--view", "gui", NULL};

	program = start(argv, -1);
}

static void remember(const struct tui_window *place)
{
	FILE *f;

	assert_int_equal(system("mkdir -p state/foliolab"), 0);
	f = fopen("state/foliolab/window", "w");
	assert_non_null(f);
	fprintf(f, "%d %d %d %d\n", place->x, place->y, place->width, place->height);
	assert_int_equal(fclose(f), 0);
}

static void check_remembered(const struct tui_window *want)
{
	struct tui_window w = {0};
	FILE *f = fopen("state/foliolab/window", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d %d %d %d", &w.x, &w.y, &w.width, &w.height), 4);
	fclose(f);
	assert_memory_equal(&w, want, sizeof(w));
}

/* There is no window manager to do it; once, as SDL takes its time to believe it. */
static void focus(void)
{
	assert_int_equal(system("xdotool search --sync --name FolioLab windowfocus --sync %1 && "
				"sleep 1"),
			 0);
}

static void type(const char *what)
{
	char command[200];

	snprintf(command, sizeof(command), "xdotool %s", what);
	assert_int_equal(system(command), 0);
}

/* ---- tests ---- */

/* The pointer is in the middle of the screen: outside of this one. */
static const struct tui_window aside = {10, 20, 600, 460};

static void test_the_screen_has_the_picture(void **state)
{
	int status;

	remember(&aside);
	start_program();
	check_moment(0, &aside);
	kill(program, SIGTERM);
	status = end_of_program();
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	check_remembered(&aside);
}

static void test_the_first_window_fills_most_of_the_display(void **state)
{
	static const struct tui_window most = {SCREEN_W / 10, SCREEN_H / 10, SCREEN_W * 8 / 10,
					       SCREEN_H * 8 / 10};
	u32 ground;

	assert_int_equal(unlink("state/foliolab/window"), 0);
	start_program();
	for (int i = 0; i < TRIES && !pixel(most.x + 1, most.y + 1); i++)
		usleep(POLL);
	ground = pixel(most.x + 1, most.y + 1);
	assert_int_not_equal(ground, 0);
	assert_int_equal(pixel(most.x + most.width - 1, most.y + most.height - 1), ground);
	assert_int_not_equal(pixel(most.x - 1, most.y + 1), ground);
	kill(program, SIGINT);
	assert_int_equal(WTERMSIG(end_of_program()), SIGINT);
	check_remembered(&most);
}

static void test_keys_of_a_real_keyboard(void **state)
{
	u64 events = views_tape(0)->events;
	int status;

	if (system("command -v xdotool >/dev/null"))
		skip_because("no xdotool here");
	remember(&aside);
	start_program();
	check_moment(0, &aside);
	focus();
	type("key --delay 100 period period period");
	check_moment(3, &aside);
	type("key comma");
	check_moment(2, &aside);
	type("key End");
	check_moment(events, &aside);
	type("key --delay 100 g 1 2 0 Return");
	check_moment(120, &aside);
	type("key q");
	status = end_of_program();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int setup(void **state)
{
	char state_folder[400], asan[1000];

	snprintf(state_folder, sizeof(state_folder), "%s/state", getenv("TMPDIR"));
	/* The program's libraries for the display leak. */
	snprintf(asan, sizeof(asan), "%s:detect_leaks=0", getenv("ASAN_OPTIONS"));
	setenv("ASAN_OPTIONS", asan, 1);
	setenv("FOLIOLAB_FONT", "builtin", 1);
	setenv("SDL_RENDER_DRIVER", "software", 1);
	setenv("XDG_STATE_HOME", state_folder, 1);
	unsetenv("SDL_VIDEODRIVER");
	views_record(0, "v6.12", "nvme", OPS);
	return system("\"$FOLIOLAB\" run -e '" OPS "' --kernel v6.12 --disk nvme --trace t.flt "
		      ">/dev/null");
}

static int teardown(void **state)
{
	stop(&program, SIGKILL);
	stop(&server, SIGTERM);
	views_end();
	return 0;
}

static int stop_program(void **state)
{
	stop(&program, SIGKILL);
	return 0;
}

static void test_without_xvfb(void **state)
{
	skip_because("no Xvfb here");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_the_screen_has_the_picture, stop_program),
		cmocka_unit_test_teardown(test_the_first_window_fills_most_of_the_display,
					  stop_program),
		cmocka_unit_test_teardown(test_keys_of_a_real_keyboard, stop_program),
	};
	const struct CMUnitTest none[] = {cmocka_unit_test(test_without_xvfb)};

	if (system("command -v Xvfb >/dev/null"))
		return cmocka_run_group_tests(none, NULL, NULL);
	if (!start_server()) {
		stop(&server, SIGTERM);
		return 1;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}

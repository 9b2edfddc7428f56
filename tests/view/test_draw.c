/*
 * view/test_draw.c - draw lists and their pixels.
 *
 * Proves that every letter of ASCII has a glyph of its own inside its cell; that nothing is drawn
 * outside of clip and picture whatever is asked for; that lines, hatches, images and texts put
 * their ink where arithmetic says; and that a PNG decoded by libpng holds the rasterized pixels.
 */
#include "unit.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/prng.h"
#include "view/image/picture.h"
#include "view/image/raster.h"

#define W 64
#define H 48

static struct font *font;
static u32 pixels[W * H];

static void show(const struct draw *d)
{
	memset(pixels, 0x5a, sizeof(pixels));
	raster(d, pixels, W);
}

static u32 at(int x, int y)
{
	return pixels[y * W + x];
}

static int ink(u32 colour)
{
	int n = 0;

	for (int i = 0; i < W * H; i++)
		n += pixels[i] == colour;
	return n;
}

/* ---- the font ---- */

static void test_letters_differ_and_fit(void **state)
{
	for (u32 ch = '!'; ch < 127; ch++) {
		const struct glyph *a = font->glyph(font, ch, 16, false);
		int n = 0;

		assert_non_null(a);
		assert_true(a->left >= 0 && a->left + a->w <= 8 && a->top >= 0 &&
			    a->top + a->h <= 16);
		for (int i = 0; i < a->w * a->h; i++)
			n += a->coverage[i] != 0;
		assert_true(n > 0);
		for (u32 other = '!'; other < ch; other++) {
			const struct glyph *b = font->glyph(font, other, 16, false);

			assert_true(memcmp(a->coverage, b->coverage, a->w * a->h));
		}
	}
	assert_null(font->glyph(font, ' ', 16, false));
	assert_int_equal(font->advance(font, 16), 8);
	assert_int_equal(font->advance(font, 33), 16);
}

static void test_utf8(void **state)
{
	const char *s = "a\u00b5\u2026\U0001f600\xff\xe2\x80";
	static const u32 want[] = {'a', 0xb5, 0x2026, 0x1f600, 0xfffd, 0xfffd, 0xfffd, 0};

	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(font_next(&s), want[i]);
	assert_int_equal(font_columns("12 \u00b5s"), 5);
}

/* ---- shapes ---- */

static void test_shapes(void **state)
{
	struct draw d;

	draw_init(&d, font);
	draw_begin(&d, W, H, 0x000001);
	draw_rect(&d, (struct box){2, 3, 10, 5}, 0x111111);
	draw_frame(&d, (struct box){20, 3, 10, 6}, 2, 0x222222);
	draw_line(&d, 0, 20, 9, 20, 0x333333);
	draw_line(&d, 0, 30, 9, 39, 0x444444);
	show(&d);
	assert_int_equal(ink(0x111111), 50);
	assert_int_equal(ink(0x222222), 10 * 6 - 6 * 2);
	assert_int_equal(ink(0x333333), 10);
	assert_int_equal(ink(0x444444), 10);
	for (int i = 0; i < 10; i++)
		assert_int_equal(at(i, 30 + i), 0x444444);
	assert_int_equal(at(63, 47), 0x000001);
	draw_fini(&d);
}

static void test_hatches(void **state)
{
	/* A diagonal meets each row of 12 pixels twice, dots every third pixel of every third row.
	 */
	static const int want[HATCH_NR] = {24, 24, 2 * 24 - 4, 16};
	struct draw d;

	draw_init(&d, font);
	for (int h = 0; h < HATCH_NR; h++) {
		draw_begin(&d, W, H, 0);
		draw_hatch(&d, (struct box){12, 12, 12, 12}, h, 0xffffff);
		show(&d);
		if (h != HATCH_CROSS)
			assert_int_equal(ink(0xffffff), want[h]);
		else
			assert_in_range(ink(0xffffff), 36, 48);
	}
	draw_fini(&d);
}

static void test_images_are_stretched_without_smoothing(void **state)
{
	static const u32 two[] = {0x0000aa, 0x00bb00};
	struct draw d;

	draw_init(&d, font);
	draw_begin(&d, W, H, 0);
	draw_image(&d, (struct box){0, 0, 20, 10}, two, 2, 1);
	show(&d);
	assert_int_equal(ink(0x0000aa), 100);
	assert_int_equal(ink(0x00bb00), 100);
	assert_int_equal(at(9, 9), 0x0000aa);
	assert_int_equal(at(10, 0), 0x00bb00);
	draw_fini(&d);
}

/* ---- text ---- */

static void test_texts_are_cut_with_dots(void **state)
{
	struct draw d;

	draw_init(&d, font);
	draw_begin(&d, W, H, 0);
	assert_int_equal(
		draw_text(&d, (struct box){0, 0, 64, 16}, 16, 0, ALIGN_LEFT, 1, "eight888"), 64);
	assert_int_equal(
		draw_text(&d, (struct box){0, 0, 63, 16}, 16, 0, ALIGN_LEFT, 1, "eight888"), 56);
	assert_string_equal(draw_text_of(&d, &d.commands[0]), "eight888");
	assert_string_equal(draw_text_of(&d, &d.commands[1]), "eight8\u2026");
	draw_text(&d, (struct box){0, 20, 64, 16}, 16, 0, ALIGN_RIGHT, 1, "ab");
	assert_int_equal(d.commands[2].box.x, 48);
	draw_text(&d, (struct box){0, 20, 64, 16}, 16, 0, ALIGN_MIDDLE, 1, "ab");
	assert_int_equal(d.commands[3].box.x, 24);
	draw_fini(&d);
}

static void test_words_wrap(void **state)
{
	static const char *const want[] = {"one two", "three", "fourfive", "six"};
	struct draw d;

	draw_init(&d, font);
	draw_begin(&d, W, 200, 0);
	assert_int_equal(
		draw_wrap(&d, (struct box){0, 0, 64, 200}, 16, 0, 1, "one two three fourfivesix"),
		4 * 20);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_string_equal(draw_text_of(&d, &d.commands[i]), want[i]);
	draw_fini(&d);
}

/* ---- nothing outside ---- */

static int some(struct prng *p, int n)
{
	return (int)prng_below(p, n) - n / 4;
}

static void test_nothing_is_drawn_outside(void **state)
{
	u32 *big = malloc((W + 8) * (H + 8) * sizeof(*big));
	const u32 image[4] = {1, 2, 3, 4};
	struct prng p;
	struct draw d;

	prng_seed(&p, 7);
	draw_init(&d, font);
	for (unsigned long n = soak_count(20000); n; n--) {
		struct box b = {some(&p, 100), some(&p, 100), some(&p, 100), some(&p, 100)};
		struct box clip = {some(&p, 80), some(&p, 80), some(&p, 80), some(&p, 80)};

		draw_begin(&d, W, H, 0);
		draw_clip(&d, clip);
		clip = d.clip;
		draw_rect(&d, b, 9);
		draw_frame(&d, b, 2, 9);
		draw_line(&d, b.x, b.y, b.w, b.h, 9);
		draw_hatch(&d, b, prng_below(&p, HATCH_NR), 9);
		draw_text(&d, b, 16, 0, prng_below(&p, 3), 9, "clipped text");
		draw_wrap(&d, b, 16, 0, 9, "some words to wrap");
		draw_image(&d, b, image, 2, 2);
		memset(big, 0xff, (W + 8) * (H + 8) * sizeof(*big));
		raster(&d, big + 4 * (W + 8) + 4, W + 8);
		for (int y = 0; y < H + 8; y++)
			for (int x = 0; x < W + 8; x++) {
				u32 v = big[y * (W + 8) + x];

				if (!box_has((struct box){4, 4, W, H}, x, y))
					assert_int_equal(v, 0xffffffff);
				else if (!box_has(clip, x - 4, y - 4))
					assert_int_equal(v, 0);
			}
	}
	draw_fini(&d);
	free(big);
}

/* ---- PNG ---- */

static void test_png_holds_the_pixels(void **state)
{
	png_image image = {.version = PNG_IMAGE_VERSION};
	FILE *f = fopen("t.png", "w");
	struct draw d;
	u8 *rgb;

	draw_init(&d, font);
	draw_begin(&d, W, H, 0x102030);
	draw_text(&d, (struct box){0, 0, W, 16}, 16, DRAW_BOLD, ALIGN_LEFT, 0xfedcba, "PNG");
	draw_rect(&d, (struct box){10, 20, 30, 10}, 0x00ff7f);
	show(&d);
	assert_int_equal(picture_png(&d, f), 0);
	assert_int_equal(fclose(f), 0);
	assert_true(png_image_begin_read_from_file(&image, "t.png"));
	assert_int_equal(image.width, W);
	assert_int_equal(image.height, H);
	image.format = PNG_FORMAT_RGB;
	rgb = malloc(PNG_IMAGE_SIZE(image));
	assert_true(png_image_finish_read(&image, NULL, rgb, 0, NULL));
	for (int i = 0; i < W * H; i++)
		assert_int_equal((u32)rgb[3 * i] << 16 | rgb[3 * i + 1] << 8 | rgb[3 * i + 2],
				 pixels[i]);
	free(rgb);
	draw_fini(&d);
}

static int open_font(void **state)
{
	font = font_builtin();
	return font ? 0 : -1;
}

static int close_font(void **state)
{
	font_close(font);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_letters_differ_and_fit),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_hatches),
		cmocka_unit_test(test_images_are_stretched_without_smoothing),
		cmocka_unit_test(test_texts_are_cut_with_dots),
		cmocka_unit_test(test_words_wrap),
		cmocka_unit_test(test_nothing_is_drawn_outside),
		cmocka_unit_test(test_png_holds_the_pixels),
	};

	return cmocka_run_group_tests(tests, open_font, close_font);
}

#include "lab/lab_image.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/textfile.h"

static int out_of_memory(struct fl_error *err)
{
	return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
}

/* ---- one image ---- */

/* Write the blocks of @bytes that are not all zeros: the rest is a hole. */
static int write_sparse(int fd, const char *bytes, size_t len)
{
	static const char zeros[4096];

	if (ftruncate(fd, len))
		return -errno;
	for (size_t at = 0, n; at < len; at += n) {
		n = min(len - at, sizeof(zeros));
		if (!memcmp(bytes + at, zeros, n))
			continue;
		if (pwrite(fd, bytes + at, n, at) != (ssize_t)n)
			return errno ? -errno : -EIO;
	}
	return 0;
}

/* A descriptor of a file nobody else has, with the image in it. */
static int unpack(const char *path, struct fl_error *err)
{
	char *bytes;
	size_t len;
	int fd, ret = textfile_read(path, LAB_IMAGE_BYTES, &bytes, &len, err);

	if (ret)
		return ret;
	if (len > LAB_IMAGE_BYTES) {
		free(bytes);
		return fl_error_set(err, -E2BIG, path, 0, "too large, expected at most %u bytes",
				    LAB_IMAGE_BYTES);
	}
	fd = memfd_create("image", MFD_CLOEXEC);
	ret = fd < 0 ? -errno : write_sparse(fd, bytes, len);
	free(bytes);
	if (!ret)
		return fd;
	if (fd >= 0)
		close(fd);
	return fl_error_set(err, ret, path, 0, "%s, expected room for the image", strerror(-ret));
}

static int load_file(struct lab_images *images, struct ext4_image *image, const char *name,
		     const char *path, struct fl_error *err)
{
	struct lab_image_file *p = realloc(images->files, (images->nr + 1) * sizeof(*p));
	int ret;

	if (!p)
		return out_of_memory(err);
	images->files = p;
	p += images->nr;
	if (asprintf(&p->word, "%s:%s", name, path) < 0)
		return out_of_memory(err);
	ret = backing_load(image, path, LAB_IMAGE_FILE_BYTES, &p->backing, err);
	if (ret)
		free(p->word);
	else
		images->nr++;
	return ret;
}

static int load_files(struct lab_images *images, struct ext4_image *image, const char *name,
		      struct fl_error *err)
{
	struct ext4_image_list list;
	int ret = ext4_image_walk(image, "", LAB_IMAGE_FILES, &list, err);

	if (ret)
		return ret;
	if (list.more)
		ret = fl_error_set(err, -E2BIG, name, 0, "more than %d files, expected fewer",
				   LAB_IMAGE_FILES);
	for (size_t i = 0; i < list.nr && !ret; i++)
		ret = load_file(images, image, name, list.entries[i].path, err);
	ext4_image_list_fini(&list);
	return ret;
}

static int load_image(struct lab_images *images, const char *dir, const char *name,
		      struct fl_error *err)
{
	struct ext4_image *image;
	char path[4096];
	int ret;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return fl_error_set(err, -ENAMETOOLONG, dir, 0, "path too long");
	ret = unpack(path, err);
	if (ret < 0)
		return ret;
	ret = ext4_image_open_fd(path, ret, &image, err);
	if (ret)
		return ret;
	ret = load_files(images, image, name, err);
	ext4_image_close(image);
	return ret;
}

/* ---- a folder ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len > n && !strcmp(text + len - n, end);
}

static int is_image(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       (ends_with(entry->d_name, ".img") || ends_with(entry->d_name, ".img.xz"));
}

int lab_images_open(const char *dir, struct lab_images *ret, struct fl_error *err)
{
	struct dirent **names;
	int nr, error = 0;

	*ret = (struct lab_images){0};
	nr = scandir(dir, &names, is_image, alphasort);
	if (nr < 0)
		return 0; /* whoever reads lab.lua says what is wrong with the folder */
	for (int i = 0; i < nr; i++) {
		if (!error)
			error = load_image(ret, dir, names[i]->d_name, err);
		free(names[i]);
	}
	free(names);
	if (error)
		lab_images_fini(ret);
	return error;
}

void lab_images_fini(struct lab_images *images)
{
	for (size_t i = 0; i < images->nr; i++) {
		free(images->files[i].word);
		backing_fini(&images->files[i].backing);
	}
	free(images->files);
	*images = (struct lab_images){0};
}

const struct lab_image_file *lab_images_find(const struct lab_images *images, const char *word)
{
	const char *path = strchr(word, ':');

	for (size_t i = 0; path && i < images->nr; i++) {
		const struct lab_image_file *f = &images->files[i];
		size_t len = path + 1 - word;

		if (!strncmp(f->word, word, len) &&
		    !strcmp(f->word + len, path + 1 + (path[1] == '/')))
			return f;
	}
	return NULL;
}

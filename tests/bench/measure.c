/*
 * measure OUT COMMAND [ARGUMENT...] - run a command; "SECONDS PEAK_MB" goes to the file OUT.
 *
 * The wall clock from fork to exit and the largest resident size of the command alone. The exit
 * status is the command's, 125 if it could not be run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CANNOT_RUN 125

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int complain(const char *what)
{
	fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
	return CANNOT_RUN;
}

static int report(const char *path, double seconds, const struct rusage *usage)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return complain(path);
	fprintf(f, "%.6f %.1f\n", seconds, (double)usage->ru_maxrss * 1024 / 1e6);
	return fclose(f) ? complain(path) : 0;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double start;
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: measure OUT COMMAND [ARGUMENT...]\n");
		return CANNOT_RUN;
	}
	start = now();
	pid = fork();
	if (pid < 0)
		return complain("fork");
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(complain(argv[2]));
	}
	if (wait4(pid, &status, 0, &usage) < 0)
		return complain("wait4");
	if (report(argv[1], now() - start, &usage))
		return CANNOT_RUN;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CANNOT_RUN;
}

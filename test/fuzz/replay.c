/* SPDX-License-Identifier: ISC */
/*
 * Runs a fuzz target over the files named, and over those in the directories
 * named, so that its corpus is a test without a fuzzer.  Exit status 0: no
 * findings; 2: a file could not be read.  A finding aborts and prints the name
 * of its file to stderr.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char *volatile current = "";
static size_t files;

static void
name_it(int sig)
{
	ssize_t n = write(2, current, strlen(current));

	n += write(2, ": a finding\n", 12);
	_exit(n > 0 ? 128 + sig : 2);
}

/* The bytes in a block of exactly their size, so that an overrun shows. */
static int
replay_file(const char *path)
{
	uint8_t *data = NULL, *p;
	size_t n = 0, cap = 0, k;
	FILE *f = fopen(path, "rb");

	if (f == NULL)
		return -1;
	do {
		cap = cap == 0 ? 4096 : cap * 2;
		p = realloc(data, cap);
		if (p == NULL)
			abort();
		data = p;
		k = fread(data + n, 1, cap - n, f);
		n += k;
	} while (n == cap);
	k = (size_t)ferror(f);
	fclose(f);
	p = malloc(n > 0 ? n : 1);
	if (p == NULL)
		abort();
	memcpy(p, data, n);
	free(data);
	current = path;
	if (k == 0)
		LLVMFuzzerTestOneInput(p, n);
	free(p);
	files++;
	return k == 0 ? 0 : -1;
}

static int
replay_dir(DIR *dir, const char *path)
{
	struct dirent *d;
	char name[4096];
	int rc = 0, n;

	while ((d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		n = snprintf(name, sizeof(name), "%s/%s", path, d->d_name);
		if (n < 0 || (size_t)n >= sizeof(name) ||
		    replay_file(name) == -1)
			rc = -1;
	}
	return rc;
}

int
main(int argc, char **argv)
{
	int i, rc, status = 0;
	DIR *dir;

	signal(SIGABRT, name_it);
	signal(SIGSEGV, name_it);
	for (i = 1; i < argc; i++) {
		dir = opendir(argv[i]);
		rc = dir != NULL ? replay_dir(dir, argv[i]) :
		    replay_file(argv[i]);
		if (dir != NULL)
			closedir(dir);
		if (rc == -1) {
			fprintf(stderr, "%s: cannot be read\n", argv[i]);
			status = 2;
		}
	}
	printf("%zu files\n", files);
	return status;
}

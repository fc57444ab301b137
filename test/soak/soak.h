/* SPDX-License-Identifier: ISC */
/*
 * soak: many clients, most of them hostile, against one `waza serve`,
 * repeatedly; after each scene the resources of the server and its latency are
 * checked.
 */
#ifndef SOAK_H
#define SOAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__GNUC__)
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF(f, a)
#endif

struct soak {
	const char *waza, *self;	/* absolute paths */
	char dir[64];		/* ours: suites, the socket, its TMPDIR */
	char path[96];		/* of the socket */
	pid_t pid;		/* the server's */
	int port;
	int say;		/* its stderr */
	int nofile;		/* how many descriptors it may have; 0: all */
	double scene;		/* seconds of one, at least */
	uint64_t noise;
	unsigned faults;	/* of the scene that is on */
};

/* watch.c: resources of the server.  A member is -1 if it is unknown here. */
struct holds {
	long fds, children, files, kb;
};

void watch_start(struct soak *);
int watch_stop(struct soak *);	/* its exit status, or -1 */
struct holds watch_holds(const struct soak *);
bool watch_alive(const struct soak *);

/*
 * A client in its own process that sends requests at intervals, each time also
 * to a process that only answers, which shows how busy the machine is.
 */
struct probe {
	pid_t pid;
	int stop, told;
};
struct probed {
	unsigned n, lost;	/* answers; questions without one */
	double p50, p99, max;	/* ms */
	double other;		/* p99 of the one that does nothing else */
};

void probe_start(struct probe *, const struct soak *);
struct probed probe_stop(struct probe *);

/* wire.c: a client, a message a line. */
struct evalclient {
	int fd;			/* -1: closed */
	char *in;
	size_t n, cap;
	unsigned replies, errors, notes, over;
	unsigned passed, failed;	/* tasks of the runs that are over */
	bool early;		/* something was told before the answer */
};

void die(const char *what);
double now(void);		/* seconds */
void nap(double seconds);
uint64_t dice(struct soak *);
void complain(struct soak *, const char *fmt, ...) PRINTF(2, 3);
int dial(const struct soak *, bool tcp);
void hang_up(struct evalclient *, bool reset);
bool put(int fd, const char *s, size_t n, double seconds);	/* all of it */
size_t put_some(int fd, const char *s, size_t n);	/* what fits */
bool ask(struct evalclient *, const char *fmt, ...) PRINTF(2, 3);	/* a line */
/* Reads from all until it is enough for all of them; false: it took longer. */
bool hear(struct evalclient *, size_t n, double seconds,
    bool (*enough)(const struct evalclient *));
/* The bytes until the server closes, as a string; NULL: it does not. */
char *last_words(int fd, double seconds);

/* scene.c */
struct scene {
	const char *name;
	void (*play)(struct soak *);
};
extern const struct scene scenes[];	/* up to one without a name */
void scene_suites(const struct soak *);

/* web.c */
void web_slow(struct soak *);
void web_endless(struct soak *);
void web_frames(struct soak *);
void web_pings(struct soak *);
void web_readers(struct soak *);

/* client.c */
void client_suite(const struct soak *);
void client_kinds(struct soak *);
void client_flaps(struct soak *);

/* queue.c */
void queue_runs(struct soak *);

#endif

/* SPDX-License-Identifier: ISC */
/* Sessions: ids, store, expiry, conversation, prompts, files. */
#include "rpc/session.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "io/workspace.h"
#include "rpc/session_internal.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct config set;
static struct rpc rpc;
static struct sessions *all;
static struct err e;
static char dir[] = "/tmp/t_session.XXXXXX";

static void
begin(const char *persist, const struct session_opts *o)
{
	set = config_defaults;
	set.sessions.max = 3;
	set.sessions.idle_seconds = 10;
	if (persist != NULL)
		set.sessions.persist_dir = str_of(persist);
	rpc = (struct rpc){ .setup.settings = &set };
	rpc.loop = loop_new(fake_clock, &e);
	rpc_init(&rpc);
	all = sessions_new(&rpc, o != NULL ? o : &(struct session_opts){ 0 });
}

static void
finish(void)
{
	rpc_fini(&rpc);
	OK(rpc.state == NULL);
	loop_free(rpc.loop);
}

static void
test_ids(void)
{
	char a[SESSION_ID], b[SESSION_ID], when[SESSION_TIME];

	OK(session_make_id(a, &e) == 0 && session_make_id(b, &e) == 0);
	OK(strlen(a) == 36 && strcmp(a, b) != 0);
	OK(a[8] == '-' && a[13] == '-' && a[14] == '4' && a[23] == '-');
	session_time(when, (int64_t)1766658945 * 1000000000 + 5);
	OK(strcmp(when, "2025-12-25T10:35:45Z") == 0);
}

static void
test_store(void)
{
	struct session *s[3], *t;

	begin(NULL, NULL);
	OK(!rpc_busy(&rpc));
	s[0] = session_new(all, (struct str){ 0 }, &e);
	s[1] = session_new(all, (struct str){ 0 }, &e);
	s[2] = session_new(all, (struct str){ 0 }, &e);
	OK(all->n == 3 && session_new(all, (struct str){ 0 }, &e) == NULL);
	OK(e.code == ERR_LIMIT);
	OK(session_find(all, str_of(s[1]->id)) == s[1]);
	OK(session_find(all, STR("x")) == NULL);
	OK(session_find(all, STR("")) == NULL);
	fake_now += 6000;
	session_touch(s[0]);
	OK(all->head == s[1]);
	fake_now += 5000;		/* the others have expired */
	t = session_new(all, (struct str){ 0 }, &e);
	OK(t != NULL && all->n == 2 && all->head == s[0]);
	session_drop(t);
	OK(all->n == 1);
	fake_now += 9000;
	session_expire_later(all);
	while (all->n > 0 && loop_turn(rpc.loop, &e) == 1)
		;
	OK(all->n == 0 && all->head == NULL && all->tail == &all->head);
	finish();
}

/* Ids from clients: any UUID, once. */
static void
test_named(void)
{
	static const char upper[] = "550E8400-E29B-41D4-A716-446655440000",
	    lower[] = "550e8400-e29b-41d4-a716-446655440000";
	unsigned char key[SESSION_KEY];
	struct session *s;
	char id[SESSION_ID];
	size_t i;

	begin(NULL, NULL);
	OK(session_key(str_of(upper), key) && key[0] == 0x55 &&
	    key[1] == 0x0E && key[15] == 0);
	OK(!session_key(STR(""), key) && !session_key(STR("x"), key));
	OK(!session_key(STR("550e8400-e29b-41d4-a716-44665544000"), key));
	OK(!session_key(STR("550e8400-e29b-41d4-a716-4466554400000"), key));
	OK(!session_key(STR("550e8400-e29b-41d4-a716+446655440000"), key));
	OK(!session_key(STR("550e8400-e29b-41d4-a716-44665544000-"), key));
	s = session_new(all, str_of(upper), &e);
	OK(strcmp(s->id, upper) == 0 && session_find(all, str_of(lower)) == s);
	session_drop(s);
	OK(session_find(all, str_of(upper)) == NULL &&
	    !session_has_ended(all, str_of(upper)));
	session_end(session_new(all, str_of(upper), &e));
	OK(session_find(all, str_of(lower)) == NULL &&
	    session_has_ended(all, str_of(lower)));
	for (i = 0; i < SESSION_ENDED_MAX - 1; i++)
		session_end(session_new(all, (struct str){ 0 }, &e));
	OK(session_has_ended(all, str_of(upper)));
	s = session_new(all, (struct str){ 0 }, &e);
	memcpy(id, s->id, sizeof(id));
	session_end(s);		/* the oldest is forgotten */
	OK(!session_has_ended(all, str_of(upper)) &&
	    session_has_ended(all, str_of(id)));
	finish();
}

static void
test_said(void)
{
	struct buf b = { 0 };
	struct session *s;
	size_t i;

	begin(NULL, NULL);
	s = session_new(all, (struct str){ 0 }, &e);
	for (i = 0; i < SESSION_ANSWER_MAX; i++)
		buf_puts(&b, "\xC3\xA9");
	session_remember(s, STR("one"), buf_str(&b));
	OK(s->turns->answered.n <= SESSION_ANSWER_MAX);
	OK(utf8_valid(buf_str(&s->turns->answered)));
	for (i = 0; i < 20; i++)
		session_remember(s, STR("more"), buf_str(&b));
	OK(s->turn_bytes <= SESSION_HISTORY_MAX);
	OK(str_is(buf_str(&s->turns->asked), "more"));	/* the first was dropped */
	buf_free(&b);
	finish();
}

static struct str
man_page(struct arena *a)
{
	struct str text = STR("");

	(void)os_read_file(a, "man/waza-sessions.5", 1 << 20, &text, &e);
	return text;
}

static void
test_prompt(void)
{
	struct session_incident v[2];
	struct session_params p = { .dir = "/w", .incidents = { v, 2 } };
	struct session_turn said = { .next = NULL };
	struct arena a = { 0 };
	struct str s;

	memset(v, 0, sizeof(v));
	v[0].id = STR("a");
	v[0].rule_id = STR("r");
	v[0].message = STR("m {{.Vars.count}}");
	v[0].effort = v[0].severity = -1;
	v[1] = v[0];
	v[1].id = STR("b");
	v[1].effort = 0;
	v[1].uri = STR("f.c");
	s = session_prompt(&a, str_of(session_template), &p, NULL, NULL, &e);
	OK(s.p != NULL && strstr(s.p, "project in\n/w, your working directory"));
	OK(strstr(s.p, "Incidents (2):\n\n1. a: r\n   m {{.Vars.count}}\n\n"
	    "2. b: r (effort trivial)\n   m {{.Vars.count}}\n   In f.c\n\n")
	    != NULL);
	OK(strstr(s.p, "migration") == NULL && strstr(s.p, "User:") == NULL);
	buf_puts(&said.asked, "before");
	buf_puts(&said.answered, "{{.Vars.nothing}}");
	s = session_prompt(&a, STR("{{.Vars.history}}|{{.Vars.source_technology}}"),
	    &p, NULL, &said, &e);
	OK(s.p != NULL && strstr(s.p, "User:\nbefore\nAssistant:\n"
	    "{{.Vars.nothing}}\n\nUser:\n|"));
	buf_free(&said.asked);
	buf_free(&said.answered);
	OK(session_check_template(&a, str_of(session_template), &e) == 0);
	OK(session_check_template(&a, STR("plain"), &e) == 0);
	OK(session_check_template(&a, STR("\n {{.Vars.file}}"), &e) == -1);
	OK(e.line == 2 && e.col == 2);
	s = man_page(&a);
	if (s.n > 0)
		OK(strstr(s.p, session_template) != NULL);
	else
		SKIP("no manual here");
	arena_free(&a);
}

static void
tell(void *arg, const char *msg)
{
	(void)msg;
	++*(int *)arg;
}

static size_t
count(const char *path)
{
	DIR *d = opendir(path);
	size_t n = 0;

	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2;
}

static void
put_file(const char *name, const char *text)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/kept/%s", dir, name);
	(void)os_write_file(path, str_of(text), &e);
}

static void
test_files(void)
{
	char path[64], id[3][SESSION_ID];
	struct session *s;
	int told = 0, i;
	struct session_opts o = { .log = tell, .arg = &told };

	snprintf(path, sizeof(path), "%s/kept", dir);
	begin(path, &o);
	OK(session_restore(all, &e) == 0 && told == 0);
	for (i = 0; i < 3; i++) {
		s = session_new(all, (struct str){ 0 }, &e);
		session_remember(s, STR("asked \x01\n"), STR("answered"));
		s->fixes = i;
		s->used_ns += i;	/* in this order */
		OK(session_save(s, &e) == 0 && session_save(s, &e) == 0);
		memcpy(id[i], s->id, SESSION_ID);
		OK(strcmp(s->id, s->file) != 0);
	}
	OK(count(path) == 3);
	finish();
	OK(count(path) == 3);		/* the files stay */
	put_file("session-00000000-0000-4000-8000-000000000000.json", "{}");
	put_file("session-00000000-0000-4000-8000-000000000001.json", "nope");
	put_file("session-x.json", "nobody's");
	begin(path, &o);
	set.sessions.max = 2;
	OK(session_restore(all, &e) == 0 && told == 3);
	OK(all->n == 2);	/* the longest unused was dropped */
	OK(session_find(all, str_of(id[0])) == NULL);
	s = session_find(all, str_of(id[2]));
	OK(s != NULL && s->fixes == 2 && all->head->fixes == 1);
	OK(s != NULL && str_is(buf_str(&s->turns->asked), "asked \x01\n"));
	session_drop(s);
	OK(count(path) == 4);
	finish();
	begin("/dev/null/no", NULL);
	OK(session_restore(all, &e) == -1);
	finish();
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	RUN(test_ids, test_store, test_named, test_said, test_prompt, test_files);
	OK(workspace_remove(dir, &e) == 0);
	return tap_done();
}

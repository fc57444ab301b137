/* SPDX-License-Identifier: ISC */
/* Masking: every secret is found, in one pass; JSON stays valid. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "lib/mask/mask.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct arena a;

static bool
masks(const struct mask *m, const char *text, const char *want)
{
	return is_text(mask_text(&a, m, str_of(text)), want);
}

static bool
masks_json(const struct mask *m, const char *text, const char *want)
{
	return is_text(mask_json(&a, m, str_of(text)), want);
}

static void
forms(void)
{
	static const struct { const char *text, *want; } rows[] = {
		{ "git clone https://me:hunter2@host/x", "git clone https://me:***@host/x" },
		{ "https://me:p@ss@host:80/a?b@c", "https://me:***@host:80/a?b@c" },
		{ "https://ghp_0123456789abcdefghij@host", "https://***@host" },
		{ "ssh://git@host/x http://host:80/a@b", "ssh://git@host/x http://host:80/a@b" },
		{ "{\"u\":\"amqp://a:b@c\"}", "{\"u\":\"amqp://a:***@c\"}" },
		{ "curl -u me:pw x; curl -ume:pw", "curl -u me:*** x; curl -ume:***" },
		{ "curl --user=me:pw --proxy-user 'a:b c'", "curl --user=me:*** --proxy-user 'a:***'" },
		{ "docker run -u 1000:1000 -u name x", "docker run -u 1000:1000 -u name x" },
		{ "curl -u me:\"p w\" x -ume:'b'", "curl -u me:\"***\" x -ume:'***'" },
		{ "-u \"me:\" \"x\" -u me: \"x\"", "-u \"me:\" \"x\" -u me: \"x\"" },
		{ "mysql -uroot -pa1 db", "mysql -uroot -p*** db" },
		{ "cd x && A=b sudo /bin/mysqldump db -p'a b'", "cd x && A=b sudo /bin/mysqldump db -p'***'" },
		{ "docker exec -it c mysql -p12 -e x", "docker exec -it c mysql -p*** -e x" },
		{ "kubectl exec p -- mariadb -pa1", "kubectl exec p -- mariadb -p***" },
		{ "mysql -p db; mysql -p$P -p", "mysql -p db; mysql -p$P -p" },
		{ "mysql -pa1\nmkdir -pv x", "mysql -p***\nmkdir -pv x" },
		{ "sshpass -p a1 ssh -p22 h", "sshpass -p *** ssh -p22 h" },
		{ "sshpass -v -pa1 ssh -p 22 h", "sshpass -v -p*** ssh -p 22 h" },
		{ "docker run -p8080:80 --name mysql -p3306:3306", "docker run -p8080:80 --name mysql -p3306:3306" },
		{ "docker run --name mysql -p3306 x", "docker run --name mysql -p3306 x" },
		{ "docker run mysql -p3306:3306", "docker run mysql -p3306:3306" },
		{ "psql -h mysql -p5432 x", "psql -h mysql -p5432 x" },
		{ "mkdir -pv mysql; cp -pr a b", "mkdir -pv mysql; cp -pr a b" },
		{ "mysql | grep -pa1", "mysql | grep -pa1" },
		{ "x --password=a1 --api-token b2 --token", "x --password=*** --api-token *** --token" },
		{ "x --token \"a b\" --token $T --password --v", "x --token \"***\" --token $T --password --v" },
		{ "x --max-tokens 4096 --tokens 5 --token-file f", "x --max-tokens 4096 --tokens 5 --token-file f" },
		{ "API_KEY=k1 x KEYS=2 PASSWORD=$P", "API_KEY=*** x KEYS=2 PASSWORD=$P" },
		{ "-H 'Authorization: Bearer k' -H 'A: b'", "-H 'Authorization: ***' -H 'A: b'" },
		{ "X-Api-Key: k\nnext", "X-Api-Key: ***\nnext" },
		{ "--password", "--password" }, { "-u", "-u" }, { "://", "://" },
		{ "--password=", "--password=" }, { "--user :x", "--user :x" },
	};
	struct mask m = { .forms = true };
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		printf("# %s\n", rows[i].text);
		OK(masks(&m, rows[i].text, rows[i].want));
	}
	OK(masks_json(&m, "{\"a\":\"-u b:\\\"c\"}", "{\"a\":\"-u b:\\\"c\"}"));
	OK(masks_json(&m, "{\"a\":\"x --password 'b\\nc'\"}", "{\"a\":\"x --password '***'\"}"));
	mask_add_forms(&a, &m, STR("--token hunter2222 --password abc"));
	OK(masks(&m, "abc hunter2222", "abc ***"));
}

/* -p is a password only of few programs, and only as their own option. */
static void
short_options(void)
{
	static const struct { const char *text, *want; } rows[] = {
		/* the quote ends a quotation */
		{ "Use `mysql -p` to log in, then run `SHOW TABLES`", NULL },
		{ "Use `mysql -p`, or `cd x; mysql -p` to log in, then `x`", NULL },
		{ "\"mysql -p\" prompts for it; nothing more", NULL },
		{ "'mysql -p'y 'z' \"sshpass -p\"x\"", NULL },
		{ "{\"a\":\"cd x && mysql -p\",\"b\":\"c\"}", NULL },
		{ "mysql -p. Then -p, -p'", NULL }, { "mysql -p\\\n db", NULL },
		{ "Run mysql -p. Then", NULL },
		{ "`mysql -p'a b'` or `mysql -p\"c\" x`", "`mysql -p'***'` or `mysql -p\"***\" x`" },
		{ "mysql -p'abc def", "mysql -p'*** def" },
		/* another program */
		{ "find /etc/mysql -print; find /var/lib/mysql -type f -prune", NULL },
		{ "ssh mysql -p2222; nmap mysql -p3306; ssh -l mysql h -p2222", NULL },
		{ "the mysql dir with cp -pr a b", NULL },
		{ "the `mysql` dir, `mysql`, `cp -pr a b`", NULL },
		{ "sudo -u mysql psql -p5432", NULL }, { "cp /bin/mysql -pr x", NULL },
		{ "docker exec mysql psql -p5432; docker logs mysql -p1", NULL },
		{ "docker run -it mysql -p3306; docker run --name mysql -p1 mysql", NULL },
		{ "ssh \\\n mysql -p2222", NULL }, { "-h mysql -p3306", NULL },
		{ "mysqlx -pa1 notmysql -pa1", NULL }, { "(mysql) cp -pr a", NULL },
		{ "mysql -e \"cp -pr a b\"", NULL }, { "mysql -e $(cp -pr a b)", NULL },
		/* wrappers */
		{ "sudo -n -u  root mysql -pa1", "sudo -n -u  root mysql -p***" },
		{ "env -u X A='b c' nice -n 5 mysql -pa1", "env -u X A='b c' nice -n 5 mysql -p***" },
		{ "exec nohup time -p /usr/bin/mysql -pa1", "exec nohup time -p /usr/bin/mysql -p***" },
		{ "docker exec -itu root mysql mysql -pa1", "docker exec -itu root mysql mysql -p***" },
		{ "docker compose -f y exec -T --user=a db mysql -pa1",
		    "docker compose -f y exec -T --user=a db mysql -p***" },
		{ "docker run --rm -it -e A=b mysql:8 mysql -pa1",
		    "docker run --rm -it -e A=b mysql:8 mysql -p***" },
		{ "kubectl -n x exec p -c mysql -- mysql -pa1", "kubectl -n x exec p -c mysql -- mysql -p***" },
		{ "sshpass -P x -pa1 ssh -p 22 h mysql -pb2", "sshpass -P x -p*** ssh -p 22 h mysql -p***" },
		{ "sshpass -p \\\"a b\\\" ssh", "sshpass -p \\\"***\\\" ssh" },
		{ "if timeout 5 mysql -pa1; then mysql -pb2; fi", "if timeout 5 mysql -p***; then mysql -p***; fi" },
		/* where commands start */
		{ "$ mysql -pa1\nme@h:~# mysql -pb2\n+ mysql -pc3", "$ mysql -p***\nme@h:~# mysql -p***\n+ mysql -p***" },
		{ "- run: mysql -pa1\n- mysql -pb2", "- run: mysql -p***\n- mysql -p***" },
		{ "sh -c 'cd x && mysql -pa1' sh -c \"mysql -pb2\"", "sh -c 'cd x && mysql -p***' sh -c \"mysql -p***\"" },
		{ "x([\"mysql\", \"-u\", \"root\", \"-pa1\"])", "x([\"mysql\", \"-u\", \"root\", \"-p***\"])" },
		{ "['sudo','mysql','-pa1']", "['sudo','mysql','-p***']" },
		/* where they end */
		{ "mysql -u root \\\n\t-pa1 \\\n\t-pb2", "mysql -u root \\\n\t-p*** \\\n\t-p***" },
		{ "mysql -e \"a; b | c\nd\" -pa1", "mysql -e \"a; b | c\nd\" -p***" },
		{ "mysql -h$(x; y) -pa1; (mysql -pa1)", "mysql -h$(x; y) -p***; (mysql -p***)" },
		{ "mysql --token abc -pa1 '-pb2'", "mysql --token *** -p*** '-p***'" },
		{ "{\"a\":\"mysql -e \\\"a;b\\\" -p\\\"a b\\\" x\"}",
		    "{\"a\":\"mysql -e \\\"a;b\\\" -p\\\"***\\\" x\"}" },
		/* names */
		{ "mysqlsh -pa; mysql_upgrade -pa; mariadb-check -pa", "mysqlsh -p***; mysql_upgrade -p***; mariadb-check -p***" },
		{ "mariadb-import -pa; mariadb-show -pa", "mariadb-import -p***; mariadb-show -p***" },
	};
	struct mask m = { .forms = true };
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		printf("# %s\n", rows[i].text);
		OK(masks(&m, rows[i].text, rows[i].want != NULL ?
		    rows[i].want : rows[i].text));
	}
}

static void
arguments(void)
{
	static const struct {
		const char *command, *argv[5], *want;	/* of the last */
	} rows[] = {
		{ "mysql", { "-uroot", "-pa b" }, "a b" },
		{ "/bin/mysql", { "-p", "db" }, "" },
		{ "mysql", { "-p" }, "" }, { "cp", { "mysql", "-pr" }, "" },
		{ "sshpass", { "-v", "-p", "-a1" }, "-a1" },
		{ "sshpass", { "-pa1" }, "a1" },
		{ "sshpass", { "-p", "x", "ssh", "-p", "22" }, "" },
		{ "docker", { "exec", "c", "mysql", "", "-pa1" }, "a1" },
	};
	const char *argv[6];
	size_t i, n;

	for (i = 0; i < COUNTOF(rows); i++) {
		for (n = 0; n < 5 && rows[i].argv[n] != NULL; n++)
			argv[n] = rows[i].argv[n];
		argv[n] = NULL;
		printf("# %s %s\n", rows[i].command, argv[n - 1]);
		OK(str_is(mask_argument(rows[i].command, argv, n - 1),
		    rows[i].want));
	}
}

static void
texts(void)
{
	struct mask m = { 0 };
	struct str text = STR("nothing");

	OK(mask_text(&a, &m, text).p == text.p);
	OK(mask_text(&a, &m, (struct str){ NULL, 0 }).n == 0);
	mask_add(&a, &m, STR("abc"));		/* too short */
	OK(m.n == 0);
	mask_add(&a, &m, STR("secret"));
	mask_add(&a, &m, STR("secret"));
	OK(m.n == 1);
	OK(mask_text(&a, &m, text).p == text.p);
	OK(masks(&m, "secret", "***"));
	OK(masks(&m, "a secret, secretsecret: secre", "a ***, ******: secre"));
	/* secrets that contain or overlap each other */
	mask_add(&a, &m, STR("secretary"));
	mask_add(&a, &m, STR("arythmia"));
	OK(masks(&m, "secretary secret", "*** ***"));
	OK(masks(&m, "secretarythmia!", "***!"));
	OK(masks(&m, "arythmi secretaryth", "arythmi ***th"));
}

static void
quotes(void)
{
	struct mask m = { 0 };

	mask_add(&a, &m, STR("pa\"ss\\wd"));
	OK(masks(&m, "it is pa\"ss\\wd", "it is ***"));
	OK(masks(&m, "{\"a\":\"pa\\\"ss\\\\wd\"}", "{\"a\":\"***\"}"));
	OK(masks_json(&m, "{\"a\":\"pa\\\"ss\\\\wd\"}", "{\"a\":\"***\"}"));
}

static void
values(void)
{
	struct mask m = { 0 };
	struct str text = STR("{ \"a\" : 1 }");

	mask_add(&a, &m, STR("12345678"));
	mask_add(&a, &m, STR("true"));
	OK(mask_json(&a, &m, text).p == text.p);
	OK(masks_json(&m, "{\"n\":12345678,\"m\":[1.5,-912345678e2,null]}",
	    "{\"n\":\"***\",\"m\":[1.5,\"***\",null]}"));
	OK(masks_json(&m, "{\"a 12345678\":{\"b\":\"x12345678\"}}",
	    "{\"a ***\":{\"b\":\"x***\"}}"));
	OK(masks_json(&m, "[true,\"true\"]", "[true,\"***\"]"));
	OK(masks_json(&m, "no JSON 12345678", "no JSON ***"));
}

static void
names(void)
{
	static const char *const env[] = { "PATH=/usr/bin:/usr/local/bin",
		"A_TOKEN=aaaaaaaa", "KEY=bbbbbbbb", "MONKEY=cccccccc",
		"B_SECRET=short", "NOTHING", "C_PASSWORD=d=dd=ddd",
		"GOOGLE_APPLICATION_CREDENTIALS=eeeeeeee", NULL };
	struct mask m = { 0 };

	mask_add_env(&a, &m, env);
	OK(m.n == 4);
	OK(masks(&m, "aaaaaaaa bbbbbbbb cccccccc short d=dd=ddd eeeeeeee "
	    "/usr/bin", "*** *** cccccccc short *** *** /usr/bin"));
}

/* A text full of secrets costs no more than any other. */
static void
full(void)
{
	struct mask m = { 0 };
	struct buf b = { 0 };
	struct str got;
	int i;

	mask_add(&a, &m, STR("absent from it"));
	mask_add(&a, &m, STR("0123456789"));
	for (i = 0; i < 1000000; i++)
		buf_puts(&b, "0123456789");
	got = mask_text(&a, &m, buf_str(&b));
	OK(got.n == 3000000 && memcmp(got.p, "******", 6) == 0);
	buf_free(&b);
}

/* Nor does one line of references to variables: squared, it is hours. */
static void
references(void)
{
	struct mask m = { .forms = true };
	struct buf b = { 0 };
	struct str got;
	int i;

	for (i = 0; i < 500000; i++)
		buf_puts(&b, "authorization:$ ");
	got = mask_text(&a, &m, buf_str(&b));
	OK(got.p == b.p && got.n == b.n);
	buf_free(&b);
}

/* Nor do options: each looks back at a few bytes only. */
static void
many_options(void)
{
	static const char *const parts[] = { "-p ", "mysql -p' ", "-pa ",
		"sudo -p a ", "mysql -p\"$ ", ";a(\"-px" };
	struct mask m = { .forms = true };
	struct buf b = { 0 };
	struct str got;
	size_t i;

	for (i = 0; i < COUNTOF(parts); i++) {
		while (b.n < 1 << 20)
			buf_puts(&b, parts[i]);
		got = mask_text(&a, &m, buf_str(&b));
		OK(got.p == b.p && got.n == b.n);
		b.n = 0;
	}
	while (b.n < 1 << 20)
		buf_puts(&b, "mysql -pa;");
	got = mask_text(&a, &m, buf_str(&b));
	OK(got.n == b.n / 10 * 12);
	buf_free(&b);
}

int
main(void)
{
	RUN(texts, forms, short_options, arguments, quotes, values, names,
	    full, references, many_options);
	arena_free(&a);
	return tap_done();
}

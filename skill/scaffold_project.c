/* SPDX-License-Identifier: ISC */
/* The files around the suites of a project. */
#include "skill/scaffold.h"

#include "lib/yaml/yaml_out.h"

const char scaffold_skill_ignore[] = "results/\nresults.json\n.waza-cache/\n"
    "coverage.txt\n";

static void
put(struct buf *b, const char *key, struct str value)
{
	buf_puts(b, key);
	yaml_put_word(b, value);
	buf_putc(b, '\n');
}

struct str
scaffold_settings(struct arena *a, const struct scaffold_project *p)
{
	struct buf b = { 0 };

	scaffold_schema_line(&b, p->schemas, "config");
	buf_puts(&b, "# Settings of this project, see waza-config(5).\n"
	    "paths:\n");
	put(&b, "  skills: ", p->skills);
	put(&b, "  evals: ", p->evals);
	put(&b, "  results: ", p->results);
	buf_puts(&b, "defaults:\n");
	put(&b, "  engine: ", p->executor);
	if (p->model.n > 0)
		put(&b, "  model: ", p->model);
	buf_puts(&b, "  timeout: 300\n");
	return arena_take(a, &b);
}

struct str
scaffold_ignore(struct arena *a, struct str results)
{
	return arena_fmt(a, "%.*s/\n.waza-cache/\ncoverage.txt\n",
	    STRF(results));
}

struct str
scaffold_workflow(struct arena *a, struct str suites, struct str results)
{
	return arena_fmt(a,
	    "# Runs the suites for every pull request.\n"
	    "name: evaluate skills\n"
	    "on:\n"
	    "  pull_request:\n"
	    "    branches: [main]\n"
	    "  workflow_dispatch:\n"
	    "permissions:\n"
	    "  contents: read\n"
	    "jobs:\n"
	    "  evaluate:\n"
	    "    runs-on: ubuntu-latest\n"
	    "    steps:\n"
	    "      - uses: actions/checkout@v4\n"
	    "      # install waza here: build it, or download a release of "
	    "yours\n"
	    "      - name: Validate\n"
	    "        run: waza validate --strict %.*s\n"
	    "      - name: Check the skills\n"
	    "        run: waza check\n"
	    "      # the executor mock costs nothing; remove it to ask the "
	    "agent\n"
	    "      - name: Run\n"
	    "        run: waza run --discover=%.*s --executor mock --output-dir "
	    "%.*s\n"
	    "      - uses: actions/upload-artifact@v4\n"
	    "        if: always()\n"
	    "        with:\n"
	    "          name: results\n"
	    "          path: %.*s/\n", STRF(suites), STRF(suites),
	    STRF(results), STRF(results));
}

struct str
scaffold_readme(struct arena *a, const struct scaffold_project *p)
{
	return arena_fmt(a,
	    "# Skills and their evaluations\n\n"
	    "| directory | holds |\n| --- | --- |\n"
	    "| `%.*s` | skills, one directory each |\n"
	    "| `%.*s` | suites, one directory per skill |\n"
	    "| `%.*s` | results; not in the repository |\n\n"
	    "```sh\n"
	    "waza new skill NAME     # a skill and its suite\n"
	    "waza new eval NAME      # a suite for a skill that exists\n"
	    "waza check              # are the skills ready?\n"
	    "waza run                # run all suites\n"
	    "waza coverage           # which skills have no suite?\n"
	    "```\n", STRF(p->skills), STRF(p->evals), STRF(p->results));
}

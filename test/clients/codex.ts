import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, isPerson, problemOf, secondTurnWords, toolTask } from './client.ts';
import { eachModel, fileWith, type OneModel } from './agent.ts';

const task = toolTask('exec_command', { cmd: 'echo made by codex > codex.txt' });
const personSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};

/**
 * Codex CLI over Responses: `codex exec`, its own shell tool, a resumed session, an answer by
 * schema.
 */
export const codex: Client = {
  id: 'codex',
  title: 'Codex CLI',
  version: '0.169.0',
  needs: { registry: 'npm', packages: { '@openai/codex': '0.169.0' } },
  play: (session) =>
    eachModel(session, 'responses', (one) => ({
      async tools() {
        const ended = await exec(one, [task]);
        return problemOf(
          ended,
          fileWith(one, 'codex.txt', 'made by codex') && /The file is there/.test(ended.stdout),
          'no codex.txt',
        );
      },
      async 'second turn'() {
        const ended = await exec(one, ['resume', '--last', 'And what is in that file?']);
        return problemOf(ended, secondTurnWords.test(ended.stdout), 'no second answer');
      },
      async schema() {
        writeFileSync(join(one.scratch, 'person.json'), JSON.stringify(personSchema));
        const ended = await exec(one, [
          '--output-schema',
          'person.json',
          '-o',
          'answer.json',
          'We met Ada, who is 36 years old.',
        ]);
        return problemOf(
          ended,
          ended.code === 0 && isPerson(readFileSync(join(one.scratch, 'answer.json'), 'utf8')),
          'no answer by the schema',
        );
      },
    })),
};

function exec({ run, node, installed, home, url, key, model }: OneModel, args: readonly string[]) {
  mkdirSync(join(home, '.codex'), { recursive: true });
  writeFileSync(join(home, '.codex/config.toml'), configuration(url));
  const entry = join(installed, 'node_modules/@openai/codex/bin/codex.js');
  const always = [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    '-m',
    model,
  ];
  return run(node, [entry, ...always, ...args], { env: { TOLLGATE_API_KEY: key } });
}

/**
 * The configuration of docs/guides/clients.md, with the settings that keep Codex from its maker's
 * servers.
 */
const configuration = (url: string) => `
model_provider = "tollgate"
web_search = "disabled"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.tollgate]
name = "Tollgate"
base_url = "${url}/v1"
env_key = "TOLLGATE_API_KEY"
wire_api = "responses"
`;

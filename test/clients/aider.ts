import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachModel, fileWith, type OneModel } from './agent.ts';
import { type Client, problemOf, secondTurnWords } from './client.ts';

const fence = '```';
const edit = `Create a file. Say <<<aider.txt\n${fence}\nmade by aider\n${fence}\n>>>`;

/**
 * aider over chat. It has no tools: it reads files out of the answer's text, so that is tested as
 * its loop.
 */
export const aider: Client = {
  id: 'aider',
  title: 'aider',
  version: '0.86.2',
  needs: { registry: 'pypi', packages: { 'aider-chat': '0.86.2' } },
  play: (session) =>
    eachModel(session, 'chat', (one) => ({
      async tools() {
        const ended = await aiderRun(one, [], edit);
        return problemOf(ended, fileWith(one, 'aider.txt', 'made by aider'), 'no aider.txt');
      },
      async 'second turn'() {
        const ended = await aiderRun(one, ['--restore-chat-history'], 'What have you made?');
        return problemOf(
          ended,
          secondTurnWords.test(ended.stdout.replace(/\s+/g, ' ')),
          'no second answer',
        );
      },
    })),
};

/** A local price list, so that aider does not download one. */
const prices = JSON.stringify({ none: {} });
const quiet = [
  '--no-git',
  '--yes-always',
  '--no-check-update',
  '--no-show-release-notes',
  '--no-show-model-warnings',
  '--analytics-disable',
  '--no-pretty',
];

function aiderRun(
  { run, installed, home, url, key, model }: OneModel,
  args: readonly string[],
  message: string,
) {
  mkdirSync(join(home, '.aider/caches'), { recursive: true });
  writeFileSync(join(home, '.aider/caches/model_prices_and_context_window.json'), prices);
  const asked = [
    '--model',
    `openai/${model}`,
    '--edit-format',
    'whole',
    ...quiet,
    ...args,
    '--message',
    message,
  ];
  return run(join(installed, 'venv/bin/aider'), asked, {
    env: {
      OPENAI_API_BASE: `${url}/v1`,
      OPENAI_API_KEY: key,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
  });
}

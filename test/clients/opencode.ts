import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachModel, fileWith, type OneModel } from './agent.ts';
import { type Client, problemOf, secondTurnWords, toolTask } from './client.ts';

const task = toolTask('bash', {
  command: 'echo made by opencode > opencode.txt',
  description: 'Makes a file',
});

/**
 * opencode over chat, through its bundled AI SDK package: `opencode run`, its own shell tool, a
 * continued session.
 */
export const opencode: Client = {
  id: 'opencode',
  title: 'opencode',
  version: '1.18.33',
  needs: { registry: 'npm', packages: { 'opencode-ai': '1.18.33' } },
  play: (session) =>
    eachModel(session, 'chat', (one) => ({
      async tools() {
        const ended = await opencodeRun(one, [], task);
        return problemOf(
          ended,
          fileWith(one, 'opencode.txt', 'made by opencode'),
          'no opencode.txt',
        );
      },
      async 'second turn'() {
        const ended = await opencodeRun(one, ['--continue'], 'And what is in that file?');
        return problemOf(ended, secondTurnWords.test(ended.stdout), 'no second answer');
      },
    })),
};

function opencodeRun(
  { run, installed, scratch, url, key, model }: OneModel,
  args: readonly string[],
  prompt: string,
) {
  writeFileSync(join(scratch, 'opencode.json'), JSON.stringify(configuration(url, model)));
  const program = join(
    installed,
    `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`,
  );
  return run(program, ['run', '--model', `tollgate/${model}`, '--format', 'json', ...args], {
    input: prompt,
    env: {
      TOLLGATE_API_KEY: key,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    },
  });
}

const configuration = (url: string, model: string) => ({
  autoupdate: false,
  share: 'disabled',
  enabled_providers: ['tollgate'],
  permission: 'allow',
  provider: {
    tollgate: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Tollgate',
      options: { baseURL: `${url}/v1`, apiKey: '{env:TOLLGATE_API_KEY}' },
      models: { [model]: {} },
    },
  },
});

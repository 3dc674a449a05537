import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { png } from '../support/png.ts';
import { eachModel, fileWith, type OneModel } from './agent.ts';
import { blind, type Client, problemOf, secondTurnWords, toolTask } from './client.ts';

const task = toolTask('run_shell_command', { command: 'echo made by gemini > gemini.txt' });
const picture = 'picture.png';

/**
 * Gemini CLI over Gemini's format: `gemini -p`, its own shell tool, a resumed session, a picture of
 * the folder.
 */
export const geminiCli: Client = {
  id: 'gemini-cli',
  title: 'Gemini CLI',
  version: '0.61.0',
  needs: { registry: 'npm', packages: { '@google/gemini-cli': '0.61.0' } },
  play: (session) =>
    eachModel(session, 'gemini', (one) => ({
      async tools() {
        const ended = await gemini(one, [], task);
        return problemOf(
          ended,
          fileWith(one, 'gemini.txt', 'made by gemini') && /The file is there/.test(ended.stdout),
          'no gemini.txt',
        );
      },
      async 'second turn'() {
        // After a turn with a tool its resumed history has the tool's result twice, which every
        // vendor refuses.
        rmSync(join(one.home, '.gemini/tmp'), { recursive: true, force: true });
        await gemini(one, [], 'My name is Ada.');
        const ended = await gemini(one, ['--resume', 'latest'], 'What is my name?');
        return problemOf(ended, secondTurnWords.test(ended.stdout), 'no second answer');
      },
      async pictures() {
        writeFileSync(join(one.scratch, picture), png);
        const ended = await gemini(one, [], `What do you see? @${picture}`);
        if (!blind.has(one.model))
          return problemOf(ended, ended.stdout.includes('3×2 pixels'), 'no sight of the picture');
        const refused = ended.code !== 0 && /code: 400|"code":400/.test(ended.output);
        return refused ? undefined : `no refusal with 400: ${ended.output.slice(-600)}`;
      },
      async errors() {
        const ended = await gemini({ ...one, model: 'no-such' }, [], 'Hello');
        const refused = ended.code !== 0 && /code: 404|"code":404/.test(ended.output);
        return refused ? undefined : `no refusal with 404: ${ended.output.slice(-600)}`;
      },
    })),
};

function gemini(
  { run, node, installed, home, url, key, model }: OneModel,
  args: readonly string[],
  prompt: string,
) {
  mkdirSync(join(home, '.gemini'), { recursive: true });
  writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  const entry = join(installed, 'node_modules/@google/gemini-cli/bundle/gemini.js');
  return run(node, [entry, '--model', model, '--yolo', ...args, '-p', prompt], {
    env: {
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: key,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_NO_RELAUNCH: 'true',
    },
  });
}

/**
 * The settings of docs/guides/clients.md, with those that keep Gemini CLI from its maker's servers,
 * and one tool: the simulator would call others, whose names are words of the long prompt.
 */
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false },
  tools: { core: ['run_shell_command'] },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

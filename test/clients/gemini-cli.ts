import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { objectOf } from '../../src/base/json.ts';
import { png } from '../support/png.ts';
import { eachModel, fileWith, type OneModel } from './agent.ts';
import {
  blind,
  type Client,
  type Outcome,
  problemOf,
  secondTurnWords,
  type Session,
  toolTask,
} from './client.ts';
import { python } from './install.ts';

const task = toolTask('run_shell_command', { command: 'echo made by gemini > gemini.txt' });
const picture = 'picture.png';
const dialog = fileURLToPath(new URL('python/gemini-cli-dialog.py', import.meta.url));

/**
 * Gemini CLI over Gemini's format: its own dialog, then `gemini -p`, its own shell tool, a resumed
 * session, its question who speaks next (which has a schema), a picture of the folder.
 */
export const geminiCli: Client = {
  id: 'gemini-cli',
  title: 'Gemini CLI',
  version: '0.61.0',
  needs: { registry: 'npm', packages: { '@google/gemini-cli': '0.61.0' } },
  async play(session) {
    const done = await eachModel(session, 'gemini', (one) => ({
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
      schema: () => nextSpeaker(one),
      async pictures() {
        writeFileSync(join(one.scratch, picture), png);
        const ended = await gemini(one, [], `What do you see? @${picture}`);
        if (!blind.has(one.model))
          return problemOf(ended, ended.stdout.includes('3×2 pixels'), 'no sight of the picture');
        const refused = ended.code !== 0 && /code: 400|"code":400/.test(ended.output);
        return refused ? undefined : `no refusal with 400: ${ended.output.slice(-600)}`;
      },
      async streams() {
        const ended = await gemini(one, ['--output-format', 'stream-json'], 'My name is Ada.');
        const pieces = ended.stdout.match(/"role":"assistant","content":"[^"]+","delta":true/g);
        const whole = /"type":"result".*"status":"success"/.test(ended.stdout);
        return problemOf(ended, whole && (pieces ?? []).length > 1, 'no text in pieces');
      },
      async errors() {
        const ended = await gemini({ ...one, model: 'no-such' }, [], 'Hello');
        const refused = ended.code !== 0 && /code: 404|"code":404/.test(ended.output);
        return refused ? undefined : `no refusal with 404: ${ended.output.slice(-600)}`;
      },
    }));
    return [await setUp(session), ...done];
  },
};

/**
 * What docs/guides/clients.md says of its start. With the address and the key alone, `gemini -p`
 * refuses to start: it takes the address for a way to sign in (`getAuthTypeFromEnv` → `gateway`) that
 * its own check does not know (`validateAuthMethod`). After its dialog the two suffice. Without a
 * dialog, three variables do: those of its Vertex mode.
 */
async function setUp(session: Session): Promise<Outcome> {
  const model = session.models[0] ?? '';
  const home = join(session.scratch, 'set-up');
  const one: OneModel = { ...session, model, scratch: home, home };
  const { url, key } = session;
  const ask = (env: Readonly<Record<string, string>>) => start(one, env, ['-p', 'My name is Ada.']);
  const tries = async (): Promise<string | undefined> => {
    writeSettings(one, {});
    const refused = await ask(addressAndKey(one));
    if (refused.code !== 41 || !refused.output.includes('Invalid auth method selected.'))
      return `without a chosen method: ${refused.code}, ${refused.output.slice(-600)}`;
    const vertex = await ask({
      GOOGLE_GENAI_USE_VERTEXAI: 'true',
      GOOGLE_VERTEX_BASE_URL: url,
      GOOGLE_API_KEY: key,
    });
    const early = problemOf(vertex, vertex.stdout !== '', 'no answer in Vertex mode');
    if (early !== undefined) return early;
    const chosen = await start(one, addressAndKey(one), [], [python, dialog]);
    const failed = problemOf(chosen, methodIn(one) === 'gemini-api-key', 'no method in settings');
    if (failed !== undefined) return failed;
    const answered = await ask(addressAndKey(one));
    return problemOf(answered, answered.stdout !== '', 'no answer after the dialog');
  };
  return { door: 'gemini', feature: 'set-up', model, error: await tries().catch(String) };
}

/** The method of signing in that its settings name. */
function methodIn(one: OneModel): unknown {
  const settings = JSON.parse(readFileSync(join(one.home, '.gemini/settings.json'), 'utf8'));
  return objectOf(objectOf(objectOf(settings)?.['security'])?.['auth'])?.['selectedType'];
}

/**
 * Asked so, Gemini CLI lets a model decide after each answer who speaks next: a request with
 * `responseJsonSchema`. Its log has the decision, which it read from the JSON of the answer.
 */
async function nextSpeaker(one: OneModel): Promise<string | undefined> {
  const log = join(one.scratch, 'log.json');
  const more = {
    model: { skipNextSpeakerCheck: false },
    modelConfigs: {
      customAliases: { 'next-speaker-checker': { modelConfig: { model: one.model } } },
    },
    telemetry: { enabled: true, target: 'local', outfile: log, logPrompts: true },
  };
  const ended = await gemini(one, [], 'My name is Ada.', more);
  const told = ended.code === 0 ? readFileSync(log, 'utf8') : '';
  const read = /"event.name": "gemini_cli.next_speaker_check",[^}]*"result": "user"/.test(told);
  return problemOf(ended, read, 'no next speaker in its log');
}

const addressAndKey = ({ url, key }: Session): Readonly<Record<string, string>> => ({
  GOOGLE_GEMINI_BASE_URL: url,
  GEMINI_API_KEY: key,
});

function gemini(
  one: OneModel,
  args: readonly string[],
  prompt: string,
  more: Readonly<Record<string, unknown>> = {},
) {
  writeSettings(one, {
    security: { auth: { selectedType: 'gemini-api-key' } },
    ...more,
  });
  return start(one, addressAndKey(one), ['--yolo', ...args, '-p', prompt]);
}

/** `by`: the program that starts it, with that program's own arguments. */
function start(
  { run, node, installed, home, model }: OneModel,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  by: readonly string[] = [],
) {
  const entry = join(installed, 'node_modules/@google/gemini-cli/bundle/gemini.js');
  const [command = node, ...rest] = [...by, node, entry, '--model', model, ...args];
  return run(command, rest, {
    env: {
      ...env,
      HOME: home,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_NO_RELAUNCH: 'true',
    },
  });
}

/**
 * Writes its settings, with those that keep it from its maker's servers, and one tool: the
 * simulator would call others, whose names are words of the long prompt.
 */
function writeSettings({ home }: OneModel, more: Readonly<Record<string, unknown>>): void {
  mkdirSync(join(home, '.gemini'), { recursive: true });
  const quiet = {
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    tools: { core: ['run_shell_command'] },
  };
  writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify({ ...quiet, ...more }));
}

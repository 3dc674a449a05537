import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { startSim } from '../sim/index.ts';
import { wav } from '../sim/media/wav.ts';
import { migrations } from '../src/app/schema.ts';
import { speechSample, transcriptionSample } from '../web/samples/audio.ts';
import { chatSample } from '../web/samples/chat.ts';
import { type CodeTab, codeTabs, type Sample } from '../web/samples/client.ts';
import { embeddingSample } from '../web/samples/embedding.ts';
import { editSample, imageSample } from '../web/samples/image.ts';
import { videoSample } from '../web/samples/video.ts';
import { FileData } from '../web/samples/written.ts';
import { sqliteUrl } from './databases.ts';
import { png } from './support/png.ts';
import { hasPython, python, runsPython } from './support/python.ts';
import { startRunning } from './support/running.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const mask = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEUlEQVR4nGP4//8/AwwzIHMA8icR72HAeEQAAAAASUVORK5CYII=',
  'base64',
);

/**
 * What needs Python with the official package is run where that is; its syntax is checked with any.
 */
let hasPackage = false;
let isThere = false;
beforeAll(async () => {
  isThere = await hasPython();
  hasPackage = await runsPython('openai');
});

/** A gateway, a folder with the pictures that samples name, and a terminal in it. */
async function startTerminal() {
  const simulator = await startSim({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => simulator.close());
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: simConfig(simulator.url),
  });
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-samples-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, "fox's.png"), png);
  await writeFile(join(folder, 'mask.png'), mask);
  await writeFile(join(folder, "fox's.wav"), wav('Hello from the fox'));
  const env = { ...process.env, TOLLGATE_API_KEY: running.key, NO_PROXY: '127.0.0.1' };
  const ask = async (command: string, ...given: readonly string[]) =>
    (await run(command, given, { cwd: folder, env })).stdout;
  const programs: Readonly<Record<CodeTab, (code: string) => Promise<string>>> = {
    curl: (code) => ask('bash', '-c', code),
    async python(code) {
      await writeFile(join(folder, 'sample.py'), code);
      return ask(python, ...(hasPackage ? ['sample.py'] : ['-m', 'py_compile', 'sample.py']));
    },
    async typescript(code) {
      await writeFile(join(folder, 'sample.ts'), code);
      return ask(
        process.execPath,
        join(root, 'node_modules', 'tsx', 'dist', 'cli.mjs'),
        'sample.ts',
      );
    },
  };
  return { baseUrl: running.url, programs };
}

type Terminal = Awaited<ReturnType<typeof startTerminal>>;

/** Each of the three, as printed. */
async function expectEach({ programs }: Terminal, sample: Sample, expected: RegExp): Promise<void> {
  for (const tab of codeTabs) {
    if (tab === 'python' && !isThere) continue;
    const said = await programs[tab](sample[tab]);
    if (tab !== 'python' || hasPackage) expect(said, tab).toMatch(expected);
  }
}

const odd = `It's "42" \\ $HOME \`date\` 火狐 🦊\nReply with exactly: 42`;
const fox = new FileData("fox's.png", 'image/png');

describe('code samples, as they are printed,', () => {
  test('chat, in a stream and as a whole, whatever the prompt says', async () => {
    const terminal = await startTerminal();
    const messages = [
      { role: 'system', content: '' },
      { role: 'user', content: odd },
    ];
    const body = { model: 'deepseek-chat', messages, temperature: 0.5, max_tokens: 200 };
    await expectEach(terminal, chatSample(terminal.baseUrl, { ...body, stream: true }), /42/);
    await expectEach(terminal, chatSample(terminal.baseUrl, body), /42/);
    // What arrives is what was typed, to the letter.
    const echo = chatSample(terminal.baseUrl, { model: 'sim-echo', messages });
    expect(JSON.parse(await terminal.programs.curl(echo.curl)).choices[0].message.content).toBe(
      odd,
    );
    expect((await terminal.programs.typescript(echo.typescript)).trim()).toBe(odd);
  }, 120_000);

  test('chat reads a picture of the disk', async () => {
    const terminal = await startTerminal();
    const content = [
      { type: 'text', text: `What is this? ${odd}` },
      { type: 'image_url', image_url: { url: fox } },
    ];
    const sample = chatSample(terminal.baseUrl, {
      model: 'gpt-4o',
      messages: [{ role: 'user', content }],
      stream: false,
    });
    await expectEach(terminal, sample, /3×2 pixels|42/);
    expect(sample.curl).not.toContain(png.toString('base64'));
  }, 120_000);

  test('pictures are made and edited', async () => {
    const terminal = await startTerminal();
    const body = { model: 'dall-e-2', prompt: odd, size: '256x256', n: 2 };
    await expectEach(terminal, imageSample(terminal.baseUrl, body), /http\S+\/files\//);
    await expectEach(
      terminal,
      editSample(terminal.baseUrl, body, fox, new FileData('mask.png', 'image/png')),
      /http\S+\/files\//,
    );
  }, 120_000);

  test('a video is waited for', async () => {
    const terminal = await startTerminal();
    const body = { model: 'sora-2', prompt: odd, duration: 5, async: true };
    await expectEach(terminal, videoSample(terminal.baseUrl, body), /http\S+/);
  }, 120_000);

  test('a text is read aloud, and a recording is written down', async () => {
    const terminal = await startTerminal();
    const body = { model: 'tts-1', input: odd, voice: 'alloy', response_format: 'wav' };
    const made = speechSample(terminal.baseUrl, body, 'speech.wav');
    await terminal.programs.curl(`${made.curl}\nls -l speech.wav && mv speech.wav curl.wav`);
    await terminal.programs.typescript(made.typescript);
    await terminal.programs.curl('cmp speech.wav curl.wav');
    await terminal.programs.python(made.python);
    const heard = new FileData("fox's.wav", 'audio/wav');
    const asked = { model: 'whisper-1', prompt: odd };
    const sample = transcriptionSample(terminal.baseUrl, asked, heard);
    await expectEach(terminal, sample, /Hello from the fox/);
    const srt = { ...asked, response_format: 'srt' };
    const timed = transcriptionSample(terminal.baseUrl, srt, heard);
    await expectEach(terminal, timed, /00:00:00,000 -->/);
  }, 120_000);

  test('texts become vectors', async () => {
    const terminal = await startTerminal();
    const body = { model: 'text-embedding-3-small', input: [odd, 'fox'], dimensions: 8 };
    const sample = embeddingSample(terminal.baseUrl, body);
    await expectEach(terminal, { ...sample, curl: `${sample.curl}; echo 1 8 [` }, /1 8 \[/);
    expect(await terminal.programs.curl(sample.curl)).toContain('"embedding"');
  }, 120_000);
});

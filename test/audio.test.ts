import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { sounds } from '../sim/media/sounds.ts';
import { wav } from '../sim/media/wav.ts';
import { migrations } from '../src/app/schema.ts';
import { onSqlite } from './databases.ts';
import { type Running, startRunning } from './support/running.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());
beforeEach(() => sim.clear());

/** 20 characters, 1.3 seconds. */
const words = 'Say it with a voice.';
const mp3 = sounds['mp3']?.make(words) ?? Buffer.alloc(0);

/** A second costs a hundredth of a yuan, a token a thousandth, a character a ten-thousandth. */
const configuration = (): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: by-second, owned_by: simulator, kind: transcription, price: { second: 0.01 } }
  - { id: by-token, owned_by: simulator, kind: transcription, price: { input: 1000, audio_input: 2000, output: 3000 } }
  - { id: untold, owned_by: simulator, kind: transcription, price: { second: 0.01 } }
  - { id: elsewhere, owned_by: simulator, kind: transcription, price: { second: 0.01 } }
  - { id: by-deepgram, owned_by: simulator, kind: transcription, price: { second: 0.01 } }
  - { id: silent, owned_by: simulator, kind: transcription, price: { input: 1000, audio_input: 2000, output: 3000 } }
  - { id: by-character, owned_by: simulator, kind: speech, price: { character: 0.0001 } }
  - { id: by-groq, owned_by: simulator, kind: speech, price: { character: 0.0001 } }
  - { id: spoken-tokens, owned_by: simulator, kind: speech, price: { input: 1000, audio_output: 2000 } }
  - { id: slow-voice, owned_by: simulator, kind: speech, price: { character: 0.0001 } }
  - { id: chat, owned_by: simulator, kind: chat, price: { input: 1, output: 1 } }
${broken.map((scenario) => `  - { id: heard-${scenario}, owned_by: simulator, kind: transcription, price: { second: 0.01 } }\n  - { id: said-${scenario}, owned_by: simulator, kind: speech, price: { character: 0.0001 } }`).join('\n')}
channels:
  - { name: openai, vendor: openai, base_url: "${sim.url}/openai/v1", api_key: sk-sim, groups: [default], models: [
      { id: by-second, upstream: whisper-1 }, { id: by-token, upstream: gpt-4o-transcribe }, { id: silent, upstream: gpt-4o-transcribe+sim-no-usage },
      { id: slow-voice, upstream: tts-1+sim-slow-500ms }, { id: by-character, upstream: tts-1 }, { id: spoken-tokens, upstream: gpt-4o-mini-tts }, { id: chat, upstream: gpt-4o }, ] }
${broken.map((scenario) => `  - { name: "${scenario}", vendor: openai, base_url: "${sim.url}/openai/v1", api_key: sk-sim, groups: [default], models: [{ id: heard-${scenario}, upstream: "gpt-4o-transcribe+${scenario}" }, { id: said-${scenario}, upstream: "tts-1+${scenario}" }] }`).join('\n')}
  - { name: first, vendor: groq, base_url: "${sim.url}/groq/openai/v1", api_key: sk-sim, priority: 0, groups: [default], models: [{ id: by-groq, upstream: orpheus }, { id: untold, upstream: whisper }, { id: elsewhere, upstream: whisper+sim-503 }] }
  - { name: second, vendor: deepgram, base_url: "${sim.url}/deepgram/v1", api_key: sk-sim, priority: 1, groups: [default], models: [{ id: elsewhere, upstream: nova-3 }, { id: by-deepgram, upstream: nova-3 }] }
`;
const broken = [
  'sim-401',
  'sim-429',
  'sim-500',
  'sim-policy',
  'sim-html-200',
  'sim-cut-after-1',
  'sim-reset-after-1',
  'sim-bad-json',
  'sim-empty',
];

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const form = (fields: Readonly<Record<string, string | Blob>>): FormData => {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') made.append(name, value);
    else made.append(name, value, 'a.wav');
  }
  return made;
};
const blob = (bytes: Buffer): Blob => new Blob([new Uint8Array(bytes)], { type: 'audio/wav' });
const nano = (cost: unknown): number => Number(cost);

async function transcribe(
  running: Running,
  fields: Readonly<Record<string, string | Blob>>,
  path = 'transcriptions',
): Promise<Reply> {
  const reply = await fetch(`${running.url}/v1/audio/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${running.key}` },
    body: form(fields),
  });
  return {
    status: reply.status,
    type: reply.headers.get('content-type') ?? '',
    text: await reply.text(),
  };
}

async function speak(running: Running, body: object): Promise<Reply> {
  const reply = await running.post('/v1/audio/speech', body);
  return {
    status: reply.status,
    type: reply.headers.get('content-type') ?? '',
    text: Buffer.from(await reply.arrayBuffer()).toString('latin1'),
  };
}

interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}
const errorOf = ({ text }: Reply): ErrorBody['error'] => {
  const body: ErrorBody = JSON.parse(text);
  return body.error;
};

onSqlite((_, __, fresh) => {
  const start = async (yuan = '10'): Promise<Running> =>
    startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(),
      yuan,
    });
  const charged = async (running: Running): Promise<readonly number[]> => {
    await running.expectBooks();
    const rows = await running.gateway.database.query(
      "SELECT amount FROM transfer WHERE credit='revenue' ORDER BY at, id",
    );
    return rows.map((row) => nano(row['amount']));
  };

  describe('what sound costs', () => {
    test('seconds are the vendor’s, and those of the file where it does not tell', async () => {
      const running = await start();
      await transcribe(running, { file: blob(wav(words)), model: 'by-second' });
      await transcribe(running, {
        file: blob(wav(words)),
        model: 'by-second',
        response_format: 'srt',
      });
      await transcribe(running, { file: blob(wav(words)), model: 'elsewhere' });
      // Whole seconds by OpenAI, as it counts them; Deepgram's own figure, 1.3.
      expect(await charged(running)).toEqual([20_000_000, 20_000_000, 13_000_000]);
    });

    test('an answer whose vendor tells no usage has the seconds that are charged', async () => {
      const running = await start();
      const tell = async (model: string, response_format: string): Promise<unknown> => {
        const file = blob(wav(words));
        const { text } = await transcribe(running, { file, model, response_format });
        return response_format === 'text' ? text.trim() : JSON.parse(text);
      };
      expect(await tell('untold', 'json')).toEqual({
        text: words,
        usage: { type: 'duration', seconds: 2 },
      });
      expect(await tell('untold', 'text')).toBe(words);
      // The price is by tokens, which are estimated.
      expect(await tell('silent', 'json')).toEqual({ text: words });
      expect((await charged(running)).slice(0, 2)).toEqual([13_000_000, 13_000_000]);
    });

    test('tokens are the vendor’s, whatever the format, and estimated where it does not tell', async () => {
      const running = await start();
      // 13 tokens of sound, 6 of text.
      for (const response_format of ['json', 'text'])
        await transcribe(running, { file: blob(wav(words)), model: 'by-token', response_format });
      await transcribe(running, { file: blob(wav(words)), model: 'by-token', stream: 'true' });
      expect(await charged(running)).toEqual([44_000_000, 44_000_000, 44_000_000]);
      await transcribe(running, { file: blob(wav(words)), model: 'silent' });
      const rows = await running.usage();
      expect(rows.map((row) => row['estimated'])).toEqual([0n, 0n, 0n, 1n]);
      expect((await charged(running))[3]).toBeGreaterThan(26_000_000);
    });

    test('characters are counted before anybody speaks; tokens come from events that the client does not see', async () => {
      const running = await start();
      expect(
        (await speak(running, { model: 'by-character', voice: 'alloy', input: `${words} 😀` }))
          .type,
      ).toBe('audio/mpeg');
      const plain = await speak(running, { model: 'spoken-tokens', voice: 'alloy', input: words });
      expect([plain.type, Buffer.from(plain.text, 'latin1').equals(mp3)]).toEqual([
        'audio/mpeg',
        true,
      ]);
      const [characters, tokens] = await charged(running);
      expect(characters).toBe(22 * 100_000);
      // 6 tokens of text, 26 of sound.
      expect(tokens).toBe(6 * 1_000_000 + 26 * 2_000_000);
    });

    test('who cannot pay for all of it is refused, and no vendor is asked', async () => {
      const running = await start('0.01');
      const reply = await transcribe(running, { file: blob(wav(words)), model: 'by-second' });
      expect([reply.status, errorOf(reply).code]).toEqual([429, 'insufficient_quota']);
      expect(
        (await speak(running, { model: 'by-character', voice: 'alloy', input: 'x'.repeat(101) }))
          .status,
      ).toBe(429);
      expect(sim.requests).toHaveLength(0);
      expect(
        (await speak(running, { model: 'by-character', voice: 'alloy', input: 'x'.repeat(100) }))
          .status,
      ).toBe(200);
      expect(await running.balance()).toBe('0.00');
      await running.expectBooks();
    });

    test('a voice that is cut off costs what was heard of it, and its connection breaks', async () => {
      const running = await start();
      const input = `${words} `.repeat(40);
      await expect(
        speak(running, { model: 'said-sim-reset-after-1', voice: 'alloy', input }),
      ).rejects.toThrow('terminated');
      await expect.poll(async () => (await running.usage()).length).toBe(1);
      const [heard = 0] = await charged(running);
      expect(heard).toBeGreaterThan(0);
      expect(heard).toBeLessThan([...input].length * 100_000);
    });
  });

  test('what the vendor does not get is named in a header, for a recording and a voice', async () => {
    const running = await start();
    const dropped = ({ headers }: Response) => headers.get('x-tollgate-dropped');
    const said = { model: 'by-groq', input: words, voice: 'alloy', response_format: 'wav' };
    const speech = (body: object) => running.post('/v1/audio/speech', body);
    expect(dropped(await speech({ ...said, instructions: 'Whisper.' }))).toBe('instructions');
    expect(dropped(await speech(said))).toBeNull();
    for (const [more, names] of [
      [
        { language: 'en', prompt: 'Ada', 'known_speaker_names[]': 'Ada' },
        'known_speaker_names, prompt',
      ],
      [{ language: 'en' }, null],
    ] as const) {
      const body = form({ file: blob(wav(words)), model: 'by-deepgram', ...more });
      const headers = { authorization: `Bearer ${running.key}` };
      const path = `${running.url}/v1/audio/transcriptions`;
      expect(dropped(await fetch(path, { method: 'POST', headers, body }))).toBe(names);
    }
  });

  describe('how a form is read', () => {
    const file = blob(wav(words));
    const verbose = { file, model: 'by-second', response_format: 'verbose_json' };

    test.each(['timestamp_granularities', 'timestamp_granularities[0]'])(
      'a list may be written as %s, and the vendor gets it as the vendor writes it',
      async (name) => {
        const running = await start();
        const reply = await transcribe(running, { ...verbose, [name]: 'word' });
        expect([reply.status, JSON.parse(reply.text)]).toMatchObject([
          200,
          { words: expect.arrayContaining([expect.objectContaining({ word: 'Say' })]) },
        ]);
      },
    );

    test('an empty field is absent, and of several fields of one name the last counts', async () => {
      const running = await start();
      const sent = form({ ...verbose, prompt: '', language: '', stream: '', temperature: '' });
      sent.append('temperature', '0.2');
      sent.append('temperature', '0.4');
      sent.append('timestamp_granularities[]', '');
      const headers = { authorization: `Bearer ${running.key}` };
      const path = `${running.url}/v1/audio/transcriptions`;
      expect((await fetch(path, { method: 'POST', headers, body: sent })).status).toBe(200);
      const names = [...String(sim.requests[0]?.body).matchAll(/ name="([^"]*)"/g)];
      expect(names.map(([, name]) => name)).toEqual([
        'model',
        'response_format',
        'temperature',
        'file',
      ]);
      expect(String(sim.requests[0]?.body)).toContain('0.4');
    });

    test('true is a flag in any case, as Python writes it', async () => {
      const running = await start();
      const { type } = await transcribe(running, { file, model: 'by-token', stream: 'True' });
      expect(type).toMatch(/^text\/event-stream/);
    });

    test('a stream of a model that has none leaves out what only its own format takes', async () => {
      const running = await start();
      const { text } = await transcribe(running, {
        ...verbose,
        stream: 'true',
        'timestamp_granularities[]': 'word',
      });
      expect(text).toContain('transcript.text.done');
    });
  });

  describe('what is refused', () => {
    test('names what is allowed, costs nothing and reaches no vendor', async () => {
      const running = await start();
      const file = blob(wav(words));
      const model = 'by-second';
      const cases: [Record<string, string | Blob>, string, string][] = [
        [{ model }, 'file', 'Missing required parameter'],
        [{ file }, 'model', 'Missing required parameter'],
        [{ file: 'text', model }, 'file', 'Missing required parameter'],
        [{ recording: file, model }, 'recording', "field 'file'"],
        [
          { file, model, response_format: 'xml' },
          'response_format',
          'json, text, srt, verbose_json, vtt, diarized_json',
        ],
        [
          { file, model, response_format: 'diarized_json' },
          'response_format',
          'json, text, srt, verbose_json, vtt for the model',
        ],
        [{ file, model, temperature: '2' }, 'temperature', '<= 1'],
        [{ file, model, temperature: 'warm' }, 'temperature', 'a number'],
        [{ file, model, stream: 'perhaps' }, 'stream', 'true, false'],
        [{ file, model, language: 'English, please' }, 'language', 'ISO 639'],
        [
          { file, model, 'timestamp_granularities[]': 'word' },
          'timestamp_granularities',
          'verbose_json',
        ],
        [
          { file, model, response_format: 'verbose_json', 'timestamp_granularities[]': 'letter' },
          'timestamp_granularities',
          'word, segment',
        ],
        [{ file, model, 'include[]': 'thoughts' }, 'include', 'logprobs'],
        [{ file, model: 'by-character' }, 'model', '/v1/audio/speech'],
        [{ file, model: 'chat' }, 'model', '/v1/chat/completions'],
        [
          { file: blob(Buffer.alloc(0)), model },
          'file',
          'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav, webm',
        ],
        [
          { file: blob(Buffer.from('<html>no sound</html>')), model },
          'file',
          'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav, webm',
        ],
        [{ file: blob(wav(words).subarray(0, 30)), model }, 'file', 'damaged'],
        [
          {
            file: blob(Buffer.from('RIFF\xff\xff\xff\xffWAVE'.padEnd(5_000_000, '\0'), 'latin1')),
            model,
          },
          'file',
          'damaged',
        ],
        [
          { file: blob(Buffer.alloc(25 * 1024 * 1024 + 1)), model },
          'file',
          'larger than 26214400 bytes',
        ],
      ];
      for (const [fields, param, message] of cases) {
        const reply = await transcribe(running, fields);
        expect([reply.status, errorOf(reply).param, errorOf(reply).message]).toEqual([
          400,
          param,
          expect.stringContaining(message),
        ]);
      }
      const unable = await transcribe(running, { file, model: 'by-deepgram' }, 'translations');
      expect([unable.status, errorOf(unable)]).toMatchObject([
        400,
        { param: 'model', message: expect.stringContaining('/v1/audio/transcriptions') },
      ]);
      const unknown = await transcribe(running, { file, model: 'nobody' });
      expect([unknown.status, errorOf(unknown).code]).toEqual([404, 'model_not_found']);
      expect(sim.requests).toHaveLength(0);
      expect(await running.balance()).toBe('10.00');
      expect(running.gateway.parts.spools.bytes).toBe(0);
    });

    test('a form that is cut short, none at all, or far too large, is told so', async () => {
      const running = await start();
      const post = (body: string | Uint8Array<ArrayBuffer>, type: string, query = '') =>
        fetch(`${running.url}/v1/audio/transcriptions${query}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${running.key}`, 'content-type': type },
          body,
        });
      for (const query of ['', '?a=b']) {
        const cut = await post(
          '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nRIFF',
          'multipart/form-data; boundary=x',
          query,
        );
        expect([cut.status, await cut.text()]).toEqual([
          400,
          expect.stringContaining('multipart body'),
        ]);
        const json = await post('{}', 'application/json', query);
        expect([json.status, await json.text()]).toEqual([
          400,
          expect.stringContaining('multipart/form-data'),
        ]);
      }
      const bomb = await post(new Uint8Array(30 * 1024 * 1024), 'multipart/form-data; boundary=x');
      expect([bomb.status, await bomb.text()]).toEqual([
        413,
        expect.stringContaining('request_too_large'),
      ]);
    });

    test('a voice has limits, too', async () => {
      const running = await start();
      const right = { model: 'by-character', voice: 'alloy', input: words };
      const cases: [object, string, string][] = [
        [{ ...right, input: '' }, 'input', 'empty'],
        [{ ...right, input: 'x'.repeat(4_097) }, 'input', '4096'],
        [{ ...right, input: 5 }, 'input', 'a string'],
        [{ model: 'by-character', input: words }, 'voice', 'Missing'],
        [
          { ...right, response_format: 'midi' },
          'response_format',
          'mp3, opus, aac, flac, wav, pcm',
        ],
        [{ ...right, stream_format: 'smoke' }, 'stream_format', 'audio, sse'],
        [{ ...right, speed: 5 }, 'speed', '<= 4'],
        [{ ...right, instructions: 7 }, 'instructions', 'a string'],
        [{ ...right, model: 'by-second' }, 'model', '/v1/audio/transcriptions'],
      ];
      for (const [body, param, message] of cases) {
        const reply = await speak(running, body);
        expect([reply.status, errorOf(reply).param, errorOf(reply).message]).toEqual([
          400,
          param,
          expect.stringContaining(message),
        ]);
      }
      expect(sim.requests).toHaveLength(0);
    });
  });

  describe('when a vendor fails', () => {
    test('another one gets the same recording', async () => {
      const running = await start();
      const long = wav(words.repeat(60));
      const reply = await transcribe(running, { file: blob(long), model: 'elsewhere' });
      expect(JSON.parse(reply.text)).toMatchObject({ text: words.repeat(60) });
      expect(sim.requests.map(({ path }) => path.split('/')[1])).toEqual(['groq', 'deepgram']);
      expect(running.gateway.parts.spools.bytes).toBe(0);
    });

    test('its faults are not the client’s, and cost nothing', async () => {
      const running = await start();
      const expected: Readonly<Record<string, number>> = { 'sim-policy': 400 };
      for (const scenario of broken.filter((one) => !/cut|reset|empty/.test(one))) {
        const heard = await transcribe(running, {
          file: blob(wav(words)),
          model: `heard-${scenario}`,
        });
        expect([scenario, heard.status]).toEqual([scenario, expected[scenario] ?? 503]);
        if (scenario === 'sim-bad-json') continue;
        const said = await speak(running, {
          model: `said-${scenario}`,
          voice: 'alloy',
          input: words,
        });
        expect([scenario, said.status]).toEqual([scenario, expected[scenario] ?? 503]);
      }
      expect(
        (await transcribe(running, { file: blob(wav(words)), model: 'heard-sim-cut-after-1' }))
          .status,
      ).toBe(503);
      expect(
        (await speak(running, { model: 'said-sim-empty', voice: 'alloy', input: words })).status,
      ).toBe(503);
      expect(await running.balance()).toBe('10.00');
      await running.expectBooks();
    });

    test('a stream of words that breaks says so and does not end', async () => {
      const running = await start();
      for (const scenario of ['sim-cut-after-1', 'sim-reset-after-1', 'sim-bad-json']) {
        const { text } = await transcribe(running, {
          file: blob(wav(words)),
          model: `heard-${scenario}`,
          stream: 'true',
        });
        expect(text).toContain('"error"');
        expect(text).not.toContain('[DONE]');
      }
      await running.expectBooks();
    });
  });

  describe('the interface', () => {
    test('wants a key before it reads a recording, and lists models that hear and speak', async () => {
      const running = await start();
      for (const [path, headers] of [
        ['transcriptions', {}],
        ['translations', { authorization: 'Bearer sk-wrong' }],
        ['speech', {}],
      ] as const) {
        const reply = await fetch(`${running.url}/v1/audio/${path}`, {
          method: 'POST',
          headers,
          body: form({ file: blob(wav(words)), model: 'by-second' }),
        });
        expect([reply.status, await reply.text()]).toEqual([
          401,
          expect.stringContaining('invalid_api_key'),
        ]);
      }
      const listed = await fetch(`${running.url}/v1/models`, {
        headers: { authorization: `Bearer ${running.key}` },
      });
      const ids = /"id":"(?:by-second|by-character)"/g;
      expect((await listed.text()).match(ids)).toHaveLength(2);
    });

    test('takes a form of unknown length, and one behind a question mark', async () => {
      const running = await start();
      for (const query of ['', '?x=1']) {
        const sent = new Request(`${running.url}/v1/audio/transcriptions${query}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${running.key}` },
          body: form({ file: blob(wav(words)), model: 'by-second' }),
        });
        const reply = await fetch(sent.url, {
          method: 'POST',
          headers: sent.headers,
          body: sent.body,
          duplex: 'half',
        });
        expect(await reply.json()).toMatchObject({ text: words });
      }
    });
  });

  describe('who leaves', () => {
    test('in the middle of an upload is asked for nothing', async () => {
      const running = await start();
      const { port } = new URL(running.url);
      const socket = connect(Number(port), '127.0.0.1');
      const head = `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${running.key}\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 9000000\r\n\r\n`;
      socket.write(
        `${head}--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`,
      );
      socket.write(Buffer.alloc(700_000));
      await expect.poll(() => running.gateway.parts.spools.bytes).toBeGreaterThan(500_000);
      socket.destroy();
      await expect.poll(() => running.gateway.parts.spools.bytes).toBe(0);
      expect(sim.requests).toHaveLength(0);
      await running.expectBooks();
    });

    test('in the middle of a voice pays for what was heard, and the vendor stops', async () => {
      const running = await start();
      const leaving = new AbortController();
      const input = `${words} `.repeat(100);
      const reply = await running.post(
        '/v1/audio/speech',
        { model: 'slow-voice', voice: 'alloy', input },
        { signal: leaving.signal },
      );
      await reply.body?.getReader().read();
      leaving.abort();
      await expect.poll(async () => (await running.usage())[0]?.['status']).toBe('left');
      expect(sim.requests[0]?.left).toBe(true);
      const [heard = 0] = await charged(running);
      expect(heard).toBeGreaterThan(0);
      expect(heard).toBeLessThan(input.length * 100_000 * 0.9);
    });
  });
});

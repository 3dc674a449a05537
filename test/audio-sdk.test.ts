import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { soundModels } from '../sim/sound/catalog.ts';
import { sounds } from '../sim/media/sounds.ts';
import { wav } from '../sim/media/wav.ts';
import { simConfig } from '../sim/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import { onSqlite } from './databases.ts';
import { type Running, startRunning } from './support/running.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const words = 'Ruby is a language. It makes developers happy!';
const listeners = soundModels.filter(({ kind }) => kind === 'transcription');
const speakers = soundModels.filter(({ kind }) => kind === 'speech');
/** Who knows when something was said. */
const timed = new Set([
  'openai',
  'groq',
  'mistral',
  'together',
  'vllm',
  'xai',
  'elevenlabs',
  'deepgram',
]);

const file = (name = 'ruby.wav', bytes = wav(words)) => toFile(bytes, name);

onSqlite((_, __, fresh) => {
  const start = async (): Promise<{ running: Running; client: OpenAI }> => {
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: simConfig(sim.url),
    });
    return {
      running,
      client: new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 }),
    };
  };

  describe('the official package', () => {
    test('has a recording written down by every model', async () => {
      const { running, client } = await start();
      for (const { id } of listeners) {
        const { text, usage } = await client.audio.transcriptions.create({
          file: await file(),
          model: id,
        });
        expect([id, text]).toEqual([id, words]);
        if (usage !== undefined) expect(['tokens', 'duration']).toContain(usage.type);
        expect(
          await client.audio.transcriptions.create({
            file: await file(),
            model: id,
            response_format: 'text',
          }),
        ).toBe(`${words}\n`);
      }
      await running.expectBooks();
      expect(await running.usage()).toHaveLength(listeners.length * 2);
    }, 60_000);

    test('gets captions, segments and words where a model tells when something was said', async () => {
      const { client } = await start();
      for (const { id, vendor } of listeners) {
        const model = { file: await file(), model: id };
        if (!timed.has(vendor) || id.startsWith('gpt-')) {
          await expect(
            client.audio.transcriptions.create({ ...model, response_format: 'srt' }),
          ).rejects.toThrow(/'srt' is not one of json, text/);
          continue;
        }
        const srt = await client.audio.transcriptions.create({
          ...model,
          file: await file(),
          response_format: 'srt',
        });
        expect([id, srt]).toEqual([
          id,
          expect.stringMatching(/^1\n00:00:00,000 --> 00:00:0\d,\d{3}\n/),
        ]);
        const vtt = await client.audio.transcriptions.create({
          ...model,
          file: await file(),
          response_format: 'vtt',
        });
        expect(vtt).toMatch(/^WEBVTT\n\n00:00:00\.000 --> /);
        const said = await client.audio.transcriptions.create({
          ...model,
          file: await file(),
          response_format: 'verbose_json',
        });
        expect(said.text).toBe(words);
        expect(said.segments?.map(({ text }) => text.trim())).toEqual([
          'Ruby is a language.',
          'It makes developers happy!',
        ]);
        expect([id, said.usage?.type ?? 'duration']).toEqual([id, 'duration']);
      }
    }, 60_000);

    test('hears who said what', async () => {
      const { client } = await start();
      for (const id of [
        'gpt-4o-transcribe-diarize',
        'voxtral-mini-2602',
        'grok-stt',
        'scribe_v2',
        'nova-3',
      ]) {
        const said = await client.audio.transcriptions.create({
          file: await file(),
          model: id,
          response_format: 'diarized_json',
        });
        expect({ id, ...said }).toMatchObject({
          id,
          text: words,
          segments: [{ speaker: 'A', type: 'transcript.text.segment' }, { id: 'seg_1' }],
        });
      }
    });

    test('gets events of every model, in as many pieces as its vendor sends', async () => {
      const { client } = await start();
      for (const { id, vendor } of listeners) {
        const stream = await client.audio.transcriptions.create({
          file: await file(),
          model: id,
          stream: true,
        });
        let heard = '';
        let done = '';
        for await (const event of stream) {
          if (event.type === 'transcript.text.delta') heard += event.delta;
          if (event.type !== 'transcript.text.done') continue;
          done = event.text;
          if (event.usage !== undefined) expect([id, event.usage.type]).toEqual([id, 'tokens']);
        }
        expect([vendor, id, heard, done]).toEqual([vendor, id, words, words]);
      }
    }, 60_000);

    test('has a recording translated', async () => {
      const { client } = await start();
      const { text } = await client.audio.translations.create({
        file: await file(),
        model: 'whisper-1',
      });
      expect(text).toBe(words);
      expect(
        await client.audio.translations.create({
          file: await file(),
          model: 'whisper-1',
          response_format: 'vtt',
        }),
      ).toContain('WEBVTT');
    });

    test('has a text read aloud by every model, and what was said is understood', async () => {
      const { running, client } = await start();
      for (const { id } of speakers) {
        const reply = await client.audio.speech.create({ model: id, voice: 'alloy', input: words });
        const bytes = Buffer.from(await reply.arrayBuffer());
        expect([id, reply.headers.get('content-type')]).toEqual([
          id,
          expect.stringMatching(/^audio\//),
        ]);
        const { text } = await client.audio.transcriptions.create({
          file: await toFile(bytes, 'said'),
          model: 'whisper-1',
        });
        // Samples that got their head here have no comment.
        if (
          !['gemini', 'qwen', 'minimax'].includes(
            soundModels.find((model) => model.id === id)?.vendor ?? '',
          )
        )
          expect([id, text]).toEqual([id, words]);
      }
      await running.expectBooks();
    }, 60_000);

    test('has as many characters read as the format allows, whatever they are', async () => {
      const { client } = await start();
      const input = '😀'.repeat(4_096);
      const reply = await client.audio.speech.create({ model: 'tts-1', voice: 'nova', input });
      expect((await reply.arrayBuffer()).byteLength).toBeGreaterThan(0);
    });

    test('gets each format of a voice', async () => {
      const { client } = await start();
      for (const format of ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const)
        for (const model of ['tts-1', 'gpt-4o-mini-tts', 'aura-2-thalia-en']) {
          const reply = await client.audio.speech.create({
            model,
            voice: 'nova',
            input: words,
            response_format: format,
          });
          expect(
            Buffer.from(await reply.arrayBuffer()).equals(
              sounds[format]?.make(words) ?? Buffer.alloc(0),
            ),
          ).toBe(true);
        }
    });

    test('gets a voice as events', async () => {
      const { running } = await start();
      for (const model of ['tts-1', 'gpt-4o-mini-tts', 'eleven_flash_v2_5']) {
        const reply = await running.post('/v1/audio/speech', {
          model,
          voice: 'coral',
          input: words,
          stream_format: 'sse',
        });
        expect(reply.headers.get('content-type')).toContain('text/event-stream');
        const events = (await reply.text())
          .split('\n\n')
          .filter(Boolean)
          .map((event): { type: string; audio?: string } => JSON.parse(event.slice(6)));
        const bytes = Buffer.concat(
          events.flatMap(({ audio }) =>
            audio === undefined ? [] : [Buffer.from(audio, 'base64')],
          ),
        );
        expect(bytes.equals(sounds['mp3']?.make(words) ?? Buffer.alloc(0))).toBe(true);
        expect(events.at(-1)).toMatchObject({
          type: 'speech.audio.done',
          usage: { total_tokens: expect.any(Number) },
        });
      }
    });
  });
});

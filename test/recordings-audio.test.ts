import { bufferOf } from '../src/base/json.ts';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { wav } from '../sim/media/wav.ts';
import { readForm as readSent } from '../sim/media/form.ts';
import { parseSpeech, parseTranscription, transcriptionLimits } from '../src/api/audio.ts';
import type { AudioCapability } from '../src/base/capability.ts';
import { type Form, readForm } from '../src/http/multipart.ts';
import { SpoolPool } from '../src/http/spool.ts';
import type { VendorCall, AudioAdapter } from '../src/providers/adapter.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { vendors } from '../src/providers/index.ts';
import type { TranscriptionRequest } from '../src/providers/media-request.ts';
import { everyOffset } from './cuts.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';
import { callAs, replays } from './replay.ts';
import { context, sentJson } from './support/parsed-request.ts';

const suite = replays('sound');
const spools = new SpoolPool();
const all: Recording[] =
  recordingsFolder === undefined
    ? []
    : ['audio', 'tts'].flatMap((endpoint) => recordingsAt(recordingsFolder ?? '', endpoint));

function adapterOf({ vendor }: Recording, capability: AudioCapability): AudioAdapter {
  const adapter = (vendors.get(vendor) ?? vendors.get('openai-compatible'))?.adapters[capability];
  if (adapter === undefined) throw new Error(`${vendor} has no ${capability}`);
  return adapter;
}

const heard = (reply: Buffer): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(reply.toString('utf8'));
  } catch {
    return undefined;
  }
};

/** What somebody asked who sent this form, or one with nothing but a recording. */
async function listenOf({ sent, request }: Recording): Promise<{
  wish: TranscriptionRequest;
  model: string;
  stream: boolean;
  form: boolean;
}> {
  // Some were kept as text, with the file in base64 in its place.
  const text = sent.bytes.toString('latin1');
  const file = /\r?\nb64:([\w+/=]+)/.exec(text);
  const bytes =
    file === null
      ? sent.bytes
      : Buffer.concat([
          Buffer.from(text.slice(0, file.index + 2), 'latin1'),
          Buffer.from(file[1] ?? '', 'base64'),
          Buffer.from(text.slice(file.index + file[0].length), 'latin1'),
        ]);
  const whole = bytes.length > 0 && sent.type.startsWith('multipart/');
  const form = whole
    ? await readForm(
        Readable.from([bytes]),
        { 'content-type': sent.type },
        transcriptionLimits,
        spools,
      )
    : alone(typeof request?.['model'] === 'string' ? request['model'] : 'recorded-model');
  if (form === 'left') throw new Error('nobody left');
  const model = form.fields.find(([name]) => name === 'model')?.[1] ?? '';
  // What is Mistral's own to ask is a format in the convention.
  const own = new Set(['diarize', 'timestamp_granularities[]']);
  const diarized = form.fields.some(([name]) => name === 'diarize');
  const fields: Form['fields'] = diarized
    ? [...form.fields.filter(([name]) => !own.has(name)), ['response_format', 'diarized_json']]
    : form.fields;
  const named: Form = { ...form, fields: model === '' ? [...fields, ['model', 'm']] : fields };
  const { transcription, stream } = await parseTranscription(context, named, 'transcriptions');
  if (transcription === undefined) throw new Error('a recording was expected');
  return { wish: transcription, model, stream, form: whole };
}

function alone(model: string): Form {
  const content = spools.open();
  void content.write(wav('The sun was setting slowly.'));
  return {
    fields: [['model', model]],
    files: [{ field: 'file', filename: 'a.wav', type: 'audio/wav', content }],
    discard: () => content.remove(),
  };
}

const isWritten = ({ reply, streamed }: Recording): boolean =>
  streamed ||
  /^\d+\r?\n\d\d:/.test(reply.toString('latin1', 0, 20)) ||
  typeof heard(reply)?.['text'] === 'string' ||
  heard(reply)?.['results'] !== undefined ||
  heard(reply)?.['error'] !== undefined;

/** The text that a client ends up with: of the vendor's events, JSON or captions. */
const textIn = ({ reply, streamed }: Recording): string => {
  const text = reply.toString('utf8');
  if (streamed)
    return String(/"transcript\.text\.done","text":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1]);
  const body = heard(reply);
  const channels = JSON.stringify(body?.['results'] ?? {});
  return body === undefined
    ? text
    : String(body['text'] ?? /"transcript":"((?:[^"\\]|\\.)*)"/.exec(channels)?.[1]);
};

describe.skipIf(recordingsFolder === undefined)('recorded sound', () => {
  it('what was said is written down the same', async () => {
    const asked = new Map(
      await Promise.all(
        all.filter(isWritten).map(async (one) => [one.id, await listenOf(one)] as const),
      ),
    );
    suite.each('transcriptions', all.filter(isWritten), (recording) => {
      const known = asked.get(recording.id);
      if (known === undefined) throw new Error('it was asked for');
      const adapter = adapterOf(
        recording,
        recording.url.endsWith('/translations') ? 'translations' : 'transcriptions',
      );
      const wish =
        heard(recording.reply) === undefined && !recording.streamed
          ? { ...known.wish, returns: 'srt' as const }
          : known.wish;
      const call: VendorCall = {
        ...callAs(
          { streamed: known.stream },
          { model: 'm' },
          known.model || 'recorded-model',
          'id-1',
        ),
        transcription: wish,
      };
      if (known.form && recording.status === 200) expectSameForm(recording, adapter, call);
      if (recording.status >= 400)
        return (
          expect(
            adapter.fault(recording.status, recording.headers, recording.reply.toString('utf8'))
              .kind,
          ).toBe('bad_request') ?? true
        );
      if (recording.streamed) return expectStream(recording, adapter, call);
      const answer = adapter.read(recording.reply, recording.headers['content-type'] ?? '', call);
      if (isFault(answer)) throw new Error(answer.message);
      const written = answer.body.toString('utf8');
      expect(call.transcription?.returns === 'srt' ? written : JSON.parse(written).text).toBe(
        textIn(recording),
      );
      const seconds = /"seconds":(\d+)|"prompt_audio_seconds":(\d+)/.exec(
        recording.reply.toString(),
      );
      if (seconds !== null)
        expect(answer.quantities?.second).toBe(Number(seconds[1] ?? seconds[2]));
      if (recording.vendor === 'deepgram' || recording.vendor === 'elevenlabs')
        for (const returns of ['srt', 'verbose_json', 'diarized_json'] as const)
          expect(
            isFault(
              adapter.read(recording.reply, '', { ...call, transcription: { ...wish, returns } }),
            ),
          ).toBe(false);
    });
  });

  it('what was read aloud is heard the same', () =>
    suite.each(
      'voices',
      all.filter((one) => !isWritten(one)),
      (recording) => {
        const adapter = adapterOf(
          recording,
          recording.vendor === 'groq' && recording.request === undefined ? 'speech' : 'speech',
        );
        const request = recording.request ?? {};
        const input = String(request['input'] ?? request['text'] ?? 'Hello');
        const body = { model: 'public/model', voice: 'alloy', ...request, input };
        const { speech } = parseSpeech(context, sentJson({ ...body, model: 'public/model' }));
        const model = String(
          request['model'] ?? /model=([^&]+)/.exec(recording.url)?.[1] ?? 'recorded-model',
        );
        const bytes = Buffer.from(JSON.stringify({ ...body, model: 'public/model' }));
        const call: VendorCall = {
          ...callAs({ streamed: true }, { ...body, model: 'public/model' }, model, 'id-1'),
          bytes,
          speech,
        };
        if (recording.request !== undefined) {
          const { path, body: sent } = adapter.ask(call);
          const { stream_format: _, ...rest } = JSON.parse(sent.toString('utf8'));
          expect(rest).toEqual(recording.request);
          expect(recording.url).toContain(path.split('?')[0]);
        }
        const type = recording.headers['content-type'] ?? '';
        const told = heard(recording.reply);
        const sound =
          told === undefined ? recording.reply : Buffer.from(String(told['audio_data']), 'base64');
        const stream = adapter.stream(
          call,
          told === undefined && type === 'application/json' ? 'audio/mpeg' : type,
        );
        const out = stream.push(recording.reply) + stream.end();
        expect(stream.meter.fault).toBeUndefined();
        expect(Buffer.from(out, 'latin1').equals(sound)).toBe(true);
      },
    ));
});

/** The vendor is sent what the client sent: each field, and the recording byte by byte. */
function expectSameForm(recording: Recording, adapter: AudioAdapter, call: VendorCall): void {
  const { path, headers, body, rest = [] } = adapter.ask(call);
  expect(recording.url).toContain(path);
  const file = call.transcription?.file;
  const whole = Buffer.concat([
    bufferOf(body),
    ...rest.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from('FILE'))),
  ]);
  const sent = readSent(headers, whole);
  const text = recording.sent.bytes.toString('latin1');
  const fields = [
    ...text.matchAll(
      /name="?([\w[\]]+)"?[^\r\n]*\r\n(?:[\w-]+:[^\r\n]*\r\n)*\r\n([^\r\n]*)\r\n--/g,
    ),
  ];
  const recorded = fields
    .map(([, name = '', value = '']) => [name, value])
    .filter(([name]) => name !== 'file');
  expect(new Map(Object.entries(sent?.fields ?? {}))).toEqual(
    new Map(recorded.map(([name, value]) => [name, value] as const)),
  );
  expect(sent?.files.map(({ name }) => name)).toEqual(['file']);
  expect(file?.size).toBeGreaterThan(1_000);
}

function expectStream(recording: Recording, adapter: AudioAdapter, call: VendorCall): void {
  const clean = recording.reply
    .toString('utf8')
    .replaceAll('\r\n', '\n')
    .replace('data: [DONE]\n\n', '')
    .trim();
  for (const pieces of everyOffset(recording.reply)) {
    const stream = adapter.stream(call, 'text/event-stream; charset=utf-8');
    let out = '';
    for (const piece of pieces) out += stream.push(piece);
    out += stream.end();
    expect(stream.meter.fault).toBeUndefined();
    expect(Buffer.from(out, 'latin1').toString('utf8').trim()).toBe(clean);
    expect(stream.meter.quantities).toMatchObject({
      audio_input: expect.any(Number),
      output: expect.any(Number),
    });
  }
}

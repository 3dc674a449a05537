import { bufferOf } from '../src/base/json.ts';
import { describe, expect, it } from 'vitest';
import { readImage } from '../src/media/image.ts';
import { type VendorAnswer, type VendorCall, isPending } from '../src/providers/adapter.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { vendors } from '../src/providers/index.ts';
import type { InputImage, ImageRequest } from '../src/providers/media-request.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';
import { callAs, replays } from './replay.ts';

const suite = replays('pictures');
const all = (endpoint: string): Recording[] =>
  recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, endpoint);

interface Part {
  readonly text?: string;
  readonly inlineData?: { readonly data: string };
}

/** What a vendor's own request asks for, as a client would ask it. */
function wishOf(recording: Recording): ImageRequest {
  const { request = {} } = recording;
  const parts: readonly Part[] = [request['contents'] ?? []]
    .flat()
    .flatMap((turn: { parts?: Part[] }) => turn.parts ?? []);
  const references = [request['images'] ?? request['input_references'] ?? []].flat();
  const size = typeof request['size'] === 'string' ? /^(\d+)x(\d+)$/.exec(request['size']) : null;
  return {
    prompt: String(request['prompt'] ?? parts.map(({ text = '' }) => text).join('')),
    n: typeof request['n'] === 'number' ? request['n'] : 1,
    size: size === null ? undefined : { width: Number(size[1]), height: Number(size[2]) },
    quality: typeof request['quality'] === 'string' ? request['quality'] : undefined,
    returns:
      request['response_format'] === 'b64_json' || recording.vendor !== 'xai' ? 'b64_json' : 'url',
    partials: 0,
    images: references.map(given),
    mask: undefined,
  };
}

function given(reference: { url?: string; image_url?: { url: string } }): InputImage {
  const bytes = Buffer.from(
    (reference.url ?? reference.image_url?.url ?? '').replace(/^data:[^,]*,/, ''),
    'base64',
  );
  const facts = readImage(bytes);
  if (typeof facts === 'string') throw new Error(facts);
  return { ...facts, bytes };
}

/** The recorded request, its model read from wherever it stands. */
function callOf(recording: Recording): VendorCall {
  const { request = {}, url } = recording;
  const model = String(request['model'] ?? /models\/([^:]+):/.exec(url)?.[1] ?? 'dall-e-2');
  const { model: _, contents: __, generationConfig: ___, ...said } = request;
  return {
    ...callAs({ streamed: false }, { ...said, model: 'public/model' }, model, 'img-1'),
    image: wishOf(recording),
  };
}

function replay(recording: Recording, way: 'images' | 'image_edits'): void {
  const adapter = (vendors.get(recording.vendor) ?? vendors.get('openai-compatible'))?.adapters[
    way
  ];
  if (adapter === undefined) throw new Error(`${recording.vendor} makes no ${way}`);
  const call = callOf(recording);
  const ask = adapter.ask(call);
  expect(decodeURIComponent(recording.url.replace(/[?#].*/, ''))).toContain(
    ask.path.replace(/^\/models/, 'models'),
  );
  if (
    recording.status === 200 &&
    way === 'images' &&
    recording.vendor !== 'vertex' &&
    recording.request !== undefined
  )
    sameWords(recording, bufferOf(ask.body));
  if (recording.status >= 400) {
    const { kind, message } = adapter.fault(
      recording.status,
      recording.headers,
      recording.reply.toString('utf8'),
    );
    expect(message).not.toBe('');
    expect(kind).toBe(recording.status === 401 ? 'credentials' : 'bad_request');
    return;
  }
  const answer = adapter.read(recording.reply, 'application/json', call);
  if (isPending(answer) || isFault(answer))
    throw new Error('kind' in answer ? answer.message : 'it comes later');
  sameAnswer(recording, answer);
}

/** What the vendor was told beside the model, but for what only we have to say. */
function sameWords({ request = {}, vendor }: Recording, body: Buffer): void {
  const asked = JSON.parse(body.toString('utf8'));
  if (vendor === 'gemini') {
    expect(asked.contents).toEqual([
      { role: 'user', parts: [{ text: wishOf({ request } as Recording).prompt }] },
    ]);
    expect(asked.generationConfig.responseModalities).toContain('IMAGE');
    return;
  }
  for (const [name, value] of Object.entries(request)) {
    // What models before took and those of today refuse is left out for these.
    if (
      name === 'model' ||
      (vendor === 'openai' && ['response_format', 'style', 'size', 'quality'].includes(name))
    )
      continue;
    if (name === 'n' && value === 1) continue;
    expect(asked[name], name).toEqual(value);
  }
}

function sameAnswer({ reply }: Recording, answer: VendorAnswer): void {
  const told = JSON.parse(reply.toString('utf8'));
  const parts: readonly Part[] = (told.candidates ?? []).flatMap(
    ({ content }: { content: { parts: Part[] } }) => content.parts,
  );
  const recorded =
    told.data ??
    parts.flatMap(({ inlineData }) =>
      inlineData === undefined ? [] : [{ b64_json: inlineData.data }],
    );
  const made = (answer.pictures ?? []).map(({ from, revisedPrompt }) => ({
    ...('url' in from ? { url: from.url } : { b64_json: from.base64 }),
    ...(revisedPrompt && { revised_prompt: revisedPrompt }),
  }));
  expect(made).toEqual(
    recorded.map(({ url, b64_json, revised_prompt }: Record<string, string>) => ({
      ...(b64_json ? { b64_json } : { url }),
      ...(revised_prompt && { revised_prompt }),
    })),
  );
  const body = JSON.parse(answer.body.toString('utf8'));
  expect(body.created).toBe(told.created || 1_700_000_000);
  expect(JSON.stringify(body)).not.toContain('cost');
  const usage = told.usageMetadata;
  if (usage !== undefined) {
    expect(body.usage.total_tokens).toBe(usage.totalTokenCount);
    expect(answer.quantities).toMatchObject({
      input: usage.promptTokenCount,
      image_output: usage.candidatesTokensDetails[0].tokenCount,
    });
  }
  if (told.usage?.completion_tokens !== undefined)
    expect(answer.quantities?.image_output).toBe(told.usage.completion_tokens);
}

describe.skipIf(recordingsFolder === undefined)('recorded pictures', () => {
  const pictures = all('image').filter(({ request }) => request?.['prompt'] !== undefined);
  const unasked = all('image').filter(({ request }) => request?.['prompt'] === undefined);

  it('are asked for and read in the same meaning', () =>
    suite.each(
      'made',
      pictures.filter(({ url }) => !url.endsWith('/edits')),
      (recording) => replay(recording, 'images'),
    ));

  it('are edited in the same meaning', () =>
    suite.each(
      'edited',
      pictures.filter(({ url }) => url.endsWith('/edits')),
      (recording) => replay(recording, 'image_edits'),
    ));

  it('are read in the same meaning where their request was not kept, and so are refusals in disguise', () =>
    suite.each('read', unasked, (recording) => {
      const adapter = vendors.get('openai-compatible')?.adapters.image_variations;
      const answer = adapter?.read(recording.reply, 'application/json', callOf(recording));
      if (answer === undefined || isPending(answer)) throw new Error('nobody reads it');
      if (isFault(answer))
        expect(answer).toMatchObject({ kind: 'bad_request', param: 'response_format' });
      else sameAnswer(recording, answer);
    }));

  it('of models that converse are asked for and read in the same meaning', () =>
    suite.each(
      'conversed',
      all('gemini').filter(
        ({ request, status }) =>
          status === 200 && JSON.stringify(request?.['generationConfig'] ?? {}).includes('"IMAGE"'),
      ),
      (recording) => replay(recording, 'images'),
    ));
});

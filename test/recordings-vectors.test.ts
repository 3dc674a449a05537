import { describe, expect, it } from 'vitest';
import type { WholeCapability } from '../src/base/capability.ts';
import type { Fault } from '../src/base/fault.ts';
import type { VendorCall, WholeAdapter } from '../src/providers/adapter.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { vendors } from '../src/providers/index.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';
import { callAs, replays } from './replay.ts';
import { embeddingRequest, said, vectorsMeaning } from './vector-meaning.ts';

const suite = replays('vectors, verdicts and scores');
const all = (endpoint: string): Recording[] =>
  recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, endpoint);

/** Vendors that we do not know by name are played by the one that is anybody. */
function adapterFor({ vendor }: Recording, capability: WholeCapability): WholeAdapter {
  const adapter = (vendors.get(vendor) ?? vendors.get('openai-compatible'))?.adapters[capability];
  if (adapter === undefined) throw new Error(`${vendor} has no ${capability}`);
  return adapter;
}

function callOf(recording: Recording, request: Record<string, unknown>): VendorCall {
  const named =
    recording.request?.['model'] ??
    /\/models?\/([^/:]+(?::\d)?)(?::\w+|\/invoke)/.exec(decodeURIComponent(recording.url))?.[1];
  const body = { ...request, model: 'public/model' };
  return callAs(
    { streamed: false },
    body,
    typeof named === 'string' ? named : 'recorded-model',
    'id-1',
  );
}

/** Only what a request did wrong by itself is the client's. */
function checkFault({ status }: Recording, { kind, message }: Fault): void {
  expect(message).not.toBe('');
  if (status === 401 || status === 403) expect(kind).toBe('credentials');
  else if (status === 404) expect(kind).toBe('unknown_model');
  else expect(['bad_request', 'unknown_model', 'context_length', 'credentials']).toContain(kind);
}

function sent(
  adapter: WholeAdapter,
  call: VendorCall,
): { readonly path: string; readonly body: Record<string, unknown> } {
  const { path, body } = adapter.ask(call);
  return {
    path: decodeURIComponent(path),
    body: { model: 'recorded', ...JSON.parse(body.toString('utf8')) },
  };
}

function read(adapter: WholeAdapter, recording: Recording, call: VendorCall) {
  const answer = adapter.read(recording.reply, 'application/json', call);
  if (isFault(answer)) throw new Error(`${answer.kind}: ${answer.message}`);
  return { answer, body: JSON.parse(answer.body.toString('utf8')) };
}

describe.skipIf(recordingsFolder === undefined)('recorded vectors, verdicts and scores', () => {
  it('vectors mean the same', () =>
    suite.each('embedding', all('embedding'), (recording) => {
      const adapter = adapterFor(recording, 'embeddings');
      const asked = embeddingRequest(recording);
      const call = callOf(recording, asked ?? { input: ['a', 'b', 'c'] });
      const bad = /invalid_format/.test(JSON.stringify(asked ?? {}));
      if (asked !== undefined && !bad && !/embedContent/.test(recording.url)) {
        const { path, body } = sent(adapter, call);
        const recorded = { model: 'recorded', ...recording.request };
        expect(said({ ...body, model: undefined })).toEqual(
          said({ ...vendorsOwn(recorded, recording), model: undefined }),
        );
        expect(decodeURIComponent(recording.url.replace(/[?#].*/, ''))).toContain(
          path.replace(/[?#].*/, '').replace(/^\/models/, 'models'),
        );
      }
      if (recording.status >= 400)
        checkFault(
          recording,
          adapter.fault(recording.status, recording.headers, recording.reply.toString('utf8')),
        );
      else {
        const want = vectorsMeaning(
          recording.reply.toString('utf8'),
          recording.vendor === 'perplexity',
        );
        expect(want.vectors.length).toBeGreaterThan(0);
        for (const encoding_format of ['float', 'base64']) {
          const { answer, body } = read(
            adapter,
            recording,
            callOf(recording, { ...call.body, encoding_format }),
          );
          const got = vectorsMeaning(answer.body.toString('utf8'));
          expect(got.vectors).toEqual(want.vectors);
          expect(
            body.data.every(
              (item: { embedding: unknown }) =>
                (typeof item.embedding === 'string') === (encoding_format === 'base64'),
            ),
          ).toBe(true);
          expect(got.tokens).toBe(want.tokens);
          expect(answer.quantities?.input).toBe(want.tokens);
          expect(body).toMatchObject({ object: 'list', model: 'public/model' });
        }
      }
    }));

  it('verdicts mean the same', () =>
    suite.each('moderation', all('moderation'), (recording) => {
      const adapter = adapterFor(recording, 'moderations');
      const call = callOf(recording, {
        ...recording.request,
        input: recording.request?.['input'] ?? 'text',
      });
      if (recording.request !== undefined)
        expect(sent(adapter, call).body['input']).toEqual(recording.request['input']);
      const { body } = read(adapter, recording, call);
      expect(body.results).toEqual(JSON.parse(recording.reply.toString('utf8')).results);
      expect(body).toMatchObject({ id: 'id-1', model: 'public/model' });
    }));

  it('scores mean the same', () =>
    suite.each('rerank', all('rerank'), (recording) => {
      const adapter = adapterFor(recording, 'rerank');
      const { api_version: _version, ...asked } = { ...recording.request };
      const call = callOf(recording, {
        query: 'q',
        documents: ['0', '1', '2', '3', '4', '5'],
        ...asked,
      });
      if (recording.request !== undefined)
        expect({ ...sent(adapter, call).body, model: '' }).toEqual({
          ...recording.request,
          model: '',
        });
      const { answer, body } = read(adapter, recording, call);
      const told = JSON.parse(recording.reply.toString('utf8'));
      const places = (results: readonly { index: number; relevance_score: number }[]) =>
        results.map(({ index, relevance_score: score }) => [index, score]);
      expect(places(body.results)).toEqual(places(told.results));
      expect(answer.quantities?.request).toBe(
        told.meta?.billed_units.search_units ?? (recording.vendor === 'bedrock' ? 1 : undefined),
      );
      expect(answer.quantities?.input).toBe(told.usage?.total_tokens);
    }));
});

/**
 * Cohere's first interface took vectors by type only when asked; Voyage's encoding goes unsaid when
 * it is numbers.
 */
function vendorsOwn(
  request: Readonly<Record<string, unknown>>,
  { vendor }: Recording,
): Record<string, unknown> {
  const { encoding_format: encoding, ...rest } = request;
  return vendor === 'voyage' && encoding === 'float' ? rest : { ...request };
}

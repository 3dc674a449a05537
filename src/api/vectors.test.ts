import { expect, test } from 'vitest';
import { context, refusalOf, sentJson } from '../../test/support/parsed-request.ts';
import type { RequestBody } from './request-body.ts';
import { parseEmbeddings, parseRerank, parseModeration } from './vectors.ts';

const parsers = { embeddings: parseEmbeddings, moderations: parseModeration, rerank: parseRerank };
type Endpoint = keyof typeof parsers;
const parsed = (endpoint: Endpoint, body: RequestBody) =>
  parsers[endpoint](context, sentJson(body));

const vectors = { model: 'm', input: 'Hi' };
const search = { model: 'm', query: 'q', documents: ['a'] };
const many = (count: number): string[] => Array.from({ length: count }, () => 'x');

test.each<[string, Endpoint, RequestBody, string]>([
  ['no model', 'embeddings', { input: 'Hi' }, 'model'],
  ['no input', 'embeddings', { model: 'm' }, 'input'],
  ['input that is null', 'embeddings', { ...vectors, input: null }, 'input'],
  ['an empty text', 'embeddings', { ...vectors, input: '' }, 'input'],
  ['no text at all', 'embeddings', { ...vectors, input: [] }, 'input'],
  ['an object', 'embeddings', { ...vectors, input: { text: 'Hi' } }, 'input'],
  ['a number', 'embeddings', { ...vectors, input: 5 }, 'input'],
  ['an empty text among others', 'embeddings', { ...vectors, input: ['a', ''] }, 'input[1]'],
  ['a text and tokens', 'embeddings', { ...vectors, input: ['a', [1]] }, 'input[1]'],
  ['a picture', 'embeddings', { ...vectors, input: [{ type: 'image_url' }] }, 'input[0]'],
  ['tokens and a text', 'embeddings', { ...vectors, input: [1, 'a'] }, 'input[1]'],
  ['a token with a fraction', 'embeddings', { ...vectors, input: [1.5] }, 'input[0]'],
  ['a negative token', 'embeddings', { ...vectors, input: [[1], [-1]] }, 'input[1][0]'],
  ['a list without tokens', 'embeddings', { ...vectors, input: [[1], []] }, 'input[1]'],
  ['too many texts', 'embeddings', { ...vectors, input: many(2_049) }, 'input'],
  [
    'an encoding that nobody knows',
    'embeddings',
    { ...vectors, encoding_format: 'int8' },
    'encoding_format',
  ],
  [
    'an encoding that is no word',
    'embeddings',
    { ...vectors, encoding_format: 1 },
    'encoding_format',
  ],
  ['no dimensions', 'embeddings', { ...vectors, dimensions: 0 }, 'dimensions'],
  ['half a dimension', 'embeddings', { ...vectors, dimensions: 0.5 }, 'dimensions'],
  ['dimensions as a text', 'embeddings', { ...vectors, dimensions: '256' }, 'dimensions'],
  ['a user that is no text', 'embeddings', { ...vectors, user: 5 }, 'user'],
  ['a model that is no text', 'moderations', { model: 5, input: 'Hi' }, 'model'],
  ['nothing to judge', 'moderations', {}, 'input'],
  ['an empty list to judge', 'moderations', { input: [] }, 'input'],
  ['a number to judge', 'moderations', { input: ['a', 5] }, 'input[1]'],
  [
    'a part of a kind that nobody knows',
    'moderations',
    { input: [{ type: 'audio' }] },
    'input[0].type',
  ],
  ['a part without its text', 'moderations', { input: [{ type: 'text' }] }, 'input[0].text'],
  [
    'a picture without its address',
    'moderations',
    { input: [{ type: 'image_url', image_url: {} }] },
    'input[0].image_url.url',
  ],
  ['a text among parts', 'moderations', { input: [{ type: 'text', text: 'a' }, 'b'] }, 'input[1]'],
  ['no question', 'rerank', { model: 'm', documents: ['a'] }, 'query'],
  ['an empty question', 'rerank', { ...search, query: '' }, 'query'],
  ['no documents', 'rerank', { model: 'm', query: 'q' }, 'documents'],
  ['an empty list of documents', 'rerank', { ...search, documents: [] }, 'documents'],
  ['documents that are a text', 'rerank', { ...search, documents: 'a' }, 'documents'],
  [
    'a document without text',
    'rerank',
    { ...search, documents: ['a', { title: 't' }] },
    'documents[1]',
  ],
  ['too many documents', 'rerank', { ...search, documents: many(2_049) }, 'documents'],
  ['a list of no results', 'rerank', { ...search, top_n: 0 }, 'top_n'],
  [
    'documents returned perhaps',
    'rerank',
    { ...search, return_documents: 'yes' },
    'return_documents',
  ],
])('%s is refused, and the parameter is named', (_, endpoint, body, param) => {
  expect(refusalOf(() => parsed(endpoint, body)).param).toBe(param);
});

test('what the convention allows is accepted', () => {
  expect(
    parsed('embeddings', { ...vectors, encoding_format: null, dimensions: null, user: null }),
  ).toMatchObject({
    capability: 'embeddings',
    choices: 0,
  });
  expect(parsed('embeddings', { ...vectors, input: [[1, 2], [3]] }).textTokensMax).toBe(3);
  expect(parsed('embeddings', { ...vectors, input: many(2_048) }).text().length).toBe(4_095);
  expect(parsed('moderations', { input: 'Hi' }).model).toBe('omni-moderation-latest');
  const seen = parsed('moderations', {
    input: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
  });
  expect([...seen.media]).toEqual([['image', 'input[0]']]);
});

test('a question is read with each document, and long documents count as several', () => {
  const { units, textTokensMax } = parsed('rerank', {
    ...search,
    query: 'q'.repeat(300),
    documents: [{ text: 'a'.repeat(1_500) }, ...many(99)],
  });
  expect(textTokensMax).toBe(600 + 99 * 101);
  expect(units).toBe(2);
});

import { batchEmbedRequestSchema, embedRequestSchema } from '../embed-content.ts';
import { generateSchemas, tokenCountOfSchema } from '../generate.ts';
import * as schema from '../schema.ts';

const path = { model: 'Its id, which may contain `/`.' };
const places =
  'Also under `/v1beta/models` and `/v1beta1/publishers/google/models`. The key may come in `x-goog-api-key`, or in the query as `key`.';

export const generateOperations: schema.Operations = {
  'POST /models/*:generateContent': {
    id: 'generateContent',
    tag: 'Google’s format',
    summary: 'Answer a conversation, in the format of generateContent',
    description: `Every chat model, whoever makes it. Names may be in camelCase or snake_case. ${places}`,
    path,
    schemas: {
      ...generateSchemas,
      GenerateAnswer: schema.answer(
        {
          candidates: schema.array(
            'The answers.',
            schema.answer(
              {
                content: schema.ref('GenerateTurn'),
              },
              {
                finishReason: schema.string('`STOP`, `MAX_TOKENS`, `SAFETY`, …'),
                index: schema.integer('Which answer.', 0),
              },
            ),
          ),
        },
        {
          usageMetadata: schema.answer({
            promptTokenCount: schema.integer('Tokens that were read, cached ones included.', 0),
            totalTokenCount: schema.integer('Tokens that were read and written.', 0),
          }),
          modelVersion: schema.string('The model that was asked for.'),
          responseId: schema.string('Names this answer.'),
        },
      ),
    },
    body: { 'application/json': schema.ref('GenerateRequest') },
    answer: { 'application/json': schema.ref('GenerateAnswer') },
  },
  'POST /models/*:streamGenerateContent': {
    id: 'streamGenerateContent',
    tag: 'Google’s format',
    summary: 'The same as a stream',
    description: `With \`?alt=sse\` it is a stream of events, without it one JSON array. A stream that breaks off ends with an \`error\` and a broken connection. ${places}`,
    path,
    body: { 'application/json': schema.ref('GenerateRequest') },
    answer: {
      'text/event-stream': schema.string('Answers whose parts are the pieces of the whole one.'),
      'application/json': schema.array('The same in a list.', schema.ref('GenerateAnswer')),
    },
  },
  'POST /models/*:countTokens': {
    id: 'countContentTokens',
    tag: 'Google’s format',
    summary: 'Count the tokens of a conversation; free',
    description: places,
    path,
    schemas: {
      GenerateCountRequest: tokenCountOfSchema,
      GenerateCount: schema.answer({
        totalTokens: schema.integer(
          'As the vendor counts where it tells, else an estimate of ours.',
          0,
        ),
      }),
    },
    body: { 'application/json': schema.ref('GenerateCountRequest') },
    answer: { 'application/json': schema.ref('GenerateCount') },
  },
  'POST /models/*:embedContent': {
    id: 'embedContent',
    tag: 'Google’s format',
    summary: 'Make a vector of a text',
    description: places,
    path,
    schemas: {
      EmbedContentRequest: embedRequestSchema,
      ContentVector: schema.answer({
        values: schema.array('The vector.', { type: 'number' }),
      }),
      EmbedContentAnswer: schema.answer({ embedding: schema.ref('ContentVector') }),
    },
    body: { 'application/json': schema.ref('EmbedContentRequest') },
    answer: { 'application/json': schema.ref('EmbedContentAnswer') },
  },
  'POST /models/*:batchEmbedContents': {
    id: 'batchEmbedContents',
    tag: 'Google’s format',
    summary: 'Make vectors of texts',
    description: places,
    path,
    schemas: {
      BatchEmbedContentsRequest: batchEmbedRequestSchema,
      BatchEmbedContentsAnswer: schema.answer({
        embeddings: schema.array('In the order of the requests.', schema.ref('ContentVector')),
      }),
    },
    body: { 'application/json': schema.ref('BatchEmbedContentsRequest') },
    answer: { 'application/json': schema.ref('BatchEmbedContentsAnswer') },
  },
};

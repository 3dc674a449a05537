import { batchEmbedRequestSchema, embedRequestSchema } from '../embed-content.ts';
import { generateSchemas, tokenCountOfSchema } from '../generate.ts';
import * as schema from '../schema.ts';

const path = { model: 'The id of the model; it may contain `/`.' };
const places =
  'This endpoint is also under `/v1beta/models` and `/v1beta1/publishers/google/models`. The key may come in `x-goog-api-key`, or in the query as `key`.';

/** Not the turn of a request, as with the blocks of messages. */
const answerTurn = schema.answer({
  role: schema.string('`model`.'),
  parts: schema.array(
    'The parts of the answer.',
    schema.answer(
      {},
      {
        text: schema.string('A text.'),
        thought: schema.boolean('Whether the text is reasoning.'),
        inlineData: schema.object('`mimeType`, and `data` in base64.'),
        functionCall: schema.object('`name`, `args` and `id`.'),
        thoughtSignature: schema.string('The signature to send back with the part.'),
      },
    ),
  ),
});

export const generateOperations: schema.Operations = {
  'POST /models/*:generateContent': {
    id: 'generateContent',
    tag: 'Google’s format',
    convention: 'generate',
    calls: 'chat',
    also: ['uploaded_file_not_found'],
    summary: 'Generate content',
    description: `For every chat model of every vendor, in Google’s format. Names may be in camelCase or snake_case. ${places}`,
    path,
    schemas: {
      ...generateSchemas,
      GenerateAnswer: schema.answer(
        {
          candidates: schema.array(
            'The answers.',
            schema.answer(
              {
                content: answerTurn,
              },
              {
                finishReason: schema.string('`STOP`, `MAX_TOKENS`, `SAFETY`, …'),
                index: schema.integer('Number of the answer, from 0.', 0),
              },
            ),
          ),
        },
        {
          usageMetadata: schema.answer({
            promptTokenCount: schema.integer('Input tokens, including cached ones.', 0),
            totalTokenCount: schema.integer('Input plus output tokens.', 0),
          }),
          modelVersion: schema.string('The requested model.'),
          responseId: schema.string('ID of this answer.'),
        },
      ),
    },
    body: { 'application/json': schema.ref('GenerateRequest') },
    answer: { 'application/json': schema.ref('GenerateAnswer') },
  },
  'POST /models/*:streamGenerateContent': {
    id: 'streamGenerateContent',
    tag: 'Google’s format',
    convention: 'generate',
    calls: 'chat',
    also: ['uploaded_file_not_found'],
    summary: 'Generate content as a stream',
    description: `With \`?alt=sse\`, the answer is a stream of events, without it one JSON array. An interrupted stream ends with an \`error\`, and its connection is closed. ${places}`,
    path,
    body: { 'application/json': schema.ref('GenerateRequest') },
    answer: {
      'text/event-stream': schema.string('Answers, each with the next part of the content.'),
      'application/json': schema.array('The same answers in a list.', schema.ref('GenerateAnswer')),
    },
  },
  'POST /models/*:countTokens': {
    id: 'countContentTokens',
    tag: 'Google’s format',
    convention: 'generate',
    calls: 'count',
    also: ['uploaded_file_not_found'],
    summary: 'Count the tokens of contents (not charged)',
    description: places,
    path,
    schemas: {
      GenerateCountRequest: tokenCountOfSchema,
      GenerateCount: schema.answer({
        totalTokens: schema.integer('The vendor’s count if it has one, otherwise an estimate.', 0),
      }),
    },
    body: { 'application/json': schema.ref('GenerateCountRequest') },
    answer: { 'application/json': schema.ref('GenerateCount') },
  },
  'POST /models/*:embedContent': {
    id: 'embedContent',
    tag: 'Google’s format',
    convention: 'generate',
    calls: 'model',
    summary: 'Embed a text',
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
    convention: 'generate',
    calls: 'model',
    summary: 'Embed several texts',
    description: places,
    path,
    schemas: {
      BatchEmbedContentsRequest: batchEmbedRequestSchema,
      BatchEmbedContentsAnswer: schema.answer({
        embeddings: schema.array(
          'One vector for each request, in the same order.',
          schema.ref('ContentVector'),
        ),
      }),
    },
    body: { 'application/json': schema.ref('BatchEmbedContentsRequest') },
    answer: { 'application/json': schema.ref('BatchEmbedContentsAnswer') },
  },
};

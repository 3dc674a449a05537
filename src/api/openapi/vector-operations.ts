import {
  embeddingsRequestSchema,
  moderationRequestSchema,
  rerankRequestSchema,
} from '../vectors.ts';
import * as schema from '../schema.ts';

export const vectorOperations: schema.Operations = {
  'POST /embeddings': {
    id: 'createEmbeddings',
    tag: 'Vectors and scores',
    summary: 'Make vectors of texts',
    schemas: {
      EmbeddingsRequest: embeddingsRequestSchema,
      VectorUsage: schema.answer({
        prompt_tokens: schema.integer('Tokens that were read.', 0),
        total_tokens: schema.integer('The same.', 0),
      }),
      Embeddings: schema.answer({
        object: { type: 'string', const: 'list' },
        data: schema.array(
          'One for each input, in its order.',
          schema.answer({
            object: { type: 'string', const: 'embedding' },
            index: schema.integer('Of which input.', 0),
            embedding: schema.anyOf(
              'The vector: numbers, or base64 of little-endian floats.',
              { type: 'array', items: { type: 'number' } },
              { type: 'string' },
            ),
          }),
        ),
        model: schema.string('The model that was asked for.'),
        usage: schema.ref('VectorUsage'),
      }),
    },
    body: { 'application/json': schema.ref('EmbeddingsRequest') },
    answer: { 'application/json': schema.ref('Embeddings') },
    once: true,
  },
  'POST /moderations': {
    id: 'createModeration',
    tag: 'Vectors and scores',
    summary: 'Judge texts and pictures',
    schemas: {
      ModerationRequest: moderationRequestSchema,
      Moderation: schema.answer({
        id: schema.string('Names this answer.'),
        model: schema.string('The model that judged.'),
        results: schema.array(
          'One for each text, or one for all parts.',
          schema.answer({
            flagged: schema.boolean('Whether anything was found.'),
            categories: schema.object('What.'),
            category_scores: schema.object('How surely.'),
          }),
        ),
      }),
    },
    body: { 'application/json': schema.ref('ModerationRequest') },
    answer: { 'application/json': schema.ref('Moderation') },
  },
  'POST /rerank': {
    id: 'createRerank',
    tag: 'Vectors and scores',
    summary: 'Order documents by what they have to do with a question',
    schemas: {
      RerankRequest: rerankRequestSchema,
      Rerank: schema.answer(
        {
          results: schema.array(
            'The best first.',
            schema.answer(
              {
                index: schema.integer('Of which document.', 0),
                relevance_score: { type: 'number', description: 'From 0 to 1.' },
              },
              { document: schema.object('Where it was asked for.') },
            ),
          ),
        },
        {
          id: schema.string('Names this answer.'),
          model: schema.string('The model that was asked for.'),
          usage: schema.ref('VectorUsage'),
        },
      ),
    },
    body: { 'application/json': schema.ref('RerankRequest') },
    answer: { 'application/json': schema.ref('Rerank') },
  },
};

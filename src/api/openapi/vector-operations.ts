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
    calls: 'model',
    summary: 'Create embeddings',
    schemas: {
      EmbeddingsRequest: embeddingsRequestSchema,
      VectorUsage: schema.answer({
        prompt_tokens: schema.integer('Input tokens.', 0),
        total_tokens: schema.integer('The same number.', 0),
      }),
      Embeddings: schema.answer({
        object: { type: 'string', const: 'list' },
        data: schema.array(
          'One entry per input, in the same order.',
          schema.answer({
            object: { type: 'string', const: 'embedding' },
            index: schema.integer('Index of the input.', 0),
            embedding: schema.anyOf(
              'The vector: numbers, or base64 of little-endian floats.',
              { type: 'array', items: { type: 'number' } },
              { type: 'string' },
            ),
          }),
        ),
        model: schema.string('The requested model.'),
        usage: schema.ref('VectorUsage'),
      }),
    },
    body: { 'application/json': schema.ref('EmbeddingsRequest') },
    answer: { 'application/json': schema.ref('Embeddings') },
  },
  'POST /moderations': {
    id: 'createModeration',
    tag: 'Vectors and scores',
    calls: 'model',
    summary: 'Check text and images for unsafe content',
    schemas: {
      ModerationRequest: moderationRequestSchema,
      Moderation: schema.answer({
        id: schema.string('ID of this answer.'),
        model: schema.string('The model that checked.'),
        results: schema.array(
          'One entry per text, or one for all parts.',
          schema.answer({
            flagged: schema.boolean('Whether unsafe content was found.'),
            categories: schema.object('The categories that were found.'),
            category_scores: schema.object('Score of each category.'),
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
    calls: 'model',
    summary: 'Rank documents by relevance',
    schemas: {
      RerankRequest: rerankRequestSchema,
      Rerank: schema.answer(
        {
          results: schema.array(
            'Most relevant first.',
            schema.answer(
              {
                index: schema.integer('Index of the document.', 0),
                relevance_score: { type: 'number', description: 'From 0 to 1.' },
              },
              { document: schema.object('If requested.') },
            ),
          ),
        },
        {
          id: schema.string('ID of this answer.'),
          model: schema.string('The requested model.'),
          usage: schema.ref('VectorUsage'),
        },
      ),
    },
    body: { 'application/json': schema.ref('RerankRequest') },
    answer: { 'application/json': schema.ref('Rerank') },
  },
};

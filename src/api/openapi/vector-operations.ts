import {
  embeddingsRequestSchema,
  moderationRequestSchema,
  rerankRequestSchema,
} from '../vectors.ts';
import {
  type Operations,
  objectSchema,
  answerSchema,
  booleanSchema,
  arraySchema,
  oneOfSchema,
  schemaRef,
  stringSchema,
  integerSchema,
} from './schema.ts';

export const vectorOperations: Operations = {
  'POST /embeddings': {
    id: 'createEmbeddings',
    tag: 'Vectors and scores',
    summary: 'Make vectors of texts',
    schemas: {
      EmbeddingsRequest: embeddingsRequestSchema,
      VectorUsage: answerSchema({
        prompt_tokens: integerSchema('Tokens that were read.', 0),
        total_tokens: integerSchema('The same.', 0),
      }),
      Embeddings: answerSchema({
        object: { type: 'string', const: 'list' },
        data: arraySchema(
          'One for each input, in its order.',
          answerSchema({
            object: { type: 'string', const: 'embedding' },
            index: integerSchema('Of which input.', 0),
            embedding: oneOfSchema(
              'The vector: numbers, or base64 of little-endian floats.',
              { type: 'array', items: { type: 'number' } },
              { type: 'string' },
            ),
          }),
        ),
        model: stringSchema('The model that was asked for.'),
        usage: schemaRef('VectorUsage'),
      }),
    },
    body: { 'application/json': schemaRef('EmbeddingsRequest') },
    answer: { 'application/json': schemaRef('Embeddings') },
    once: true,
  },
  'POST /moderations': {
    id: 'createModeration',
    tag: 'Vectors and scores',
    summary: 'Judge texts and pictures',
    schemas: {
      ModerationRequest: moderationRequestSchema,
      Moderation: answerSchema({
        id: stringSchema('Names this answer.'),
        model: stringSchema('The model that judged.'),
        results: arraySchema(
          'One for each text, or one for all parts.',
          answerSchema({
            flagged: booleanSchema('Whether anything was found.'),
            categories: objectSchema('What.'),
            category_scores: objectSchema('How surely.'),
          }),
        ),
      }),
    },
    body: { 'application/json': schemaRef('ModerationRequest') },
    answer: { 'application/json': schemaRef('Moderation') },
  },
  'POST /rerank': {
    id: 'createRerank',
    tag: 'Vectors and scores',
    summary: 'Order documents by what they have to do with a question',
    schemas: {
      RerankRequest: rerankRequestSchema,
      Rerank: answerSchema(
        {
          results: arraySchema(
            'The best first.',
            answerSchema(
              {
                index: integerSchema('Of which document.', 0),
                relevance_score: { type: 'number', description: 'From 0 to 1.' },
              },
              { document: objectSchema('Where it was asked for.') },
            ),
          ),
        },
        {
          id: stringSchema('Names this answer.'),
          model: stringSchema('The model that was asked for.'),
          usage: schemaRef('VectorUsage'),
        },
      ),
    },
    body: { 'application/json': schemaRef('RerankRequest') },
    answer: { 'application/json': schemaRef('Rerank') },
  },
};

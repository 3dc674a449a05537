import {
  embeddingEncodings,
  embeddingInputsMax,
  documentsMax,
  moderationInputsMax as judgedMax,
} from '../vectors.ts';
import {
  type Operations,
  objectSchema,
  answerSchema,
  requestSchema,
  booleanSchema,
  arraySchema,
  oneOfSchema,
  schemaRef,
  stringSchema,
  integerSchema,
  enumSchema,
} from './schema.ts';

const model = stringSchema('Which model.', { minLength: 1 });
const tokens = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } };

export const vectorOperations: Operations = {
  'POST /embeddings': {
    id: 'createEmbeddings',
    tag: 'Vectors and scores',
    summary: 'Make vectors of texts',
    schemas: {
      EmbeddingsRequest: requestSchema(
        {
          model,
          input: oneOfSchema(
            `A text, tokens, or up to ${embeddingInputsMax} of either. Tokens are those of cl100k_base; for models that read text alone they are decoded.`,
            { type: 'string', minLength: 1 },
            {
              type: 'array',
              minItems: 1,
              maxItems: embeddingInputsMax,
              items: { type: 'string', minLength: 1 },
            },
            tokens,
            { type: 'array', minItems: 1, maxItems: embeddingInputsMax, items: tokens },
          ),
        },
        {
          encoding_format: enumSchema(
            'How vectors are written; `float` by default.',
            embeddingEncodings,
          ),
          dimensions: integerSchema('Of each vector, for models that can choose.', 1),
          user: stringSchema('Your name for your user.'),
        },
      ),
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
      ModerationRequest: requestSchema(
        {
          input: oneOfSchema(
            'A text, texts, or the parts of one thing: texts and pictures.',
            { type: 'string' },
            { type: 'array', minItems: 1, maxItems: judgedMax, items: { type: 'string' } },
            {
              type: 'array',
              minItems: 1,
              maxItems: judgedMax,
              items: requestSchema({ type: enumSchema('Of a part.', ['text', 'image_url']) }),
            },
          ),
        },
        { model },
      ),
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
      RerankRequest: requestSchema(
        {
          model,
          query: stringSchema('The question.', { minLength: 1 }),
          documents: arraySchema(
            'Texts, or objects with a `text`.',
            {
              anyOf: [
                { type: 'string' },
                requestSchema({ text: stringSchema('Of the document.') }),
              ],
            },
            { minItems: 1, maxItems: documentsMax },
          ),
        },
        {
          top_n: integerSchema('How many of the best are told; all by default.', 1),
          return_documents: booleanSchema('Whether their texts are told again.'),
        },
      ),
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

import { encodings, inputsMax } from '../embeddings.ts';
import { inputsMax as judgedMax } from '../moderations.ts';
import { documentsMax } from '../rerank.ts';
import type { Operations } from './operation.ts';
import { anyObject, answered, asked, flag, list, oneOf, ref, text, whole, word } from './schema.ts';

const model = text('Which model.', { minLength: 1 });
const tokens = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } };

export const vectorOperations: Operations = {
  'POST /embeddings': {
    id: 'createEmbeddings',
    tag: 'Vectors and scores',
    summary: 'Make vectors of texts',
    schemas: {
      EmbeddingsRequest: asked(
        {
          model,
          input: oneOf(
            `A text, tokens, or up to ${inputsMax} of either. Tokens are those of cl100k_base; for models that read text alone they are decoded.`,
            { type: 'string', minLength: 1 },
            {
              type: 'array',
              minItems: 1,
              maxItems: inputsMax,
              items: { type: 'string', minLength: 1 },
            },
            tokens,
            { type: 'array', minItems: 1, maxItems: inputsMax, items: tokens },
          ),
        },
        {
          encoding_format: word('How vectors are written; `float` by default.', encodings),
          dimensions: whole('Of each vector, for models that can choose.', 1),
          user: text('Your name for your user.'),
        },
      ),
      VectorUsage: answered({
        prompt_tokens: whole('Tokens that were read.', 0),
        total_tokens: whole('The same.', 0),
      }),
      Embeddings: answered({
        object: { type: 'string', const: 'list' },
        data: list(
          'One for each input, in its order.',
          answered({
            object: { type: 'string', const: 'embedding' },
            index: whole('Of which input.', 0),
            embedding: oneOf(
              'The vector: numbers, or base64 of little-endian floats.',
              { type: 'array', items: { type: 'number' } },
              { type: 'string' },
            ),
          }),
        ),
        model: text('The model that was asked for.'),
        usage: ref('VectorUsage'),
      }),
    },
    body: { 'application/json': ref('EmbeddingsRequest') },
    answer: { 'application/json': ref('Embeddings') },
    once: true,
  },
  'POST /moderations': {
    id: 'createModeration',
    tag: 'Vectors and scores',
    summary: 'Judge texts and pictures',
    schemas: {
      ModerationRequest: asked(
        {
          input: oneOf(
            'A text, texts, or the parts of one thing: texts and pictures.',
            { type: 'string' },
            { type: 'array', minItems: 1, maxItems: judgedMax, items: { type: 'string' } },
            {
              type: 'array',
              minItems: 1,
              maxItems: judgedMax,
              items: asked({ type: word('Of a part.', ['text', 'image_url']) }),
            },
          ),
        },
        { model },
      ),
      Moderation: answered({
        id: text('Names this answer.'),
        model: text('The model that judged.'),
        results: list(
          'One for each text, or one for all parts.',
          answered({
            flagged: flag('Whether anything was found.'),
            categories: anyObject('What.'),
            category_scores: anyObject('How surely.'),
          }),
        ),
      }),
    },
    body: { 'application/json': ref('ModerationRequest') },
    answer: { 'application/json': ref('Moderation') },
  },
  'POST /rerank': {
    id: 'createRerank',
    tag: 'Vectors and scores',
    summary: 'Order documents by what they have to do with a question',
    schemas: {
      RerankRequest: asked(
        {
          model,
          query: text('The question.', { minLength: 1 }),
          documents: list(
            'Texts, or objects with a `text`.',
            { anyOf: [{ type: 'string' }, asked({ text: text('Of the document.') })] },
            { minItems: 1, maxItems: documentsMax },
          ),
        },
        {
          top_n: whole('How many of the best are told; all by default.', 1),
          return_documents: flag('Whether their texts are told again.'),
        },
      ),
      Rerank: answered(
        {
          results: list(
            'The best first.',
            answered(
              {
                index: whole('Of which document.', 0),
                relevance_score: { type: 'number', description: 'From 0 to 1.' },
              },
              { document: anyObject('Where it was asked for.') },
            ),
          ),
        },
        {
          id: text('Names this answer.'),
          model: text('The model that was asked for.'),
          usage: ref('VectorUsage'),
        },
      ),
    },
    body: { 'application/json': ref('RerankRequest') },
    answer: { 'application/json': ref('Rerank') },
  },
};

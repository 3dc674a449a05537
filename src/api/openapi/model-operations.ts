import { messagesVersionHeader } from '../../providers/conversation/messages-version.ts';
import { modelsPageMax } from '../models.ts';
import * as schema from '../schema.ts';

export const modelOperations: schema.Operations = {
  'GET /models': {
    id: 'listModels',
    tag: 'Model list',
    summary: 'What this key can use',
    description: `In the shape of messages’ clients where \`${messagesVersionHeader}\`, \`x-api-key\` or \`limit\` is sent, else in that of chat’s. Under \`/v1beta/models\`, or where the key comes in \`x-goog-api-key\` or in the query, in the shape of \`generateContent\`’s clients, with \`pageSize\` and \`pageToken\`. The key may come in \`x-api-key\`.`,
    schemas: {
      Model: schema.answer(
        {
          id: schema.string('What requests say in `model`.'),
          object: { type: 'string', const: 'model' },
          created: schema.integer('When it was first offered here; Unix time, seconds.', 0),
          owned_by: schema.string('Whose model it is.'),
        },
        {
          shutdown_date: schema.string('The day after which its vendor has it no more.'),
          name: schema.string('Its name for people.'),
          context_length: schema.integer('Its context window in tokens, where that is known.', 1),
          context_window: schema.integer('As `context_length`.', 1),
          max_model_len: schema.integer('As `context_length`.', 1),
          max_completion_tokens: schema.integer('The most tokens that it writes.', 1),
          architecture: schema.answer({
            modality: schema.string('`text+image->text`.'),
            input_modalities: schema.array('What it reads.', { type: 'string' }),
            output_modalities: schema.array('What it writes.', { type: 'string' }),
          }),
          pricing: schema.object(
            'What one token costs with this key, in yuan, as decimals: `prompt`, `completion`, `input_cache_read`, `input_cache_write`, `internal_reasoning`, …; `image`, `second`, `character`, `request`, `web_search` and the like cost so much each. Long inputs, service tiers and picture sizes may have other prices, which the console shows.',
          ),
          currency: schema.string('Of `pricing`: `CNY`.'),
          top_provider: schema.object(
            '`context_length`, `max_completion_tokens` and `is_moderated`.',
          ),
          type: {
            type: 'string',
            const: 'model',
            description: 'This member and those below: for clients of `/v1/messages`.',
          },
          display_name: schema.string('Its name for people.'),
          created_at: schema.string('As `created`, in RFC 3339.'),
          max_input_tokens: schema.integer('Its context window.', 1),
          max_tokens: schema.integer('The most that it writes.', 1),
          capabilities: schema.object('What it can do, where that is known.'),
          line: schema.string('Its line, where that is known.'),
          lifecycle: schema.choice('`deprecated` once its vendor has named its last day.', [
            'active',
            'deprecated',
            'retired',
          ]),
          deprecated_at: schema.string('When that was said, where it is known.'),
          retires_at: schema.string('As `shutdown_date`, in RFC 3339.'),
        },
      ),
      ModelList: schema.answer(
        {
          object: { type: 'string', const: 'list' },
          data: schema.array('All of them, or one page.', schema.ref('Model')),
        },
        {
          has_more: schema.boolean('Whether there is another page.'),
          first_id: schema.string('Of the first.'),
          last_id: schema.string('Of the last, for `after_id`.'),
        },
      ),
    },
    query: {
      limit: schema.integer(
        'Of one page for messages’ clients, 20 by default. For chat’s clients all are listed.',
        1,
        modelsPageMax,
      ),
      after_id: schema.string('The last model of the page before.'),
      before_id: schema.string('The first model of the page after.'),
    },
    answer: { 'application/json': schema.ref('ModelList') },
  },
  'GET /models/*': {
    id: 'getModel',
    tag: 'Model list',
    summary: 'One model',
    path: { model: 'Its id, which may contain `/`.' },
    answer: { 'application/json': schema.ref('Model') },
  },
};

import { messagesVersionHeader } from '../../providers/conversation/messages-version.ts';
import { modelsPageMax } from '../models.ts';
import * as schema from '../schema.ts';

export const modelOperations: schema.Operations = {
  'GET /models': {
    id: 'listModels',
    tag: 'Model list',
    summary: 'List the models of this key',
    description: `With \`${messagesVersionHeader}\`, \`x-api-key\` or \`limit\`, the list has the format and the paging for clients of \`/v1/messages\`, otherwise the format for clients of chat. The key may come in \`x-api-key\`. Under \`/v1beta/models\`, or if the key comes in \`x-goog-api-key\` or in the query, it has Google’s format, with \`pageSize\` and \`pageToken\`.`,
    schemas: {
      Model: schema.answer(
        {
          id: schema.string('The value of `model` in requests.'),
          object: { type: 'string', const: 'model' },
          created: schema.integer(
            'When this gateway first offered the model; Unix time in seconds.',
            0,
          ),
          owned_by: schema.string('The owner of the model.'),
        },
        {
          shutdown_date: schema.string('The last day on which the vendor offers the model.'),
          name: schema.string('The display name.'),
          context_length: schema.integer('The context window in tokens, if known.', 1),
          context_window: schema.integer('The same as `context_length`.', 1),
          max_model_len: schema.integer('The same as `context_length`.', 1),
          max_completion_tokens: schema.integer('The most output tokens.', 1),
          architecture: schema.answer({
            modality: schema.string('`text+image->text`.'),
            input_modalities: schema.array('The kinds of input.', { type: 'string' }),
            output_modalities: schema.array('The kinds of output.', { type: 'string' }),
          }),
          pricing: schema.object(
            'The prices for this key, in yuan, as decimals. `prompt`, `completion`, `input_cache_read`, `input_cache_write`, `internal_reasoning` and so on are for one token; `image`, `second`, `character`, `request`, `web_search` and so on are for one unit. Long inputs, service tiers and image sizes can have other prices; the console shows them.',
          ),
          currency: schema.string('The currency of `pricing`: `CNY`.'),
          top_provider: schema.object(
            '`context_length`, `max_completion_tokens` and `is_moderated`.',
          ),
          type: {
            type: 'string',
            const: 'model',
            description: 'This member and those below are for clients of `/v1/messages`.',
          },
          display_name: schema.string('The display name.'),
          created_at: schema.string('The same as `created`, in RFC 3339.'),
          max_input_tokens: schema.integer('The context window.', 1),
          max_tokens: schema.integer('The most output tokens.', 1),
          capabilities: schema.object('The abilities of the model, if known.'),
          line: schema.string('The model family, if known.'),
          lifecycle: schema.choice('`deprecated` after the vendor has announced the last day.', [
            'active',
            'deprecated',
            'retired',
          ]),
          deprecated_at: schema.string('When the vendor announced it, if known.'),
          retires_at: schema.string('The same as `shutdown_date`, in RFC 3339.'),
        },
      ),
      ModelList: schema.answer(
        {
          object: { type: 'string', const: 'list' },
          data: schema.array('All models, or one page.', schema.ref('Model')),
        },
        {
          has_more: schema.boolean('Whether there is another page.'),
          first_id: schema.string('The id of the first model.'),
          last_id: schema.string('The id of the last model, for `after_id`.'),
        },
      ),
    },
    query: {
      limit: schema.integer(
        'Models on one page for clients of `/v1/messages`; default 20. Other clients get all models.',
        1,
        modelsPageMax,
      ),
      after_id: schema.string('The last model of the previous page.'),
      before_id: schema.string('The first model of the next page.'),
    },
    answer: { 'application/json': schema.ref('ModelList') },
  },
  'GET /models/*': {
    id: 'getModel',
    tag: 'Model list',
    also: ['model_not_found'],
    summary: 'Get a model',
    path: { model: 'The id of the model; it may contain `/`.' },
    answer: { 'application/json': schema.ref('Model') },
  },
};

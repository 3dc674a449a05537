import type { Operations } from './operation.ts';
import { messagesVersionHeader } from '../../providers/wire/messages-headers.ts';
import { modelsPageMax } from '../models.ts';
import { answered, anyObject, flag, list, ref, text, whole, word } from './schema.ts';

export const modelOperations: Operations = {
  'GET /models': {
    id: 'listModels',
    tag: 'Models',
    summary: 'What this key can use',
    description: `In the shape of messages’ clients where \`${messagesVersionHeader}\`, \`x-api-key\` or \`limit\` is sent, else in that of chat’s. The key may come in \`x-api-key\`.`,
    schemas: {
      Model: answered(
        {
          id: text('What requests say in `model`.'),
          object: { type: 'string', const: 'model' },
          created: whole('When it was first offered here; Unix time, seconds.', 0),
          owned_by: text('Whose model it is.'),
        },
        {
          shutdown_date: text('The day after which its vendor has it no more.'),
          type: {
            type: 'string',
            const: 'model',
            description: 'This member and those below: for messages’ clients.',
          },
          display_name: text('Its name for people.'),
          created_at: text('As `created`, in RFC 3339.'),
          max_input_tokens: whole('Its context window.', 1),
          max_tokens: whole('The most that it writes.', 1),
          capabilities: anyObject('What it can do, where that is known.'),
          line: text('Its line, where that is known.'),
          lifecycle: word('`deprecated` once its vendor has named its last day.', [
            'active',
            'deprecated',
            'retired',
          ]),
          deprecated_at: text('When that was said, where it is known.'),
          retires_at: text('As `shutdown_date`, in RFC 3339.'),
        },
      ),
      ModelList: answered(
        {
          object: { type: 'string', const: 'list' },
          data: list('All of them, or one page.', ref('Model')),
        },
        {
          has_more: flag('Whether there is another page.'),
          first_id: text('Of the first.'),
          last_id: text('Of the last, for `after_id`.'),
        },
      ),
    },
    query: {
      limit: whole(
        'Of one page for messages’ clients, 20 by default. For chat’s clients all are listed.',
        1,
        modelsPageMax,
      ),
      after_id: text('The last model of the page before.'),
      before_id: text('The first model of the page after.'),
    },
    answer: { 'application/json': ref('ModelList') },
  },
  'GET /models/*': {
    id: 'getModel',
    tag: 'Models',
    summary: 'One model',
    path: { model: 'Its id, which may contain `/`.' },
    answer: { 'application/json': ref('Model') },
  },
};

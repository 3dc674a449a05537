import { messagesVersionHeader } from '../../providers/conversation/messages-version.ts';
import { modelsPageMax } from '../models.ts';
import {
  type Operations,
  answerSchema,
  objectSchema,
  booleanSchema,
  arraySchema,
  schemaRef,
  stringSchema,
  integerSchema,
  enumSchema,
} from './schema.ts';

export const modelOperations: Operations = {
  'GET /models': {
    id: 'listModels',
    tag: 'Models',
    summary: 'What this key can use',
    description: `In the shape of messages’ clients where \`${messagesVersionHeader}\`, \`x-api-key\` or \`limit\` is sent, else in that of chat’s. The key may come in \`x-api-key\`.`,
    schemas: {
      Model: answerSchema(
        {
          id: stringSchema('What requests say in `model`.'),
          object: { type: 'string', const: 'model' },
          created: integerSchema('When it was first offered here; Unix time, seconds.', 0),
          owned_by: stringSchema('Whose model it is.'),
        },
        {
          shutdown_date: stringSchema('The day after which its vendor has it no more.'),
          type: {
            type: 'string',
            const: 'model',
            description: 'This member and those below: for messages’ clients.',
          },
          display_name: stringSchema('Its name for people.'),
          created_at: stringSchema('As `created`, in RFC 3339.'),
          max_input_tokens: integerSchema('Its context window.', 1),
          max_tokens: integerSchema('The most that it writes.', 1),
          capabilities: objectSchema('What it can do, where that is known.'),
          line: stringSchema('Its line, where that is known.'),
          lifecycle: enumSchema('`deprecated` once its vendor has named its last day.', [
            'active',
            'deprecated',
            'retired',
          ]),
          deprecated_at: stringSchema('When that was said, where it is known.'),
          retires_at: stringSchema('As `shutdown_date`, in RFC 3339.'),
        },
      ),
      ModelList: answerSchema(
        {
          object: { type: 'string', const: 'list' },
          data: arraySchema('All of them, or one page.', schemaRef('Model')),
        },
        {
          has_more: booleanSchema('Whether there is another page.'),
          first_id: stringSchema('Of the first.'),
          last_id: stringSchema('Of the last, for `after_id`.'),
        },
      ),
    },
    query: {
      limit: integerSchema(
        'Of one page for messages’ clients, 20 by default. For chat’s clients all are listed.',
        1,
        modelsPageMax,
      ),
      after_id: stringSchema('The last model of the page before.'),
      before_id: stringSchema('The first model of the page after.'),
    },
    answer: { 'application/json': schemaRef('ModelList') },
  },
  'GET /models/*': {
    id: 'getModel',
    tag: 'Models',
    summary: 'One model',
    path: { model: 'Its id, which may contain `/`.' },
    answer: { 'application/json': schemaRef('Model') },
  },
};

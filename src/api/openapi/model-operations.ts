import type { Operations } from './operation.ts';
import { answered, list, ref, text, whole } from './schema.ts';

export const modelOperations: Operations = {
  'GET /models': {
    id: 'listModels',
    tag: 'Models',
    summary: 'What this key can use',
    schemas: {
      Model: answered(
        {
          id: text('What requests say in `model`.'),
          object: { type: 'string', const: 'model' },
          created: whole('When it was first offered here; Unix time, seconds.', 0),
          owned_by: text('Whose model it is.'),
        },
        { shutdown_date: text('The day after which its vendor has it no more.') },
      ),
      ModelList: answered({
        object: { type: 'string', const: 'list' },
        data: list('All of them.', ref('Model')),
      }),
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

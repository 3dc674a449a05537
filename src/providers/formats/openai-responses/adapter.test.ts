import { expect, test } from 'vitest';
import { vendorCall } from '../../../../test/support/vendor-call.ts';
import { isFault } from '../fault.ts';
import { responsesCompact } from './adapter.ts';

test('a compaction without usage is counted by what the model wrote, not by the repeated input', () => {
  const compaction = {
    id: 'resp_0',
    object: 'response.compaction',
    created_at: 1,
    output: [
      {
        id: 'msg_1',
        type: 'message',
        status: 'completed',
        role: 'user',
        content: [{ type: 'input_text', text: 'A long question' }],
      },
      { id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAAsealed' },
    ],
  };
  const read = (usage: object) =>
    responsesCompact().read(
      Buffer.from(JSON.stringify({ ...compaction, ...usage })),
      'application/json',
      vendorCall({ model: 'm', input: 'A long question' }, { answerId: 'resp_1' }),
    );
  const counted = read({});
  expect(isFault(counted)).toBe(false);
  expect(counted).toMatchObject({ quantities: undefined, outputText: 'gAAAAsealed' });
  const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 13 };
  expect(read({ usage })).toMatchObject({ quantities: { output: 4 }, outputText: '' });
});

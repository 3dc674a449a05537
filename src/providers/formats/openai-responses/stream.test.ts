import { expect, test } from 'vitest';
import { isPending } from '../../adapter.ts';
import { isFault } from '../fault.ts';
import { openaiResponses } from './adapter.ts';
import { ResponsesCollector, ResponsesStream } from './stream.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

test.each(['', ' '])('text is counted with "%s" behind the colons of its event', (space) => {
  const stream = new ResponsesStream(
    vendorCall(
      {},
      {
        publicModel: 'm',
        stream: true,
        streamUpstream: true,
        answerId: 'resp_1',
      },
    ),
    undefined,
  );
  const data = `{"type":${space}"response.output_text.delta","output_index":${space}0,"delta":${space}"Grü\\n"}`;
  stream.push(Buffer.from(`event: response.output_text.delta\ndata: ${data}\n\n`));
  expect(stream.meter.outputBytes).toBe(Buffer.byteLength('Grü\n'));
});

test('an answer without usage is counted by what the model wrote, whole or put together', () => {
  const output = [
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'First ' }],
      encrypted_content: 'sealed',
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c_1', name: 'get', arguments: '{"a":1}' },
    { type: 'custom_tool_call', id: 'ct_1', call_id: 'c_2', name: 'run', input: ' ls ' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'Grüße.', annotations: [] },
        { type: 'refusal', refusal: ' No.' },
      ],
    },
  ];
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'm',
    instructions: 'These words are the client’s.',
    output,
  };
  const words = 'First {"a":1} ls Grüße. No.';
  const call = vendorCall({}, { publicModel: 'm', answerId: 'resp_1' });
  const whole = openaiResponses().read(
    Buffer.from(JSON.stringify(response)),
    'application/json',
    call,
  );
  if (isFault(whole) || isPending(whole)) throw new Error('an answer was expected');
  expect(whole).toMatchObject({ quantities: undefined, outputText: words });

  const collector = new ResponsesCollector(call, undefined);
  const completed = JSON.stringify({ type: 'response.completed', response });
  collector.push(Buffer.from(`event: response.completed\ndata: ${completed}\n\n`));
  expect(collector.answer()).toMatchObject({ quantities: undefined, outputText: words });
});

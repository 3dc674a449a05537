import { expect, test } from 'vitest';
import { ResponsesStream } from './stream.ts';
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

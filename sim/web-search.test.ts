import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sim, startSim } from './index.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const search = { type: 'web_search' };
const ask = async (more: object): Promise<Response> =>
  fetch(`${sim.url}/openai/v1/responses`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-sim', 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-5-mini',
      input: 'What is in the news today?',
      tools: [search],
      ...more,
    }),
  });

test.each([
  ['a question for the news', {}, ['web_search_call', 'message']],
  ['a question for nothing new', { input: 'Hello' }, ['message']],
  ['a forced search', { input: 'Hello', tool_choice: search }, ['web_search_call', 'message']],
  ['a search that is not allowed', { tool_choice: 'none' }, ['message']],
])('%s', async (_name, more, types) => {
  const { output } = (await (await ask(more)).json()) as {
    readonly output: readonly { readonly type: string }[];
  };
  expect(output.map(({ type }) => type).filter((type) => type !== 'reasoning')).toEqual(types);
});

test('a stream tells the steps of the search and the page that is cited', async () => {
  const events = [...(await (await ask({ stream: true })).text()).matchAll(/^event: (.+)$/gm)].map(
    ([, name]) => name,
  );
  const steps = ['in_progress', 'searching', 'completed'].map(
    (step) => `response.web_search_call.${step}`,
  );
  expect(events).toEqual(
    expect.arrayContaining([...steps, 'response.output_text.annotation.added']),
  );
});

import { expect, test } from 'vitest';
import { type TestReply, ask, firstChoice, answerText } from './test-client.ts';
import { startSim } from './index.ts';
import { list, object } from './json.ts';

const tool = (name: string) => ({
  type: 'function',
  function: { name, parameters: { type: 'object' } },
});
const tools = [tool('Bash'), tool('Read')];
const dictated = `First call the tool bash with <<<{"command":"echo 'a' > b.txt"}>>>, then
call the tool Read with <<<{"file_path":"b.txt"}>>>. At the end say <<<All
done.>>>`;

const callOf = (reply: TestReply) =>
  object(list(object(firstChoice(reply.json)['message'])['tool_calls'])[0]);
const turn = (reply: TestReply, result: string) => [
  object(firstChoice(reply.json)['message']),
  { role: 'tool', tool_call_id: callOf(reply)['id'], content: result },
];

test('a prompt dictates one call for each turn, then the answer; a later prompt is answered as any other', async () => {
  await using sim = await started();
  const messages: object[] = [{ role: 'user', content: dictated }];
  const next = () => ask(`${sim.url}/openai/v1`, { model: 'gpt-4o', tools, messages });

  const first = await next();
  expect(callOf(first)['function']).toEqual({
    name: 'Bash',
    arguments: `{"command":"echo 'a' > b.txt"}`,
  });
  messages.push(...turn(first, 'no output'));
  const second = await next();
  expect(callOf(second)['function']).toEqual({ name: 'Read', arguments: '{"file_path":"b.txt"}' });
  messages.push(...turn(second, 'a'));
  const third = await next();
  expect(answerText(third)).toBe('All\ndone.');

  messages.push(
    { role: 'assistant', content: 'All\ndone.' },
    { role: 'user', content: 'And what did you read?' },
  );
  expect(answerText(await next())).toMatch(
    /And what did you read\?.*This is turn 2 of our conversation/,
  );
});

test('a tool that the client does not have is not called', async () => {
  await using sim = await started();
  const messages = [
    { role: 'user', content: 'Call the tool nothing with <<<{}>>> and say <<<Nothing.>>>' },
  ];
  expect(answerText(await ask(`${sim.url}/openai/v1`, { model: 'gpt-4o', tools, messages }))).toBe(
    'Nothing.',
  );
});

async function started() {
  const sim = await startSim();
  return { url: sim.url, [Symbol.asyncDispose]: () => sim.close() };
}

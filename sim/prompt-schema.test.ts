import { expect, test } from 'vitest';
import { ask, answerText } from './test-client.ts';
import { startSim } from './index.ts';

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    name: { type: 'string', description: 'With {braces} and "quotes"' },
    age: { type: 'integer' },
  },
  required: ['name', 'age'],
  additionalProperties: false,
};
const referring = { $ref: '#/$defs/Person', $defs: { Person: schema } };
const question = { role: 'user', content: 'I know Ada, who is 36 years old.' };

test('a schema in words is followed, with json_object or where the words ask for JSON', async () => {
  const sim = await startSim();
  const answer = async (messages: readonly object[], more: object = {}, vendor = 'openai') =>
    answerText(await ask(`${sim.url}/${vendor}/v1`, { model: 'gpt-4o', messages, ...more }));
  const json = { response_format: { type: 'json_object' } };
  const ada = { name: 'Ada', age: 36 };
  for (const written of [
    schema,
    referring,
    { type: 'json_schema', json_schema: { name: 'person', schema } },
  ])
    for (const spaces of [0, 2]) {
      const words = `JSON schema:\n${JSON.stringify(written, null, spaces)}\nYou MUST answer with a JSON object that matches the JSON schema above.`;
      expect(
        JSON.parse(await answer([{ role: 'system', content: words }, question], json)),
      ).toEqual(ada);
      expect(JSON.parse(await answer([{ role: 'system', content: words }, question]))).toEqual(ada);
      const together = { role: 'user', content: `${words}\n\n${question.content}` };
      expect(Object.keys(JSON.parse(await answer([together], json)))).toEqual(['name', 'age']);
    }
  // An example is no schema, and tools in a text do not ask for JSON.
  expect(
    JSON.parse(
      await answer(
        [{ role: 'system', content: 'Answer in JSON such as {"a": {"b": 1}}' }, question],
        json,
      ),
    ),
  ).toHaveProperty('answer');
  expect(
    await answer([
      {
        role: 'system',
        content: `Your tools: ${JSON.stringify({ name: 'f', parameters: schema })}`,
      },
      question,
    ]),
  ).not.toMatch(/^\{/);
  expect(await answer([{ role: 'system', content: `{ ${'{'.repeat(500)}` }, question])).toContain(
    'Ada',
  );
  await sim.close();
});

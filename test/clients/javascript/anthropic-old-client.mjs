// Anthropic's SDK of early 2025: its list of models, and Messages.
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { z } from 'zod';
import {
  apiKey,
  expectAda,
  expectBroken,
  expectRefused,
  expectSight,
  expectWords,
  failing,
  getWeather,
  name,
  Person,
  person,
  picture,
  play,
  question,
  secondTurn,
  url,
  weather,
  what,
  who,
} from './play.mjs';

const clientWith = (key) => new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
const client = clientWith(apiKey);
const input_schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const tools = [{ name: 'get_weather', description: 'The weather of a city', input_schema }];
const user = (content) => ({ role: 'user', content });
const create = (model, messages, more = {}) =>
  client.messages.create({ model, max_tokens: 1000, messages, ...more });
const textOf = ({ content }) => content.map(({ text }) => text ?? '').join('');

await play(
  { messages: (model) => model },
  {
    async tools(model) {
      const first = await create(model, [user(question)], { tools });
      const { id, input } = first.content.find(({ type }) => type === 'tool_use');
      const result = { type: 'tool_result', tool_use_id: id, content: getWeather(input) };
      const messages = [
        user(question),
        { role: 'assistant', content: first.content },
        user([result]),
      ];
      expectWords(weather, textOf(await create(model, messages, { tools })));
    },
    async 'second turn'(model) {
      const first = await create(model, [user(name)]);
      const messages = [user(name), { role: 'assistant', content: first.content }, user(who)];
      const stream = client.messages.stream({ model, max_tokens: 1000, messages });
      expectWords(secondTurn, await stream.finalText());
    },
    // A schema of that time: a tool that the model has to call.
    async schema(model) {
      const noted = { name: 'note_person', description: 'Notes a person' };
      const tool = { ...noted, input_schema: z.toJSONSchema(Person) };
      const tool_choice = { type: 'tool', name: tool.name };
      const answer = await create(model, [user(person)], { tools: [tool], tool_choice });
      const calls = answer.content.filter(({ type }) => type === 'tool_use');
      assert.deepEqual(
        calls.map((call) => call.name),
        [tool.name],
      );
      assert.equal(answer.stop_reason, 'tool_use');
      expectAda(calls[0].input);
    },
    async pictures(model) {
      const source = { type: 'base64', media_type: 'image/png', data: picture };
      const messages = [
        user([
          { type: 'image', source },
          { type: 'text', text: what },
        ]),
      ];
      await expectSight(model, async () => textOf(await create(model, messages)));
    },
    async streams(model) {
      const choice = { tools, tool_choice: { type: 'any' } };
      const asked = { model, max_tokens: 1000, messages: [user(question)] };
      const kinds = [];
      const stream = client.messages.stream({ ...asked, ...choice });
      for await (const { type } of stream) kinds.push(type);
      const { content } = await stream.finalMessage();
      const calls = content.filter(({ type }) => type === 'tool_use');
      assert.deepEqual(
        calls.map((call) => [call.name, call.input]),
        [['get_weather', { city: 'Paris' }]],
      );
      assert.deepEqual([kinds.at(0), kinds.at(-1)], ['message_start', 'message_stop']);
      const words = client.messages.stream({ ...asked, messages: [user(name)] });
      let pieces = 0;
      words.on('text', () => (pieces += 1));
      const { usage } = await words.finalMessage();
      // It reads the input's count from the stream's first event, where vendors of other formats
      // have none yet.
      assert.ok(pieces > 1 && usage.output_tokens > 0);
    },
    async errors(model) {
      await expectRefused(404, () => create('no-such', [user(name)]));
      await expectRefused(401, () => clientWith('wrong').models.list());
      await expectRefused(400, () => create(model, []));
      await expectBroken(create(failing, [user(name)], { stream: true }));
    },
    async models(model) {
      const listed = [];
      for await (const one of client.models.list({ limit: 20 })) {
        assert.equal(one.type, 'model');
        assert.ok(one.display_name !== '' && !Number.isNaN(Date.parse(one.created_at)));
        listed.push(one.id);
      }
      assert.ok(listed.includes(model), `${model} is none of ${listed.length}`);
      assert.equal(new Set(listed).size, listed.length);
      assert.equal((await client.models.retrieve(model)).id, model);
    },
  },
);

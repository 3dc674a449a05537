// Anthropic's SDK of early 2025: its list of models, and Messages.
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import {
  apiKey,
  expectRefused,
  expectSight,
  expectWords,
  getWeather,
  name,
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
    async errors(model) {
      await expectRefused(404, () => create('no-such', [user(name)]));
      await expectRefused(401, () => clientWith('wrong').models.list());
      await expectRefused(400, () => create(model, []));
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

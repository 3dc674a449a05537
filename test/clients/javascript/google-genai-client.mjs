// Google's SDK over Gemini's format.
import assert from 'node:assert/strict';
import { createPartFromUri, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
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

const clientWith = (key) => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
const { models, chats, files } = clientWith(apiKey);
const parametersJsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const functionDeclarations = [
  { name: 'get_weather', description: 'The weather of a city', parametersJsonSchema },
];
const tools = [{ functionDeclarations }];
const mode = FunctionCallingConfigMode.ANY;
const forced = { tools, toolConfig: { functionCallingConfig: { mode } } };

await play(
  { gemini: (model) => model },
  {
    async tools(model) {
      const chat = chats.create({ model, config: { tools } });
      const { functionCalls } = await chat.sendMessage({ message: question });
      assert.equal(functionCalls?.length, 1);
      const results = functionCalls.map(({ id, name, args }) => ({
        functionResponse: { ...(id && { id }), name, response: { output: getWeather(args) } },
      }));
      const { text } = await chat.sendMessage({ message: results });
      expectWords(weather, text);
    },
    async 'second turn'(model) {
      const chat = chats.create({ model });
      await chat.sendMessage({ message: name });
      const { text } = await gathered(await chat.sendMessageStream({ message: who }));
      expectWords(secondTurn, text);
    },
    async schema(model) {
      const responseJsonSchema = z.toJSONSchema(Person);
      const config = { responseMimeType: 'application/json', responseJsonSchema };
      const { text } = await models.generateContent({ model, contents: person, config });
      expectAda(JSON.parse(text));
    },
    async pictures(model) {
      const inlineData = { mimeType: 'image/png', data: picture };
      const contents = [{ role: 'user', parts: [{ inlineData }, { text: what }] }];
      await expectSight(
        model,
        async () => (await models.generateContent({ model, contents })).text,
      );
    },
    async streams(model) {
      const asked = { model, contents: question, config: forced };
      const { calls, finish } = await gathered(await models.generateContentStream(asked));
      assert.deepEqual(calls, [['get_weather', { city: 'Paris' }]]);
      assert.equal(finish, 'STOP');
      const words = { model, contents: name, config: { maxOutputTokens: 2000 } };
      const streamed = await gathered(await models.generateContentStream(words));
      assert.ok(streamed.text.length > 0 && streamed.chunks > 1);
      assert.equal(streamed.finish, 'STOP');
      const { promptTokenCount, candidatesTokenCount, totalTokenCount } = streamed.usage;
      assert.ok(promptTokenCount > 0 && candidatesTokenCount > 0);
      assert.ok(totalTokenCount >= promptTokenCount + candidatesTokenCount);
    },
    async files(model) {
      const bytes = Buffer.from(picture, 'base64');
      const blob = new Blob([bytes], { type: 'image/png' });
      const file = await files.upload({ file: blob, config: { displayName: 'a picture' } });
      assert.equal(file.state, 'ACTIVE');
      assert.equal(file.sizeBytes, String(bytes.length));
      const listed = [];
      for await (const one of await files.list()) listed.push(one.name);
      assert.ok(listed.includes(file.name));
      assert.equal((await files.get({ name: file.name })).displayName, 'a picture');
      const contents = [createPartFromUri(file.uri, file.mimeType), what];
      await expectSight(
        model,
        async () => (await models.generateContent({ model, contents })).text,
      );
      await files.delete({ name: file.name });
      await expectRefused(403, () => files.get({ name: file.name }));
    },
    async errors(model) {
      const ask = (more, client = models) =>
        client.generateContent({ model, contents: name, ...more });
      expectWords('NOT_FOUND', (await expectRefused(404, () => ask({ model: 'no-such' }))).message);
      const wrong = await expectRefused(400, () => ask({}, clientWith('wrong').models));
      expectWords('API_KEY_INVALID', wrong.message);
      expectWords(
        'INVALID_ARGUMENT',
        (await expectRefused(400, () => ask({ config: { temperature: 99 } }))).message,
      );
      await expectBroken(models.generateContentStream({ model: failing, contents: name }));
    },
    async models(model) {
      const listed = [];
      for await (const one of await models.list({ config: { pageSize: 50 } }))
        listed.push(one.name);
      assert.ok(listed.includes(`models/${model}`), `${model} is none of ${listed.length}`);
      const got = await models.get({ model });
      assert.equal(got.name, `models/${model}`);
      assert.ok(got.inputTokenLimit > 0 && got.outputTokenLimit > 0);
    },
    async counts(model) {
      const { totalTokens } = await models.countTokens({ model, contents: question });
      assert.ok(totalTokens > 3 && totalTokens < 40, `${totalTokens} tokens`);
    },
    async vectors(model) {
      for (const one of ['gemini-embedding-001', 'text-embedding-3-small']) {
        const contents = [name, who, model];
        const { embeddings } = await models.embedContent({ model: one, contents });
        assert.equal(embeddings.length, contents.length);
        for (const { values } of embeddings) assert.ok(values.length > 100);
      }
    },
  },
);

async function gathered(stream) {
  const calls = [];
  let [text, chunks, finish, usage] = ['', 0];
  for await (const chunk of stream) {
    chunks += 1;
    usage = chunk.usageMetadata ?? usage;
    finish = chunk.candidates?.[0]?.finishReason ?? finish;
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      if (part.functionCall) calls.push([part.functionCall.name, part.functionCall.args]);
      else if (part.thought !== true) text += part.text ?? '';
    }
  }
  return { text, calls, chunks, finish, usage };
}

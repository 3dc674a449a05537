import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import written from '../src/catalog/data/models.json' with { type: 'json' };
import { models } from '../sim/catalog.ts';
import { openSimulatedGateway, type Temporary } from './support/temporary.ts';

let simulated: Temporary;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  simulated = await openSimulatedGateway();
  openai = new OpenAI({
    baseURL: `${simulated.gateway.url}/v1`,
    apiKey: simulated.key,
    maxRetries: 0,
  });
  anthropic = new Anthropic({
    baseURL: simulated.gateway.url,
    apiKey: simulated.key,
    maxRetries: 0,
  });
});
afterAll(() => simulated.close());

const pdf = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Page>>endobj\n2 0 obj<</Type /Page>>endobj\n%%EOF',
);
const base64 = pdf.toString('base64');
const url = `data:application/pdf;base64,${base64}`;
const seen = `I read a PDF of 2 pages and ${pdf.length} bytes.`;

const inChat = async (model: string, file_data = url) =>
  (
    await openai.chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'file', file: { filename: 'two.pdf', file_data } },
          ],
        },
      ],
    })
  ).choices[0]?.message.content;
const inResponses = async (model: string) =>
  (
    await openai.responses.create({
      model,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_file', filename: 'two.pdf', file_data: url },
          ],
        },
      ],
    })
  ).output_text;
const inMessages = async (model: string) => {
  const { content } = await anthropic.messages.create({
    model,
    max_tokens: 500,
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: base64 },
          },
          { type: 'text', text: 'What is this?' },
        ],
      },
    ],
  });
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
};

const readers = models.filter(({ skills }) => skills.has('file')).map(({ id }) => id);

describe.each(readers)('C13: %s reads a PDF', (model) => {
  test.each([
    ['chat', inChat],
    ['responses', inResponses],
    ['messages', inMessages],
  ] as const)('at %s', async (_, ask) => expect(await ask(model)).toContain(seen));
});

test('C13: a model that reads no files refuses them by name, and what is no PDF is refused by its vendor', async () => {
  await expect(inChat('deepseek-chat')).rejects.toMatchObject({
    status: 400,
    param: 'messages[0].content[1]',
    message: expect.stringContaining('does not accept file input'),
  });
  for (const model of ['gpt-4o', 'claude-haiku-4-5'])
    await expect(
      inChat(model, `data:application/pdf;base64,${Buffer.from('no pdf').toString('base64')}`),
    ).rejects.toMatchObject({
      status: 400,
    });
  await simulated.expectBooks();
});

test('C13: the simulator’s models read what the catalog says', () => {
  const facts = new Map(written.map((model) => [model.id, model.modalities.in.includes('file')]));
  for (const { id, upstream, skills } of models) {
    const known = facts.get(upstream) ?? facts.get(id);
    if (known !== undefined) expect([id, skills.has('file')]).toEqual([id, known]);
  }
});

import { expect, test } from 'vitest';
import { context, refusalOf, sentJson } from '../../test/support/parsed-request.ts';
import type { RequestBody } from './request-body.ts';
import { parseResponse } from './responses.ts';

const parsed = (body: RequestBody) =>
  parseResponse(context, sentJson({ model: 'm', input: 'Hello', ...body }));

const flat = { type: 'function', name: 'f' };
const nested = { type: 'function', function: { name: 'f' } };

const form = (type: string, needed: string): string =>
  `its form is {"type": "${type}", "${needed}": …}. {"type": "${type}", "${type}": {"${needed}": …}} is that of /v1/chat/completions.`;

test.each<[RequestBody, string, string]>([
  [{ tools: [flat, nested] }, 'tools[1]', form('function', 'name')],
  [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools[0]', form('custom', 'name')],
  [{ tools: [flat], tool_choice: nested }, 'tool_choice', form('function', 'name')],
  [
    { tools: [flat], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [flat, nested] } },
    'tool_choice.tools[1]',
    form('function', 'name'),
  ],
  [
    {
      tools: [flat],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [nested] } },
    },
    'tool_choice',
    form('allowed_tools', 'tools'),
  ],
])('tools in the form of chat are refused with the right one: %j', (body, param, why) => {
  expect(refusalOf(() => parsed(body))).toMatchObject({
    param,
    message: `Invalid value for '${param}': ${why}`,
  });
});

test('a tool and a choice without a name are refused', () => {
  const message = (body: RequestBody): string => refusalOf(() => parsed(body)).message;
  expect(message({ tools: [{ type: 'function' }] })).toBe(
    "Missing required parameter: 'tools[0].name'.",
  );
  expect(message({ tool_choice: { type: 'function' } })).toBe(
    "Missing required parameter: 'tool_choice.name'.",
  );
});

test.each<RequestBody>([
  { tools: [{ ...flat, function: { name: 'f' } }] },
  { tools: [flat], tool_choice: flat },
  { tools: [flat], tool_choice: 'required' },
  { tools: [flat], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [flat] } },
  { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
])('tools in their own form are taken: %j', (body) => {
  expect(parsed(body).body).toMatchObject(body);
});

import { expect, it } from 'vitest';
import { vendors } from '../src/providers/index.ts';
import { chatCall } from './support/vendor-call.ts';
import { held } from './support/held.ts';
import { taken } from './support/violations-found.ts';

// Every request of every test is held against the strict tables (test/vendor-schemas). This one
// would fail for what it sends.

it('a vendor under watch is the same vendor', () => {
  const vendor = vendors.get('groq');
  if (vendor === undefined) throw new Error('no such vendor');
  const { adapters: _, ...rest } = vendor;
  expect(held(vendor)).toMatchObject(rest);
});

it('what a vendor would refuse is found as an adapter asks, by any client format', () => {
  const chat = vendors.get('groq')?.adapters.chat;
  chat?.ask(chatCall({ temperature: 0.5 }, 'openai/gpt-oss-120b'));
  expect(taken()).toEqual([]);
  chat?.ask(chatCall({ member_of_nobody: 1 }, 'openai/gpt-oss-120b'));
  expect(taken()).toEqual([
    expect.stringContaining('body.member_of_nobody: is no member that it takes'),
  ]);
});

it.fails('a test that sends what a vendor would refuse fails', () => {
  vendors.get('groq')?.adapters.chat?.ask(chatCall({ member_of_nobody: 1 }, 'openai/gpt-oss-120b'));
});

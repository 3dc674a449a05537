import { expect, test } from 'vitest';
import { setKeyStatus } from '../src/accounts/keys.ts';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { newBrowser, signedInAs } from './support/console.ts';
import { hello, oneModel, startRunning } from './support/running.ts';
import { startVendor } from './support/scripted-vendor.ts';

forEachDatabase((_name, _openFresh, fresh) => {
  async function start() {
    const vendor = await startVendor();
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: oneModel(vendor.url),
    });
    const { database } = running.gateway;
    const browser = await signedInAs(running.url, database, running.userId);
    const keyId: string = (await browser.ask('keys')).json.items[0].id;
    return { vendor, running, database, browser, keyId };
  }

  test('the playground asks as a client would, is paid by a key that it knows by its id, and opens the charge to its arithmetic', async () => {
    const { vendor, running, browser, keyId } = await start();
    const whole = await browser.ask('play/chat', {
      method: 'POST',
      body: hello,
      headers: { 'x-paying-key': keyId },
    });
    expect(whole).toMatchObject({
      status: 200,
      json: { model: 'm1', usage: { total_tokens: 29 } },
    });
    const streamed = await browser.ask('play/chat', {
      method: 'POST',
      body: { ...hello, stream: true },
      headers: { 'x-paying-key': keyId },
    });
    expect(streamed.headers['content-type']).toContain('text/event-stream');
    expect(streamed.text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(vendor.received).toHaveLength(2);
    expect(vendor.received[0]?.headers.authorization).toBe('Bearer up-key');

    const id = String(whole.headers['x-request-id']);
    const { json } = await browser.ask(`usage/${id}`);
    expect(json).toMatchObject({
      id,
      cost: '0.029000000',
      key_id: keyId,
      lines: [
        {
          class: 'input',
          quantity: '19',
          price: { amount: '1000.00' },
          exact: '0.019000000',
          charged: '0.019000000',
          rounded_up: false,
        },
        { class: 'output', quantity: '10', charged: '0.010000000' },
      ],
      transfer: { id, amount: '0.029000000', equal: true },
      price_version: { version: 1 },
      multiplier: '1.00',
    });
    expect((await browser.ask('statement')).json).toMatchObject({
      adds_up: true,
      charges: { count: 2, amount: '-0.058000000' },
    });
    expect((await browser.ask('session')).json.balance.available).toBe('99.942000000');
    await running.expectBooks();
  });

  test("others' keys, disabled keys and no key pay for nothing", async () => {
    const { vendor, running, database, browser, keyId } = await start();
    const stranger = await newBrowser(running.url, database);
    const play = (who: typeof browser, headers: Record<string, string>) =>
      who.ask('play/chat', { method: 'POST', body: hello, headers });
    expect((await play(stranger, { 'x-paying-key': keyId })).status).toBe(404);
    expect((await play(browser, {})).status).toBe(404);
    await database.transact(() => setKeyStatus(keyId, 'disabled'));
    expect((await play(browser, { 'x-paying-key': keyId })).status).toBe(404);
    expect(vendor.received).toHaveLength(0);
  });

  test("what the interface refuses is told in the console's words", async () => {
    const { running, database, browser, keyId } = await start();
    const headers = { 'x-paying-key': keyId };
    const ask = async (path: string, body: unknown) =>
      (await browser.ask(`play/${path}`, { method: 'POST', body, headers })).json.error;
    expect(await ask('chat', { ...hello, model: 'nobody' })).toMatchObject({
      code: 'model_not_found',
    });
    const incomplete = await ask('chat', { model: 'm1' });
    expect(incomplete).toMatchObject({ param: 'messages' });
    const recorded = async () => (await browser.ask(`requests/${incomplete.request_id}`)).json;
    await expect.poll(recorded, { timeout: 10_000 }).toMatchObject({
      status: 400,
      code: 'invalid_request_error',
      model: 'm1',
      param: 'messages',
    });
    for (const [path, body] of [
      ['embeddings', { model: 'm1', input: 'x' }],
      ['speech', { model: 'm1', input: 'x', voice: 'alloy' }],
    ] as const)
      expect((await ask(path, body)).message).toContain('/v1/chat/completions');
    expect(await ask('images', { model: 'm1', prompt: 'x' })).toMatchObject({
      type: 'invalid_request_error',
    });
    expect(await ask('videos', { model: 'm1', prompt: 'x', async: true })).toMatchObject({
      type: 'invalid_request_error',
    });
    const poor = await newBrowser(running.url, database);
    const body = { name: 'k', group: 'default' };
    const made = await poor.ask('keys', {
      method: 'POST',
      body,
      headers: { 'idempotency-key': 'form-0001' },
    });
    const refused = await poor.ask('play/chat', {
      method: 'POST',
      body: hello,
      headers: { 'x-paying-key': made.json.key.id },
    });
    expect(refused.json.error).toMatchObject({
      type: 'insufficient_quota',
      request_id: expect.stringMatching(/^req_/),
    });
  });
});

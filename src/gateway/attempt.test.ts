import { expect, onTestFinished, test } from 'vitest';
import { json, type ScriptedVendor, startVendor } from '../../test/support/scripted-vendor.ts';
import { postControl } from '../http/control-call.ts';
import type { BaseAdapter } from '../providers/adapter.ts';
import { openaiChat } from '../providers/formats/openai-chat/adapter.ts';
import type { Authorizer, UnsignedRequest, Vendor } from '../providers/vendor.ts';
import { ChannelAttempt } from './attempt.ts';
import { OpenChannels } from './channels/open-channels.ts';
import { gatewayLimits } from './parts.ts';
import { vendorCall } from '../../test/support/vendor-call.ts';

const call = vendorCall({ model: 'm', messages: [] }, { publicModel: 'm' });

/**
 * One request to a vendor whose requests are proved by `authorize`, from the open channel to the
 * socket.
 */
async function attempted(
  authorize: Authorizer | undefined,
  changed: Partial<BaseAdapter> = {},
  answer?: Parameters<ScriptedVendor['answer']>[0],
) {
  const server = await startVendor();
  if (answer !== undefined) server.answer(answer);
  const vendor: Vendor = {
    id: 'v',
    ownedBy: 'v',
    sign: () => ({ 'x-static': 'kept' }),
    authorizer: () => authorize,
    adapters: { chat: openaiChat() },
  };
  const openChannels = new OpenChannels(new Map([['v', vendor]]), {
    now: () => 0,
    post: postControl,
  });
  onTestFinished(() => openChannels.close());
  const openChannel = openChannels.of({
    name: 'c',
    vendor: 'v',
    baseUrl: `${server.url}/base/`,
    secret: 's',
    priority: 0,
    weight: 1,
    groups: [],
    models: new Map(),
    revision: 0,
  });
  const attempt = new ChannelAttempt({ ...openaiChat(), ...changed }, call, gatewayLimits, () => {
    throw new Error('no stream was asked for');
  });
  attempt.start(openChannel, 'send_unsupported');
  return { server, attempt, result: attempt.result };
}

test('a proof is made of the request as it leaves, and leaves with it', async () => {
  let seen: UnsignedRequest | undefined;
  const { server, result } = await attempted((outgoing) => {
    seen = outgoing;
    return { headers: { authorization: 'proof' } };
  });
  expect((await result).kind).toBe('answer');
  expect(seen).toMatchObject({
    method: 'POST',
    url: `${server.url}/base/chat/completions`,
    headers: { 'x-static': 'kept' },
  });
  expect(seen?.body.toString()).toBe(server.received[0]?.text);
  expect(server.received[0]?.headers).toMatchObject({ authorization: 'proof', 'x-static': 'kept' });
});

test('a proof that has to be fetched is waited for', async () => {
  const { server, result } = await attempted(() =>
    Promise.resolve({ headers: { authorization: 'fetched' } }),
  );
  expect((await result).kind).toBe('answer');
  expect(server.received[0]?.headers['authorization']).toBe('fetched');
});

test('a secret that needs no proof of its own is sent as it is', async () => {
  const { server, result } = await attempted(undefined);
  expect((await result).kind).toBe('answer');
  expect(server.received[0]?.headers).toMatchObject({ 'x-static': 'kept' });
});

test('no proof is a fault before the vendor was reached: another channel may be tried', async () => {
  for (const authorize of [
    () => ({ kind: 'credentials', message: 'no' }) as const,
    () => Promise.resolve({ kind: 'credentials', message: 'no' } as const),
  ]) {
    const { server, result } = await attempted(authorize);
    expect(await result).toEqual({
      kind: 'fault',
      stage: 'connecting',
      fault: { kind: 'credentials', message: 'no' },
    });
    expect(server.received).toHaveLength(0);
  }
});

test('a proof that cannot be fetched is the network’s fault', async () => {
  const { result } = await attempted(async () => {
    await postControl('http://127.0.0.1:1/token', {}, '');
    return { headers: {} };
  });
  expect(await result).toMatchObject({
    kind: 'fault',
    stage: 'connecting',
    fault: { kind: 'network' },
  });
});

test('a client that leaves while the proof is fetched is forgotten', async () => {
  let fetched: (() => void) | undefined;
  const { server, attempt, result } = await attempted(
    () =>
      new Promise((resolve) => {
        fetched = () => resolve({ headers: {} });
      }),
  );
  attempt.abort({ kind: 'left' });
  fetched?.();
  expect(await result).toEqual({ kind: 'left' });
  expect(server.received).toHaveLength(0);
});

const broken = (): never => {
  throw new Error('a bug');
};

test('a reader that breaks over what a vendor said ends the attempt, and nobody waits for ever', async () => {
  const refused = await attempted(undefined, { fault: broken }, (_request, response) =>
    json(response, 500, '{}'),
  );
  expect(await refused.result).toMatchObject({
    kind: 'fault',
    stage: 'waiting',
    fault: { kind: 'protocol', message: 'Error: a bug' },
  });
  const cut = await attempted(undefined, { fault: broken }, (_request, response) => {
    response.writeHead(500, { 'content-length': '100' }).write('{');
    setTimeout(() => response.destroy(), 50);
  });
  expect(await cut.result).toMatchObject({ kind: 'fault', fault: { kind: 'protocol' } });
  expect(await (await attempted(undefined, { read: broken })).result).toMatchObject({
    kind: 'fault',
    fault: { kind: 'protocol' },
  });
});

test('a refusal without an end is read as far as it matters, and the vendor is let go', async () => {
  let open = true;
  const { result } = await attempted(undefined, {}, (_request, response) => {
    const more = setInterval(() => response.write('x'.repeat(65_536)), 1);
    response.writeHead(503, { 'content-type': 'text/plain' }).on('close', () => {
      clearInterval(more);
      open = false;
    });
  });
  expect(await result).toMatchObject({
    kind: 'fault',
    stage: 'waiting',
    fault: { kind: 'overloaded' },
  });
  await expect.poll(() => open).toBe(false);
});

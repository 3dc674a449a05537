import { createHash, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { notificationIsSigned, signedPart, signRequest } from './alipay-call.ts';
import { privateKeyFrom, publicKeyFrom, rsaSign, rsaVerifies } from './rsa.ts';
import { unseal } from './wechat-call.ts';
import { unzip } from './bill-files.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });

test("WeChat Pay's sealed resource is opened with its APIv3 key, and with no other", () => {
  const key = Buffer.from('0123456789abcdef0123456789abcdef');
  const resource = {
    algorithm: 'AEAD_AES_256_GCM',
    nonce: 'fdasflkja484',
    associated_data: 'transaction',
    ciphertext:
      'DUcegK33A8MEOgdCtMPWwAdqzVjy3c3BTENCdjZ/7K2gOkdL0pBpKZrSO4KcjLkLW6SrqBdzgGy/sMCWIPKVQdMoXvM713U3I1EvEj9fVYtOsw/jrE0Vh27rb9zCW9DZUByB2lzJg2pOdnDtdUQex1bqBERj5J4Ugmrod39WsLtHdObj9VNyPRCrkR6b1oO+aMmWJMtSbZlqFmDnTYjTjc2rwRDV3MpI6jPIElWji3HpaGQ+2gcQlaxeQMFUSFfywhrL2Jam857/PgAnN+eNUHdtxDQNKpEzy6orjUQAXGEaWfbUdNi4V9SOg9Se2XlnWUFhv2p49TdnpoS1g0urM06vDl4v/vz5arW7UgZzpRlwTlqwfztUWtnKHCzQwsFY5wWxOEI5ePwBcw4VyHxnT0U5jExpfbpFrqui/EcS+zpAunLSq5xiiUrkzev754ozzMk6J09rx5FSx4xCYhzaTrcEzgtCEr2uH9qlW6n0uW6LLdbdcJX34Q==',
  };
  expect(JSON.parse(unseal(key, resource) ?? '')).toMatchObject({
    out_trade_no: 'T1',
    transaction_id: '42000001',
    amount: { total: 100 },
  });
  expect(unseal(createHash('sha256').update('other').digest(), resource)).toBeUndefined();
  expect(unseal(key, { ...resource, associated_data: 'refund' })).toBeUndefined();
  expect(unseal(key, { ...resource, ciphertext: '' })).toBeUndefined();
});

test("Alipay's requests are signed as its documents join them", () => {
  const parameters = {
    version: '1.0',
    app_id: '2021000000000001',
    biz_content: '{"out_trade_no":"T1","total_amount":"1.00","subject":"topup"}',
    charset: 'utf-8',
    format: 'JSON',
    method: 'alipay.trade.precreate',
    empty: '',
    notify_url: 'https://gw.example/pay/alipay/notify',
    sign_type: 'RSA2',
    timestamp: '2026-11-21 10:00:00',
  };
  const text =
    'app_id=2021000000000001&biz_content={"out_trade_no":"T1","total_amount":"1.00","subject":"topup"}&charset=utf-8&format=JSON&method=alipay.trade.precreate&notify_url=https://gw.example/pay/alipay/notify&sign_type=RSA2&timestamp=2026-11-21 10:00:00&version=1.0';
  expect(rsaVerifies(text, signRequest(parameters, pair.privateKey), pair.publicKey)).toBe(true);
});

test('a notification without a signature, or of another kind, does not hold', () => {
  const parameters = { trade_no: '1', sign_type: 'RSA2' };
  const sign = rsaSign('trade_no=1', pair.privateKey);
  expect(notificationIsSigned({ ...parameters, sign }, pair.publicKey)).toBe(true);
  expect(notificationIsSigned({ ...parameters, sign, trade_no: '2' }, pair.publicKey)).toBe(false);
  expect(notificationIsSigned({ ...parameters, sign: '' }, pair.publicKey)).toBe(false);
  expect(notificationIsSigned({ ...parameters, sign, sign_type: 'RSA' }, pair.publicKey)).toBe(
    false,
  );
});

test('an answer is believed for the very bytes that were signed', () => {
  const part = '{"code":"10000","qr_code":"https:\\/\\/qr.alipay.com\\/a}\\"b","n":{"x":1}}';
  const answer = `{"alipay_trade_precreate_response":${part},"sign":"${rsaSign(part, pair.privateKey)}"}`;
  expect(signedPart(answer, 'alipay_trade_precreate_response', pair.publicKey)).toBe(part);
  expect(signedPart(answer, 'alipay_trade_query_response', pair.publicKey)).toBeUndefined();
  expect(
    signedPart(answer.replace('10000', '10001'), 'alipay_trade_precreate_response', pair.publicKey),
  ).toBeUndefined();
  for (const odd of [
    '',
    '<html>',
    '{"alipay_trade_precreate_response":{"code":"10000"}}',
    answer.slice(0, 60),
  ])
    expect(signedPart(odd, 'alipay_trade_precreate_response', pair.publicKey), odd).toBeUndefined();
});

test("keys are read as PEM and as the bare base64 of wallets' tools", () => {
  const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const old = pair.privateKey.export({ type: 'pkcs1', format: 'der' }).toString('base64');
  for (const text of [pem, old, pem.replace(/-----.*?-----|\n/g, '')])
    expect(privateKeyFrom(text)?.equals(pair.privateKey)).toBe(true);
  const open = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  for (const text of [open, open.replace(/-----.*?-----|\n/g, '')])
    expect(publicKeyFrom(text)?.equals(pair.publicKey)).toBe(true);
  expect(privateKeyFrom('nonsense')).toBeUndefined();
  expect(publicKeyFrom('nonsense')).toBeUndefined();
});

test('what is no ZIP file, or a broken one, is not unpacked', () => {
  for (const file of [Buffer.alloc(0), Buffer.from('<html>'), Buffer.alloc(64, 0x50)])
    expect(unzip(file, 1_000)).toBeUndefined();
});

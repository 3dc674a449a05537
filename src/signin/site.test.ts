import { expect, test } from 'vitest';
import { isNetwork } from '../http/client-address.ts';
import { openSite, networkKeyOf } from './site.ts';

test('a request is ours when the browser says that it comes from here', () => {
  const plain = openSite(undefined);
  expect(plain.isOwn({ host: '127.0.0.1:8080', origin: 'http://127.0.0.1:8080' })).toBe(true);
  expect(plain.isOwn({ host: 'ai.example.com', origin: 'https://ai.example.com' })).toBe(true);
  for (const origin of [
    'http://127.0.0.1:8081',
    'http://127.0.0.1',
    'null',
    '',
    'http://127.0.0.1:8080.evil.example',
  ])
    expect(plain.isOwn({ host: '127.0.0.1:8080', origin }), origin).toBe(false);
  expect(plain.isOwn({ host: '127.0.0.1:8080' })).toBe(false);
  const configured = openSite('https://ai.example.com/gateway');
  expect(configured.isOwn({ host: 'inner:8080', origin: 'https://ai.example.com' })).toBe(true);
  expect(configured.isOwn({ host: 'inner:8080', origin: 'http://inner:8080' })).toBe(false);
  expect([plain.secure, configured.secure]).toEqual([false, true]);
  expect(configured.urlFor({ host: 'evil.example' })).toBe('https://ai.example.com/gateway');
  expect(plain.urlFor({ host: 'a b"<' })).toBe('http://localhost');
});

test("an address is the connection's, unless it is that of a proxy that is trusted", () => {
  const site = openSite(undefined, ['10.0.0.0/8', '::1']);
  const of = (socket: string | undefined, forwarded?: string) =>
    site.addressOf(socket, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded });
  expect(of('192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
  expect(of('::ffff:10.1.2.3', '198.51.100.7')).toBe('198.51.100.7');
  expect(of('::1', '6.6.6.6, 198.51.100.7, 10.0.0.9')).toBe('198.51.100.7');
  expect(of('10.1.2.3', '198.51.100.7:51234')).toBe('198.51.100.7');
  expect(of('10.1.2.3', '6.6.6.6, [2001:db8::1]:443, 10.0.0.9:80')).toBe('2001:db8::1');
  expect(of('10.1.2.3', '[2001:db8::1]')).toBe('2001:db8::1');
  for (const nonsense of ['nonsense', '', '198.51.100.7:', ':443', '[198.51.100.7', '1.2.3.4:5:6'])
    expect(of('10.1.2.3', nonsense), nonsense).toBe('10.1.2.3');
  expect(of('10.1.2.3')).toBe('10.1.2.3');
  expect(of(undefined)).toBe('');
  expect(openSite(undefined).addressOf('10.1.2.3', { 'x-forwarded-for': '6.6.6.6' })).toBe(
    '10.1.2.3',
  );
  expect(
    ['10.0.0.0/8', '::1', '10.0.0.0/33', 'proxy', '', '10', '010.0.0.1'].map(isNetwork),
  ).toEqual([true, true, ...Array(5).fill(false)]);
});

test('strangers are counted by address, or by the network that each of them has', () => {
  const home = networkKeyOf('2001:db8:1:2::1');
  expect(home).toBe('2001:db8:1:2::/64');
  expect(networkKeyOf('2001:db8:1:2:ffff:ffff:ffff:ffff')).toBe(home);
  expect(networkKeyOf('2001:0DB8:0001:0002:0:0:0:3')).toBe(home);
  expect(networkKeyOf('2001:db8:1:3::1')).not.toBe(home);
  expect(networkKeyOf('fe80::1%eth0')).toBe(networkKeyOf('fe80::2'));
  expect(['192.0.2.1', ''].map(networkKeyOf)).toEqual(['192.0.2.1', '']);
});

import { expect, it } from 'vitest';
import { Upstream } from './upstream.ts';

const limits = { connectionsMax: 1, connectTimeoutMs: 1_000 };

it('appends paths to the base, and leaves as many of its steps as a path says', () => {
  const upstream = new Upstream('https://vendor.example/compatible-mode/v1', limits);
  expect(upstream.urlOf('/chat/completions?a=%2E.')).toBe('https://vendor.example/compatible-mode/v1/chat/completions?a=%2E.');
  expect(upstream.urlOf('/../v2/video?id=a%2Fb')).toBe('https://vendor.example/compatible-mode/v2/video?id=a%2Fb');
  expect(upstream.urlOf('/../../api/v1/tasks')).toBe('https://vendor.example/api/v1/tasks');
  expect(new Upstream('https://vendor.example', limits).urlOf('/../v2/video')).toBe('https://vendor.example/v2/video');
});

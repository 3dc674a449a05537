import { anthropicMessages } from '../formats/anthropic-messages/adapter.ts';
import { anthropicCount, anthropicNative } from '../formats/anthropic-messages/native.ts';
import { defineVendor, secretIn } from '../vendor.ts';

/**
 * The version that every current model takes (platform.claude.com/docs/en/api/versioning, 2026-11).
 */
const version = { 'anthropic-version': '2023-06-01' };

export const anthropic = defineVendor({
  id: 'anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  // Pages of at most 1,000 (docs.anthropic.com/en/api/models-list, 2026-11).
  models: { path: '/models?limit=1000', headers: version },
  consoleUrl: 'https://console.anthropic.com',
  env: { apiKey: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL' },
  sign: (secret) => ({ ...version, ...secretIn('x-api-key')(secret) }),
  readsCacheMarks: true,
  adapters: { chat: anthropicMessages(), messages: anthropicNative() },
  counts: { messages: anthropicCount },
});

import { klingAuthorizer } from '../authorizers.ts';
import { bearer, defineVendor } from '../vendor.ts';
import { klingVideo } from '../formats/video/kling.ts';

/**
 * app.klingai.com/global/dev/document-api, 2026-08; in China https://api-beijing.klingai.com. The
 * secret is an access key and a secret key, or an API key of the newer kind.
 */
export const kling = defineVendor({
  id: 'kling',
  ownedBy: 'kuaishou',
  baseUrl: 'https://api-singapore.klingai.com',
  consoleUrl: 'https://app.klingai.com/global/dev',
  env: { apiKey: 'KLING_API_KEY' },
  sign: (secret) => (secret?.includes(':') ? {} : bearer(secret)),
  authorizer: klingAuthorizer,
  adapters: { video: klingVideo },
});

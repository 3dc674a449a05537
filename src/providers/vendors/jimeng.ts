import { defineVendor } from '../vendor.ts';
import { volcAuthorizer } from '../authorizers.ts';
import { jimengVideo } from '../formats/video/jimeng.ts';

/** volcengine.com/docs/85621, 2026-08. */
export const jimeng = defineVendor({
  id: 'jimeng',
  ownedBy: 'bytedance',
  baseUrl: 'https://visual.volcengineapi.com',
  consoleUrl: 'https://console.volcengine.com',
  env: { apiKey: 'JIMENG_API_KEY' },
  sign: () => ({}),
  authorizer: volcAuthorizer({ region: 'cn-north-1', service: 'cv' }),
  adapters: { video: jimengVideo },
});

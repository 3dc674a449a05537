import { defineVendor, secretIn } from '../vendor.ts';
import { viduVideo } from '../formats/video/vidu.ts';

/** platform.vidu.com/docs, 2026-08; in China https://api.vidu.cn. */
export const vidu = defineVendor({
  id: 'vidu',
  ownedBy: 'shengshu',
  baseUrl: 'https://api.vidu.com',
  consoleUrl: 'https://platform.vidu.com',
  env: { apiKey: 'VIDU_API_KEY' },
  sign: secretIn('authorization', 'Token '),
  adapters: { video: viduVideo },
});

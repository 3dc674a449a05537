import type { WrittenSigninMembers } from './config-schema.ts';
import type { WrittenSignin } from './configuration.ts';

/** Only what is written. */
export function signinMembers({ sign_up, github, wechat }: WrittenSigninMembers): WrittenSignin {
  return {
    ...(sign_up === undefined ? {} : { signUp: sign_up }),
    ...(github && {
      github: {
        clientId: github.client_id,
        clientSecret: github.client_secret,
        ...addresses(github),
      },
    }),
    ...(wechat && {
      wechat: { appId: wechat.app_id, appSecret: wechat.app_secret, ...addresses(wechat) },
    }),
  };
}

function addresses({
  base_url,
  api_url,
}: {
  readonly base_url?: string | undefined;
  readonly api_url?: string | undefined;
}) {
  return { ...(base_url && { baseUrl: base_url }), ...(api_url && { apiUrl: api_url }) };
}

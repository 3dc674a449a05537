/** The registered applications. */
export const simGithubApp = {
  clientId: 'Iv1.51a0c0de51a0c0de',
  clientSecret: 'sim-github-secret-0123456789abcdef01234567',
};
export const simWechatApp = {
  appId: 'wx51a0c0de51a0c0de',
  appSecret: 'sim0wechat0secret0123456789abcde',
};
/** An app that its company has not linked with its others: its responses have no unionid. */
export const simWechatLoner = {
  appId: 'wx1019e51a0c0de000',
  appSecret: 'sim0wechat0loner00123456789abcde',
};

/** The environment of a gateway whose users sign in here. */
export const signinVariables = (simUrl: string) => ({
  GITHUB_CLIENT_ID: simGithubApp.clientId,
  GITHUB_CLIENT_SECRET: simGithubApp.clientSecret,
  GITHUB_URL: `${simUrl}/github`,
  GITHUB_API_URL: `${simUrl}/github/api`,
  WECHAT_APP_ID: simWechatApp.appId,
  WECHAT_APP_SECRET: simWechatApp.appSecret,
  WECHAT_URL: `${simUrl}/weixin/open`,
  WECHAT_API_URL: `${simUrl}/weixin/api`,
});

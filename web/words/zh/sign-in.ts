import type en from '../en/sign-in.ts';

export default {
  title: (site) => `登录 ${site}`,
  models: '模型与价格',
  docs: '接口文档',
  promise: '一个地址，一个密钥，所有模型。',
  demo: {
    title: '这是演示环境。厂商、登录和支付都是模拟的。',
    way: '每个按钮都提供几个虚构的用户供你选择，初始余额为零，不需要你自己的账户。',
    operator:
      '要以管理员身份（余额 ¥100）查看管理页面，请打开运行演示的终端中的一次性链接，15 分钟内有效；过期或用过后，用终端中打印的 link 命令生成新的。',
  },
  methods: { wechat: '使用微信登录', github: '使用 GitHub 登录' },
  scan: '请用微信扫码，并在手机上确认。',
  scanHere:
    '微信会显示二维码。如果就用这部手机：请截图，然后在微信里从相册扫码；也可以在电脑上打开此页，再用手机扫码。',
  none: '管理员尚未配置登录方式。',
  link: '管理员请使用服务器打印的一次性链接登录。',
  done: '登录成功，可以关闭此窗口。',
  errors: {
    denied: '你取消了登录，没有创建账户。',
    expired: '登录用时过长，请重试。',
    state_mismatch: '这次登录不是从此浏览器发起的，请重试。',
    refused: '登录被拒绝，请重试。',
    unavailable: '无法连接登录服务，请稍后重试。',
    suspended: '此账户已停用，请联系管理员。',
    sign_up_closed: '暂不开放注册。',
    identity_taken: '这个登录方式已属于另一个账户。',
    not_offered: '此处不支持这种登录方式。',
  },
} satisfies typeof en;

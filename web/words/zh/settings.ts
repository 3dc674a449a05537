import type en from '../en/settings.ts';

export default {
  title: '设置',
  profile: { title: '个人资料', name: '名称', since: '账户创建于', id: '账户编号' },
  look: { title: '语言与外观', language: '语言', theme: '主题', here: '仅对当前浏览器生效。' },
  account: {
    title: '账户',
    zone: '时区',
    zoneHelp: '决定账单和图表如何划分每一天。',
    low: '可用余额低于此金额时提醒（可选）',
    lowHelp: '留空：余额预计不足三天时提醒。',
    email: '电子邮箱（可选）',
    emailHelp: '可用余额低于上述金额时发送一封邮件，充值之前不再发送。',
    shortcuts: '单键快捷键',
    shortcutsHelp: '按 ? 查看列表。',
  },
  identities: {
    title: '已关联的登录方式',
    names: { github: 'GitHub', wechat: '微信' },
    linked: (time) => `关联于 ${time}`,
    link: (name) => `关联${name}`,
    unlink: '解除关联',
    unlinkTitle: (name) => `解除${name}的关联？`,
    unlinkEffect: '之后不能再用它登录，可以重新关联。',
    last: '唯一的登录方式不能解除。',
    none: '你使用一次性链接登录。',
    failed: '关联没有成功。',
  },
  devices: {
    title: '已登录的设备',
    current: '当前设备',
    seen: '最近活动',
    revoke: '退出登录',
    revokeTitle: (browser) => `退出 ${browser} 的登录？`,
    revokeEffect: '它会立即退出，需要重新登录。',
    revoked: '已在该设备退出登录。',
    unknown: '未知浏览器',
  },
  data: {
    title: '你的数据',
    export: '下载账户数据（JSON）',
    exportHelp:
      '包括资料、登录方式、设备、密钥（不含密钥本身）和充值记录。请求和扣费请在“用量”和“账单”导出 CSV。',
    close: '注销账户',
    closeTitle: '注销这个账户？',
    closeEffect:
      '所有密钥立即失效，你会退出登录。扣费和充值记录保留在账本中。管理员可以重新启用账户。',
    closeLeft: (amount) => `余额还有 ${amount}，注销后不能再使用，请联系管理员退款。`,
    operator: '管理员账户需先由另一位管理员改为普通用户，才能注销。',
  },
  saved: '已保存。',
} satisfies typeof en;

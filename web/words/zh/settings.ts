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
  saved: '已保存。',
} satisfies typeof en;

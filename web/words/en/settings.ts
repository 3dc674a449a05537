export default {
  title: 'Settings',
  profile: { title: 'Profile', name: 'Name', since: 'Account since', id: 'User ID' },
  look: {
    title: 'Language and appearance',
    language: 'Language',
    theme: 'Theme',
    here: 'Applies to this browser only.',
  },
  account: {
    title: 'Account',
    zone: 'Time zone',
    zoneHelp: 'Sets day boundaries for statements and charts.',
    low: 'Low balance warning (optional)',
    lowHelp: 'Leave blank to be warned when the balance will last less than three days.',
    email: 'E-mail (optional)',
    emailHelp:
      'You get one e-mail when the available balance falls below the amount above, and the next one only after a top-up.',
    shortcuts: 'Single-key shortcuts',
    shortcutsHelp: 'Press ? to see the list.',
  },
  identities: {
    title: 'Linked sign-ins',
    names: { github: 'GitHub', wechat: 'WeChat' },
    linked: (time: string) => `linked ${time}`,
    link: (name: string) => `Link ${name}`,
    unlink: 'Unlink',
    unlinkTitle: (name: string) => `Unlink ${name}?`,
    unlinkEffect: 'You can no longer sign in with it. It can be linked again.',
    last: 'Your only sign-in cannot be unlinked.',
    none: 'You signed in with a one-time link.',
    failed: 'Linking failed.',
  },
  devices: {
    title: 'Signed-in devices',
    current: 'this device',
    seen: 'Last seen',
    revoke: 'Sign out',
    revokeTitle: (browser: string) => `Sign out ${browser}?`,
    revokeEffect: 'It is signed out immediately and has to sign in again.',
    revoked: 'Device signed out.',
    unknown: 'Unknown browser',
  },
  data: {
    title: 'Your data',
    export: 'Download account (JSON)',
    exportHelp:
      'Profile, sign-ins, devices, keys without their secrets, and top-ups. Export requests and charges as CSV from Usage and Statement.',
    close: 'Close account',
    closeTitle: 'Close this account?',
    closeEffect:
      'Its keys stop working immediately, and you are signed out. Charges and top-ups stay in the ledger. An operator can reopen the account.',
    closeLeft: (amount: string) =>
      `${amount} is left. You cannot spend it after closing: ask the operator for a refund.`,
    operator: 'Another operator must change this account’s role to user before you can close it.',
  },
  saved: 'Saved.',
};

export default {
  title: 'Settings',
  profile: { title: 'Profile', name: 'Name', since: 'Account since', id: 'Account id' },
  look: {
    title: 'Language and appearance',
    language: 'Language',
    theme: 'Theme',
    here: 'For this browser.',
  },
  account: {
    title: 'Account',
    zone: 'Time zone',
    zoneHelp: 'Cuts the days of statements and charts.',
    low: 'Warn when less is available (optional)',
    lowHelp: 'Empty: warned when the balance lasts less than three days.',
    email: 'E-mail (optional)',
    emailHelp:
      'Written to once when less is available than the amount above, and not again before it is topped up.',
    shortcuts: 'Shortcuts of a single key',
    shortcutsHelp: 'Press ? to see them.',
  },
  identities: {
    title: 'Linked sign-ins',
    names: { github: 'GitHub', wechat: 'WeChat' },
    linked: (time: string) => `linked ${time}`,
    link: (name: string) => `Link ${name}`,
    unlink: 'Unlink',
    unlinkTitle: (name: string) => `Unlink ${name}?`,
    unlinkEffect: 'You can no longer sign in with it. It can be linked again.',
    last: 'The only way in cannot be unlinked.',
    none: 'You signed in with a one-time link.',
    failed: 'It could not be linked.',
  },
  devices: {
    title: 'Signed-in devices',
    current: 'this one',
    seen: 'Last seen',
    revoke: 'Sign out',
    revokeTitle: (browser: string) => `Sign out ${browser}?`,
    revokeEffect: 'It is signed out at once and has to sign in again.',
    revoked: 'Signed out there.',
    unknown: 'Unknown browser',
  },
  data: {
    title: 'Your data',
    export: 'Download account (JSON)',
    exportHelp:
      'Profile, sign-ins, devices, keys without their secrets, top-ups. Requests and charges are the CSV of Usage and Statement.',
    close: 'Close account',
    closeTitle: 'Close this account?',
    closeEffect:
      'Its keys stop at once and you are signed out. Charges and top-ups stay in the books. An operator can open the account again.',
    closeLeft: (amount: string) =>
      `${amount} is left. It can no longer be spent: ask the operator to pay it back.`,
    operator: 'An operator’s account is closed once another operator has made it a user’s.',
  },
  saved: 'Saved.',
};

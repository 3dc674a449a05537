export default {
  title: (site: string) => `Sign in to ${site}`,
  models: 'Models and prices',
  docs: 'API documentation',
  promise: 'One address, one key, every model.',
  demo: {
    title: 'This is a demo. Vendors, sign-ins and payments are simulated.',
    way: 'Each button offers made-up people to sign in as; their balance is empty at first. You need no account of your own.',
    operator:
      'To see the operator’s pages as an operator, who has a balance of ¥100, open the one-time link in the terminal that runs the demo. It works once, for 15 minutes; the link command printed there makes a new one.',
  },
  methods: { wechat: 'Continue with WeChat', github: 'Continue with GitHub' },
  scan: 'Scan with WeChat and confirm on your phone.',
  scanHere:
    'WeChat shows a QR code. On this phone, take a screenshot and scan it from the album in WeChat; or open this page on a computer and scan it there.',
  none: 'The operator has not configured a sign-in method.',
  link: 'Operators sign in with the one-time link that the server prints.',
  done: 'You are signed in. You can close this window.',
  errors: {
    denied: 'You cancelled; no account was created.',
    expired: 'Signing in took too long. Please try again.',
    state_mismatch: 'This sign-in was not started in this browser. Please try again.',
    refused: 'The sign-in was refused. Please try again.',
    unavailable: 'The sign-in service cannot be reached. Please try again in a moment.',
    suspended: 'This account is suspended. Contact the operator.',
    sign_up_closed: 'Sign-up is currently closed.',
    identity_taken: 'This sign-in already belongs to another account.',
    not_offered: 'This sign-in method is not available here.',
  } as Readonly<Record<string, string>>,
};

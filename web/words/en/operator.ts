/** Texts shared by operator pages, and their overview. */
export default {
  overview: {
    attention: 'Needs attention',
    quiet: 'No issues',
    noChannel: 'No channels yet: no model can be called.',
    addChannel: 'Add channel',
    checked: 'Status as of {at}',
    since: 'since {at}',
    sentences: {
      channel_parked: (channel: string, why: string) => `${channel} is parked: ${why}.`,
      credentials_refused: (channel: string) =>
        `The vendor refused the key of ${channel}. It gets almost no requests until the key works again.`,
      unmatched_payment: (wallet: string, amount: string, number: string, why: string) =>
        `${wallet} received ${amount} that is credited to nobody (transaction ID ${number}): ${why}.`,
      unmatched_payments: (count: string) =>
        `${count} more payments are credited to nobody: tollgate order unmatched lists them.`,
      unmatchedReasons: {
        'no such order': 'there is no such order',
        'another amount': 'the order has another amount or currency',
        'a second payment of one order': 'the order was paid before',
        'credited for another order': 'it was credited for another order',
        'given back at the wallet': 'the merchant pages refunded it, in whole or in part',
      } as Readonly<Record<string, string>>,
      refund_not_ended: (wallet: string, amount: string) =>
        `A refund of ${amount} through ${wallet} does not end by itself.`,
      ledger_check_failed: (rules: string) => `The last ledger check failed: ${rules}.`,
      model_retiring: (model: string, date: string) => `The vendor retires ${model} on ${date}.`,
      models_retiring: (count: string, date: string) =>
        `Vendors retire ${count} models soon, the first on ${date}.`,
      model_without_channel: (model: string, channel: string, state: string | undefined) =>
        state === undefined
          ? `${model} is listed, but no channel serves it.`
          : `${model} is listed, but no channel serves it: ${channel} is ${state}.`,
      models_without_channel: (count: string) =>
        `${count} models are listed, but no channel serves them.`,
      model_without_channel_in_group: (
        model: string,
        group: string,
        channel: string,
        state: string | undefined,
      ) =>
        state === undefined
          ? `${model} is listed in group ${group}, but only channels of other groups serve it.`
          : `${model} is listed in group ${group}, but only channels of other groups serve it: ${channel} is ${state}.`,
      models_without_channel_in_group: (count: string, group: string) =>
        `${count} models are listed in group ${group}, but only channels of other groups serve them.`,
      database_slow: (ms: string, node: string) => `The database took ${ms} ms to answer ${node}.`,
      vendor_overran: (channel: string, answers: string, loss: string) =>
        `${channel} exceeded the maximum cost of requests in ${answers} answers within a day. No user paid for it; you lost ${loss}.`,
      requests_failing: (failed: string, attempts: string) =>
        `${failed} of ${attempts} attempts failed in the last hour.`,
      requests_failing_now: (failed: string, requests: string, minutes: string) =>
        failed === requests
          ? `${requests === '1' ? 'The only request' : `All ${requests} requests`} of the last ${minutes} minutes failed.`
          : `${failed} of ${requests} requests of the last ${minutes} minutes failed.`,
      disk_full: (node: string) => `The disk of ${node} is nearly full.`,
    },
    buttons: {
      channel_parked: 'Open channel',
      credentials_refused: 'Replace key',
      credentials_refused_of_file: 'Open channel',
      unmatched_payment: 'Find the order',
      unmatched_payments: 'Open reconciliation',
      refund_not_ended: 'Open the order',
      ledger_check_failed: 'Open the check',
      model_retiring: 'Open model',
      models_retiring: 'Open models',
      model_without_channel: 'Open model',
      models_without_channel: 'Open models',
      model_without_channel_in_group: 'Open group',
      models_without_channel_in_group: 'Open group',
      database_slow: 'Check again',
      vendor_overran: 'Open channel',
      requests_failing: 'Open requests',
      requests_failing_now: 'Open requests',
      disk_full: 'Check again',
    },
    now: 'Last five minutes',
    requestsPerMinute: 'Requests per minute',
    errorShare: 'Errors',
    errorNote: 'of all requests',
    noRequests: 'no requests',
    noAttempts: 'no attempts',
    noAnswers: 'no answers',
    firstByte: 'First byte, median',
    firstByteNote: (p95: string) => `95 % within ${p95}`,
    open: 'Running',
    openNote: (tasks: string) => `streams, plus ${tasks === '1' ? '1 task' : `${tasks} tasks`}`,
    trend: {
      title: 'Business',
      period: 'Period',
      periods: {
        today: 'Today',
        '7d': '7 d',
        '30d': '30 d',
        '90d': '90 d',
        month: 'This month',
      },
      compared: (span: string, before: string) => `${span}, compared with ${before}.`,
      upTo: (time: string) => `Figures up to ${time}.`,
      points: (number: string) => `${number} points`,
      fromZero: '0 before',
      noEarlier: 'no full period to compare with',
      revenue: 'Revenue',
      revenueTip: 'Charges less refunds of charges, as in the ledger.',
      counted: 'Revenue is net of refunds; charged requests include refunded ones.',
      vendorCost: 'Vendor cost',
      noCost: 'no costs entered',
      costTip:
        'Channels without entered costs count as free. Costs are entered on a channel’s tab Models.',
      noRevenue: 'no revenue',
      margin: 'Margin',
      marginTip: '(revenue − cost) ÷ revenue',
      requests: 'Charged requests',
      failed: 'Failed attempts',
      failedTip:
        'Failed attempts ÷ all attempts. Counted some seconds later than charges, and kept for about eight days.',
      failedOf: (failed: string, attempts: string) =>
        `${failed} of ${attempts === '1' ? '1 attempt' : `${attempts} attempts`}`,
      failedSince: (day: string) => `data since ${day}`,
      activeUsers: 'Active users',
      newUsers: 'New users',
      charts: { hour: 'Revenue and requests per hour', day: 'Revenue and requests per day' },
      show: 'Show',
      hour: 'Hour',
      summary: (what: string, total: string, first: string, last: string) =>
        `${what} from ${first} to ${last}: ${total}.`,
      models: 'Models by revenue',
      users: 'Users by revenue',
      channels: 'Channels by charged requests',
      nothing: 'No data in this period.',
      cost: (amount: string) => `cost ${amount}`,
      noAttempts: 'no data on attempts',
      attemptsFailed: (failed: string, attempts: string) =>
        attempts === '1'
          ? `${failed} of 1 attempt failed`
          : `${failed} of ${attempts} attempts failed`,
    },
    check: {
      title: 'Last ledger check',
      none: 'The gateway has not checked the ledger yet. It is checked every night.',
      ok: 'All rules passed',
      failed: 'Some rules failed',
      nightly: 'automatic',
      byHand: 'manual',
      proves:
        'Every balance equals the sum of its transfers, every charge has its usage record, and nothing is held twice.',
      open: 'Open ledger',
    },
    errors: 'Errors per channel and hour, 24 hours',
    noErrors: (requests: string) =>
      `No errors in the last 24 hours, in ${requests === '1' ? '1 attempt' : `${requests} attempts`}.`,
    errorsSummary: (errors: string, requests: string, worst: string) =>
      `Errors per hour of the last 24 hours by channel: ${errors} of ${requests} attempts, most of them at ${worst}.`,
    errorsOf: (errors: string, requests: string) => `${errors} of ${requests}`,
    hour: 'Hour',
  },
  faults: {
    credentials_refused: 'key refused',
    vendor_account_empty: 'the vendor account is empty',
    rate_limited: 'rate limited by the vendor',
    overloaded: 'the vendor is overloaded',
    server_error: 'vendor errors',
    protocol: 'answers that cannot be parsed',
    network: 'network failure',
    timeout: 'the vendor is too slow',
    unknown_model: 'the vendor does not know a model',
    bad_request: 'refused as invalid',
    context_length: 'refused as too long',
    content_policy: 'refused by content policy',
    credentials: 'key refused',
    quota: 'vendor account empty',
  } as Readonly<Record<string, string>>,
  /** The states of a channel that takes no new requests. */
  notServing: {
    name: (channel: string, state: string) => `${channel} (${state})`,
    states: {
      parked: 'parked',
      draining: 'draining',
      drained: 'drained',
      disabled: 'disabled',
    },
  },
  origin: {
    label: 'Source',
    configuration: 'configuration file',
    console: 'console',
    readOnly: 'Managed by the configuration file; edit it there.',
  },
  form: {
    reason: 'Reason',
    reasonHelp: 'Required. Recorded in the audit trail.',
    problem: 'Not done:',
    required: 'required',
  },
  wallets: { wechat_pay: 'WeChat Pay', alipay: 'Alipay' } as Readonly<Record<string, string>>,
  none: 'none',
  unlimited: 'no limit',
  comma: ', ',
  all: 'all',
  open: 'Open',
  actions: (name: string) => `Actions for ${name}`,
};

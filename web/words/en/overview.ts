export default {
  figures: {
    available: 'Available',
    held: (amount: string, tasks: number) =>
      `${amount} held for ${tasks === 1 ? '1 task' : `${tasks} tasks`}`,
    nothingHeld: 'Nothing held for running tasks',
    runway: 'Balance lasts about',
    notEnough: 'Not enough data',
    overAYear: 'over a year',
    days: (days: number) =>
      days < 1 ? 'under a day' : days < 2 ? '1 day' : `${Math.floor(days)} days`,
    formula: (available: string, mean: string) =>
      `${available} available ÷ ${mean} a day, the mean of the last 7 full days`,
    perDay: (mean: string) => `${mean} a day over 7 full days`,
    today: 'Today',
    yesterday: (amount: string) => `${amount} by this time yesterday`,
    week: 'Last 7 days',
  },
  spend: {
    section: 'Spending',
    perDay: 'Spending per day',
    perHour: 'Spending per hour',
    hour: 'Hour',
    period: 'Period',
    periods: { today: 'Today', '7d': '7 days', '30d': '30 days', '90d': '90 days' },
    cost: 'Spent',
    refunded: (charged: string, refunded: string) =>
      `Spent: charges ${charged} less refunds ${refunded}. Requests, the chart and the top costs are before refunds.`,
    requests: 'Requests',
    before: (value: string) => `from ${value}`,
    nothingBefore: 'nothing in the period before',
    compared: (span: string, before: string) => `${span}, compared with ${before}.`,
    by: 'Split by',
    model: 'Model',
    key: 'Key',
    summary: (total: string, first: string, last: string, most: string) =>
      `Spending from ${first} to ${last}: ${total} in total, most of it for ${most}.`,
    nothing: 'No spending in this period.',
    zone: (zone: string) => `times in ${zone}`,
  },
  top: {
    title: 'Top costs',
    note: (requests: string, cached: string) => `${requests} · ${cached} of input cached`,
    noteWithoutCache: (requests: string) => requests,
    empty: 'No spending in this period.',
  },
  charges: {
    title: 'Latest charges',
    all: 'All usage',
    model: 'Model',
    key: 'Key',
    tokens: 'In / out',
    status: 'Status',
    cost: 'Cost',
    time: 'Time',
  },
  topUp: 'Top up',
  createKey: 'Create key',
  start: {
    title: 'Get started in four steps',
    topUp: 'Top up',
    topUpNote: (least: string) => `from ${least}`,
    noWallet: 'no payment method is set up',
    topUpDone: (balance: string) => `Balance ${balance}`,
    key: 'Create a key',
    keyNote: 'its secret is shown only once: copy it then',
    request: 'Send a request',
    requestNote: 'change only the base URL and the key',
    check: 'Check the charge',
    checkNote: 'every digit can be verified',
    run: 'Run in a terminal, after export TOLLGATE_API_KEY=your key:',
    waiting: 'Waiting for your first request…',
    /** `more`: there are more than `count`. */
    failed: (count: number, more: boolean) =>
      count === 1 && !more
        ? 'One request arrived and failed: {reason}.'
        : `${count}${more ? '+' : ''} requests arrived, and all of them failed. The last one: {reason}.`,
    /** `used`: `12 output tokens`, `2 images`; empty where nothing is counted. */
    works: (model: string, used: string, cost: string, balance: string) =>
      `It works. ${model}: ${used === '' ? '' : `${used}, `}charged ${cost}; balance ${balance}.`,
    output: (tokens: string) => (tokens === '1' ? '1 output token' : `${tokens} output tokens`),
    input: (tokens: string) => (tokens === '1' ? '1 input token' : `${tokens} input tokens`),
    images: (count: string) => (count === '1' ? '1 image' : `${count} images`),
    video: (length: string) => `a video of ${length}`,
    aVideo: 'a video',
    audio: (length: string) => `${length} of audio`,
    see: 'See the charge',
    done: 'Done',
    sample: 'Sample request with curl',
  },
};

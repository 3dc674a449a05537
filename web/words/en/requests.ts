/** Requests that failed, the course of one and of many, and how charges are sorted. */
export default {
  list: 'Failed requests',
  title: 'Request',
  none: 'No failed requests in this period.',
  nothing: 'No matches.',
  kept: 'Failed requests are kept for 7 days.',
  keptFrom: (time: string) => `Failed requests before ${time} are no longer kept.`,
  interrupted: (status: string) => `${status} interrupted`,
  missing:
    'This request does not exist, or it is not yours. Failed requests are kept for 7 days and appear here a second after they end.',
  columns: {
    time: 'Time',
    id: 'Request ID',
    key: 'Key',
    model: 'Model',
    status: 'Status',
    code: 'Code',
    message: 'Message',
  },
  filter: {
    status: 'Status',
    code: 'Error code',
    statuses: {
      '4xx': '4xx: refused',
      '5xx': '5xx: not served',
      '2xx': '200: interrupted',
      '499': '499: client disconnected',
    },
  },
  facts: {
    endpoint: 'Endpoint',
    param: 'Parameter',
    total: 'Total time',
  },
  notCharged: 'You were not charged.',
  charged: 'You were charged for what was delivered.',
  refunded: {
    part: 'Part of the charge was refunded.',
    whole: 'The whole charge was refunded.',
  } as Readonly<Record<string, string>>,
  openCharge: 'See the charge',
  next: 'What to do next',
  topUp: 'Top up',
  models: 'See the models',
  ended: {
    ok: 'Answered.',
    length: 'Answered; the balance limited the output.',
    'ok, not kept': 'Answered. The response was not stored.',
    'length, not kept': 'Answered; the balance limited the output. The response was not stored.',
    left: 'The client disconnected before the answer was complete.',
    cut: 'The answer was interrupted.',
    error: 'Failed.',
  } as Readonly<Record<string, string>>,
  /** The gateway's own message, which the console does not translate. */
  ownMessage: '{message}',
  notKept: 'The response gave the reason. It is not stored, because it may quote your request.',
  remedies: {
    insufficient_quota:
      'The balance or the spending limit of the key is too small for this request. A chat needs enough for its input and a short answer; an image, a video or speech is reserved whole before it is made. Top up or raise the limit, then send the request again.',
    model_not_found:
      'Check the model name, and that the key’s group has this model. GET /v1/models lists what the key can call.',
    rate_limit_exceeded: 'Wait as long as the response says, and send fewer requests at a time.',
    body_bytes_in_flight: 'Wait for a running request to finish, then send this one again.',
    context_length_exceeded: 'Shorten the input or choose a model with a longer context.',
    content_policy_violation: 'Change the input: the model refuses this content.',
    left: 'If this was not intended, raise the client’s timeout or use streaming.',
    cut: 'Send the request again.',
  } as Readonly<Record<string, string>>,
  byStatus: {
    request: 'Correct the request as the message says, then send it again.',
    parameter: 'Correct the parameter shown here, then send the request again.',
    service: 'Try again later. If it keeps failing, give the request ID to your operator.',
  },
  timeline: {
    title: 'Attempts',
    label: 'Attempts over time',
    attempt: (number: number) => `Attempt ${number}`,
    failed: 'Failed',
    answered: 'Answered',
    span: (from: string, to: string) => `${from} to ${to}`,
    none: 'Ended before the first attempt.',
    onlyNumber: (attempts: string) =>
      `${attempts} attempts. Their times are not in the request log, which keeps 7 days.`,
    onlyAnswered: 'Only the attempt that answered is charged.',
  },
  order: {
    label: 'Sort by',
    by: {
      '': 'Newest first',
      time: 'Oldest first',
      '-cost': 'Highest cost first',
      '-input': 'Most input tokens first',
      '-output': 'Most output tokens first',
      '-total': 'Longest total time first',
      '-first_byte': 'Slowest first byte first',
    },
    since: (time: string) =>
      `Only requests since ${time} are sorted: the period has too many to sort them all. Choose a shorter period for earlier ones.`,
  },
  course: {
    latency: 'Latency',
    measures: { first_byte: 'First byte', total: 'Total time' },
    median: 'Median',
    p95: '95th percentile',
    noLatency: 'No latencies in this period.',
    latencySummary: (measure: string, worst: string) =>
      `${measure}: median and 95th percentile over the period, at most ${worst}.`,
    sampled: (each: string, count: string) =>
      `Measured on at most the latest ${count} requests of ${each}.`,
    units: { hour: 'Hour', day: 'Day' },
    each: { hour: 'each hour', day: 'each day' },
    errors: 'Errors',
    failed: 'Failed',
    interrupted: 'Interrupted',
    noErrors: (requests: string) =>
      requests === '1' ? 'No errors in 1 request.' : `No errors in ${requests} requests.`,
    errorsOf: (failed: string, all: string, share: string) => `${failed} of ${all} (${share})`,
    errorsSummary: (errors: string) => `Requests with an error: ${errors}.`,
    failedSince: (time: string) => `Failed requests are recorded since ${time}.`,
    chargedOnly:
      'Failed requests are not charged, so this filter leaves them out. Interrupted ones are counted.',
  },
};

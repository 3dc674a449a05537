/** Requests that failed, and the course of one request. */
export default {
  list: 'Failed requests',
  title: 'Request',
  none: 'No failed requests in this period.',
  nothing: 'No failed request matches.',
  kept: 'Failed requests are kept for 7 days.',
  missing:
    'There is no such request, or it is not yours. Failed requests are kept for 7 days, and appear here a second after their end.',
  columns: {
    time: 'Time',
    id: 'Request id',
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
      '2xx': '200: broke off',
      '499': '499: the client left',
    },
  },
  facts: {
    endpoint: 'Endpoint',
    param: 'Parameter',
    total: 'Total time',
  },
  notCharged: 'You were not charged.',
  charged: 'You were charged for what was delivered.',
  openCharge: 'Show the charge',
  next: 'What to do next',
  topUp: 'Top up',
  models: 'Show the models',
  ended: {
    ok: 'It was answered.',
    length: 'It was answered; the balance limited the output.',
    left: 'The client closed the connection before the answer was complete.',
    cut: 'The answer broke off.',
    error: 'It failed.',
  } as Readonly<Record<string, string>>,
  notKept:
    'The reason stood in the response. It is not kept here, since it may quote your request.',
  remedies: {
    insufficient_quota:
      'Top up, or raise the spending limit of the key. Then send the request again.',
    model_not_found:
      'Check the name of the model, and whether the group of the key has it. GET /v1/models lists what the key can call.',
    rate_limit_exceeded: 'Wait as long as the response said, and send fewer requests at once.',
    body_bytes_in_flight: 'Wait until a running request ends, and send it again.',
    context_length_exceeded: 'Shorten the input, or choose a model with a longer context.',
    content_policy_violation: 'Change the input: the model refuses this content.',
    left: 'If it was not on purpose, raise the time limit of the client, or let it stream.',
    cut: 'Send the request again.',
  } as Readonly<Record<string, string>>,
  byStatus: {
    request: 'Change the request as the message says, and send it again.',
    parameter: 'Correct the parameter that is named here, and send the request again.',
    service: 'Send it again later. If it keeps failing, give the request id to your operator.',
  },
  timeline: {
    title: 'Attempts',
    label: 'Attempts over time',
    attempt: (number: number) => `Attempt ${number}`,
    failed: 'Failed',
    answered: 'Answered',
    span: (from: string, to: string) => `${from} to ${to}`,
    none: 'No attempt at a model failed.',
  },
};

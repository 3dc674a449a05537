/**
 * The client's side of one of the gateway's formats. It has a tool because some models call tools
 * on one endpoint only.
 */
export interface ClientSide {
  readonly format: string;
  readonly path: string;
  body(model: string, stream: boolean): object;
  /** Type and data of the events of a stream. Chat's have no type. */
  isError(data: Readonly<Record<string, unknown>>): boolean;
  /** Matches only a complete answer. */
  readonly ends: RegExp;
}

const name = 'get_weather';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const messages = [{ role: 'user', content: 'Hello' }];

export const clientSides: readonly ClientSide[] = [
  {
    format: 'chat',
    path: '/v1/chat/completions',
    body: (model, stream) => ({
      model,
      stream,
      messages,
      max_tokens: 200,
      tools: [{ type: 'function', function: { name, parameters } }],
    }),
    isError: ({ error }) => error !== undefined,
    ends: /\[DONE\]|"finish_reason":"/,
  },
  {
    format: 'messages',
    path: '/v1/messages',
    body: (model, stream) => ({
      model,
      stream,
      messages,
      max_tokens: 200,
      tools: [{ name, input_schema: parameters }],
    }),
    isError: ({ type }) => type === 'error',
    ends: /message_stop|"stop_reason":"/,
  },
  {
    format: 'responses',
    path: '/v1/responses',
    body: (model, stream) => ({
      model,
      stream,
      input: 'Hello',
      max_output_tokens: 200,
      tools: [{ type: 'function', name, parameters, strict: false }],
    }),
    isError: ({ type }) => type === 'error',
    ends: /response\.completed|"status":"completed"/,
  },
];

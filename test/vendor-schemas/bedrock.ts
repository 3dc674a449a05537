import {
  type Endpoint,
  flag,
  isObject,
  list,
  map,
  type Members,
  memberAt,
  number,
  object,
  objectsOf,
  one,
  rule,
  type Rule,
  type Shape,
} from './shape.ts';
import { strings, text, whole } from './shape.ts';

// Bedrock's Converse (bedrock-runtime service-2.json: ConverseRequest). Unions have exactly one
// member.

const definition = 'bedrock-runtime service-2.json';

const union =
  (kinds: Members, beside: Members = {}): Shape =>
  (value, at, tell) => {
    object({ ...kinds, ...beside })(value, at, tell);
    const told = isObject(value)
      ? Object.keys(value).filter((name) => kinds[name] !== undefined && value[name] !== null)
      : [];
    if (told.length !== 1)
      tell(`${at}: has ${told.length} members of a union (${told.join(', ')})`);
  };

const name = text({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ });
const id = text({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_.:-]+$/ });
const s3 = object({ uri: text(), bucketOwner: text() }, 'uri');
const bytes = text({ min: 1, pattern: /^[\w+/=-]+$/ });
const cachePoint = object({ type: one('default'), ttl: one('5m', '1h') }, 'type');
const image = object(
  { format: one('png', 'jpeg', 'gif', 'webp'), source: union({ bytes, s3Location: s3 }) },
  'format',
  'source',
);
const citations = object({ enabled: flag }, 'enabled');
const document = object(
  {
    format: one('pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'),
    // As its documentation says and the service answers: letters, digits, white space, hyphens,
    // brackets.
    name: text({ min: 1, max: 200, pattern: /^(?!.*\s\s)[a-zA-Z0-9\s()[\]-]+$/ }),
    source: union({ bytes, s3Location: s3, text: text(), content: list(map()) }),
    context: text(),
    citations,
  },
  'name',
  'source',
);
// The second is recorded, accepted (bedrock-0216).
const formats = ['mkv', 'mov', 'mp4', 'webm', 'flv', 'mpeg', 'mpg', 'wmv', 'three_gp', 'video/mp4'];
const video = object(
  { format: one(...formats), source: union({ bytes, s3Location: s3 }) },
  'format',
  'source',
);
const searchResult = object(
  { source: text(), title: text(), content: list(map()), citations },
  'source',
  'title',
  'content',
);
const guardContent = union({
  text: object({ text: text(), qualifiers: strings() }, 'text'),
  image: map(),
});

const block = union({
  text: text(),
  image,
  document,
  video,
  audio: object({ format: text(), source: union({ bytes, s3Location: s3 }) }, 'format', 'source'),
  toolUse: object(
    { toolUseId: id, name, input: map(), type: one('server_tool_use') },
    'toolUseId',
    'name',
    'input',
  ),
  toolResult: object(
    {
      toolUseId: id,
      content: list(union({ json: map(), text: text(), image, document, video, searchResult })),
      status: one('success', 'error'),
      type: text(),
    },
    'toolUseId',
    'content',
  ),
  guardContent,
  cachePoint,
  reasoningContent: union({
    reasoningText: object({ text: text(), signature: text() }, 'text'),
    redactedContent: bytes,
  }),
  citationsContent: map(),
  searchResult,
  toolAddition: map(),
  toolRemoval: map(),
});

const members: Members = {
  messages: list(
    object({ role: one('user', 'assistant'), content: list(block, { min: 1 }) }, 'role', 'content'),
    { min: 1 },
  ),
  system: list(union({ text: text({ min: 1 }), guardContent, cachePoint })),
  inferenceConfig: object({
    maxTokens: whole(1),
    temperature: number(0, 1),
    topP: number(0, 1),
    stopSequences: strings(2500),
  }),
  toolConfig: object(
    {
      tools: list(
        union({
          toolSpec: object(
            {
              name,
              description: text({ min: 1 }),
              inputSchema: object({ json: map() }, 'json'),
              strict: flag,
            },
            'name',
            'inputSchema',
          ),
          systemTool: object({ name }, 'name'),
          cachePoint,
        }),
        { min: 1 },
      ),
      toolChoice: union({ auto: object({}), any: object({}), tool: object({ name }, 'name') }),
    },
    'tools',
  ),
  guardrailConfig: object({
    guardrailIdentifier: text(),
    guardrailVersion: text(),
    trace: one('enabled', 'disabled', 'enabled_full'),
    streamProcessingMode: one('sync', 'async'),
  }),
  additionalModelRequestFields: map(),
  additionalModelResponseFieldPaths: strings(10),
  promptVariables: map(),
  requestMetadata: map(text()),
  performanceConfig: object({ latency: one('standard', 'optimized') }),
  serviceTier: object({ type: one('priority', 'default', 'flex', 'reserved') }, 'type'),
  outputConfig: object({
    textFormat: object(
      {
        type: one('json_schema'),
        structure: union({
          jsonSchema: object({ schema: text(), name: text(), description: text() }, 'schema'),
        }),
      },
      'type',
      'structure',
    ),
    effort: text(),
  }),
};

const page = 'docs.aws.amazon.com/bedrock';
const blocks = (message: unknown): ReturnType<typeof objectsOf> =>
  objectsOf(isObject(message) ? message['content'] : undefined);

const rules: readonly Rule[] = [
  rule(
    `${page}: "The toolConfig field must be defined when using toolUse and toolResult content blocks"`,
    undefined,
    ({ body }) =>
      body['toolConfig'] === undefined &&
      objectsOf(body['messages']).some((message) =>
        blocks(message).some((one) => one['toolUse'] || one['toolResult']),
      )
        ? ['toolConfig: is missing, and calls are in the conversation']
        : [],
  ),
  rule(`${page}: "The text field in the ContentBlock object is blank"`, undefined, ({ body }) =>
    objectsOf(body['messages']).some((message) =>
      blocks(message).some((one) => typeof one['text'] === 'string' && !/\S/.test(one['text'])),
    )
      ? ['messages: a text that is blank']
      : [],
  ),
  rule(
    `${page}: "A conversation must start with a user message"`,
    /^(?!.*claude(?!-(?:3|instant|v\d)))/,
    ({ body }) =>
      objectsOf(body['messages'])[0]?.['role'] === 'assistant'
        ? ['messages: begin with the assistant’s']
        : [],
  ),
  rule(`${page}: "Expected toolResult blocks"`, undefined, ({ body }) => {
    const turns = objectsOf(body['messages']);
    return turns.flatMap((turn, index) => {
      const called =
        turn['role'] === 'assistant'
          ? blocks(turn).flatMap(({ toolUse }) =>
              isObject(toolUse) && toolUse['type'] === undefined ? [toolUse['toolUseId']] : [],
            )
          : [];
      const told = blocks(turns[index + 1]).flatMap(({ toolResult }) =>
        isObject(toolResult) ? [toolResult['toolUseId']] : [],
      );
      const mine =
        turn['role'] === 'user'
          ? blocks(turn).flatMap(({ toolResult }) =>
              isObject(toolResult) ? [toolResult['toolUseId']] : [],
            )
          : [];
      const before = blocks(turns[index - 1]).flatMap(({ toolUse }) =>
        isObject(toolUse) ? [toolUse['toolUseId']] : [],
      );
      return [
        ...called
          .filter((one) => !told.includes(one))
          .map((one) => `messages: the call ${String(one)} is not answered in the next message`),
        ...mine
          .filter((one) => !before.includes(one))
          .map(
            (one) => `messages: the result ${String(one)} belongs to no call of the message before`,
          ),
      ];
    });
  }),
  rule('anthropic-openapi.yaml, over additionalModelRequestFields', /claude/, ({ body }) => {
    const budget = memberAt(body, 'additionalModelRequestFields.thinking.budget_tokens');
    const max = memberAt(body, 'inferenceConfig.maxTokens');
    if (memberAt(body, 'additionalModelRequestFields.thinking.type') !== 'enabled') return [];
    const temperature = memberAt(body, 'inferenceConfig.temperature');
    return [
      ...(typeof budget === 'number' && budget >= 1024
        ? []
        : ['thinking.budget_tokens: is at least 1024']),
      ...(typeof max === 'number' && max <= Number(budget)
        ? ['thinking.budget_tokens: is not below maxTokens']
        : []),
      ...(temperature === undefined || temperature === 1
        ? []
        : ['temperature: is 1 while thinking']),
    ];
  }),
  rule(
    'vercel/ai packages/anthropic, 2026-08-22',
    /claude-(?:opus-4-[78]|opus-5|sonnet-5|haiku-5|fable-5|mythos-5)/,
    ({ body }) => {
      const { temperature, topP } = {
        ...(isObject(body['inferenceConfig']) ? body['inferenceConfig'] : {}),
      } as {
        temperature?: unknown;
        topP?: unknown;
      };
      return [
        ...(temperature === undefined || temperature === 1
          ? []
          : ['temperature: this model takes 1 alone']),
        ...(topP === undefined || Number(topP) >= 0.99 ? [] : ['topP: this model refuses it']),
        ...(memberAt(body, 'additionalModelRequestFields.top_k') === undefined
          ? []
          : ['top_k: this model refuses it']),
        ...(memberAt(body, 'additionalModelRequestFields.thinking.type') === 'enabled'
          ? ['thinking: this model takes no budget']
          : []),
      ];
    },
  ),
];

export const converse: Endpoint = {
  path: /\/model\/[^/]+\/converse(?:-stream)?$/,
  source: definition,
  body: object(members, 'messages'),
  rules,
};

import {
  anything,
  either,
  type Endpoint,
  flag,
  isObject,
  type Json,
  list,
  map,
  type Members,
  memberAt,
  number,
  object,
  objectsOf,
  one,
} from './shape.ts';
import {
  refuses,
  rule,
  type Rule,
  type Shape,
  strings,
  tagged,
  takes,
  text,
  whole,
} from './shape.ts';

// Anthropic's Messages (anthropic-openapi.yaml: CreateMessageParams and BetaCreateMessageParams,
// which forbid other members).

const definition = 'anthropic-openapi.yaml';
export const cacheMark = object({ type: one('ephemeral'), ttl: one('5m', '1h') }, 'type');
const mark = { type: anything, cache_control: cacheMark };
const citing = object({ enabled: flag });

const images = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const base64 = (...types: readonly string[]): Shape =>
  object(
    { type: anything, media_type: one(...types), data: text({ min: 1 }) },
    'media_type',
    'data',
  );
const source = {
  url: object({ type: anything, url: text() }, 'url'),
  file: object({ type: anything, file_id: text() }, 'file_id'),
};
const picture = object(
  { ...mark, source: tagged('type', { base64: base64(...images), ...source }) },
  'source',
);
const textBlock = object({ ...mark, text: text({ min: 1 }), citations: list(map()) }, 'text');
const searchResult = object(
  { ...mark, source: text(), title: text(), content: list(textBlock), citations: citing },
  'source',
  'title',
  'content',
);
const document = object(
  {
    ...mark,
    title: text(),
    context: text(),
    citations: citing,
    source: tagged('type', {
      base64: base64('application/pdf'),
      text: base64('text/plain'),
      content: object({ type: anything, content: either(text(), list(map())) }, 'content'),
      ...source,
    }),
  },
  'source',
);
const id = text({ pattern: /^[a-zA-Z0-9_-]+$/ });
const toolName = text({ pattern: /^[a-zA-Z0-9_-]{1,128}$/ });
const use = object(
  { ...mark, id, name: text({ min: 1, max: 200 }), input: map(), caller: map() },
  'id',
  'name',
  'input',
);
const hostedResult = object(
  { ...mark, tool_use_id: id, content: anything, caller: map(), is_error: flag },
  'tool_use_id',
  'content',
);

const userBlocks: Readonly<Record<string, Shape>> = {
  text: textBlock,
  image: picture,
  document,
  search_result: searchResult,
  tool_result: object(
    {
      ...mark,
      tool_use_id: id,
      is_error: flag,
      content: either(
        text(),
        list(
          tagged('type', {
            text: textBlock,
            image: picture,
            document,
            search_result: searchResult,
            tool_reference: object({ ...mark, tool_name: text() }, 'tool_name'),
          }),
        ),
      ),
    },
    'tool_use_id',
  ),
  container_upload: object({ ...mark, file_id: text() }, 'file_id'),
};
const assistantBlocks: Readonly<Record<string, Shape>> = {
  text: textBlock,
  thinking: object(
    { type: anything, thinking: text(), signature: text({ min: 1 }) },
    'thinking',
    'signature',
  ),
  redacted_thinking: object({ type: anything, data: text() }, 'data'),
  tool_use: use,
  server_tool_use: use,
  mcp_tool_use: object(
    { ...mark, id, name: text(), input: map(), server_name: text() },
    'id',
    'name',
    'input',
    'server_name',
  ),
  compaction: object({ ...mark, content: text(), encrypted_content: text() }),
  ...Object.fromEntries(
    [
      'web_search',
      'web_fetch',
      'code_execution',
      'bash_code_execution',
      'text_editor_code_execution',
      'tool_search',
      'mcp',
      'advisor',
    ].map((name) => [name === 'mcp' ? 'mcp_tool_result' : `${name}_tool_result`, hostedResult]),
  ),
};

const content = (blocks: Readonly<Record<string, Shape>>): Shape =>
  either(text({ min: 1 }), list(tagged('type', blocks)));

const message = tagged('role', {
  user: object({ role: anything, content: content(userBlocks) }, 'content'),
  assistant: object({ role: anything, content: content(assistantBlocks) }, 'content'),
  // Behind a beta (mid-conversation-system-2026-04-07): recorded anthropic-0445, anthropic-0514.
  system: object(
    {
      role: anything,
      content: content({ text: textBlock, tool_addition: map(), tool_removal: map() }),
    },
    'content',
  ),
});

const inputSchema: Shape = (value, at, tell) => {
  map()(value, at, tell);
  if (isObject(value) && value['type'] === undefined) tell(`${at}.type: is missing`);
};
const ownTool: Members = {
  type: one('custom'),
  name: toolName,
  description: text(),
  input_schema: inputSchema,
  cache_control: cacheMark,
  strict: flag,
  eager_input_streaming: flag,
  allowed_callers: strings(),
  defer_loading: flag,
  input_examples: list(map()),
};
const hosted =
  /^(?:bash|code_execution|computer|memory|text_editor|web_search|web_fetch|advisor)_20\d{6}$|^tool_search_tool_(?:bm25|regex)(?:_20\d{6})?$|^mcp_toolset$/;
const tool: Shape = (value, at, tell) => {
  const type = isObject(value) ? value['type'] : undefined;
  if (typeof type === 'string' && hosted.test(type)) return;
  object(ownTool, 'name', 'input_schema')(value, at, tell);
};

/** The last one has a beta: build-with-claude/thinking, 2026-11. */
const display = one('summarized', 'omitted', 'full', 'updates');

export const messagesMembers: Members = {
  messages: list(message, { min: 1 }),
  system: either(text(), list(tagged('type', { text: textBlock }))),
  max_tokens: whole(1),
  stream: flag,
  stop_sequences: strings(Infinity, text({ pattern: /\S/ })),
  temperature: number(0, 1),
  top_p: number(0, 1),
  top_k: whole(0),
  thinking: tagged('type', {
    enabled: object({ type: anything, budget_tokens: whole(1024), display }, 'budget_tokens'),
    disabled: object({ type: anything }),
    adaptive: object({ type: anything, display }),
    between_tools: object({ type: anything, display }),
  }),
  tools: list(tool),
  tool_choice: tagged('type', {
    auto: object({ type: anything, disable_parallel_tool_use: flag }),
    any: object({ type: anything, disable_parallel_tool_use: flag }),
    tool: object({ type: anything, name: text(), disable_parallel_tool_use: flag }, 'name'),
    none: object({ type: anything }),
  }),
  metadata: object({ user_id: text({ max: 512 }) }),
  service_tier: one('auto', 'standard_only'),
  inference_geo: text(),
  // Models that answer where this one refuses (adk-anthropic 2.1.0, src/types/server_fallback.rs,
  // 2026).
  fallbacks: list(object({ model: text() }, 'model')),
  cache_control: cacheMark,
  container: either(text(), map()),
  output_config: object({
    effort: one('low', 'medium', 'high', 'xhigh', 'max'),
    format: object({ type: one('json_schema'), schema: map() }, 'type', 'schema'),
    task_budget: map(),
  }),
  context_management: map(),
  mcp_servers: list(map(), { max: 20 }),
  output_format: object({ type: one('json_schema'), schema: map() }, 'type', 'schema'),
  speed: one('standard', 'fast'),
  user_profile_id: text(),
};

/** Any way of naming the models: with a cloud's prefix and version behind. */
const model = (names: string): RegExp => new RegExp(`claude-(?:${names})(?![\\d.])`);
const after46 = model(
  'opus-4-[78]|opus-5(?:-5)?|sonnet-5(?:-5)?|haiku-5-5|fable-5(?:-1)?|mythos-5(?:-1)?',
);
const from46 = model(
  '(?:opus|sonnet)-4-[678]|opus-5(?:-5)?|sonnet-5(?:-5)?|haiku-5-5|fable-5(?:-1)?|mythos-5(?:-1)?',
);
const unforced = model('opus-5-5|fable-5-1|mythos-5-1');
const before46 =
  /claude-(?:3|2|instant|opus-4-(?:[015](?!\d)|2025)|sonnet-4-(?:[05](?!\d)|2025)|haiku-4-5|sonnet-4@|opus-4@|(?:opus|sonnet)-4$)/;

const page = 'platform.claude.com';
const thinks = (body: Json): boolean =>
  ['enabled', 'adaptive', 'between_tools'].includes(String(memberAt(body, 'thinking.type')));
const blocks = (message: Json | undefined): readonly Json[] => objectsOf(message?.['content']);

/** What was called in a turn is answered at the start of the next one, all of it. */
const answered = rule(
  `${page}, agents-and-tools/tool-use/handle-tool-calls; not so with recorded anthropic-0119`,
  /^(?!.*claude-3)/,
  ({ body }) => {
    const turns = objectsOf(body['messages']).filter(({ role }) => role !== 'system');
    return turns.flatMap((turn, index) => {
      const called =
        turn['role'] === 'assistant'
          ? blocks(turn)
              .filter(({ type }) => type === 'tool_use')
              .map((block) => block['id'])
          : [];
      const next = blocks(turns[index + 1]);
      const told = next
        .filter(({ type }) => type === 'tool_result')
        .map((block) => block['tool_use_id']);
      const before = blocks(turns[index - 1])
        .filter(({ type }) => type === 'tool_use')
        .map((block) => block['id']);
      const own = turn['role'] === 'user' ? blocks(turn) : [];
      const orphans = own.filter(
        ({ type, tool_use_id }) => type === 'tool_result' && !before.includes(tool_use_id),
      );
      const first = own.findIndex(({ type }) => type === 'tool_result');
      return [
        ...called
          .filter((one) => !told.includes(one))
          .map((one) => `messages: the call ${String(one)} is not answered in the next message`),
        ...orphans.map(
          (block) =>
            `messages: the result ${String(block['tool_use_id'])} belongs to no call of the message before`,
        ),
        ...(before.length > 0 && first > 0
          ? ['messages: something stands before the results of calls']
          : []),
      ];
    });
  },
);

const sampling = rule(
  `${page}, whats-new-claude-4-7; vercel/ai packages/anthropic, 2026-08-22`,
  after46,
  ({ body }) => {
    const { temperature, top_p, top_k } = body;
    return [
      ...(temperature === undefined || temperature === 1
        ? []
        : ['temperature: this model takes 1 alone']),
      ...(top_p === undefined || Number(top_p) >= 0.99 ? [] : ['top_p: this model refuses it']),
      ...(top_k === undefined ? [] : ['top_k: this model refuses it']),
    ];
  },
);

const whileThinking = rule(
  `${page}, build-with-claude/extended-thinking#feature-compatibility`,
  undefined,
  ({ body }) => {
    if (!thinks(body)) return [];
    const { temperature, top_p, top_k, max_tokens } = body;
    const budget = memberAt(body, 'thinking.budget_tokens');
    const choice = memberAt(body, 'tool_choice.type');
    return [
      ...(temperature === undefined || temperature === 1
        ? []
        : ['temperature: is 1 while thinking']),
      ...(top_k === undefined ? [] : ['top_k: not while thinking']),
      ...(top_p === undefined || Number(top_p) >= 0.95
        ? []
        : ['top_p: at least 0.95 while thinking']),
      ...(typeof budget === 'number' && budget >= Number(max_tokens)
        ? ['thinking.budget_tokens: is not below max_tokens']
        : []),
      ...(choice === 'any' || choice === 'tool'
        ? ['tool_choice: no tool is forced while thinking']
        : []),
    ];
  },
);

/**
 * The first thing said by an assistant that called something, while it thinks, is what it thought.
 */
const prefill = rule(`${page}, whats-new-claude-4-6; by wire-formats §0.10`, from46, ({ body }) =>
  objectsOf(body['messages']).at(-1)?.['role'] === 'assistant'
    ? ['messages: the last one is an assistant’s, which this model does not go on with']
    : [],
);

const marks = rule(`${page}, build-with-claude/prompt-caching`, undefined, ({ body }) => {
  const parts = [
    ...objectsOf(body['system']),
    ...objectsOf(body['tools']),
    ...objectsOf(body['messages']).flatMap((one) => blocks(one)),
  ];
  const found = parts.filter((part) => isObject(part['cache_control'])).length;
  return found > 4 ? [`cache_control: on ${found} blocks, of at most 4`] : [];
});

const blank = rule(
  'Anthropic: "text content blocks must be non-empty", "must contain non-whitespace text"; wire-formats §4.2',
  undefined,
  ({ body }) =>
    objectsOf(body['messages']).flatMap((message, index) => {
      const said =
        typeof message['content'] === 'string'
          ? [message['content']]
          : blocks(message).flatMap(({ type, text: words }) => (type === 'text' ? [words] : []));
      const last = index === objectsOf(body['messages']).length - 1;
      const trailing =
        last && message['role'] === 'assistant' && /\s$/.test(String(said.at(-1) ?? ''));
      return [
        ...(said.some((words) => typeof words === 'string' && !/\S/.test(words))
          ? [`messages[${index}]: a text that is blank`]
          : []),
        ...(message['role'] === 'user' &&
        Array.isArray(message['content']) &&
        message['content'].length === 0
          ? [`messages[${index}]: says nothing`]
          : []),
        ...(trailing ? [`messages[${index}]: ends in white space`] : []),
      ];
    }),
);

const behindBetas: Readonly<Record<string, string>> = {
  // Editing is behind context-management-2025-06-27, compaction behind compact-2026-01-12.
  context_management: 'compact-|context-management',
  mcp_servers: 'mcp-client',
  speed: 'fast-mode',
  output_format: 'structured-outputs',
};
const betas = rule(
  `${page}, api/beta-headers; ${definition}: CreateMessageParams`,
  undefined,
  ({ body, headers }) =>
    Object.entries(behindBetas).flatMap(([member, beta]) =>
      body[member] === undefined ||
      body[member] === null ||
      new RegExp(beta).test(
        headers['anthropic-beta'] ?? JSON.stringify(body['anthropic_beta']) ?? '',
      )
        ? []
        : [`${member}: without its beta in the headers`],
    ),
);

const refusedWords = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'oneOf',
]);
export function constrained(schema: unknown, at: string): string[] {
  if (Array.isArray(schema))
    return schema.flatMap((one, index) => constrained(one, `${at}[${index}]`));
  if (!isObject(schema)) return [];
  const own = Object.keys(schema)
    .filter((word) => refusedWords.has(word))
    .map((word) => `${at}.${word}: no word of its schemas`);
  if (schema['type'] === 'object' && schema['additionalProperties'] !== false)
    own.push(`${at}: additionalProperties is not false`);
  const named = ['properties', '$defs', 'definitions'].flatMap((name) =>
    isObject(schema[name])
      ? Object.entries(schema[name]).flatMap(([key, one]) =>
          constrained(one, `${at}.${name}.${key}`),
        )
      : [],
  );
  return [
    ...own,
    ...named,
    ...['items', 'anyOf', 'allOf'].flatMap((name) => constrained(schema[name], `${at}.${name}`)),
  ];
}
/** A definition that comes back to itself. */
export function circular(schema: unknown): boolean {
  const definitions = isObject(schema)
    ? { ...asObject(schema['$defs']), ...asObject(schema['definitions']) }
    : {};
  const refs = (value: unknown): string[] =>
    [
      ...JSON.stringify(value ?? null).matchAll(/"\$ref":"#\/(?:\$defs|definitions)\/([^"]+)"/g),
    ].map(([, name]) => String(name));
  const reaches = (name: string, wanted: string, seen: Set<string>): boolean =>
    refs(definitions[name]).some(
      (next) => next === wanted || (!seen.has(next) && reaches(next, wanted, seen.add(next))),
    );
  return Object.keys(definitions).some((name) => reaches(name, name, new Set()));
}
const asObject = (value: unknown): Json => (isObject(value) ? value : {});

const schemas = rule(
  `${page}, build-with-claude/structured-outputs#json-schema-limitations`,
  undefined,
  ({ body }) => [
    ...constrained(memberAt(body, 'output_config.format.schema'), 'output_config.format.schema'),
    ...constrained(memberAt(body, 'output_format.schema'), 'output_format.schema'),
    ...objectsOf(body['tools']).flatMap(({ strict, input_schema }, index) =>
      strict === true && circular(input_schema)
        ? [`tools[${index}].input_schema: strict, and refers to itself (recorded anthropic-0087)`]
        : [],
    ),
    ...(objectsOf(body['tools']).filter(({ strict }) => strict === true).length > 20
      ? ['tools: more than 20 are strict (recorded anthropic-0084)']
      : []),
  ],
);

export const messagesRules: readonly Rule[] = [
  sampling,
  whileThinking,
  answered,
  prefill,
  marks,
  blank,
  schemas,
  rule(
    `${page}, about-claude/models/migrating: temperature or top_p from 4.1 on`,
    model('opus-4-[156]|sonnet-4-[56]|haiku-4-5'),
    ({ body }) =>
      body['temperature'] !== undefined && body['top_p'] !== undefined
        ? ['top_p: not beside temperature']
        : [],
  ),
  takes(
    after46,
    `${page}, whats-new-claude-4-7: manual budgets removed`,
    'thinking.type',
    'adaptive',
    'disabled',
    'between_tools',
  ),
  takes(
    before46,
    `${page}, build-with-claude/adaptive-thinking: from 4.6 on`,
    'thinking.type',
    'enabled',
    'disabled',
  ),
  takes(
    unforced,
    `${page}, whats-new-opus-5-5, by wire-formats §0.10`,
    'thinking.type',
    'adaptive',
  ),
  takes(
    model('sonnet-5-5'),
    `${page}, by wire-formats §0.10`,
    'thinking.type',
    'adaptive',
    'between_tools',
  ),
  takes(unforced, 'Anthropic, by can1357/oh-my-pi#12939', 'tool_choice.type', 'auto', 'none'),
  refuses(
    /claude-(?:3|sonnet-4-[05]|haiku-4-5|opus-4-[01])/,
    `${page}, build-with-claude/effort: Opus 4.5 and from 4.6 on`,
    'output_config.effort',
  ),
  takes(
    model('opus-4-5'),
    `${page}, build-with-claude/effort`,
    'output_config.effort',
    'low',
    'medium',
    'high',
  ),
  takes(
    model('(?:opus|sonnet)-4-6'),
    'Anthropic, recorded anthropic-0487',
    'output_config.effort',
    'low',
    'medium',
    'high',
    'max',
  ),
  refuses(
    /claude-(?:3|sonnet-4-0|sonnet-4-2|opus-4-0|opus-4-2)/,
    'vercel/ai packages/anthropic, 2026-08-22',
    'output_config.format',
  ),
];

const counted: Members = Object.fromEntries(
  [
    'messages',
    'system',
    'thinking',
    'tools',
    'tool_choice',
    'cache_control',
    'output_config',
    'context_management',
    'mcp_servers',
    'output_format',
    'speed',
  ].map((name) => [name, messagesMembers[name] ?? anything]),
);

const hasModel: Members = { model: text({ min: 1 }) };

export const anthropicMessages: Endpoint = {
  path: /\/messages$/,
  source: definition,
  body: object({ ...messagesMembers, ...hasModel }, 'model', 'messages', 'max_tokens'),
  rules: [...messagesRules, betas],
};

export const anthropicCounts: Endpoint = {
  path: /\/messages\/count_tokens$/,
  source: definition,
  body: object({ ...counted, ...hasModel }, 'model', 'messages'),
};

/** Claude on a cloud: the model is in the address, the version in the body. */
export const claudeElsewhere = (
  path: RegExp,
  version: string,
  page: string,
  more: Members = {},
): Endpoint => ({
  path,
  source: page,
  body: object(
    { ...messagesMembers, anthropic_version: one(version), ...more },
    'messages',
    'max_tokens',
    'anthropic_version',
  ),
  rules: [
    ...messagesRules,
    refuses(undefined, page, 'model', 'service_tier', 'container', 'mcp_servers'),
  ],
});

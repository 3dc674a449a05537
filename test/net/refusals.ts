import { type Case, soundForm } from './cases.ts';
import type { Asked, Records } from './client.ts';
import { type Build, commandJson } from './build.ts';
import { soldCase } from './customer.ts';
import { playAll, recordPlayed } from './exchanges.ts';
import type { Json, Recording } from './recordings.ts';
import { bodies, type Family } from './refusal-bodies.ts';

/** Requests with one error each, and requests that fail before their body is read. */
export function recordRefusals(build: Build, recordings: readonly Recording[]): Promise<Records> {
  const kinds = [...new Set(bodies.map(({ kind }) => kind))];
  const sold = kinds.map((kind) => soldCase(kind, kind));
  return recordPlayed(build, 'refusals', sold, recordings, async (serving, vendor) => {
    const poor = await poorKeys(build, serving.place);
    const model = (kind: string): string => `${kind}/gpt-4o`;
    const asked = [
      ...bodies.flatMap((family) => wrongBodies(family, model(family.kind))),
      ...wrongDoors(model, poor),
      ...wrongForms(model('transcription')),
    ];
    const cases = asked.map(([name, one]): Case => ({ ...soldCase(name, ''), asked: one }));
    return playAll(serving, vendor, cases, 'refusal');
  });
}

type Named = readonly [name: string, asked: Asked];

/** Keys that cannot pay: of a user without money, and a disabled one. */
async function poorKeys(
  build: Build,
  place: Parameters<typeof commandJson>[2],
): Promise<readonly string[]> {
  const { id: user = '' } = await commandJson(build, ['user', 'create', '--name', 'poor'], place);
  const make = () =>
    commandJson(build, ['key', 'create', '--user', user, '--group', 'default'], place);
  const [poor, disabled] = [await make(), await make()];
  await commandJson(build, ['key', 'disable', disabled['id'] ?? ''], place);
  return [poor['key'] ?? '', disabled['key'] ?? ''];
}

type Step = string | number;

/** Every place in the value, the outermost first. */
function placesIn(value: Json, at: readonly Step[] = []): readonly (readonly Step[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const steps: readonly Step[] = Array.isArray(value)
    ? value.map((_, index) => index)
    : Object.keys(value);
  return steps.flatMap((step) => [[...at, step], ...placesIn(value[step], [...at, step])]);
}

const gone = Symbol('gone');

/** A copy of the body with another value, or none, at one place. */
function changed(body: Json, place: readonly Step[], to: unknown): Json {
  const copy = structuredClone(body);
  const last = place.at(-1) ?? '';
  const inside = place.slice(0, -1).reduce((value, step) => value[step], copy);
  if (to !== gone) inside[last] = to;
  else if (Array.isArray(inside)) inside.splice(Number(last), 1);
  else delete inside[last];
  return copy;
}

function wrongBodies(
  { name, path, body: all, members, headers = {} }: Family,
  model: string,
): readonly Named[] {
  const wholes = all.map((body) => ({ model, ...body }));
  const deep = wholes.flatMap((body, index) =>
    placesIn(body).flatMap((place) => {
      const now = place.reduce((value, step) => value[step], body);
      const scalar = typeof now === 'number' ? 'x' : 7;
      const container = Array.isArray(now) ? { x: 1 } : [7];
      const ways = { gone, null: null, scalar, container };
      return Object.entries(ways).map(
        ([way, to]): Named => [
          `${name} ${index} ${place.join('.')} ${way}`,
          { path, headers, body: changed(body, place, to) },
        ],
      );
    }),
  );
  const [plain = { model }] = wholes;
  const values = {
    null: null,
    true: true,
    low: -1,
    high: 1e12,
    text: 'x',
    empty: '',
    list: [7],
    object: { x: 1 },
  };
  const flat = members.flatMap((member) =>
    Object.entries(values)
      .filter(([way]) => member !== 'background' || way !== 'true')
      .map(
        ([way, to]): Named => [
          `${name} ${member} ${way}`,
          { path, headers, body: { ...plain, [member]: to } },
        ],
      ),
  );
  return [[`${name} right`, { path, headers, body: plain }], ...deep, ...flat];
}

/** Audio forms: each member wrong in turn, then the form itself. */
function wrongForms(model: string): readonly Named[] {
  const members = [
    'language',
    'prompt',
    'response_format',
    'temperature',
    'stream',
    'timestamp_granularities[]',
    'include[]',
    'chunking_strategy',
    'x',
  ];
  const paths = ['/v1/audio/transcriptions', '/v1/audio/translations'];
  return paths.flatMap((path): Named[] => {
    const { body, headers = {} } = soundForm(model);
    const torn = Buffer.isBuffer(body) ? body.subarray(0, body.length - 20) : Buffer.alloc(0);
    const each = members.flatMap((member) =>
      ['', 'x', '-1', 'true', '{}'].map(
        (value): Named => [
          `form ${path} ${member} ${value}`,
          { path, ...soundForm(model, { [member]: value }) },
        ],
      ),
    );
    return [
      [`form ${path} right`, { path, headers, body }],
      [`form ${path} without a model`, { path, ...soundForm('') }],
      [
        `form ${path} torn`,
        { path, headers: { ...headers, 'content-length': String(torn.length) }, body: torn },
      ],
      [
        `form ${path} without a boundary`,
        { path, headers: { ...headers, 'content-type': 'multipart/form-data' }, body },
      ],
      [`form ${path} as JSON`, { path, body: { model } }],
      ...each,
    ];
  });
}

/** Addresses other than the model endpoints. */
const elsewhere = [
  '/',
  '/v1',
  '/v1/',
  '/v1/nothing',
  '/v2/chat/completions',
  '/v1/chat/completions/',
  '/v1/models',
  '/v1/models/nobody',
  '/v1/files',
  '/v1/responses/resp_1',
  '/v1/responses/resp_1/input_items',
  '/v1/videos',
  '/v1/videos/video_1',
  '/v1/videos/video_1/content',
  '/v1/video/generations/video_1',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/docs',
  '/files/file_1',
  '/console/api/session',
  '/console/api/nothing',
  '/auth/link',
  '/favicon.ico',
  '/%',
  '/v1/models/%zz',
];

/** Errors of a request outside of its members. */
function wrongDoors(
  model: (kind: string) => string,
  [poor = '', disabled = '']: readonly string[],
): readonly Named[] {
  const found = bodies.flatMap(({ name, path, kind, body: [first] }): Named[] => {
    const body = { model: model(kind), ...first };
    const with_ = (headers: Record<string, string>, more: Partial<Asked> = {}): Asked => ({
      path,
      body,
      headers,
      ...more,
    });
    return [
      [`${name} no key`, with_({ authorization: '' })],
      [`${name} no bearer`, with_({ authorization: 'Basic eDp5' })],
      [`${name} another key`, with_({ authorization: 'Bearer sk-wrong' })],
      [`${name} key as x-api-key`, with_({ authorization: '', 'x-api-key': poor })],
      [`${name} disabled key`, with_({ authorization: `Bearer ${disabled}` })],
      [`${name} no money`, with_({ authorization: `Bearer ${poor}` })],
      [`${name} unknown model`, with_({}, { body: { ...body, model: 'nobody' } })],
      [
        `${name} model of another kind`,
        with_({}, { body: { ...body, model: model(kind === 'chat' ? 'embedding' : 'chat') } }),
      ],
      [`${name} no JSON`, with_({}, { body: '{"model":' })],
      [`${name} a list`, with_({}, { body: '[]' })],
      [`${name} nothing`, with_({}, { body: '' })],
      [`${name} as text`, with_({ 'content-type': 'text/plain' })],
      [`${name} packed as nothing known`, with_({ 'content-encoding': 'x' })],
      [`${name} from a page`, with_({ origin: 'https://example.com' })],
      ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'].map(
        (method): Named => [
          `${name} ${method}`,
          { method, path, headers: { origin: 'https://example.com' } },
        ],
      ),
    ];
  });
  const visits = elsewhere.flatMap((path) =>
    ['GET', 'POST', 'DELETE'].map((method): Named => [`at ${method} ${path}`, { method, path }]),
  );
  const strangers = elsewhere.map(
    (path): Named => [
      `stranger at ${path}`,
      { method: 'GET', path, headers: { authorization: '' } },
    ],
  );
  return [...found, ...visits, ...strangers];
}

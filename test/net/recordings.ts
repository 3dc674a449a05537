import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What `JSON.parse` gives: here anything is read that vendors and gateways may write. */
export type Json = ReturnType<typeof JSON.parse>;

/** One recorded exchange with a vendor. */
export interface Recording {
  readonly id: string;
  readonly vendor: string;
  readonly endpoint: string;
  readonly url: string;
  /** The request's body, where it was recorded and is JSON. */
  readonly request: Json;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: Buffer;
  readonly streamed: boolean;
}

const place = fileURLToPath(new URL('../../../shared/recordings', import.meta.url));

/** The folder of recordings beside the project; undefined when it is missing. */
export const recordingsFolder = existsSync(place) ? place : undefined;

/** Endpoints that the gateway offers, or translates. */
const played = new Set(
  'chat messages responses gemini converse nativechat completion embedding moderation rerank image tts audio count_tokens'.split(
    ' ',
  ),
);

export const parsed = (text: string | undefined): Json => {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
};

export const digest = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);

function recordingOf(line: string): Recording | undefined {
  const { id, vendor, endpoint, request = {}, response }: Json = JSON.parse(line);
  if (response === undefined || !played.has(endpoint)) return undefined;
  const answer =
    response.base64 === undefined
      ? Buffer.from(response.text ?? '')
      : Buffer.from(response.base64, 'base64');
  const headers = Object.fromEntries(
    Object.entries<Json>(response.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );
  // Some recordings have lost the type of a stream.
  const events = /^\s*(event|data|:)/.test(answer.toString('utf8', 0, 40));
  if (events && !headers['content-type']?.includes('event'))
    headers['content-type'] = 'text/event-stream';
  const streamed =
    /event-?stream/.test(headers['content-type'] ?? '') ||
    /:streamGenerate/.test(request.url ?? '');
  const rest = { status: response.status ?? 200, headers, answer, streamed };
  return { id, vendor, endpoint, url: request.url ?? '', request: parsed(request.text), ...rest };
}

/** Below these, names are the user's own: one stands for all. */
const named =
  /\.(properties|\$defs|definitions|args|arguments|input|metadata|logit_bias|response|json)$/;

/** Each path in the value with its type; places in lists count as one. */
function pathsOf(value: Json, at: string, found: Set<string>): Set<string> {
  if (Array.isArray(value)) for (const item of value) pathsOf(item, `${at}[]`, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value))
      pathsOf(item, `${at}.${named.test(at) ? '*' : name}`, found);
  else found.add(`${at}:${value === null ? 'null' : typeof value}`);
  return found;
}

function pathsIn({ request, answer, streamed }: Recording): Set<string> {
  const text = answer.toString('utf8');
  const events = streamed
    ? [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => parsed(data))
    : parsed(text);
  return pathsOf(
    events,
    'answer',
    pathsOf(request, 'request', new Set([`model:${request?.model}`])),
  );
}

/**
 * Recordings of every shape. Each brings a path, with its type, that no earlier one of its vendor,
 * endpoint, status and kind of answer (stream or whole) has, in the order of the files.
 */
export function shapes(folder: string): readonly Recording[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  const lines = files
    .sort()
    .flatMap((name) => readFileSync(`${folder}/${name}`, 'utf8').split('\n'));
  const known = new Map<string, Set<string>>();
  return lines.flatMap((line) => {
    const recording = line === '' ? undefined : recordingOf(line);
    if (recording === undefined) return [];
    const { vendor, endpoint, status, streamed } = recording;
    const kind = [vendor, endpoint, status, streamed].join(' ');
    const before = known.get(kind);
    const seen = before ?? new Set();
    known.set(kind, seen);
    const brings = [...pathsIn(recording)].filter((path) => !seen.has(path));
    for (const path of brings) seen.add(path);
    return brings.length > 0 || before === undefined ? [recording] : [];
  });
}

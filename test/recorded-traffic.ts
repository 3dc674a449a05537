import { bufferOf } from '../src/base/json.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { VendorRequest } from '../src/providers/adapter.ts';

/** One exchange of a vendor's recorded traffic. */
export interface Recording {
  /** As the index of all recordings names it. */
  readonly id: string;
  /** The file that it was collected from. */
  readonly source: string;
  readonly vendor: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly reply: Buffer;
  readonly streamed: boolean;
  /** The client's request, where it was recorded. */
  readonly request: Readonly<Record<string, unknown>> | undefined;
  /** The same as it was sent, with its type: forms are no JSON. */
  readonly sent: { readonly type: string; readonly bytes: Buffer };
  /** Where it went: some formats name the model in it. */
  readonly url: string;
}

/** Recordings that no test can judge, and why: by id. */
export const exceptions: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('recordings-exceptions.json', import.meta.url), 'utf8'),
);

interface Row {
  readonly id: string;
  readonly file: string;
  readonly n?: number;
  readonly vendor: string;
  readonly endpoint: string;
  readonly request?: {
    readonly text?: string;
    readonly base64?: string;
    readonly url?: string;
    readonly headers?: Record<string, unknown>;
  };
  readonly response?: {
    readonly status?: number;
    readonly headers?: Record<string, unknown>;
    readonly text?: string;
    readonly base64?: string;
  };
}

/** Where the recordings are, beside the project; undefined when they are not there. */
export const recordingsFolder: string | undefined = [
  fileURLToPath(new URL('../../shared/recordings', import.meta.url)),
].find((folder) => existsSync(folder));

function parsed(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const bytesOf = ({
  text,
  base64,
}: {
  readonly text?: string;
  readonly base64?: string;
} = {}): Buffer => (base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64'));

function recordingOf({ response, ...row }: Row): Recording {
  const reply =
    response?.base64 === undefined
      ? Buffer.from(response?.text ?? '')
      : Buffer.from(response.base64, 'base64');
  const headers = Object.fromEntries(
    Object.entries(response?.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );
  // Some old recordings have lost or mislabelled the type of a stream.
  const streamed =
    /event-?stream/.test(headers['content-type'] ?? '') ||
    /^\s*(event|data|:)/.test(reply.toString('utf8', 0, 40));
  const { id, file, n = 0, vendor, request } = row;
  return {
    id,
    source: `${file}#${n}`,
    vendor,
    status: response?.status ?? 200,
    headers,
    reply,
    streamed,
    request: parsed(request?.text),
    sent: { type: String(request?.headers?.['content-type'] ?? ''), bytes: bytesOf(request) },
    url: request?.url ?? '',
  };
}

/**
 * Every exchange at one kind of endpoint but for the exceptions, cut and empty ones included:
 * `chat` in the chat convention, others in their vendor's own format.
 */
export function recordingsAt(folder: string, endpoint: string): Recording[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  const lines = files.flatMap((name) => readFileSync(`${folder}/${name}`, 'utf8').split('\n'));
  // Only what may be meant is parsed: the rest is tens of megabytes.
  const rows = lines
    .filter((line) => line.includes(`"${endpoint}"`))
    .map((line): Row => JSON.parse(line));
  return rows
    .filter((row) => row.endpoint === endpoint && row.response && exceptions[row.id] === undefined)
    .map(recordingOf);
}

export const chatRecordings = (folder: string): Recording[] => recordingsAt(folder, 'chat');

/** A recorded request as a vendor had it. */
export interface RecordedRequest {
  readonly id: string;
  readonly vendor: string;
  readonly endpoint: string;
  /** Behind the host. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly reply: string;
}

/**
 * Recordings replace some ids. The replacements break vendors’ rules: nine letters for one vendor,
 * no underscore for another.
 */
const unblanked = (text: string): string =>
  text.replaceAll(/call_REDACTED_(\d)/g, 'redacted$1').replaceAll(/-REDACTED_(\d)/g, '-redacted$1');

/** Every recorded request whose body is a JSON object. */
export function recordedRequests(folder: string): RecordedRequest[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  const lines = files
    .flatMap((name) => readFileSync(`${folder}/${name}`, 'utf8').split('\n'))
    .filter((line) => line !== '');
  return lines.flatMap((line) => {
    const { id, vendor, endpoint, request, response }: Row = JSON.parse(line);
    const body = parsed(request?.text === undefined ? undefined : unblanked(request.text));
    if (body === undefined) return [];
    return [
      {
        id,
        vendor,
        endpoint,
        url: (request?.url ?? '').replace(/^https?:\/\/[^/]+/, ''),
        headers: Object.fromEntries(
          Object.entries(request?.headers ?? {}).map(([name, value]) => [
            name.toLowerCase(),
            String(value),
          ]),
        ),
        body,
        status: response?.status ?? 200,
        reply: response?.text ?? '',
      },
    ];
  });
}

/** All of what would be sent: large bodies are asked for in pieces. */
export const sentBy = ({ body, rest = [] }: VendorRequest): string =>
  Buffer.concat([bufferOf(body), ...rest.filter((part) => Buffer.isBuffer(part))]).toString('utf8');

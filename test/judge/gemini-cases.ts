import { parsed } from '../support/loose-json.ts';
import { type Recording, recordingsAt } from '../recorded-traffic.ts';

// The recorded exchanges of Gemini's own format, as a client of that format would repeat them.

const methods = [
  'generateContent',
  'streamGenerateContent',
  'countTokens',
  'embedContent',
  'batchEmbedContents',
] as const;
export type Method = (typeof methods)[number];

/** How a stream is written: as server-sent events, or as one JSON array. */
export type Form = 'events' | 'array';

/** One recorded exchange of the Gemini API or of Vertex. */
export interface GeminiCase {
  readonly id: string;
  readonly vendor: 'gemini' | 'vertex';
  /** The vendor's name of the model. */
  readonly model: string;
  readonly method: Method;
  /** The request's body as it was recorded. */
  readonly body: Buffer;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly reply: Buffer;
}

/** Why a recorded exchange is none of the cases. */
export interface Unjudged {
  readonly id: string;
  readonly why: string;
}

const endpoints = ['gemini', 'count_tokens', 'embedding'];

/** The cases of a folder of recordings, and what is no case. */
export function geminiCases(folder: string): {
  readonly cases: readonly GeminiCase[];
  readonly unjudged: readonly Unjudged[];
} {
  const cases: GeminiCase[] = [];
  const unjudged: Unjudged[] = [];
  for (const recording of endpoints.flatMap((endpoint) => recordingsAt(folder, endpoint))) {
    if (recording.vendor !== 'gemini' && recording.vendor !== 'vertex') continue;
    const one = caseOf(recording, recording.vendor);
    if (typeof one === 'string') unjudged.push({ id: recording.id, why: one });
    else cases.push(one);
  }
  return { cases, unjudged };
}

function caseOf(recording: Recording, vendor: GeminiCase['vendor']): GeminiCase | string {
  const { id, url, sent, status, headers, reply, request } = recording;
  const [, model = '', name] = /\/models\/([^:/?]+):(\w+)/.exec(url) ?? [];
  const method = methods.find((one) => one === name);
  if (name === 'predict') return 'Vertex’s :predict is no method of this door';
  if (method === undefined) return 'neither model nor method was recorded';
  if (request === undefined) return 'no body of the request was recorded';
  const decoded = decodeURIComponent(model);
  return { id, vendor, model: decoded, method, body: sent.bytes, status, headers, reply };
}

export const isStream = ({ method }: Pick<GeminiCase, 'method'>): boolean =>
  method === 'streamGenerateContent';

/** The answers that a stream consists of, each as the text of its JSON, in either form. */
export function piecesOf(reply: string): readonly string[] {
  if (reply.trimStart().startsWith('[')) return elementsOf(reply);
  return reply.split(/\r?\n\r?\n/).flatMap((event) => {
    const text = event.replace(/^\s*data: ?/, '').trim();
    return text === '' ? [] : [text];
  });
}

/** The texts of an array's elements. */
function elementsOf(text: string): readonly string[] {
  const elements: string[] = [];
  let [depth, from, quoted] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted) {
      if (char === '\\') at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') {
      depth += 1;
      if (depth === 2) from = at;
    } else if (char === '}' || char === ']') {
      if (depth === 2) elements.push(text.slice(from, at + 1));
      depth -= 1;
    }
  }
  return elements;
}

/** A stream in one of its forms, as Google writes it: its own bytes where it was recorded in it. */
export function streamIn(form: Form, reply: Buffer): Buffer {
  const text = reply.toString('utf8');
  if (text.trimStart().startsWith('[') === (form === 'array')) return reply;
  const pieces = piecesOf(text);
  return Buffer.from(
    form === 'array'
      ? `[${pieces.join('\n,\r\n')}\n]\n`
      : pieces.map((piece) => `data: ${oneLine(piece)}\r\n\r\n`).join(''),
  );
}

/** An element of an array may have line breaks, an event may not. */
const oneLine = (piece: string): string =>
  /[\r\n]/.test(piece) ? JSON.stringify(parsed(piece)) : piece;

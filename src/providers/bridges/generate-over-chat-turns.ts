import {
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
} from '../../base/json.ts';
import { refuse } from '../../base/refusal.ts';
import type {
  GenerateContentRequest,
  RequestContent,
  RequestPart,
} from '../formats/gemini/request-types.ts';
import { chatToolName } from '../conversation/tool-names.ts';
import { openSignature } from '../formats/gemini/signature.ts';
import { refuseParam } from '../support/rules.ts';

/**
 * `systemInstruction` and `contents` as OpenAI's messages (ai.google.dev/api/caching#Content,
 * 2026-11, in the other direction). Throws the Refusal of content that chat cannot express.
 */
export function turnsAsChat(
  { systemInstruction, contents }: Documented<GenerateContentRequest>,
  model: string,
): JsonObject[] {
  const messages: JsonObject[] = [];
  const system = instructions(objectOf(systemInstruction), model);
  if (system !== '') messages.push({ role: 'system', content: system });
  const turns = new Turns(messages, model);
  let said: SaidPart[] = [];
  contentsOf(contents).forEach((content, i, all) => {
    const param = Array.isArray(contents) ? `contents[${i}].parts` : 'contents.parts';
    if (content.role !== 'model') return turns.user(content, param);
    for (const [j, part] of partsOf(content).entries())
      said.push({ part, param: `${param}[${j}]`, callId: `call_${i}_${j}` });
    if (all[i + 1]?.role === 'model') return;
    turns.model(said);
    said = [];
  });
  return messages;
}

/**
 * A part of a model's turn. A turn may be several contents: Google's SDK keeps each chunk of a
 * stream as one (`processStreamResponse` of @google/genai 2.32.0, 2026-11).
 */
interface SaidPart {
  readonly part: Documented<RequestPart>;
  readonly param: string;
  /** For a call without an id. */
  readonly callId: string;
}

/** The turns of a conversation: one may stand without a list. */
export const contentsOf = (contents: unknown): readonly Documented<RequestContent>[] =>
  (Array.isArray(contents) ? contents : [contents]).filter(isObject);

/** The parts of a turn: one may stand without a list. */
export const partsOf = (content: Documented<RequestContent> | undefined) =>
  (Array.isArray(content?.parts) ? content.parts : [content?.parts]).filter(
    isObject,
  ) as readonly Documented<RequestPart>[];

function instructions(content: Documented<RequestContent> | undefined, model: string): string {
  return partsOf(content)
    .map(
      (part, i) =>
        textOf(part.text) ??
        refuseParam(`systemInstruction.parts[${i}]`, model, 'it takes instructions as text.'),
    )
    .join('\n');
}

/** The calls of a model's turn that have no result yet. */
class OpenCalls {
  readonly #byId = new Map<string, string>();
  /** The ids of each function's calls, and how many of them are known to have a result. */
  readonly #byName = new Map<string, { readonly ids: string[]; next: number }>();

  add(id: string, name: string): void {
    this.#byId.set(id, name);
    const known = this.#byName.get(name);
    if (known === undefined) this.#byName.set(name, { ids: [id], next: 0 });
    else known.ids.push(id);
  }

  /** The id of the call that this result belongs to; without an id, the first by its name. */
  take(id: string | undefined, name: string): string | undefined {
    const found = id || this.#nextOf(name);
    return found !== undefined && this.#byId.delete(found) ? found : undefined;
  }

  #nextOf(name: string): string | undefined {
    const known = this.#byName.get(name);
    if (known === undefined) return undefined;
    while (known.next < known.ids.length && !this.#byId.has(known.ids[known.next] ?? ''))
      known.next += 1;
    return known.ids[known.next];
  }
}

class Turns {
  readonly #messages: JsonObject[];
  readonly #model: string;
  #open = new OpenCalls();

  constructor(messages: JsonObject[], model: string) {
    this.#messages = messages;
    this.#model = model;
  }

  model(said: readonly SaidPart[]): void {
    let text = '';
    let reasoning = '';
    const details: unknown[] = [];
    const calls: JsonObject[] = [];
    const open = new OpenCalls();
    for (const { part, param, callId } of said) {
      details.push(...listOf(openSignature(part.thoughtSignature)));
      const call = objectOf(part.functionCall);
      if (call !== undefined) {
        const id = textOf(call.id) || callId;
        const name = textOf(call.name) ?? '';
        open.add(id, name);
        const args = JSON.stringify(call.args ?? {});
        calls.push({
          id,
          type: 'function',
          function: { name: chatToolName(name), arguments: args },
        });
      } else if (part.thought === true) reasoning += textOf(part.text) ?? '';
      else text += this.#said(part, param);
    }
    if (calls.length > 0) this.#open = open;
    this.#messages.push({
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(details.length > 0 ? { reasoning_details: details } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    });
  }

  /** Text of the model, or code that a vendor ran for an earlier answer, as text. */
  #said(part: Documented<RequestPart>, param: string): string {
    const text = textOf(part.text);
    if (text !== undefined) return text;
    const code = objectOf(part.executableCode);
    if (code !== undefined) return `\n\`\`\`\n${textOf(code['code']) ?? ''}\n\`\`\`\n`;
    const result = objectOf(part.codeExecutionResult);
    if (result !== undefined) return `\n\`\`\`\n${textOf(result['output']) ?? ''}\n\`\`\`\n`;
    const [kind] = contentNames(part);
    if (kind === undefined) return '';
    return refuseParam(`${param}.${kind}`, this.#model, 'it takes text and calls of its own.');
  }

  user(content: Documented<RequestContent>, param: string): void {
    const parts: JsonObject[] = [];
    partsOf(content).forEach((part, i) => {
      const at = `${param}[${i}]`;
      // All results of a step stand together, before what else the user says.
      if (objectOf(part.functionResponse) !== undefined)
        this.#messages.push(this.#result(part, at));
      else parts.push(...this.#part(part, at));
    });
    if (parts.length === 0) return;
    const plain = parts.every(({ type }) => type === 'text');
    this.#messages.push({
      role: 'user',
      content: plain ? parts.map(({ text }) => text).join('\n\n') : parts,
    });
  }

  #result({ functionResponse }: Documented<RequestPart>, param: string): JsonObject {
    const result = objectOf(functionResponse) ?? {};
    const name = textOf(result.name) ?? '';
    const id = textOf(result.id);
    const call = this.#open.take(id, name);
    if (call === undefined)
      refuse('invalid_value', {
        param: `${param}.functionResponse`,
        why: `no function call before it has the ${id ? `id '${id}'` : `name '${name}'`}.`,
      });
    const media = listOf(result.parts).flatMap((one, i) => {
      const part: Documented<RequestPart> | undefined = objectOf(one);
      return part === undefined ? [] : this.#part(part, `${param}.functionResponse.parts[${i}]`);
    });
    const text = JSON.stringify(result.response ?? {});
    const content = media.length === 0 ? text : [{ type: 'text', text }, ...media];
    return { role: 'tool', tool_call_id: call, content };
  }

  #part(part: Documented<RequestPart>, param: string): JsonObject[] {
    const text = textOf(part.text);
    if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }];
    const inline = objectOf(part.inlineData);
    if (inline !== undefined)
      return [
        mediaPart(
          textOf(inline.mimeType) ?? '',
          { base64: standard(textOf(inline.data) ?? '') },
          textOf((inline as JsonObject)['displayName']),
          `${param}.inlineData`,
          this.#model,
        ),
      ];
    const file = objectOf(part.fileData);
    if (file !== undefined) {
      const at = `${param}.fileData`;
      const url = textOf(file.fileUri) ?? '';
      if (!isFetched(url))
        refuseParam(
          `${at}.fileUri`,
          this.#model,
          "it reads 'https://…' addresses alone. Send the content as inlineData.",
        );
      return [mediaPart(textOf(file.mimeType) ?? '', { url }, undefined, at, this.#model)];
    }
    const [kind] = contentNames(part);
    if (kind === undefined) return [];
    return refuseParam(`${param}.${kind}`, this.#model, 'it takes text, media and results.');
  }
}

/** Google's Python package writes base64 with the letters for URLs. */
const standard = (base64: string): string =>
  /[-_]/.test(base64) ? base64.replaceAll('-', '+').replaceAll('_', '/') : base64;

/** Addresses that only Google's own models read: its file store, and videos by their page. */
const googlesOwn =
  /^https:\/\/(?:generativelanguage\.googleapis\.com\/|(?:(?:www|m)\.)?youtube\.com\/|youtu\.be\/)/i;

const isFetched = (url: string): boolean => /^https?:\/\//i.test(url) && !googlesOwn.test(url);

/** Members that stand beside the content of a part. */
const beside: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
]);

const contentNames = (part: JsonObject): string[] =>
  Object.keys(part).filter((name) => !beside.has(name) && part[name] != null);

function mediaPart(
  type: string,
  source: { readonly base64: string } | { readonly url: string },
  name: string | undefined,
  param: string,
  model: string,
): JsonObject {
  const [kind = '', format = ''] = type.toLowerCase().split(/[/;]/, 2);
  const url = 'url' in source ? source.url : `data:${type};base64,${source.base64}`;
  if (kind === 'image') return { type: 'image_url', image_url: { url } };
  if (kind === 'video') return { type: 'video_url', video_url: { url } };
  if (kind === 'audio' && 'base64' in source)
    return {
      type: 'input_audio',
      input_audio: { data: source.base64, format: audioFormat(format) },
    };
  if (kind === 'text' && 'base64' in source)
    return { type: 'text', text: Buffer.from(source.base64, 'base64').toString('utf8') };
  if (format === 'pdf')
    return { type: 'file', file: { filename: name ?? 'document.pdf', file_data: url } };
  return refuseParam(
    `${param}.mimeType`,
    model,
    `it takes no content of the type '${type}'${kind === 'audio' ? ' by its address' : ''}.`,
  );
}

const audioFormat = (format: string): string =>
  ({ mpeg: 'mp3', 'x-wav': 'wav', wave: 'wav', 'vnd.wave': 'wav' })[format] ?? format;

import { editJsonBytes, isObject, jsonText, type JsonChange, type JsonPath } from '../base/json.ts';
import { refuse } from '../base/refusal.ts';
import { BodyBudget } from '../http/request-body.ts';
import { serverLimits } from '../http/server.ts';
import type { Upload } from '../media/upload-table.ts';
import type { Uploads } from '../media/uploads.ts';
import type { RequestContext } from './endpoint.ts';
import { refuseElsewhere } from './generate-files.ts';
import { parseJson, type ParsedJson } from './request-body.ts';

/** A part of a request that names a file by its name or its address here. */
interface FilePart {
  /** Of the member `fileData`. */
  readonly path: JsonPath;
  readonly id: string;
  /** The type that the client gives; undefined: none. */
  readonly type: string | undefined;
}

/** `files/…` of any length: no vendor keeps files for clients. An address, if it is one of ours. */
const ourName = /^(?:files\/|https?:\/\/[^/?#]+\/v1(?:beta)?\/files\/(?=[a-z0-9]{32}$))([^/?#]+)$/;

/** Puts the bytes of uploaded files in the place of their names. */
export class InlinedFiles {
  readonly #uploads: Uploads;
  readonly #held: BodyBudget;

  constructor(uploads: Uploads, bodyBytesInFlightMax: number) {
    this.#uploads = uploads;
    this.#held = new BodyBudget(bodyBytesInFlightMax);
  }

  /** Handles a request with the bytes of the files that it names. */
  handle(
    context: RequestContext,
    sent: ParsedJson,
    handle: (sent: ParsedJson) => Promise<void>,
  ): Promise<void> {
    const parts = filePartsIn(sent.body);
    return parts.length === 0 ? handle(sent) : this.#handle(context, parts, sent, handle);
  }

  async #handle(
    context: RequestContext,
    parts: readonly FilePart[],
    sent: ParsedJson,
    handle: (sent: ParsedJson) => Promise<void>,
  ): Promise<void> {
    const { userId: account } = context.principal;
    const files = new Map<string, Upload>();
    let bytes = sent.bytes.length;
    let pieces = 0;
    for (const { id } of parts) {
      const known = files.get(id);
      const file = known ?? (await this.#uploads.find(account, id));
      if (file?.sha256 === undefined) refuse('uploaded_file_not_found', { id });
      files.set(id, file);
      if (known === undefined) pieces += file.pieces.length;
      if (pieces > this.#uploads.limits.piecesOfRequestMax) refusePieces(this.#uploads.limits);
      bytes += Math.ceil(file.bytes / 3) * 4;
    }
    const limit = serverLimits.jsonBodyBytesMax;
    if (bytes > limit) refuse('request_too_large', { limit });
    const why = this.#held.enter(account, bytes);
    if (why !== undefined) throw why;
    try {
      const whole = await this.#withBytes(context, parts, files, sent);
      await handle(parseJson(whole, context.request.headers['content-type']));
    } finally {
      this.#held.leave(account, bytes);
    }
  }

  async #withBytes(
    context: RequestContext,
    parts: readonly FilePart[],
    files: ReadonlyMap<string, Upload>,
    { bytes, skeleton }: ParsedJson,
  ): Promise<Buffer> {
    const contents = new Map<string, string>();
    for (const [id, file] of files) {
      const read = await this.#uploads.read(file);
      if (read === 'gone') refuse('uploaded_file_not_found', { id });
      if (read === 'not here') refuseElsewhere(context);
      contents.set(id, read.toString('base64'));
    }
    const changes = parts.map(({ path, id, type }): JsonChange => {
      const mimeType = type ?? files.get(id)?.type;
      return {
        path,
        name: 'inlineData',
        json: `{"mimeType":${jsonText(mimeType)},"data":"${contents.get(id)}"}`,
      };
    });
    return editJsonBytes(bytes, changes, skeleton);
  }
}

function refusePieces({ piecesOfRequestMax: limit }: Uploads['limits']): never {
  const why = `the files of a request have at most ${limit} pieces together, as they were uploaded. Name fewer files, or upload them in larger pieces.`;
  refuse('invalid_value', { param: 'contents', why });
}

/** The parts of a request, or of the request within a count, that name files of ours. */
function filePartsIn(body: ParsedJson['body']): readonly FilePart[] {
  const found: FilePart[] = [];
  for (const name of ['generateContentRequest', 'generate_content_request']) {
    const inner = body[name];
    if (isObject(inner)) collectTurns(inner, [name], found);
  }
  collectTurns(body, [], found);
  return found;
}

function collectTurns(body: ParsedJson['body'], at: JsonPath, found: FilePart[]): void {
  for (const name of ['contents', 'systemInstruction', 'system_instruction'])
    eachOf(body[name], [...at, name], (turn, path) => {
      if (isObject(turn)) collectParts(turn['parts'], [...path, 'parts'], found);
    });
}

function collectParts(parts: unknown, at: JsonPath, found: FilePart[]): void {
  eachOf(parts, at, (part, path) => {
    if (!isObject(part)) return;
    for (const name of ['fileData', 'file_data']) {
      const file = part[name];
      if (!isObject(file)) continue;
      const uri = file['fileUri'] ?? file['file_uri'];
      const id = typeof uri === 'string' ? ourName.exec(uri)?.[1] : undefined;
      const type = file['mimeType'] ?? file['mime_type'];
      if (id !== undefined)
        found.push({
          path: [...path, name],
          id,
          type: typeof type === 'string' && type !== '' ? type : undefined,
        });
    }
    for (const name of ['functionResponse', 'function_response']) {
      const result = part[name];
      if (isObject(result)) collectParts(result['parts'], [...path, name, 'parts'], found);
    }
  });
}

/** Visits the items of a list, or the one value that stands without a list. */
function eachOf(
  value: unknown,
  at: JsonPath,
  visit: (item: unknown, path: JsonPath) => void,
): void {
  if (Array.isArray(value)) value.forEach((item, i) => visit(item, [...at, i]));
  else visit(value, at);
}

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { type Refusal, refusal, refuse } from '../base/refusal.ts';
import { messageOf } from '../base/thrown.ts';
import type { Spool, SpoolPool } from './spool.ts';

/** Limits of one form. A form that exceeds one is refused as soon as this is seen. */
export interface FormLimits {
  readonly fields: number;
  readonly fieldBytes: number;
  readonly files: number;
  readonly fileBytes: number;
  readonly bodyBytes: number;
}

export interface FormFile {
  /** The name of its field. */
  readonly field: string;
  /** The client's name for the file, without folders. */
  readonly filename: string;
  /** The type that the client declares; the content is not checked. */
  readonly type: string;
  readonly content: Spool;
}

/** A form that has arrived as a whole, in the order in which it was sent. */
export interface Form {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly files: readonly FormFile[];
  /** Has to be called when the files are no longer needed. */
  discard(): void;
}

/** The digest of a form's fields and files, whatever its boundary. */
export async function digestOfForm({ fields, files }: Form): Promise<string> {
  const hash = createHash('sha256');
  for (const [name, value] of fields) hash.update(`${JSON.stringify([name, value])}\n`);
  for (const { field, content } of files) {
    hash.update(`${JSON.stringify([field, content.size])}\n`);
    for await (const piece of content.read()) hash.update(piece);
  }
  return hash.digest('hex');
}

type Parser = InstanceType<typeof Busboy>;

/**
 * A part without a reader (one without a name, say) blocks the parser for ever when it ends in the
 * piece in which it grew beyond this (@fastify/busboy 3.2.6): more than a piece has.
 */
const partBytesWaiting = 128 * 1024;
const pieceBytes = 64 * 1024;

/** The head of one part: a name, a file's name and a type. */
const headBytesMax = 4_096;
const headLinesMax = 16;

export const isForm = (headers: IncomingHttpHeaders): boolean =>
  /^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '');

/**
 * Reads a `multipart/form-data` body, which may still be arriving; its files go into spools,
 * whatever their names. `left`: the client went away. Throws the Refusal that says what is wrong,
 * and then nothing is kept.
 */
export async function readForm(
  body: unknown,
  headers: IncomingHttpHeaders,
  limits: FormLimits,
  spools: SpoolPool,
): Promise<Form | 'left'> {
  const length = Number(headers['content-length'] ?? 0);
  if (length > limits.bodyBytes) refuse('request_too_large', { limit: limits.bodyBytes });
  return new FormReading(asStream(body), parserOf(headers, limits), limits, spools).result;
}

const asStream = (body: unknown): Readable =>
  body instanceof Readable ? body : Readable.from(Buffer.isBuffer(body) ? inPieces(body) : []);

function* inPieces(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

function parserOf(headers: IncomingHttpHeaders, limits: FormLimits): Parser {
  const contentType = headers['content-type'] ?? '';
  if (!isForm(headers))
    refuse('wrong_content_type', {
      got: contentType.split(';', 1)[0] || 'none',
      expected: 'multipart/form-data with a boundary',
    });
  const { fields, fieldBytes, files, fileBytes } = limits;
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      fileHwm: partBytesWaiting,
      limits: {
        fields,
        fieldSize: fieldBytes,
        files,
        fileSize: fileBytes,
        parts: fields + files,
        headerPairs: headLinesMax,
        headerSize: headBytesMax,
      },
    });
  } catch (error) {
    refuse('malformed_form', { why: messageOf(error).slice(0, 200) });
  }
}

class FormReading {
  readonly result: Promise<Form | 'left'>;
  readonly #body: Readable;
  readonly #parser: Parser;
  readonly #limits: FormLimits;
  readonly #spools: SpoolPool;
  readonly #fields: [string, string][] = [];
  readonly #files: FormFile[] = [];
  readonly #spooling: Promise<void>[] = [];
  #bytes = 0;
  #over = false;
  #resolve: (form: Form | 'left') => void = () => {};
  #reject: (why: unknown) => void = () => {};

  constructor(body: Readable, parser: Parser, limits: FormLimits, spools: SpoolPool) {
    this.#body = body;
    this.#parser = parser;
    this.#limits = limits;
    this.#spools = spools;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const tooMany = (what: string, most: number) => () =>
      this.#refuse(refusal('malformed_form', { why: `it has more than ${most} ${what}.` }));
    parser
      .on('field', (name, value, nameCut, valueCut) =>
        this.#field(name, value, nameCut || valueCut),
      )
      .on('file', (field, stream, filename, _encoding, type) =>
        this.#file(field, stream, filename ?? '', type),
      )
      .on('fieldsLimit', tooMany('fields', limits.fields))
      .on('filesLimit', tooMany('files', limits.files))
      .on('partsLimit', tooMany('parts', limits.fields + limits.files))
      .on('error', (error) => this.#refuse(malformed(error)))
      .on('finish', () => void this.#finish());
    body.on('data', this.#count).on('error', this.#left).on('close', this.#left).pipe(parser);
    // No event follows when the client left before.
    if (body.destroyed) this.#left();
  }

  readonly #count = (piece: Buffer): void => {
    this.#bytes += piece.length;
    if (this.#bytes > this.#limits.bodyBytes)
      this.#refuse(refusal('request_too_large', { limit: this.#limits.bodyBytes }));
  };

  readonly #left = (): void => {
    if (!this.#body.readableEnded) this.#stop(() => this.#resolve('left'));
  };

  #field(name: string | undefined, value: string, cut: boolean): void {
    if (name === undefined) return;
    if (cut) return this.#refuse(tooLarge(name, this.#limits.fieldBytes));
    this.#fields.push([name, value]);
  }

  #file(field: string | undefined, stream: BusboyFileStream, filename: string, type: string): void {
    const content = this.#spools.open();
    this.#files.push({ field: field ?? '', filename, type, content });
    stream.on('limit', () => this.#refuse(tooLarge(field ?? '', this.#limits.fileBytes)));
    this.#spooling.push(spool(stream, content).catch((error: unknown) => this.#refuse(error)));
  }

  #refuse(why: unknown): void {
    this.#stop(() => this.#reject(why));
  }

  /** The rest of the body is read and dropped, so that the client receives the response. */
  #stop(say: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#body.unpipe(this.#parser);
    this.#body.off('data', this.#count).resume();
    this.#discard();
    say();
  }

  async #finish(): Promise<void> {
    await Promise.all(this.#spooling);
    if (this.#over) return;
    this.#over = true;
    this.#resolve({ fields: this.#fields, files: this.#files, discard: () => this.#discard() });
  }

  #discard(): void {
    for (const { content } of this.#files) content.remove();
  }
}

/** An error of the disk is not the client's. */
async function spool(stream: BusboyFileStream, content: Spool): Promise<void> {
  for await (const piece of piecesOf(stream)) await content.write(piece);
}

async function* piecesOf(stream: BusboyFileStream): AsyncGenerator<Buffer, void, void> {
  try {
    yield* stream;
  } catch (error) {
    throw malformed(error);
  }
}

const malformed = (error: unknown): Refusal =>
  refusal('malformed_form', { why: `${messageOf(error).slice(0, 200)}.` });

const tooLarge = (param: string, bytes: number): Refusal =>
  refusal('invalid_value', { param, why: `it is larger than ${bytes} bytes.` });

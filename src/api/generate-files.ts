import { objectOf } from '../base/json.ts';
import { refuse } from '../base/refusal.ts';
import { enterFree } from '../gateway/count-tokens.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { readBody } from '../http/request-body.ts';
import type { NotStored } from '../media/files.ts';
import type { Upload } from '../media/upload-table.ts';
import type { NewUpload, Uploads } from '../media/uploads.ts';
import { inCamelCase } from '../providers/conversation/spelling.ts';
import {
  type ClientConvention,
  type Endpoint,
  type RequestContext,
  idIn,
  queryOf,
  sendJson,
} from './endpoint.ts';
import { chatConvention, generateConvention, sharedConvention, speaksGenerate } from './entry.ts';
import { numberIn } from './generate-models.ts';
import { checkLength, parseJson, refuseType } from './request-body.ts';
import { pathOfUrl } from './routes.ts';

const uploadPath = '/upload/v1beta/files';
const filesPath = '/v1beta/files';
/** Clients of the API's version v1 ask here (google-genai 3, 2026-11). */
const stableUploadPath = '/upload/v1/files';
const stableFilesPath = '/v1/files';
/** ai.google.dev/api/files, 2026-11. */
const pageDefault = 10;
const pageMax = 100;
const displayNameCharsMax = 512;
const typeCharsMax = 255;
/** The JSON body that begins an upload. */
const startBytesMax = 65_536;
const retryMs = 1_000;

const uploadHeader = 'x-goog-upload-';
/** What a page reads of an answer, beside `corsExposedHeaders`. */
const uploadHeaders = 'x-goog-upload-url, x-goog-upload-status, x-goog-upload-size-received';
const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;.*)?$/;
const commands = new Set(['upload', 'finalize', 'query', 'cancel']);

type FreeParts = Pick<GatewayParts, 'catalog' | 'limiter' | 'limits'>;

/** Files in Google's format (ai.google.dev/api/files, 2026-11): uploads, and what is kept of them. */
export function generateFileEndpoints(parts: FreeParts, uploads: Uploads): readonly Endpoint[] {
  const endpoint = (
    method: Endpoint['method'],
    path: string,
    answer: (context: RequestContext, uploads: Uploads) => Promise<void>,
  ): Endpoint => {
    const convention = conventionOf(path, uploads);
    return {
      method,
      path,
      aliases:
        path === uploadPath
          ? [stableUploadPath, stableFilesPath]
          : [path.replace(filesPath, stableFilesPath)],
      convention,
      onlyFor: generateConvention,
      // The entry does not read a file, so that no part of it gets into a record.
      ...(path === uploadPath ? { body: 'stream' } : {}),
      handle: async (context) => {
        const { method: asked, url } = context.request;
        if (context.convention !== convention)
          refuse('unknown_url', { method: asked, path: pathOfUrl(url), instead: '' });
        if (path === uploadPath)
          context.response.header('access-control-expose-headers', uploadHeaders);
        const entered = await enterFree(parts, context.principal);
        try {
          await answer(context, uploads);
        } finally {
          entered.finish(0);
        }
      },
    };
  };
  return [
    endpoint('POST', uploadPath, (context) =>
      queryOf(context.request.url).has('upload_id')
        ? proceed(context, uploads)
        : begin(context, uploads),
    ),
    endpoint('GET', filesPath, list),
    endpoint('GET', `${filesPath}/:id`, async (context) =>
      sendJson(context, render(await foundFile(context, uploads), context, uploads)),
    ),
    endpoint('DELETE', `${filesPath}/:id`, async (context) => {
      await uploads.remove(await foundFile(context, uploads));
      sendJson(context, {});
    }),
  ];
}

/**
 * `/v1/files` is a path of OpenAI's format too, which has no files here. The address of an upload
 * holds the key for clients that send none to it.
 */
function conventionOf(path: string, uploads: Uploads): ClientConvention {
  const convention: ClientConvention = {
    ...generateConvention,
    credential(headers, url) {
      const given = generateConvention.credential(headers, url);
      if (given !== undefined || path !== uploadPath) return given;
      const query = queryOf(url);
      return uploads.keyIn(query.get('upload_id') ?? '', query.get('upload_pass') ?? '');
    },
    spokenBy: (headers, url) =>
      url.startsWith(stableFilesPath) && !speaksGenerate(headers, url)
        ? (sharedConvention.spokenBy?.(headers, url) ?? chatConvention)
        : convention,
  };
  return convention;
}

/** A header of the protocol; undefined: absent or empty. */
function headerOf({ request: { headers } }: RequestContext, name: string): string | undefined {
  const value = headers[uploadHeader + name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

async function begin(context: RequestContext, uploads: Uploads): Promise<void> {
  const { request, response } = context;
  const protocol = headerOf(context, 'protocol') ?? '';
  // No client that the guide names has another one (google-genai, AI SDK; 2026-11).
  if (protocol.toLowerCase() !== 'resumable')
    refuse('invalid_value', {
      param: 'X-Goog-Upload-Protocol',
      why: `expected 'resumable', the one protocol of uploads here, but got '${protocol.slice(0, 20)}'.`,
    });
  if (headerOf(context, 'command')?.toLowerCase() !== 'start')
    refuse('invalid_value', {
      param: 'X-Goog-Upload-Command',
      why: "a new upload begins with 'start'. To go on with one, use the address in the x-goog-upload-url of that answer.",
    });
  const bytes = await readBody(request.body, request.headers, startBytesMax, context.held);
  if (bytes === 'left') return;
  const upload = await uploads.begin(newUpload(context, bytes, uploads.limits.fileBytesMax));
  if (upload === undefined) refuse('too_many_uploads', { limit: uploads.limits.underWayMax });
  const secret = context.convention.credential(request.headers, request.url) ?? '';
  const pass = uploads.passFor(upload, secret);
  const query = `?upload_id=${upload.id}&upload_protocol=resumable&upload_pass=${pass}`;
  response.header('x-goog-upload-url', uploads.addressOf(uploadPath + query, request.headers.host));
  answerStatus(context, 'active');
}

/** What the headers and the body say of the file. */
function newUpload(context: RequestContext, bytes: Buffer, bytesMax: number): NewUpload {
  const { request, principal } = context;
  const body =
    bytes.length === 0 ? {} : inCamelCase(parseJson(bytes, request.headers['content-type']).body);
  const file = body['file'] === undefined ? {} : objectOf(body['file']);
  if (file === undefined) refuseType('file', 'an object', body['file']);
  const { displayName = '', name, sizeBytes, mimeType } = file;
  if (name !== undefined && name !== '')
    refuse('invalid_value', { param: 'file.name', why: 'the gateway names files. Leave it out.' });
  if (typeof displayName !== 'string') refuseType('file.displayName', 'a string', displayName);
  checkLength(displayName, 'file.displayName', displayNameCharsMax, 'characters');
  const type = mimeType ?? headerOf(context, 'header-content-type');
  if (type !== undefined && typeof type !== 'string') refuseType('file.mimeType', 'a string', type);
  if (type !== undefined && (type.length > typeCharsMax || !mediaType.test(type)))
    refuse('invalid_value', {
      param: 'file.mimeType',
      why: `expected a type such as image/png, but got '${type.slice(0, typeCharsMax)}'.`,
    });
  const size = headerOf(context, 'header-content-length') ?? sizeBytes;
  const declared = size === undefined ? undefined : sizeOf(size, bytesMax);
  return { account: principal.userId, displayName, type, declared };
}

function sizeOf(value: unknown, bytesMax: number): number {
  const text = String(value);
  const size = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(size >= 1 && size <= bytesMax))
    refuse('out_of_range', {
      param: 'X-Goog-Upload-Header-Content-Length',
      expected: `of 1 to ${bytesMax} bytes`,
      got: text.slice(0, 20),
    });
  return size;
}

/** A request to the address of an upload. */
async function proceed(context: RequestContext, uploads: Uploads): Promise<void> {
  const asked = commandsOf(context);
  const id = queryOf(context.request.url).get('upload_id') ?? '';
  const found = await uploads.find(context.principal.userId, id);
  if (asked.has('query') && found?.sha256 !== undefined) return answerFile(context, uploads, found);
  if (found === undefined || found.sha256 !== undefined) refuse('upload_not_found', { id });
  if (asked.has('cancel')) {
    await uploads.remove(found);
    return answerStatus(context, 'cancelled');
  }
  const grown = asked.has('upload') ? await append(context, uploads, found, asked) : found;
  if (grown === 'left') return;
  if (!asked.has('finalize')) {
    context.response.header('x-goog-upload-size-received', String(grown.bytes));
    return answerStatus(context, 'active');
  }
  requireWhole(grown, grown.bytes);
  const ended = await uploads.finish(grown);
  if (ended === 'overtaken') refuse('upload_not_found', { id });
  if (ended === 'not here') refuseElsewhere(context);
  if (ended === 'no type')
    refuse('invalid_value', {
      param: 'file.mimeType',
      why: 'the upload names no type, and the bytes do not show it. Begin again with a type.',
    });
  answerFile(context, uploads, ended);
}

function commandsOf(context: RequestContext): ReadonlySet<string> {
  const given = (headerOf(context, 'command') ?? '').toLowerCase().split(',');
  const asked = new Set(given.map((command) => command.trim()));
  for (const command of asked)
    if (!commands.has(command) || (asked.size > 1 && !/^(?:upload|finalize)$/.test(command)))
      refuse('invalid_value', {
        param: 'X-Goog-Upload-Command',
        why: `expected 'upload', 'upload, finalize', 'finalize', 'query' or 'cancel', but got '${[...asked].join(', ').slice(0, 100)}'.`,
      });
  return asked;
}

async function append(
  context: RequestContext,
  uploads: Uploads,
  upload: Upload,
  asked: ReadonlySet<string>,
): Promise<Upload | 'left'> {
  const { request } = context;
  const offset = headerOf(context, 'offset') ?? '';
  if (!/^\d{1,15}$/.test(offset) || Number(offset) !== upload.bytes)
    refuseOffset(upload.bytes, offset);
  const room = (upload.declared ?? uploads.limits.fileBytesMax) - upload.bytes;
  const bytes = await readBody(request.body, request.headers, room, context.held);
  if (bytes === 'left') return bytes;
  if (asked.has('finalize')) requireWhole(upload, upload.bytes + bytes.length);
  if (bytes.length === 0) return upload;
  const { piecesMax } = uploads.limits;
  if (upload.pieces.length >= piecesMax)
    refuse('invalid_value', {
      param: 'X-Goog-Upload-Command',
      why: `an upload has at most ${piecesMax} pieces, and this one has them. Begin again with larger pieces.`,
    });
  const grown = await uploads.append(upload, bytes);
  if (grown === 'overtaken') {
    const { account, id } = upload;
    const now = await uploads.find(account, id);
    if (now === undefined || now.sha256 !== undefined) refuse('upload_not_found', { id });
    return refuseOffset(now.bytes, offset);
  }
  return 'why' in grown ? refuseUnstored(context, grown) : grown;
}

function refuseOffset(received: number, offset: string): never {
  refuse('invalid_value', {
    param: 'X-Goog-Upload-Offset',
    why: `expected ${received}, the bytes received so far, but got '${offset.slice(0, 20)}'.`,
  });
}

/** Refuses to end an upload that lacks bytes. `received`: with those of this request. */
function requireWhole({ declared = 1 }: Upload, received: number): void {
  if (received < declared)
    refuse('invalid_value', {
      param: 'X-Goog-Upload-Command',
      why: `'finalize' came after ${received} bytes, and the file has at least ${declared}.`,
    });
}

function refuseUnstored({ id }: RequestContext, { why }: NotStored): never {
  if (why === 'full') refuse('file_storage_full');
  return refuse('unavailable', { why: 'the file cannot be stored', id }, retryMs);
}

/** Refuses a file whose bytes this gateway cannot read. */
export function refuseElsewhere({ id }: Pick<RequestContext, 'id'>): never {
  const why = 'the bytes of this file are not in the storage of this gateway';
  refuse('unavailable', { why, id }, retryMs);
}

function answerStatus(context: RequestContext, status: 'active' | 'final' | 'cancelled'): void {
  context.response.header('x-goog-upload-status', status);
  sendJson(context, {});
}

function answerFile(context: RequestContext, uploads: Uploads, file: Upload): void {
  context.response.header('x-goog-upload-status', 'final');
  sendJson(context, { file: render(file, context, uploads) });
}

/** The file of the path, which is the client's own and whole. */
async function foundFile(context: RequestContext, uploads: Uploads): Promise<Upload> {
  const [id = '', method] = idIn(context).split(':', 2);
  if (method === 'download')
    refuse('invalid_value', {
      param: 'name',
      why: 'uploaded files cannot be downloaded. Keep your own copy.',
    });
  const file = await uploads.find(context.principal.userId, id);
  if (file?.sha256 === undefined) refuse('uploaded_file_not_found', { id });
  return file;
}

function render(file: Upload, { request }: RequestContext, uploads: Uploads): object {
  const { id, displayName, type, bytes, sha256, createdAt, updatedAt, expiresAt } = file;
  return {
    name: `files/${id}`,
    ...(displayName === '' ? {} : { displayName }),
    mimeType: type,
    sizeBytes: String(bytes),
    createTime: new Date(createdAt).toISOString(),
    updateTime: new Date(updatedAt).toISOString(),
    expirationTime: new Date(expiresAt).toISOString(),
    sha256Hash: sha256,
    uri: uploads.addressOf(`${filesPath}/${id}`, request.headers.host),
    state: 'ACTIVE',
    source: 'UPLOADED',
  };
}

/** GET /v1beta/files: a page, the newest first. A token is the time and id of a page's last file. */
async function list(context: RequestContext, uploads: Uploads): Promise<void> {
  const query = queryOf(context.request.url);
  const size = Math.min(numberIn(query, 'pageSize', 1) ?? pageDefault, pageMax);
  const token = query.get('pageToken') ?? query.get('page_token') ?? '';
  const [, createdAt, id = ''] = /^(\d{1,15})-([a-z0-9]{32})$/.exec(token) ?? [];
  if (token !== '' && createdAt === undefined)
    refuse('invalid_value', { param: 'pageToken', why: 'it is no nextPageToken of this list.' });
  const after = createdAt === undefined ? undefined : { createdAt: Number(createdAt), id };
  const found = await uploads.list(context.principal.userId, size + 1, after);
  const files = found.slice(0, size);
  const last = files.at(-1);
  sendJson(context, {
    files: files.map((file) => render(file, context, uploads)),
    ...(found.length > size && last ? { nextPageToken: `${last.createdAt}-${last.id}` } : {}),
  });
}

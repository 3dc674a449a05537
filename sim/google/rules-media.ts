import { decodeImage } from '../image.ts';
import { type Json, list, object, text } from '../json.ts';
import { status } from './refusal.ts';
import { standardBase64 } from './request.ts';
import type { Checked, Complaints } from './checked.ts';

/**
 * ai.google.dev/gemini-api/docs/image-understanding, /audio, /video-understanding,
 * /document-processing, 2026-08.
 */
const mimeTypes =
  /^(?:image\/(?:png|jpeg|jpg|webp|heic|heif|gif)|audio\/(?:wav|x-wav|mp3|mpeg|mpga|aiff|aac|ogg|flac|m4a|mp4|pcm|l16|webm|opus)|video\/(?:mp4|mpeg|mov|quicktime|avi|x-flv|mpg|webm|wmv|3gpp)|application\/(?:pdf|json|x-javascript|x-python|rtf)|text\/[\w.+-]+)$/i;

const megabyte = 1024 * 1024;
/**
 * The largest file inside a request. Vertex: cloud.google.com/vertex-ai/generative-ai/docs/models,
 * "7 MB" an image; the Gemini API: 50 MB a PDF.
 */
const largest: Readonly<Record<Checked['surface']['api'], (mime: string) => number>> = {
  gemini: (mime) => (mime === 'application/pdf' ? 50 : 100) * megabyte,
  vertex: (mime) =>
    (mime.startsWith('image/') ? 7 : mime === 'application/pdf' ? 50 : 20) * megabyte,
};

export function* mediaComplaints(part: Json, at: string, checked: Checked): Complaints {
  if (part['inlineData'] !== undefined)
    yield* blobComplaints(object(part['inlineData']), `${at}.inline_data`, checked);
  for (const [i, inside] of list(object(part['functionResponse'])['parts']).map(object).entries())
    if (inside['inlineData'] !== undefined)
      yield* blobComplaints(
        object(inside['inlineData']),
        `${at}.function_response.parts[${i}].inline_data`,
        checked,
      );
  if (list(object(part['functionResponse'])['parts']).length > 0 && checked.model.generation < 3)
    yield 'Function response parts are not supported for this model.';
  if (part['fileData'] !== undefined) yield* fileComplaints(object(part['fileData']), at, checked);
}

function* blobComplaints(blob: Json, at: string, { surface, model }: Checked): Complaints {
  const mime = text(blob['mimeType']) ?? '';
  const base64 = text(blob['data']) ?? '';
  if (mime === '') yield `* ${at}.mime_type: mime_type must be specified.\n`;
  if (base64 === '') yield `* ${at}.data: data must be specified.\n`;
  if (!mimeTypes.test(mime.split(';')[0] ?? '')) yield `Unsupported MIME type: ${mime}`;
  if (model.gemma && !mime.startsWith('image/')) yield `Unsupported MIME type: ${mime}`;
  const bytes = Math.floor((base64.length * 3) / 4);
  if (bytes > largest[surface.api](mime))
    yield `Unable to process input: the file of ${bytes} bytes exceeds the limit of ${largest[surface.api](mime)} bytes for ${mime}.`;
  if (
    /^image\/(?:png|jpe?g|gif|webp)$/.test(mime) &&
    decodeImage(`data:${mime};base64,${standardBase64(base64)}`) === undefined
  )
    yield 'Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting';
}

/**
 * Google's own files, YouTube videos and, from 2.5 on, public addresses; on Vertex also buckets.
 */
function* fileComplaints(file: Json, at: string, { surface, model }: Checked): Complaints {
  const uri = text(file['fileUri']) ?? '';
  if (uri === '') yield `* ${at}.file_data.file_uri: file_uri must be specified.\n`;
  const own =
    /generativelanguage\.googleapis\.com\/v1(?:beta)?\/files\/([\w-]+)/.exec(uri)?.[1] ??
    /^files\/([\w-]+)$/.exec(uri)?.[1];
  if (own !== undefined) {
    if (/missing|gone/.test(own))
      yield status(
        403,
        `You do not have permission to access the File ${own} or it may not exist.`,
      );
    return;
  }
  const tube = /^https:\/\/(?:www\.)?(?:youtube\.com|youtu\.be)\//.test(uri);
  const bucket = uri.startsWith('gs://') && surface.api === 'vertex';
  const fetched =
    uri.startsWith('https://') && (surface.api === 'vertex' || model.generation >= 2.5);
  if (!tube && !bucket && !fetched) yield `Invalid or unsupported file uri: ${uri}`;
  const mime = text(file['mimeType']) ?? '';
  if (mime === '' && !tube)
    yield surface.api === 'vertex' ? vertexMime : `Unsupported MIME type: ${mime}`;
  if (mime !== '' && !mimeTypes.test(mime)) yield `Unsupported MIME type: ${mime}`;
}

const vertexMime =
  'Unable to submit request because it must have a mimeType parameter with a value. Add the parameter and a value, and try again.';

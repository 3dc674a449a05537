import { uploadLimits } from '../../media/limits.ts';
import * as schema from '../schema.ts';

const tag = 'Google’s format';
const key = 'The key may come in `x-goog-api-key`, or in the query as `key`.';
const path = { file_id: 'The name of the file without `files/`.' };

const fileAnswer = schema.answer(
  {
    name: schema.string('`files/` and the id of the file.'),
    mimeType: schema.string('The type that the client gave, otherwise the type of the bytes.'),
    sizeBytes: schema.string('The number of bytes.'),
    createTime: schema.string('When the file was created; RFC 3339.'),
    updateTime: schema.string('When the file was changed; RFC 3339.'),
    expirationTime: schema.string('When the file expires; RFC 3339.'),
    sha256Hash: schema.string('SHA-256 of the bytes, in base64.'),
    uri: schema.string(
      'The value for `fileData.fileUri` of a request with a key of the same account.',
    ),
    state: schema.string('`ACTIVE`.'),
    source: schema.string('`UPLOADED`.'),
  },
  { displayName: schema.string('The name that the client gave.') },
);

/** Files in Google's format. */
export const generateFileOperations: schema.Operations = {
  'POST /upload/v1beta/files': {
    id: 'uploadFile',
    tag,
    convention: 'generate',
    also: [
      'invalid_type',
      'invalid_value',
      'out_of_range',
      'malformed_json',
      'wrong_content_type',
      'malformed_encoding',
      'unsupported_encoding',
      'request_too_large',
      'body_bytes_in_flight',
      'file_storage_full',
      'too_many_uploads',
      'upload_not_found',
      'unknown_url',
    ],
    summary: 'Upload a file in pieces (not charged)',
    description: `Start with \`X-Goog-Upload-Protocol: resumable\`, \`X-Goog-Upload-Command: start\`, \`X-Goog-Upload-Header-Content-Length\`, \`X-Goog-Upload-Header-Content-Type\` and, if you like, \`{"file": {"displayName": …}}\`. The answer has the URL of the upload in \`x-goog-upload-url\`. Send the bytes to this URL in one or more requests with \`X-Goog-Upload-Offset\` and \`X-Goog-Upload-Command: upload\`. The last request has \`upload, finalize\`; its answer has \`file\`. \`query\` returns the number of bytes received, \`cancel\` ends the upload. A file has at most ${uploadLimits.fileBytesMax} bytes. ${key}`,
    schemas: { UploadedFile: fileAnswer },
    answer: {
      'application/json': schema.answer({}, { file: schema.ref('UploadedFile') }),
    },
  },
  'GET /v1beta/files': {
    id: 'listFiles',
    tag,
    convention: 'generate',
    also: ['invalid_value', 'out_of_range'],
    summary: 'List the files of the account',
    description: `The newest files come first, in pages of \`pageSize\`; \`pageToken\` gets the next page. ${key}`,
    answer: {
      'application/json': schema.answer(
        { files: schema.array('The files.', schema.ref('UploadedFile')) },
        { nextPageToken: schema.string('Absent on the last page.') },
      ),
    },
  },
  'GET /v1beta/files/:id': {
    id: 'getFile',
    tag,
    convention: 'generate',
    also: ['uploaded_file_not_found'],
    summary: 'Get the facts about a file',
    description: key,
    path,
    answer: { 'application/json': schema.ref('UploadedFile') },
  },
  'DELETE /v1beta/files/:id': {
    id: 'deleteFile',
    tag,
    convention: 'generate',
    also: ['uploaded_file_not_found'],
    summary: 'Delete a file',
    description: key,
    path,
    answer: { 'application/json': schema.answer({}) },
  },
};

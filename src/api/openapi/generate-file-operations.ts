import { uploadLimits } from '../../media/limits.ts';
import * as schema from '../schema.ts';

const tag = 'Google’s format';
const key = 'The key may come in `x-goog-api-key`, or in the query as `key`.';
const path = { file_id: 'The name of the file, without `files/`.' };

const fileAnswer = schema.answer(
  {
    name: schema.string('`files/` and its id.'),
    mimeType: schema.string('The type that the client gave, else that of its bytes.'),
    sizeBytes: schema.string('A whole number.'),
    createTime: schema.string('RFC 3339.'),
    updateTime: schema.string('RFC 3339.'),
    expirationTime: schema.string('RFC 3339. The file is removed after it.'),
    sha256Hash: schema.string('Base64.'),
    uri: schema.string('For `fileData.fileUri` of a request. It needs the key of the account.'),
    state: schema.string('`ACTIVE`.'),
    source: schema.string('`UPLOADED`.'),
  },
  { displayName: schema.string('As the client gave it.') },
);

/** Files in Google's format. */
export const generateFileOperations: schema.Operations = {
  'POST /upload/v1beta/files': {
    id: 'uploadFile',
    tag,
    summary: 'Upload a file in pieces; free',
    description: `Begins with \`X-Goog-Upload-Protocol: resumable\`, \`X-Goog-Upload-Command: start\`, \`X-Goog-Upload-Header-Content-Length\`, \`X-Goog-Upload-Header-Content-Type\` and perhaps \`{"file": {"displayName": …}}\`. The answer has the address of the upload in \`x-goog-upload-url\`. Each request to it has bytes, \`X-Goog-Upload-Offset\` and \`X-Goog-Upload-Command: upload\`; the last has \`upload, finalize\`, and is answered with \`file\`. \`query\` tells how many bytes were received, \`cancel\` ends the upload. A file has at most ${uploadLimits.fileBytesMax} bytes. ${key}`,
    schemas: { UploadedFile: fileAnswer },
    answer: {
      'application/json': schema.answer({}, { file: schema.ref('UploadedFile') }),
    },
  },
  'GET /v1beta/files': {
    id: 'listFiles',
    tag,
    summary: 'List the files of the account',
    description: `The newest first, in pages of \`pageSize\`, with \`pageToken\` for the next one. ${key}`,
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
    summary: 'Read what is known of a file',
    description: key,
    path,
    answer: { 'application/json': schema.ref('UploadedFile') },
  },
  'DELETE /v1beta/files/:id': {
    id: 'deleteFile',
    tag,
    summary: 'Delete a file',
    description: key,
    path,
    answer: { 'application/json': schema.answer({}) },
  },
};

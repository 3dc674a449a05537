import { type Body, pythonMembers, typescriptMembers } from './chat.ts';
import { type Sample, pythonStart, typescriptStart } from './client.ts';
import { type FileData, curlForm, curlJson, quoted, typescript, written } from './written.ts';

/** Image generation from a text. */
export function imageSample(baseUrl: string, body: Body): Sample {
  return {
    curl: curlJson(`${baseUrl}/v1/images/generations`, body),
    python: [
      pythonStart(baseUrl),
      '',
      `answer = client.images.generate(\n${pythonMembers(body)}\n)`,
      pythonEnd,
    ].join('\n'),
    typescript: [
      typescriptStart(baseUrl),
      '',
      `const answer = await client.images.generate(${written(body, typescript)});`,
      typescriptEnd,
    ].join('\n'),
  };
}

/** Image edits: the images are sent as files of a form. */
export function editSample(baseUrl: string, body: Body, image: FileData, mask?: FileData): Sample {
  const files = [
    ['image', image] as const,
    ...(mask === undefined ? [] : [['mask', mask] as const]),
  ];
  return {
    curl: curlForm(`${baseUrl}/v1/images/edits`, files, body),
    python: [
      pythonStart(baseUrl),
      '',
      'answer = client.images.edit(',
      ...files.map(([field, { name }]) => `  ${field}=open(${quoted(name)}, "rb"),`),
      pythonMembers(body),
      ')',
      pythonEnd,
    ].join('\n'),
    typescript: [
      "import { createReadStream } from 'node:fs';",
      "import OpenAI, { toFile } from 'openai';",
      '',
      `const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: process.env.TOLLGATE_API_KEY });`,
      '',
      'const answer = await client.images.edit({',
      ...files.map(
        ([field, { name, type }]) =>
          `  ${field}: await toFile(createReadStream(${quoted(name)}), null, { type: ${quoted(type)} }),`,
      ),
      typescriptMembers(body),
      '});',
      typescriptEnd,
    ].join('\n'),
  };
}

const pythonEnd = `for image in answer.data:
    print(image.url or image.b64_json)`;

const typescriptEnd = `for (const image of answer.data ?? []) {
  console.log(image.url ?? image.b64_json);
}`;

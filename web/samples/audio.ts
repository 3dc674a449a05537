import { type Body, pythonMembers, typescriptMembers } from './chat.ts';
import { type Sample, pythonStart, typescriptStart } from './client.ts';
import { type FileData, curlForm, curlJson, quoted, typescript, written } from './written.ts';

/** A text that is read aloud, into a file. */
export function speechSample(baseUrl: string, body: Body, file: string): Sample {
  return {
    curl: curlJson(`${baseUrl}/v1/audio/speech`, body, `-o ${file} `),
    python: [
      pythonStart(baseUrl),
      '',
      `with client.audio.speech.with_streaming_response.create(\n${pythonMembers(body)}\n) as answer:`,
      `    answer.stream_to_file(${quoted(file)})`,
    ].join('\n'),
    typescript: [
      "import { writeFileSync } from 'node:fs';",
      typescriptStart(baseUrl),
      '',
      `const answer = await client.audio.speech.create(${written(body, typescript)});`,
      `writeFileSync(${quoted(file)}, Buffer.from(await answer.arrayBuffer()));`,
    ].join('\n'),
  };
}

/** A recording as text; the recording is sent as a file of a form. */
export function transcriptionSample(baseUrl: string, body: Body, file: FileData): Sample {
  const { name } = file;
  const text = body['response_format'] === undefined ? 'answer.text' : 'answer';
  return {
    curl: curlForm(`${baseUrl}/v1/audio/transcriptions`, [['file', file]], body),
    python: [
      pythonStart(baseUrl),
      '',
      'answer = client.audio.transcriptions.create(',
      `  file=open(${quoted(name)}, "rb"),`,
      pythonMembers(body),
      ')',
      `print(${text})`,
    ].join('\n'),
    typescript: [
      "import { createReadStream } from 'node:fs';",
      typescriptStart(baseUrl),
      '',
      'const answer = await client.audio.transcriptions.create({',
      `  file: createReadStream(${quoted(name)}),`,
      typescriptMembers(body),
      '});',
      `console.log(${text});`,
    ].join('\n'),
  };
}

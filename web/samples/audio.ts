import { type Body, pythonMembers } from './chat.ts';
import { type Sample, pythonStart, typescriptStart } from './client.ts';
import {
  type FileData,
  curlJson,
  membersOf,
  quoted,
  shellQuoted,
  typescript,
  written,
} from './written.ts';

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
export function transcriptionSample(baseUrl: string, body: Body, { name, type }: FileData): Sample {
  const text = body['response_format'] === undefined ? 'answer.text' : 'answer';
  return {
    curl: [
      `curl ${baseUrl}/v1/audio/transcriptions`,
      '  -H "Authorization: Bearer $TOLLGATE_API_KEY"',
      `  -F ${shellQuoted(`file=@${name};type=${type}`)}`,
      ...membersOf(body).map(
        ([member, value]) =>
          `  --form-string ${shellQuoted(`${member}=${typeof value === 'string' ? value : JSON.stringify(value)}`)}`,
      ),
    ].join(' \\\n'),
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
      ...membersOf(body).map(
        ([member, value]) => `  ${typescript.member(member)}: ${written(value, typescript, '  ')},`,
      ),
      '});',
      `console.log(${text});`,
    ].join('\n'),
  };
}

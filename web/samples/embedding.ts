import { type Body, pythonMembers } from './chat.ts';
import { type Sample, pythonStart, typescriptStart } from './client.ts';
import { curlJson, typescript, written } from './written.ts';

/** Texts as vectors. */
export function embeddingSample(baseUrl: string, body: Body): Sample {
  return {
    curl: curlJson(`${baseUrl}/v1/embeddings`, body),
    python: [
      pythonStart(baseUrl),
      '',
      `answer = client.embeddings.create(\n${pythonMembers(body)}\n)`,
      'for item in answer.data:\n    print(item.index, len(item.embedding), item.embedding[:3])',
    ].join('\n'),
    typescript: [
      typescriptStart(baseUrl),
      '',
      `const answer = await client.embeddings.create(${written(body, typescript)});`,
      'for (const { index, embedding } of answer.data) {',
      '  console.log(index, embedding.length, embedding.slice(0, 3));',
      '}',
    ].join('\n'),
  };
}

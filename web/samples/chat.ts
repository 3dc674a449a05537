import { type Sample, needsFiles, pythonStart, typescriptStart } from './client.ts';
import { type Value, curlJson, membersOf, python, typescript, written } from './written.ts';

export type Body = { readonly [name: string]: Value | undefined };

/** A chat request as printed by the playground and on the page of a model. */
export function chatSample(baseUrl: string, body: Body): Sample {
  const stream = body['stream'] === true;
  return {
    curl: curlJson(`${baseUrl}/v1/chat/completions`, body, stream ? '-N ' : ''),
    python: [
      pythonStart(baseUrl, needsFiles(body)),
      '',
      pythonCall(body),
      stream ? pythonStream : pythonWhole,
    ].join('\n'),
    typescript: [
      typescriptStart(baseUrl, needsFiles(body)),
      '',
      typescriptCall(body),
      stream ? typescriptStream : typescriptWhole,
    ].join('\n'),
  };
}

function pythonCall(body: Body): string {
  const name = body['stream'] === true ? 'stream' : 'answer';
  return `${name} = client.chat.completions.create(\n${pythonMembers(body)}\n)`;
}

/** `name=value,`, a line each. */
export function pythonMembers(body: Body): string {
  return membersOf(body)
    .map(([member, value]) => `  ${member}=${written(value, python, '  ')},`)
    .join('\n');
}

/** `name: value,`, a line each. */
export function typescriptMembers(body: Body): string {
  return membersOf(body)
    .map(
      ([member, value]) => `  ${typescript.member(member)}: ${written(value, typescript, '  ')},`,
    )
    .join('\n');
}

const typescriptCall = (body: Body): string =>
  `const ${body['stream'] === true ? 'stream' : 'answer'} = await client.chat.completions.create(${written(body, typescript)});`;

const pythonStream = `for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`;

const pythonWhole = 'print(answer.choices[0].message.content)';

const typescriptStream = `for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? '');
}`;

const typescriptWhole = 'console.log(answer.choices[0]?.message.content);';

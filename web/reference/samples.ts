import {
  curlJson,
  membersOf,
  python,
  quoted,
  shellQuoted,
  type Syntax,
  typescript,
  type Value,
  written,
} from '../samples/written.ts';

type Example = { readonly [name: string]: Value | undefined };
/** Fields of a form are texts. */
type Fields = Readonly<Record<string, string>>;
type Content = Readonly<Record<string, { readonly example?: Example }>>;

interface Operation {
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** As much of `/openapi.json` as the samples need. */
export interface OpenApi {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** A call as the samples need it. */
interface Call {
  readonly method: string;
  readonly address: string;
  readonly json: Example | undefined;
  readonly form: Fields | undefined;
  /** Where an answer that is no JSON is kept. */
  readonly file: string | undefined;
}

/** The description with the server's address and, for each endpoint, code that calls it there. */
export function withSamples(description: OpenApi, origin: string) {
  const [{ url } = { url: '/' }] = description.servers;
  const base = url === '/' ? origin : url;
  const paths = Object.entries(description.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [
        method,
        { ...operation, 'x-codeSamples': samplesOf(callOf(base + path, method, operation)) },
      ]),
    ),
  ]);
  return { ...description, servers: [{ url: base }], paths: Object.fromEntries(paths) };
}

function callOf(address: string, method: string, { requestBody, responses }: Operation): Call {
  const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {};
  const [type = 'application/json'] = Object.keys(responses['200']?.content ?? {});
  return {
    method: method.toUpperCase(),
    address: address.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase()),
    json: json?.example,
    form: json === undefined && form !== undefined ? fieldsOf(form.example ?? {}) : undefined,
    file: type === 'application/json' ? undefined : files[type.split('/')[0] ?? ''],
  };
}

/** What every form without JSON beside it takes. */
const recording = 'speech.mp3';
const fieldsOf = (example: Example): Fields =>
  Object.fromEntries([
    ['file', recording],
    ...membersOf(example).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ]);

const files: Readonly<Record<string, string>> = { audio: 'answer.mp3', video: 'answer.mp4' };

function samplesOf(call: Call) {
  return [
    { lang: 'Shell', label: 'curl', source: curlOf(call) },
    { lang: 'Python', label: 'Python', source: pythonOf(call) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescriptOf(call) },
  ];
}

function curlOf({ method, address, json, form, file }: Call): string {
  const save = file === undefined ? '' : `-o ${file} `;
  if (json !== undefined) return curlJson(address, json, save);
  const verb = method === 'GET' || form !== undefined ? '' : `-X ${method} `;
  const fields = Object.entries(form ?? {}).map(
    ([name, value]) => `  -F ${name}=${name === 'file' ? '@' : ''}${shellQuoted(value)}`,
  );
  const head = `curl ${verb}${save}${address}`;
  return [head, '  -H "Authorization: Bearer $TOLLGATE_API_KEY"', ...fields].join(' \\\n');
}

function pythonOf({ method, address, json, form, file }: Call): string {
  const fields = Object.entries(form ?? {}).filter(([name]) => name !== 'file');
  const lines = [
    `    ${quoted(address)},`,
    `    headers={"Authorization": f"Bearer {os.environ['TOLLGATE_API_KEY']}"},`,
    ...(json === undefined ? [] : [`    json=${indented(json, python)},`]),
    ...(form === undefined
      ? []
      : [
          `    data=${written(Object.fromEntries(fields), python, '    ')},`,
          `    files={"file": open(${quoted(form['file'] ?? '')}, "rb")},`,
        ]),
  ];
  return [
    'import os',
    '',
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    ...lines,
    ')',
    'response.raise_for_status()',
    file === undefined
      ? 'print(response.json())'
      : `open(${quoted(file)}, "wb").write(response.content)`,
  ].join('\n');
}

function typescriptOf({ method, address, json, form, file }: Call): string {
  const headers = [
    'Authorization: `Bearer ${process.env.TOLLGATE_API_KEY}`',
    ...(json === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ].join(', ');
  const body =
    json !== undefined
      ? [`  body: JSON.stringify(${indented(json, typescript)}),`]
      : form !== undefined
        ? ['  body: form,']
        : [];
  const imports = [
    ...(form === undefined ? [] : ["import { openAsBlob } from 'node:fs';"]),
    ...(file === undefined ? [] : ["import { writeFile } from 'node:fs/promises';"]),
  ];
  return [
    ...imports,
    ...(imports.length > 0 ? [''] : []),
    ...(form === undefined ? [] : ['const form = new FormData();', ...formLines(form), '']),
    `const response = await fetch(${quoted(address)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { ${headers} },`,
    ...body,
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    file === undefined
      ? 'console.log(await response.json());'
      : `await writeFile(${quoted(file)}, new Uint8Array(await response.arrayBuffer()));`,
  ].join('\n');
}

const formLines = (form: Fields): readonly string[] =>
  Object.entries(form).map(([name, value]) =>
    name === 'file'
      ? `form.set('file', await openAsBlob(${quoted(value)}), ${quoted(value)});`
      : `form.set(${quoted(name)}, ${quoted(value)});`,
  );

const indented = (value: Value, syntax: Syntax): string => written(value, syntax, '    ');

/** A value of a request, as in JSON. */
export type Value =
  | null
  | boolean
  | number
  | string
  | FileData
  | readonly Value[]
  | { readonly [name: string]: Value | undefined };

/**
 * A file on the user's disk: the sample reads it instead of holding its bytes, as a data URL or as
 * base64 alone.
 */
export class FileData {
  readonly name: string;
  readonly type: string;
  readonly as: 'url' | 'base64';

  constructor(name: string, type: string, as: 'url' | 'base64' = 'url') {
    this.name = name;
    this.type = type;
    this.as = as;
  }
}

/** The literals of a language, and its expression for a file as a data URL. */
export interface Syntax {
  readonly none: string;
  readonly yes: string;
  readonly no: string;
  readonly text: (text: string) => string;
  readonly member: (name: string) => string;
  readonly file: (file: FileData) => string;
}

const lineMax = 88;

/** The value as source code: on one line where it is short, else one line per member. */
export function written(value: Value, syntax: Syntax, indent = ''): string {
  if (value === null) return syntax.none;
  if (typeof value === 'boolean') return value ? syntax.yes : syntax.no;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return syntax.text(value);
  if (value instanceof FileData) return syntax.file(value);
  const inner = `${indent}  `;
  const [open, close, parts] = isList(value)
    ? (['[', ']', value.map((each) => written(each, syntax, inner))] as const)
    : ([
        '{',
        '}',
        membersOf(value).map(
          ([name, each]) => `${syntax.member(name)}: ${written(each, syntax, inner)}`,
        ),
      ] as const);
  if (parts.length === 0) return open + close;
  const gap = open === '{' ? ' ' : '';
  const short = `${open}${gap}${parts.join(', ')}${gap}${close}`;
  if (indent.length + short.length <= lineMax && !short.includes('\n')) return short;
  return `${open}\n${parts.map((part) => `${inner}${part},`).join('\n')}\n${indent}${close}`;
}

/** The members that have a value. */
export function membersOf(value: {
  readonly [name: string]: Value | undefined;
}): (readonly [string, Value])[] {
  return Object.entries(value).flatMap(([name, each]) =>
    each === undefined ? [] : [[name, each] as const],
  );
}

function isList(
  value: readonly Value[] | { readonly [name: string]: Value | undefined },
): value is readonly Value[] {
  return Array.isArray(value);
}

/**
 * A JSON string is also a Python and a TypeScript string, once characters that only JSON allows are
 * escaped.
 */
export const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export const python: Syntax = {
  none: 'None',
  yes: 'True',
  no: 'False',
  // Python cannot send half of a surrogate pair
  text: (text) => quoted(text.replace(/\p{Surrogate}/gu, '\ufffd')),
  member: quoted,
  file: ({ name, type, as }) =>
    `data_url(${quoted(name)}, ${quoted(type)})${as === 'url' ? '' : '.split(",")[1]'}`,
};

export const typescript: Syntax = {
  none: 'null',
  yes: 'true',
  no: 'false',
  text: quoted,
  member: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)),
  file: ({ name, type, as }) =>
    `dataUrl(${quoted(name)}, ${quoted(type)})${as === 'url' ? '' : ".split(',')[1]"}`,
};

/** JSON within a here document of the shell, which inserts the files. */
const document: Syntax = {
  none: 'null',
  yes: 'true',
  no: 'false',
  text: (text) => shielded(quoted(text)),
  member: (name) => shielded(quoted(name)),
  file: ({ name, type, as }) =>
    `"${as === 'url' ? `data:${type};base64,` : ''}$(base64 < ${shellQuoted(name)} | tr -d '\\n')"`,
};

const json: Syntax = { ...document, text: quoted, member: quoted };

/** Escapes what a here document would expand. */
const shielded = (text: string): string => text.replace(/[\\$`]/g, '\\$&');

export const shellQuoted = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : singleQuoted(text);

/**
 * A curl call that posts JSON; files go by standard input, since arguments have a limit. `options`
 * stand before the address.
 */
export function curlJson(address: string, body: Value, options = ''): string {
  const head = [
    `curl ${options}${address} \\`,
    '  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
  ];
  if (holdsFile(body))
    return [...head, '  -d @- <<JSON', jsonOf(body, document), 'JSON'].join('\n');
  return [...head, `  -d ${singleQuoted(jsonOf(body, json, '  '))}`].join('\n');
}

/** A curl call that posts files and members as a form. */
export function curlForm(
  address: string,
  files: readonly (readonly [field: string, FileData])[],
  body: { readonly [name: string]: Value | undefined },
): string {
  return [
    `curl ${address}`,
    '  -H "Authorization: Bearer $TOLLGATE_API_KEY"',
    ...files.map(
      ([field, { name, type }]) => `  -F ${shellQuoted(`${field}=@${name};type=${type}`)}`,
    ),
    ...membersOf(body).map(
      ([name, value]) =>
        `  --form-string ${shellQuoted(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)}`,
    ),
  ].join(' \\\n');
}

const singleQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** JSON takes no comma behind the last member. */
const jsonOf = (body: Value, syntax: Syntax, indent = ''): string =>
  written(body, syntax, indent).replace(/,(?=\n\s*[}\]])/g, '');

export function holdsFile(value: Value | undefined): boolean {
  if (value === null || typeof value !== 'object') return false;
  return value instanceof FileData || Object.values(value).some(holdsFile);
}

import type { Call } from '../../adapter.ts';

type Kind = 'text' | 'number' | 'flag' | 'any';

/**
 * Members that a client sent beside OpenAI's, for this vendor (`extra_body` of the packages), as
 * the vendor spells them. Forms carry text alone: what should be a number or a flag is read as one.
 */
export function extras(call: Call, known: Readonly<Record<string, Kind>>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(known)) {
    const value = readAs(kind, call.body[name]);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function readAs(kind: Kind, value: unknown): unknown {
  if (value === undefined || value === null || value === '') return undefined;
  if (kind === 'any') return value;
  if (kind === 'number')
    return typeof value === 'object' || Number.isNaN(Number(value)) ? undefined : Number(value);
  if (kind === 'flag')
    return value === true || value === 'true'
      ? true
      : value === false || value === 'false'
        ? false
        : undefined;
  return typeof value === 'string' ? value : undefined;
}

const formats: readonly unknown[] = ['png', 'jpeg', 'webp'];

/** The format that the client wants its pictures in: OpenAI's is PNG unless said. */
export const formatOf = ({ body }: Call): 'png' | 'jpeg' | 'webp' => {
  const format = formats.indexOf(body['output_format']);
  return format === 1 ? 'jpeg' : format === 2 ? 'webp' : 'png';
};

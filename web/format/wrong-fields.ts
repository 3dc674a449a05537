import type { ErrorBody } from '../../src/console/contract.ts';

export type FieldReasons = NonNullable<ErrorBody['error']['reasons']>;

type Texts = Readonly<Record<string, string | undefined>>;

interface Refused {
  /** By field: a code, or an English sentence. */
  readonly fields: Readonly<Record<string, string>>;
  readonly reasons: FieldReasons;
}

type Sentences = Readonly<Record<string, (values: Readonly<Record<string, string>>) => string>>;

/** The fields that the server refused, with the sentences of the reader's language. */
export function refusedFields({ fields, reasons }: Refused, sentences: Sentences): Texts {
  return Object.fromEntries(
    Object.entries(fields).map(([field, what]) => {
      const { code = '', values = {} } = reasons[field] ?? {};
      return [field, sentences[code]?.(values) ?? what];
    }),
  );
}

/** The mistake in a field, or in a part of it: for `groups`, the one in `groups[1]`. */
export function mistakeIn(mistakes: Texts, field: string): string | undefined {
  const [inside] = Object.entries(mistakes).filter(
    ([name, what]) =>
      what !== undefined && (name.startsWith(`${field}[`) || name.startsWith(`${field}.`)),
  );
  return mistakes[field] ?? inside?.[1];
}

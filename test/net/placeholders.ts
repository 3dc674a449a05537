import { digest } from './recordings.ts';

/** A longer text is recorded by its beginning, its length and its digest. */
const charsMax = 60_000;

/**
 * Values that differ from run to run. The gateway's ids are recognised by their letters
 * (`fixed.mjs`); ids of vendors stay, so that a lost one shows.
 */
const rules: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['hex', /(?<![0-9a-f])[0-9a-f]{12}(?:0[0-9a-f]){10}(?![0-9a-f])/g],
  [
    'id',
    /(?<![A-Za-z0-9+/])[0-9a-z]{9}[A-P]{13}(?![A-Za-z0-9])|(?<![A-Za-z0-9+/])[A-P]{10,}(?![A-Za-z0-9+/=])/g,
  ],
  ['key', /sk-[A-P]{2}(?:…|\*{4})[A-P]{4}/g],
  ['signature', /(?<=signature=)[A-Za-z0-9_-]{43}|(?<=Signature=)[0-9a-f]{64}/g],
  ['sealed', /v1\.[A-Za-z0-9_-]{38,}/g],
  ['nonce', /(?<=nonce(?:-|="))[A-Za-z0-9+/=]{24}/g],
  // The names of the console's scripts contain a hash; the tests of web/ cover them.
  ['asset', /\/assets\/[\w.-]+/g],
  ['hash', /(?<=(?:grant|debit)_)[0-9a-f]{32}/g],
  ['wait', /(?<=try again in )[\d.hms]*\d[hms]+/g],
  ['port', /(?<=(?:127\.0\.0\.1|localhost):)\d{4,5}/g],
];

/** In headers and records: durations, and the rest of a limit. */
const measured =
  /^(date|x-ratelimit-.*|anthropic-ratelimit-.*|retry-after.*|openai-processing-ms|server-timing|x-tollgate-.*-ms)$/;

/** Replaces what the rules match, numbered in the order of first appearance in a case. */
export class Placeholders {
  readonly #known = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  in(text: string): string {
    let replaced = text;
    for (const [name, pattern] of rules)
      replaced = replaced.replace(pattern, (found) => this.#of(name, found));
    return replaced;
  }

  #of(name: string, found: string): string {
    const known = this.#known.get(found);
    if (known !== undefined) return known;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const made = `<${name} ${count}>`;
    this.#known.set(found, made);
    return made;
  }

  /** `name: value`, a line each, in the order of their names. */
  headers(all: Readonly<Record<string, unknown>>, without: ReadonlySet<string>): string {
    const names = Object.keys(all).filter((name) => !without.has(name));
    return names
      .sort()
      .map(
        (name) => `${name}: ${measured.test(name) ? '<measured>' : this.in(String(all[name]))}\n`,
      )
      .join('');
  }

  bytes(body: Buffer): string {
    const text = body.toString('utf8');
    if (!Buffer.from(text).equals(body))
      return `<${body.length} bytes ${digest(this.in(body.toString('latin1')))}>`;
    const replaced = this.in(text);
    if (replaced.length <= charsMax) return replaced;
    return `${replaced.slice(0, charsMax)}\n<${replaced.length} characters ${digest(replaced)}>`;
  }
}

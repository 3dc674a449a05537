import { bytesPerTokenUsual } from '../../base/bytes-per-token.ts';
import { type Bytes } from '../../base/json.ts';

/** Text longer than this is not tokenized but estimated: tokenizers are slow on the event loop. */
const tokenizedCharsMax = 65_536;
/** Tokenizers take time quadratic in a run of one character; a slice bounds the run. */
const sliceChars = 1_024;
const charsPerTokenEstimated = 3;
/** Tokens that the format itself adds to a prompt: role marks and the start of the answer. */
const tokensOfFraming = 8;

/**
 * Tokens of a text by o200k_base, which is within some percent of most current models' counts. Used
 * for reservations and for answers whose vendor reported no usage.
 */
export async function countTokens(text: string): Promise<number> {
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base');
  const counted = text.slice(0, tokenizedCharsMax);
  let tokens = Math.ceil((text.length - counted.length) / charsPerTokenEstimated);
  for (let at = 0; at < counted.length; at += sliceChars)
    tokens += count(counted.slice(at, at + sliceChars), { allowedSpecial: 'all' });
  return tokens;
}

/** Output tokens of a stream whose text was forwarded and not kept. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / bytesPerTokenUsual);
}

/** Members of whole answers, in all formats, that hold text that a model wrote. */
const modelTextIn: ReadonlySet<string> = new Set(
  'content text thinking reasoning reasoning_content refusal arguments input code transcript'.split(
    ' ',
  ),
);

/**
 * The text that a model wrote in a whole answer in JSON. It is collected only where the vendor
 * reports no output.
 */
export function textOfAnswer(body: Bytes): string {
  const pieces: string[] = [];
  try {
    collect(JSON.parse(body.toString('utf8')), false, pieces);
  } catch {
    return ''; // Audio, or another body that is not JSON, has no text.
  }
  return pieces.join('');
}

function collect(value: unknown, isWritten: boolean, pieces: string[]): void {
  if (typeof value === 'string') {
    if (isWritten) pieces.push(value);
  } else if (Array.isArray(value))
    for (const item of value) collect(item, isWritten && typeof item === 'string', pieces);
  else if (typeof value === 'object' && value !== null)
    for (const [member, inner] of Object.entries(value))
      collect(inner, modelTextIn.has(member), pieces);
}

/**
 * About twenty tokens a second, and fifteen characters (OpenAI's prices a minute and a token,
 * 2026-08).
 */
const tokensPerCharacterSpoken = 1.5;

/** Output tokens of a text read aloud. */
export const spokenTokens = (characters: number): number =>
  Math.ceil(characters * tokensPerCharacterSpoken);

/** Tokens of a prompt, framing included. */
export async function countPrompt(text: string): Promise<number> {
  return (await countTokens(text)) + tokensOfFraming;
}

import type { Random } from '../../src/base/random.ts';
import { streamMeaning } from '../chat-meaning.ts';
import { geminiMeaning } from '../gemini-meaning.ts';
import type { Recording } from '../recorded-traffic.ts';
import { parsed } from '../support/loose-json.ts';
import { askBridged, chatMeaning, firstAnswer } from './gemini-bridged.ts';
import { type Form, type GeminiCase, piecesOf, streamIn } from './gemini-cases.ts';
import { clientBody, ended, pathOf } from './gemini-passed-on.ts';
import { type Answered, type Reply, type Stage } from './gemini-stage.ts';

// A vendor's stream that ends too early: the client gets what came, an error, and a broken
// connection, and pays for what came.

/** A random place before the stream's end. */
export const somewhereIn = (reply: Buffer, random: Random): number =>
  1 + Math.floor(random() * (reply.length - 1));

/** Cuts a recorded stream off at an offset: what is wrong with the client's answer and charge. */
export async function cutOff(
  stage: Stage,
  one: GeminiCase,
  form: Form,
  offset: (reply: Buffer) => number,
  end: Reply['end'],
): Promise<readonly string[]> {
  let came: Buffer = Buffer.alloc(0);
  const { answered } = await stage.exchange(pathOf(one, form), clientBody(one), ({ url }) => {
    const asked = url.includes('alt=sse') ? 'events' : 'array';
    const reply = streamIn(asked, one.reply);
    came = reply.subarray(0, offset(reply));
    const type = asked === 'events' ? 'text/event-stream' : 'application/json; charset=UTF-8';
    return { status: 200, type, pieces: [came], end };
  });
  const read = readCame(came.toString('utf8'));
  return [...wrongEnd(read, form, answered), ...(await wrongCharge(stage, read.pieces, answered))];
}

/** The pieces that came to their ends, and one whose delimiter alone is missing. */
interface Came {
  readonly pieces: readonly string[];
  readonly last: string | undefined;
}

function readCame(text: string): Came {
  const all = piecesOf(text);
  if (text.trimStart().startsWith('[') || /\n\r?\n$/.test(text))
    return { pieces: all, last: undefined };
  const last = all.at(-1);
  return {
    pieces: all.slice(0, -1),
    last: last !== undefined && parsed(last) !== undefined ? last : undefined,
  };
}

/** Answers with words of the model, which a client is charged for. */
const wordy = (piece: string): boolean =>
  /"text"\s*:\s*"[^"]|"functionCall"|"inlineData"/.test(piece);

function wrongEnd({ pieces: came, last }: Came, form: Form, answered: Answered): string[] {
  const { status, body } = answered;
  // A reader may take an event without its delimiter, or leave it.
  if (last !== undefined && ended(last)) return [];
  if (came.some(ended)) return status === 200 ? [] : [`status ${status} after a whole answer`];
  if (status !== 200)
    return came.some(wordy)
      ? [`status ${status} although ${came.length} pieces came: ${body.slice(0, 200)}`]
      : [];
  const got = piecesOf(body);
  const delivered = got.length - 1;
  const right = delivered === came.length || (last !== undefined && delivered === came.length + 1);
  return [
    ...wrongFailure(form, answered),
    ...(right ? [] : [`${delivered} pieces were delivered, and ${came.length} came`]),
  ];
}

/** A failed stream ends with an error of this door, and its connection breaks. */
function wrongFailure(form: Form, { body, broken }: Answered): string[] {
  const wrong = broken ? [] : ['the connection ends in order'];
  const last = piecesOf(body).at(-1) ?? '';
  if (!last.startsWith('{"error"') || parsed(last) === undefined)
    wrong.push(`the last piece is ${last.slice(0, 100)}`);
  if (form === 'events' && !/\n\n$|\n\r\n$/.test(body)) wrong.push('the error has no delimiter');
  return wrong;
}

/** What was delivered is charged, what was not is free; the record is there before the end. */
async function wrongCharge(
  { running }: Stage,
  came: readonly string[],
  { status, id }: Answered,
): Promise<string[]> {
  const [row] = await running.gateway.database.query('SELECT * FROM usage WHERE id = ?', [id]);
  if (status !== 200)
    return row === undefined || BigInt(String(row['cost'])) === 0n
      ? []
      : [`status ${status} cost ${String(row['cost'])}`];
  if (row === undefined) return ['there is no usage record'];
  const paid = BigInt(String(row['cost'])) > 0n;
  const wrong = paid || !came.some(wordy) ? [] : ['what was delivered is not charged'];
  if (!came.some(ended) && row['status'] === 'ok') wrong.push('the record calls it whole');
  return wrong;
}

/** Cuts a recorded chat stream off: what a client of Gemini's format is told and charged wrongly. */
export async function chatCutOff(
  stage: Stage,
  recording: Recording,
  form: Form,
  offset: (reply: Buffer) => number,
): Promise<readonly string[]> {
  const came = recording.reply.subarray(0, offset(recording.reply));
  const { answered } = await askBridged(stage, recording, form, {
    status: 200,
    type: 'text/event-stream',
    pieces: [came],
    end: 'end',
  });
  if (streamMeaning(came.toString('utf8')).finish !== undefined) return [];
  const delivered = answered.status === 200 ? piecesOf(answered.body).slice(0, -1) : [];
  const whole = chatMeaning(recording).text;
  const { text } = geminiMeaning(firstAnswer(`[${delivered.join(',')}]`).text);
  return [
    ...(answered.status === 200 ? wrongFailure(form, answered) : []),
    ...(whole.startsWith(text) ? [] : [`the text ${text.slice(0, 100)} did not come`]),
    ...(await wrongCharge(stage, delivered, answered)),
  ];
}

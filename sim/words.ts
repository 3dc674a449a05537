import { decodeDocument } from './document.ts';
import { decodeImage } from './image.ts';
import { lastMessage, lastPrompt, type ChatRequest } from './request.ts';
import { instanceOf } from './schema.ts';
import { scriptOf } from './script.ts';
import { hash, pieces } from './tokens.ts';
import { schemaInPrompt } from './prompt-schema.ts';

/** What an answer that repeats the prompt is made of. */
interface Phrases {
  readonly openings: readonly string[];
  readonly thoughts: readonly string[];
  readonly repeated: (opening: string, prompt: string) => string;
  readonly turn: (turns: number) => string;
  readonly gap: string;
}

const english: Phrases = {
  openings: ['You asked', 'Your question was', 'Let me answer this', 'I understood you to say'],
  thoughts: [
    'A simulated model has no opinion of its own, but it reads every word.',
    'The short answer is that it depends; the long answer says why.',
    'Nothing here left this machine – not even a café’s menu.',
    'Ask again with other words and the answer changes with them.',
    'With the same seed the same words come back.',
    'There are three parts to it: what is given, what is asked, and what follows.',
  ],
  repeated: (opening, prompt) => `${opening}: “${prompt}”.`,
  turn: (turns) => `This is turn ${turns} of our conversation.`,
  gap: ' ',
};

const chinese: Phrases = {
  openings: ['你问的是', '你的问题是', '我来回答这个问题', '我理解你说的是'],
  thoughts: [
    '模拟模型没有自己的观点，但会读完每一个字。',
    '简短的回答是：视情况而定；详细的回答会说明原因。',
    '这里的内容没有离开本机。',
    '换一种说法再问，回答也会随之改变。',
    '种子相同，得到的文字就相同。',
    '这个问题分三部分：已知什么、问的是什么、由此得出什么。',
  ],
  repeated: (opening, prompt) => `${opening}：“${prompt}”。`,
  turn: (turns) => `这是我们对话的第 ${turns} 轮。`,
  gap: '',
};

const instruction =
  /^(?:please,? )?(?:say|(?:reply|respond|answer) with(?: exactly| only| just| the| single| word| words)*)\b\s*:?\s*["“']?(.+?)["”']?[.!]?$/is;

/**
 * The text of choice `index`: the text that the prompt dictates, the requested JSON, or an answer
 * that repeats the prompt.
 */
function answer(request: ChatRequest, echo: boolean, index: number): string {
  const prompt = lastPrompt(request);
  if (echo) return prompt;
  if (request.format.type === 'json_schema')
    return JSON.stringify(instanceOf(request.format.schema, prompt));
  const prompted = schemaInPrompt(request, prompt);
  if (prompted !== undefined) return JSON.stringify(instanceOf(prompted.schema, prompted.prompt));
  if (request.format.type === 'json_object')
    return JSON.stringify({
      answer: clip(prompt),
      words: prompt.split(/\s+/).filter(Boolean).length,
    });
  const script = scriptOf(request)?.text;
  if (script !== undefined) return script;
  const last = lastMessage(request);
  if (last?.role === 'tool')
    return `The tool answered: ${clip(last.text)} That is all I need to know.`;
  const user = request.messages.findLast((message) => message.role === 'user');
  const seen = [
    ...(user?.images ?? []).map(describe),
    ...(user?.files ?? []).map(describeFile),
  ].join('');
  const dictated = instruction.exec(prompt.trim())?.[1];
  if (dictated !== undefined && seen === '') return dictated;
  const start = hash(prompt) + request.seed + index;
  const turns = request.messages.filter((message) => message.role === 'user').length;
  const { openings, thoughts, repeated, turn, gap } = /\p{Script=Han}/u.test(prompt)
    ? chinese
    : english;
  const sentences = [
    repeated(pick(openings, start), clip(prompt)),
    ...(turns > 1 ? [turn(turns)] : []),
    ...[0, 1, 2].map((n) => pick(thoughts, start + n)),
  ];
  return seen + sentences.join(gap);
}

function describe(url: string): string {
  const image = decodeImage(url);
  if (image !== undefined)
    return `I see a ${image.format} image of ${image.width}×${image.height} pixels. `;
  return `I see an image at ${/^https?:\/\/([^/]+)/.exec(url)?.[1] ?? 'an unknown place'}. `;
}

function describeFile(url: string): string {
  const file = decodeDocument(url);
  if (file !== undefined)
    return `I read a PDF of ${file.pages} page${file.pages === 1 ? '' : 's'} and ${file.bytes} bytes. `;
  return `I read a file at ${/^https?:\/\/([^/]+)/.exec(url)?.[1] ?? 'an unknown place'}. `;
}

function reasoning(request: ChatRequest): string[] {
  return pieces(
    `The user wants to know about “${clip(lastPrompt(request))}”. I should think first, then answer in a few sentences.`,
  );
}

/** Exactly `count` pieces. */
function filler(count: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    i === 0 ? 'word' : i % 12 === 0 ? ' line' : ' word',
  );
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 240 ? line : `${line.slice(0, 240).trimEnd()}…`;
}

function pick(from: readonly string[], index: number): string {
  return from[index % from.length] ?? '';
}

export const words = { answer, reasoning, filler };

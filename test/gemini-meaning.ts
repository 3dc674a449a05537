/**
 * What Gemini's own format says, read without any code of the gateway: a second opinion for the
 * tests.
 */
import type { Meaning } from './chat-meaning.ts';
import { type Dict, dict, number, parsed, string } from './support/loose-json.ts';

const list = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
/** Members come in camelCase and, from some clients, in snake_case. */
const member = (of: Dict, name: string): unknown =>
  of[name] ?? of[name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)];

const finishes: Readonly<Record<string, string>> = {
  STOP: 'stop',
  1: 'stop',
  MAX_TOKENS: 'length',
  2: 'length',
  SAFETY: 'content_filter',
};

/**
 * A whole answer, a list of events or a stream of them. Answers with parts that the convention has
 * no word for are marked by `choices: 0`.
 */
export function geminiMeaning(text: string): Meaning {
  const meaning: Meaning = {
    text: '',
    reasoning: '',
    calls: [],
    finish: undefined,
    usage: undefined,
    error: undefined,
    choices: 1,
  };
  const streamed = /^\s*data:/.test(text);
  const events = streamed
    ? text
        .replace(/\r\n/g, '\n')
        .split('\n\n')
        .map((event) => parsed(event.replace(/^data: ?/, '')))
    : list(parsed(text));
  let usage: Dict = {};
  for (const event of events.map(dict)) {
    meaning.error ??= event['error'] ?? dict(event['promptFeedback'])['blockReason'];
    usage = { ...usage, ...dict(event['usageMetadata']) };
    if (list(event['candidates']).length > 1) meaning.choices = 0;
    readCandidate(dict(list(event['candidates'])[0]), meaning);
  }
  if (meaning.finish === 'stop' && meaning.calls.length > 0) meaning.finish = 'tool_calls';
  const prompt = number(usage['promptTokenCount']) + number(usage['toolUsePromptTokenCount']);
  const reasoning = number(usage['thoughtsTokenCount']);
  const completion = number(usage['candidatesTokenCount']) + reasoning;
  const cached = number(usage['cachedContentTokenCount']);
  if (Object.keys(usage).length > 0)
    meaning.usage = { prompt, completion, total: prompt + completion, cached, reasoning };
  return meaning;
}

function readCandidate(candidate: Dict, meaning: Meaning): void {
  for (const part of list(dict(candidate['content'])['parts']).map(dict)) {
    const call = dict(part['functionCall']);
    if (part['functionCall'] !== undefined)
      meaning.calls.push({ name: string(call['name']), args: JSON.stringify(call['args'] ?? {}) });
    else if (part['thought'] === true) meaning.reasoning += string(part['text']);
    else if (typeof part['text'] === 'string') meaning.text += part['text'];
    else meaning.choices = 0;
  }
  const reason = candidate['finishReason'];
  if (reason !== undefined) meaning.finish = finishes[String(reason)] ?? 'stop';
}

/**
 * A native request as the chat request that means the same, or undefined where chat has no words
 * for it.
 */
export function chatRequest(native: Dict, url: string): Dict | undefined {
  const config = dict(member(native, 'generationConfig'));
  const messages: Dict[] = [];
  const system = list(dict(member(native, 'systemInstruction'))['parts']).map((part) =>
    string(dict(part)['text']),
  );
  if (system.length > 0)
    messages.push({ role: 'system', content: system.map((text) => ({ type: 'text', text })) });
  const open: { id: string; name: string }[] = [];
  for (const turn of list(native['contents']).map(dict))
    if (!pushTurn(turn, messages, open)) return undefined;
  const tools = list(native['tools']).flatMap((tool) =>
    list(member(dict(tool), 'functionDeclarations')).map(dict),
  );
  if (
    list(native['tools']).some((tool) => member(dict(tool), 'functionDeclarations') === undefined)
  )
    return undefined;
  const functions = tools.map(({ name, description, ...schema }) => ({
    type: 'function',
    function: {
      name,
      description,
      parameters: member(schema, 'parametersJsonSchema') ?? schema['parameters'],
    },
  }));
  return {
    messages,
    ...(functions.length > 0 ? { tools: functions } : {}),
    temperature: config['temperature'],
    max_tokens: member(config, 'maxOutputTokens'),
    stop: member(config, 'stopSequences'),
    stream: url.includes('streamGenerate'),
  };
}

function pushTurn(turn: Dict, messages: Dict[], open: { id: string; name: string }[]): boolean {
  const model = turn['role'] === 'model';
  const content: Dict[] = [];
  const calls: Dict[] = [];
  for (const part of list(turn['parts']).map(dict)) {
    const call = dict(member(part, 'functionCall'));
    const result = dict(member(part, 'functionResponse'));
    const inline = dict(member(part, 'inlineData'));
    const mime = string(member(inline, 'mimeType'));
    if (part['thought'] === true) continue;
    if (typeof part['text'] === 'string') content.push({ type: 'text', text: part['text'] });
    else if (typeof call['name'] === 'string') {
      const id = string(call['id']) || `call_${messages.length}_${calls.length}`;
      open.push({ id, name: call['name'] });
      calls.push({
        id,
        type: 'function',
        function: { name: call['name'], arguments: JSON.stringify(call['args'] ?? {}) },
      });
    } else if (typeof result['name'] === 'string') {
      const at = open.findIndex(
        (one) =>
          one.id === result['id'] || (result['id'] === undefined && one.name === result['name']),
      );
      const [answered] = at < 0 ? [] : open.splice(at, 1);
      if (answered === undefined || result['parts'] !== undefined) return false;
      messages.push({
        role: 'tool',
        tool_call_id: answered.id,
        content: JSON.stringify(result['response']),
      });
    } else if (mime.startsWith('image/'))
      content.push({
        type: 'image_url',
        image_url: { url: `data:${mime};base64,${string(inline['data'])}` },
      });
    else return false;
  }
  if (content.length + calls.length > 0)
    messages.push({
      role: model ? 'assistant' : 'user',
      content,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    });
  return true;
}

/**
 * What a native request tells the model: each side's texts, media, calls and results, without the
 * joints between them.
 */
export function geminiSaid(native: Dict): unknown {
  const turns: { role: string; text: string; rest: unknown[] }[] = [];
  for (const turn of list(native['contents']).map(dict)) {
    const role = turn['role'] === 'model' ? 'model' : 'user';
    for (const part of list(turn['parts']).map(dict)) {
      if (
        part['thought'] === true ||
        (typeof part['text'] === 'string' && part['text'].trim() === '')
      )
        continue;
      let last = turns.at(-1);
      if (last?.role !== role) turns.push((last = { role, text: '', rest: [] }));
      const call = dict(member(part, 'functionCall'));
      const result = dict(member(part, 'functionResponse'));
      if (typeof part['text'] === 'string') last.text += part['text'];
      else if (call['name'] !== undefined)
        last.rest.push({ call: call['name'], args: call['args'] ?? {} });
      else if (result['name'] !== undefined)
        last.rest.push({ result: result['name'], response: result['response'] });
      else last.rest.push(member(dict(member(part, 'inlineData')), 'data'));
    }
  }
  const config = dict(member(native, 'generationConfig'));
  const tools = list(native['tools']).flatMap((tool) =>
    list(member(dict(tool), 'functionDeclarations')).map((one) => dict(one)['name']),
  );
  const system = list(dict(member(native, 'systemInstruction'))['parts'])
    .map((part) => string(dict(part)['text']))
    .join('');
  return {
    turns,
    tools,
    system,
    temperature: config['temperature'],
    limit: member(config, 'maxOutputTokens'),
    stop: member(config, 'stopSequences'),
  };
}

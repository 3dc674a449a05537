import { describe, expect, it } from 'vitest';
import { geminiMeaning } from './gemini-meaning.ts';
import { wrongMeaning, wrongSaid } from './judge/gemini-bridged.ts';
import { geminiCases, isStream } from './judge/gemini-cases.ts';
import { wrongAnswer } from './judge/gemini-passed-on.ts';
import { nativeSaid } from './judge/gemini-said.ts';
import { recordingsFolder } from './recorded-traffic.ts';
import { dict, parsed } from './support/loose-json.ts';

// The judge of Gemini's door passes what is right and catches each corruption of it.

const { cases } = recordingsFolder === undefined ? { cases: [] } : geminiCases(recordingsFolder);
const good = cases.filter(({ status, reply }) => status < 400 && reply.length > 0);
const answered = (body: string, type: string) => ({
  status: 200,
  type,
  body,
  broken: false,
  id: 'id',
});
const typeOf = (stream: boolean): string => (stream ? 'text/event-stream' : 'application/json');

describe.skipIf(recordingsFolder === undefined)('the judge of Gemini’s door', () => {
  it('passes each recorded answer as it is, and no changed one', () => {
    const judged = good.filter(({ reply }) => !/^\s*\[/.test(reply.toString('utf8', 0, 9)));
    expect(judged.length).toBeGreaterThan(600);
    for (const one of judged) {
      const text = one.reply.toString('utf8').replaceAll('\r\n', isStream(one) ? '\n' : '\r\n');
      const type = typeOf(isStream(one));
      expect(wrongAnswer(one, 'events', answered(text, type)), one.id).toEqual([]);
      const corrupted = [
        text.replace(/"(text|name|totalTokens|values)"/, '"$1_"'),
        text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
        text.replaceAll('"', ''),
        isStream(one) ? `: ping\n\n${text}` : `${text} `,
        isStream(one) ? `${text}data: [DONE]\n\n` : text.slice(1),
      ];
      for (const body of corrupted.filter((body) => body !== text))
        expect(wrongAnswer(one, 'events', answered(body, type)), one.id).not.toEqual([]);
    }
  });

  it('misses nothing that a request says', () => {
    let changed = 0;
    for (const one of good.filter(({ method }) => method.endsWith('GenerateContent'))) {
      const told = one.body.toString('utf8');
      const said = nativeSaid(dict(parsed(told)));
      expect(wrongSaid(said, said)).toEqual([]);
      for (const [pattern, other] of corruptions) {
        const body = told.replace(pattern, other);
        if (body === told) continue;
        changed += 1;
        const got = nativeSaid(dict(parsed(body)));
        expect(wrongSaid(got, said), `${one.id} ${String(pattern)}`).not.toEqual([]);
      }
    }
    expect(changed).toBeGreaterThan(100);
  });

  it('misses nothing that an answer says', () => {
    const whole =
      '{"candidates":[{"content":{"role":"model","parts":[{"text":"a"},{"functionCall":{"name":"f","args":{"b":1}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":3,"totalTokenCount":5}}';
    const meaning = geminiMeaning(whole);
    expect(wrongMeaning(whole, meaning)).toEqual([]);
    for (const [from, to] of [
      ['"a"', '"b"'],
      ['"f"', '"g"'],
      ['"b":1', '"b":2'],
      ['"STOP"', '"MAX_TOKENS"'],
      ['"STOP"', '"TOOL_CALLS"'],
      ['"promptTokenCount":2', '"promptTokenCount":1'],
      ['"totalTokenCount":5', '"totalTokenCount":6'],
      ['"parts":[', '"parts":[{"text":"c","thought":true},'],
    ] as const)
      expect(wrongMeaning(whole.replace(from, to), meaning), to).not.toEqual([]);
  });
});

/** Changes of a request's JSON text after which it tells something else. */
const corruptions: readonly (readonly [RegExp, string])[] = [
  [/"temperature": ?[\d.]+/, '"temperature":0.123'],
  [/"maxOutputTokens": ?\d+/, '"maxOutputTokens":12345'],
  [/"topP": ?[\d.]+/, '"topP":0.321'],
  [/"stopSequences": ?\[\s*"/, '"stopSequences":["other'],
  [/"functionDeclarations": ?\[\s*\{/, '"functionDeclarations":[{"name":"another"},{'],
  [/"functionCall": ?\{/, '"functionCallx":{'],
  [/"functionResponse": ?\{/, '"functionResponsex":{'],
  [/"required": ?\[\s*"/, '"required":["other'],
  [/"data": ?"/, '"data":"AAAA'],
];

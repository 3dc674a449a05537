import {
  type Content,
  type GenerateContentConfig,
  GoogleGenAI,
  type GenerateContentResponse,
  type Part,
} from '@google/genai';
import {
  type OpenSdk,
  outputTokensMax,
  person,
  png,
  type Question,
  type Told,
  weather,
} from './sdk.ts';

export const genai: OpenSdk = (gatewayUrl, apiKey) => {
  const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gatewayUrl } });
  const go = async (question: Question, contents: readonly Content[]): Promise<Told> => {
    const { model } = question;
    const asked = { model, contents: [...contents], config: configOf(question) };
    if (question.stream !== true) return told([await models.generateContent(asked)]);
    const chunks: GenerateContentResponse[] = [];
    for await (const chunk of await models.generateContentStream(asked)) {
      chunks.push(chunk);
      const piece = textOf(partsOf([chunk]), false);
      if (piece !== '') question.hear?.(piece);
    }
    return told(chunks);

    function told(answers: readonly GenerateContentResponse[]): Told {
      const parts = partsOf(answers);
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
      const usage = answers.findLast(({ usageMetadata }) => usageMetadata)?.usageMetadata;
      return {
        text: textOf(parts, false),
        reasoning: textOf(parts, true),
        calls: calls.map(({ name = '', args }) => ({ name, input: args })),
        finish: answers.at(-1)?.candidates?.[0]?.finishReason,
        input: usage?.promptTokenCount ?? 0,
        output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
        reply: (results) =>
          go(question, [
            ...contents,
            // As the package's own chats do: some models refuse empty texts.
            { role: 'model', parts: parts.filter(({ text }) => text !== '') },
            {
              role: 'user',
              parts: calls.map(({ id, name = '' }, i) => ({
                functionResponse: {
                  ...(id === undefined ? {} : { id }),
                  name,
                  response: { output: results[i] ?? '' },
                },
              })),
            },
          ]),
      };
    }
  };
  return {
    finishes: { stop: 'STOP', tools: 'STOP' },
    hearsThoughts: true,
    asksForSummaries: false,
    schemaNeeds: ['schema'],
    strangerStatus: 400,
    ask: (question) => go(question, firstContents(question)),
  };
};

const partsOf = (answers: readonly GenerateContentResponse[]): Part[] =>
  answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);

const textOf = (parts: readonly Part[], thoughts: boolean): string =>
  parts
    .filter(({ thought }) => (thought === true) === thoughts)
    .map(({ text }) => text ?? '')
    .join('');

function configOf({ tools, schema, think, signal }: Question): GenerateContentConfig {
  const { name, description, parameters } = weather;
  return {
    maxOutputTokens: outputTokensMax,
    ...(signal === undefined ? {} : { abortSignal: signal }),
    ...(tools === true && {
      tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }],
    }),
    ...(schema === true && {
      responseMimeType: 'application/json',
      responseJsonSchema: person,
    }),
    ...(think === true && {
      thinkingConfig: { includeThoughts: true, thinkingBudget: outputTokensMax / 2 },
    }),
  };
}

function firstContents({ prompt, image }: Question): Content[] {
  const picture = { inlineData: { mimeType: 'image/png', data: png } };
  return [
    { role: 'user', parts: image === true ? [picture, { text: prompt }] : [{ text: prompt }] },
  ];
}

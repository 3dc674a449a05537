import { type Json, list, number, object, text } from '../json.ts';
import type { ModelFacts } from './model.ts';
import { type Checked, type Complaints, declares, vertexMessage } from './checked.ts';
import { schemaComplaints } from './rules-schema.ts';

/** `generationConfig`: ai.google.dev/api/generate-content#generationconfig, 2026-08. */
export function* configComplaints(checked: Checked): Complaints {
  const config = object(checked.raw['generationConfig']);
  yield* samplingComplaints(config, checked);
  yield* candidateComplaints(config, checked);
  yield* formatComplaints(config, checked);
  yield* thinkingComplaints(
    object(config['thinkingConfig']),
    checked.model,
    'thinkingConfig' in config,
  );
  yield* modalityComplaints(config, checked);
}

interface Range {
  readonly min: number;
  readonly max: number;
  /** The service's text, after the member's name. */
  readonly gemini: string;
  readonly vertex: string;
}

const ranges: Readonly<Record<string, Range>> = {
  temperature: {
    min: 0,
    max: 2,
    gemini: 'must be in the range [0.0, 2.0]',
    vertex: '0 (inclusive) to 2.0001 (exclusive)',
  },
  topP: {
    min: 0,
    max: 1,
    gemini: 'must be in the range [0.0, 1.0]',
    vertex: '0 (inclusive) to 1.0001 (exclusive)',
  },
  topK: {
    min: 1,
    max: 64,
    gemini: 'must be in the range [1, 64]',
    vertex: '1 (inclusive) to 65 (exclusive)',
  },
  presencePenalty: {
    min: -2,
    max: 1.9999,
    gemini: 'must be in the range [-2.0, 2.0)',
    vertex: '-2 (inclusive) to 2 (exclusive)',
  },
  frequencyPenalty: {
    min: -2,
    max: 1.9999,
    gemini: 'must be in the range [-2.0, 2.0)',
    vertex: '-2 (inclusive) to 2 (exclusive)',
  },
};

const stopSequencesMax = 5;

function* samplingComplaints(config: Json, { model, surface }: Checked): Complaints {
  for (const [name, { min, max, gemini, vertex }] of Object.entries(ranges)) {
    const value = number(config[name]);
    if (value === undefined || (value >= min && value <= max)) continue;
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (surface.api === 'gemini')
      yield `* GenerateContentRequest.generation_config.${snake}: ${snake} ${gemini}.\n`;
    // Recorded.
    else
      yield `Unable to submit request because it has a ${name} value of ${value} but the supported range is from ${vertex}. Update the value and try again.`;
  }
  const limit = number(config['maxOutputTokens']);
  if (limit !== undefined && limit < 1)
    yield '* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.\n';
  if (limit !== undefined && limit > model.outputMax)
    yield `Unable to submit request because it has a maxOutputTokens value of ${limit} but the supported range is from 1 (inclusive) to ${model.outputMax + 1} (exclusive). Update the value and try again.`;
  const stops = list(config['stopSequences']);
  if (stops.length > stopSequencesMax)
    yield `Unable to submit request because it has ${stops.length} stop sequences but the maximum is ${stopSequencesMax}. Update the value and try again.`;
  if (stops.includes(''))
    yield '* GenerateContentRequest.generation_config.stop_sequences[0]: stop sequence must not be empty.\n';
  const penalised = ['presencePenalty', 'frequencyPenalty'].some(
    (name) => (number(config[name]) ?? 0) !== 0,
  );
  // github.com/google-gemini/cookbook/issues/1290, 2026-07.
  if (penalised && !model.penalties) yield `Penalty is not enabled for models/${model.id}`;
}

const logprobsMax = 20;

function* candidateComplaints(config: Json, { model, streams }: Checked): Complaints {
  const count = number(config['candidateCount']) ?? 1;
  if (count < 1 || count > 8)
    yield '* GenerateContentRequest.generation_config.candidate_count: candidate_count must be in the range [1, 8].\n';
  if (count > model.candidatesMax || (count > 1 && streams && model.generation > 2))
    yield 'Multiple candidates is not enabled for this model';
  const top = number(config['logprobs']);
  if (config['responseLogprobs'] === true && !model.logprobs)
    yield `Logprobs is not enabled for models/${model.id}`;
  if (top === undefined) return;
  if (config['responseLogprobs'] !== true)
    yield '* GenerateContentRequest.generation_config.logprobs: response_logprobs must be true to set logprobs.\n';
  if (top < 0 || top > logprobsMax)
    yield `* GenerateContentRequest.generation_config.logprobs: logprobs must be in the range [0, ${logprobsMax}].\n`;
}

const mimeTypes = [
  'text/plain',
  'application/json',
  'application/xml',
  'application/yaml',
  'text/x.enum',
];

function* formatComplaints(config: Json, { raw, model, surface }: Checked): Complaints {
  const mime = text(config['responseMimeType']) ?? '';
  if (mime !== '' && !mimeTypes.includes(mime))
    yield '* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are `text/plain`, `application/json`, `application/xml`, `application/yaml` and `text/x.enum`.\n';
  if (mime.startsWith('application/') && !model.able)
    yield `JSON mode is not enabled for models/${model.id}`;
  if (declares(raw) && mime.startsWith('application/') && model.generation < 3)
    yield `Function calling with a response mime type: '${mime}' is unsupported`;
  const schema = config['responseSchema'];
  const json = config['responseJsonSchema'];
  if (schema !== undefined && json !== undefined)
    yield 'Unable to submit request because only one of response_schema and response_json_schema can be set.';
  if (schema === undefined && json === undefined) return;
  if (mime === '' || mime === 'text/plain')
    yield surface.api === 'vertex'
      ? vertexMessage(
          'responseSchema requires responseMimeType to be application/json or text/x.enum',
        )
      : '* GenerateContentRequest.generation_config.response_schema: only supported with response_mime_type application/json or text/x.enum.\n';
  if (schema !== undefined)
    yield* schemaComplaints(
      object(schema),
      'GenerateContentRequest.generation_config.response_schema',
      surface,
    );
}

/**
 * ai.google.dev/gemini-api/docs/thinking and /gemini-3, 2026-08: budgets for 2.5, levels from 3 on,
 * which still accepts budgets.
 */
function* thinkingComplaints(
  config: Json,
  { id, generation, thinking }: ModelFacts,
  present: boolean,
): Complaints {
  if (!present) return;
  const budget = number(config['thinkingBudget']);
  const level = text(config['thinkingLevel']);
  if (thinking.kind === 'none') {
    // A budget of 0 is accepted without thinking (recorded).
    if ((budget ?? 0) === 0 && level === undefined && config['includeThoughts'] !== true) return;
    yield generation === 0
      ? `Thinking is not enabled for models/${id}`
      : vertexMessage('thinking is not supported by this model');
    return;
  }
  if (budget !== undefined && level !== undefined)
    yield 'You can only set only one of thinking budget and thinking level.';
  if (level !== undefined && thinking.kind === 'budget')
    yield 'Thinking level is not supported for this model.';
  if (level !== undefined && thinking.kind === 'level' && !thinking.levels.includes(level))
    yield `Thinking level ${level} is not supported for this model. Please retry with other thinking level.`;
  if (budget !== undefined)
    yield* budgetComplaints(
      budget,
      thinking.kind === 'budget' ? thinking : { min: 0, max: 32_768, off: !id.includes('-pro') },
    );
  if (budget === 0 && config['includeThoughts'] === true)
    yield vertexMessage(
      'Thinking_config.include_thoughts is only enabled when thinking is enabled',
    );
}

function* budgetComplaints(
  budget: number,
  { min, max, off }: { readonly min: number; readonly max: number; readonly off: boolean },
): Complaints {
  if (budget === -1 || (budget === 0 && off)) return;
  if (budget === 0) yield 'Budget 0 is invalid. This model only works in thinking mode.';
  if (budget < min || budget > max)
    yield `The thinking budget ${budget} is invalid. Please choose a value between ${min} and ${max}.`;
}

/** A speech model gives only audio (recorded), and a text model gives none. */
function* modalityComplaints(config: Json, { model, surface }: Checked): Complaints {
  const requested = list(config['responseModalities']).map(String);
  const speaks = model.id.includes('-tts');
  const able = speaks ? ['AUDIO'] : model.id.includes('-image') ? ['TEXT', 'IMAGE'] : ['TEXT'];
  const wanted = requested.length === 0 ? (speaks ? ['TEXT'] : []) : requested;
  if (wanted.every((one) => able.includes(one))) return;
  const name = surface.api === 'vertex' ? model.id : `models/${model.id}`;
  yield `The requested combination of response modalities (${wanted.join(', ')}) is not supported by the model. ${name} accepts the following combination of response modalities:\n* ${able.join(', ')}\n`;
}

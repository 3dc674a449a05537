import { claudeNamed } from '../anthropic/claude.ts';
import { firstOf, type Complaints } from '../anthropic/complaints.ts';
import { messagesComplaint } from '../anthropic/messages-rules.ts';
import { type Json, list, number, object } from '../json.ts';
import { blockComplaints, only, violated } from './converse-blocks.ts';
import { messagesOf } from './converse-messages.ts';
import { choiceComplaints, toolComplaints } from './converse-tools.ts';
import { type ConverseModel, converseModel } from './model.ts';

const topLevel =
  'messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields additionalModelResponseFieldPaths promptVariables ' +
  'requestMetadata performanceConfig serviceTier outputConfig';
const marksMax = 4;
const betas = (raw: Json): readonly string[] =>
  list(object(raw['additionalModelRequestFields'])['anthropic_beta']).map(String);

/**
 * The first error that Bedrock, or the model behind it, finds in a conversation
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, 2026-08, recorded
 * refusals, and public reports).
 */
export function converseComplaint(raw: Json, id: string): string | undefined {
  const model = converseModel(id);
  const own = firstOf(complaints(raw, model));
  if (own !== undefined || model.family !== 'claude') return own;
  const behind = messagesComplaint(messagesOf(raw, claudeNamed(id).outputMax), {
    model: id,
    version: '2023-06-01',
    betas: betas(raw),
    hosted: true,
  });
  return behind === undefined ? undefined : `The model returned the following errors: ${behind}`;
}

function* complaints(raw: Json, model: ConverseModel): Complaints {
  yield* only(raw, '#', topLevel);
  yield* inference(object(raw['inferenceConfig']), model);
  for (const [i, value] of list(raw['system']).entries()) {
    const { text } = object(value);
    if (text !== undefined && String(text).trim() === '')
      yield `The text field in the ContentBlock object at system.${i} is blank. Add text to the text field, and try again.`;
  }
  yield* turns(raw, model);
  yield* toolComplaints(raw, model);
  yield* choiceComplaints(raw, model);
  yield* points(raw, model);
  yield* output(raw, model);
  if (model.family === 'nova 2') yield* novaEffort(raw);
}

function* inference(config: Json, { outputMax }: ConverseModel): Complaints {
  yield* only(config, '#/inferenceConfig', 'maxTokens temperature topP stopSequences');
  const max = number(config['maxTokens']);
  if (config['maxTokens'] !== undefined && (max === undefined || max < 1))
    yield violated(
      config['maxTokens'],
      'inferenceConfig.maxTokens',
      'Member must have value greater than or equal to 1',
    );
  if (max !== undefined && max > outputMax)
    yield `The maximum tokens you requested exceeds the model limit of ${outputMax}. Try again with a maximum tokens value that is lower than ${outputMax}.`;
  for (const name of ['temperature', 'topP']) {
    const value = config[name];
    if (value !== undefined && (typeof value !== 'number' || value < 0 || value > 1))
      yield violated(
        value,
        `inferenceConfig.${name}`,
        `Member must have value ${Number(value) < 0 ? 'greater' : 'less'} than or equal to ${Number(value) < 0 ? 0 : 1}`,
      );
  }
  if (list(config['stopSequences']).some((text) => typeof text !== 'string' || text === ''))
    yield violated(
      '',
      'inferenceConfig.stopSequences',
      'Member must have length greater than or equal to 1',
    );
}

function* turns(raw: Json, model: ConverseModel): Complaints {
  const messages = list(raw['messages']).map(object);
  for (const [i, message] of messages.entries()) {
    yield* only(message, `#/messages/${i}`, 'role content');
    if (!['user', 'assistant'].includes(String(message['role'])))
      yield violated(
        message['role'],
        `messages.${i + 1}.member.role`,
        'Member must satisfy enum value set: [user, assistant]',
      );
    if (list(message['content']).length === 0)
      yield `The content field in the Message object at messages.${i} is empty. Add a ContentBlock object to the content field and try again.`;
    yield* blockComplaints(message, i, model);
  }
  if (messages.length === 0) yield violated('null', 'messages', 'Member must not be null');
  if (messages[0]?.['role'] !== 'user' && !model.assistantFirst)
    yield 'A conversation must start with a user message. Try again with a conversation that starts with a user message.';
  if (messages.at(-1)?.['role'] === 'assistant' && !model.prefill)
    yield 'A conversation must end with a user message. Try again with a conversation that ends with a user message.';
}

/** `cachePoint` blocks of system and messages; those among tools count with them. */
function* points(raw: Json, { caches }: ConverseModel): Complaints {
  const inTools = list(object(raw['toolConfig'])['tools']).map(object);
  const inMessages = [
    ...list(raw['system']),
    ...list(raw['messages']).flatMap((message) => list(object(message)['content'])),
  ].map(object);
  const count = (blocks: readonly Json[]): number =>
    blocks.filter((block) => block['cachePoint'] !== undefined).length;
  const marks = count(inTools) + count(inMessages);
  const refused = caches === 'nowhere' ? marks : caches === 'messages' ? count(inTools) : 0;
  if (refused > 0)
    yield 'You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.';
  if (marks > marksMax)
    yield `A maximum of ${marksMax} cachePoint blocks may be provided. Found ${marks}.`;
  for (const block of [...inTools, ...inMessages]) {
    const point = block['cachePoint'];
    if (point === undefined) continue;
    const { type, ttl } = object(point);
    if (type !== 'default')
      yield violated(type, 'cachePoint.type', 'Member must satisfy enum value set: [default]');
    if (ttl !== undefined && ttl !== '5m' && ttl !== '1h')
      yield violated(ttl, 'cachePoint.ttl', 'Member must satisfy enum value set: [5m, 1h]');
  }
}

function* output(raw: Json, { structured, family }: ConverseModel): Complaints {
  const config = object(raw['outputConfig']);
  yield* only(config, '#/outputConfig', 'textFormat effort');
  if (config['effort'] !== undefined && family !== 'claude')
    yield "This model doesn't support the outputConfig.effort field. Remove outputConfig.effort and try again.";
  if (config['textFormat'] === undefined) return;
  if (!structured)
    yield "This model doesn't support the outputConfig.textFormat field. Remove outputConfig.textFormat and try again.";
  const { type, structure } = object(config['textFormat']);
  if (type !== 'json_schema')
    yield violated(
      type,
      'outputConfig.textFormat.type',
      'Member must satisfy enum value set: [json_schema]',
    );
  const { schema } = object(object(structure)['jsonSchema']);
  if (typeof schema !== 'string')
    yield violated(
      schema,
      'outputConfig.textFormat.structure.jsonSchema.schema',
      'Member must not be null',
    );
}

/** docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html, 2026-08. */
function* novaEffort(raw: Json): Complaints {
  const { reasoningConfig } = object(raw['additionalModelRequestFields']);
  const { type, maxReasoningEffort: effort } = object(reasoningConfig);
  if (reasoningConfig === undefined) return;
  if (type !== 'enabled' && type !== 'disabled') yield extraneous('reasoningConfig/type');
  if (type === 'disabled' && effort !== undefined)
    yield extraneous('reasoningConfig/maxReasoningEffort');
  if (type === 'enabled' && !['low', 'medium', 'high'].includes(String(effort)))
    yield extraneous('reasoningConfig/maxReasoningEffort');
  const config = object(raw['inferenceConfig']);
  const set = ['maxTokens', 'temperature', 'topP'].find((name) => config[name] !== undefined);
  if (type === 'enabled' && effort === 'high' && set !== undefined)
    yield `The model returned the following errors: ${set} must not be set when maxReasoningEffort is high.`;
}

const extraneous = (path: string): string =>
  `The model returned the following errors: Malformed input request: #/${path}: not a valid enum value, please reformat your input and try again.`;

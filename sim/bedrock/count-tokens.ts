import { promptTokens } from '../answer.ts';
import { claudeNamed } from '../anthropic/claude.ts';
import { chatOf } from '../anthropic/messages-chat.ts';
import { messagesComplaint } from '../anthropic/messages-rules.ts';
import type { Problem, Reply } from '../dialect.ts';
import { isJson, type Json, object, objectIn, text } from '../json.ts';
import { readRequest } from '../request.ts';
import { scenarioOf, withoutScenarios } from '../scenario.ts';
import { messagesOf } from './converse-messages.ts';
import { converseComplaint } from './converse-rules.ts';

/** Recorded: CountTokens takes the ids of Claude models, not of inference profiles. */
const counting = /^(?:anthropic\.claude-(?!3-(?:opus|sonnet|haiku)|v|instant)|sim-)/;

/**
 * CountTokens (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html,
 * 2026-08): of a Converse request, or of an Anthropic body.
 */
export function counted(
  raw: Json,
  named: string,
  refuse: (no: Pick<Problem, 'kind' | 'complaint'>) => Reply,
): Reply {
  const model = withoutScenarios(named);
  const { refuse: kind } = scenarioOf(named);
  if (kind !== undefined) return refuse({ kind, complaint: undefined });
  const no = (message: string): Reply => refuse({ kind: 'bad_request', complaint: { message } });
  if (!counting.test(model)) return no("The provided model doesn't support counting tokens.");
  const { converse, invokeModel } = object(raw['input']);
  const outputMax = claudeNamed(model).outputMax;
  if (isJson(converse)) {
    const complaint = converseComplaint(converse, model);
    return complaint === undefined
      ? tokensOf(messagesOf(converse, outputMax), model)
      : no(complaint);
  }
  const body = objectIn(Buffer.from(text(object(invokeModel)['body']) ?? '', 'base64'));
  if (body === undefined)
    return no('The input must set one of the following keys: converse, invokeModel.');
  const { anthropic_version: version, anthropic_beta: betas, ...message } = body;
  if (version !== 'bedrock-2023-05-31') return no('anthropic_version: Field required');
  const complaint = messagesComplaint(message, {
    model,
    version: '2023-06-01',
    betas: betas === undefined ? [] : ['any'],
    hosted: true,
  });
  return complaint === undefined ? tokensOf(message, model) : no(complaint);
}

const tokensOf = (messages: Json, model: string): Reply => ({
  status: 200,
  body: { inputTokens: promptTokens(readRequest(chatOf(messages, model), model)) },
});

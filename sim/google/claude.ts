import { anthropic, writerOf } from '../anthropic/anthropic.ts';
import { chatOf } from '../anthropic/messages-chat.ts';
import { messagesComplaint, thinks } from '../anthropic/messages-rules.ts';
import type { Complaint, Reply } from '../dialect.ts';
import { objectIn } from '../json.ts';
import { type ModelRequest, modelRequest, blankProblem, type OwnCall } from '../own-format.ts';
import { withoutScenarios } from '../scenario.ts';
import { type Surface, unknownModel } from './refusal.ts';

const version = 'vertex-2023-10-16';

/**
 * Claude on Vertex: Anthropic's messages with the version in the body and the model in the path
 * (platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai, 2026-08).
 */
export function callClaude(
  call: OwnCall,
  id: string,
  method: string,
  surface: Surface,
): Reply | ModelRequest {
  if (!/^(?:claude-|sim-)/.test(id) || !['rawPredict', 'streamRawPredict'].includes(method))
    return unknownModel(surface, id, method);
  const model = withoutScenarios(id);
  const no = (message: string): Reply => {
    const complaint: Complaint = { message };
    return anthropic.refuse({ ...blankProblem(call.url), model, complaint });
  };
  const raw = objectIn(call.body);
  if (raw === undefined) return no('The request body is not valid JSON');
  const { anthropic_version: sentVersion, ...rest } = raw;
  if (sentVersion === undefined) return no('anthropic_version: Field required');
  if (sentVersion !== version) return no(`anthropic_version: Input should be '${version}'`);
  const betas = (
    Array.isArray(raw['anthropic_beta'])
      ? raw['anthropic_beta']
      : [call.headers['anthropic-beta'] ?? '']
  )
    .map(String)
    .filter(Boolean);
  const { anthropic_beta: _, ...message } = rest;
  const complaint = messagesComplaint(message, {
    model,
    version: '2023-06-01',
    betas,
    hosted: true,
  });
  if (complaint !== undefined) return no(complaint);
  // `stream` in the body decides, whichever of the two methods is called.
  return modelRequest(id, chatOf(message, model), thinks(message, model), writerOf(message));
}

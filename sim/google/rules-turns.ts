import { type Json, list, object, text } from '../json.ts';
import { mediaComplaints } from './rules-media.ts';
import { status } from './refusal.ts';
import { type Checked, type Complaints, declares, vertexMessage } from './checked.ts';
import { isSignature } from './thought.ts';

interface Turn {
  readonly role: string;
  readonly parts: readonly Json[];
  readonly calls: readonly Json[];
  readonly results: readonly Json[];
}

/** `contents`: the order of roles, and the parts of a turn. */
export function* turnComplaints(checked: Checked): Complaints {
  const { raw, surface } = checked;
  const turns = list(raw['contents']).map(object).map(turnOf);
  if (turns.length === 0)
    yield surface.api === 'vertex'
      ? vertexMessage('at least one contents field is required')
      : '* GenerateContentRequest.contents: contents is not specified\n';
  for (const [i, turn] of turns.entries()) yield* shapeComplaints(turn, i, checked);
  for (const [i, turn] of turns.entries())
    yield* orderComplaints(turn, turns[i - 1], turns[i + 1], declares(raw));
  yield* signatureComplaints(turns, checked);
}

function turnOf(content: Json): Turn {
  const parts = list(content['parts']).map(object);
  const all = (name: string): Json[] =>
    parts.filter((part) => part[name] !== undefined).map((part) => object(part[name]));
  return {
    role: text(content['role']) ?? '',
    parts,
    calls: all('functionCall'),
    results: all('functionResponse'),
  };
}

/** Members of a part that carry content; the others describe it. */
const data =
  'text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse'.split(
    ' ',
  );

function* shapeComplaints(
  { role, parts, calls, results }: Turn,
  i: number,
  checked: Checked,
): Complaints {
  const { surface } = checked;
  const at = `GenerateContentRequest.contents[${i}]`;
  // `function` was once a role of its own; a missing role is the user, but not on Vertex.
  const roles =
    surface.api === 'vertex' ? ['user', 'model', 'function'] : ['', 'user', 'model', 'function'];
  if (!roles.includes(role)) yield 'Please use a valid role: user, model.';
  if (parts.length === 0)
    yield surface.api === 'vertex'
      ? vertexMessage('it must include at least one parts field, which describes the prompt input')
      : `* ${at}.parts: contents.parts must not be empty.\n`;
  for (const [p, part] of parts.entries()) {
    // A signature may come without content (ai.google.dev/gemini-api/docs/thought-signatures,
    // 2026-08), and an empty text is content (recorded).
    if (!data.some((name) => part[name] !== undefined) && part['thoughtSignature'] === undefined)
      yield `* ${at}.parts[${p}].data: required oneof field 'data' must have one initialized field\n`;
    if (part['text'] === '' && part['thoughtSignature'] === undefined && surface.api === 'vertex')
      yield vertexMessage(
        'it has an empty text parameter. Add a value to the parameter and try again',
      );
    yield* mediaComplaints(part, `${at}.parts[${p}]`, checked);
    for (const [kind, member] of [
      ['functionCall', 'function_call'],
      ['functionResponse', 'function_response'],
    ] as const)
      if (part[kind] !== undefined && (text(object(part[kind])['name']) ?? '') === '')
        yield `* ${at}.parts[${p}].${member}.name: Name cannot be empty.\n`;
  }
  if (calls.length > 0 && role !== 'model')
    yield 'Please ensure that function call parts are in a turn of the model role.';
  if (results.length > 0 && role === 'model')
    yield 'Please ensure that function response parts are in a turn of the user role.';
}

/** A call follows a turn of a user or function; the very next turn has a result for each call. */
function* orderComplaints(
  turn: Turn,
  before: Turn | undefined,
  after: Turn | undefined,
  strict: boolean,
): Complaints {
  if (turn.results.length > 0) {
    if (before === undefined || before.calls.length === 0)
      yield 'Please ensure that function response turn comes immediately after a function call turn.';
    else if (before.calls.length !== turn.results.length)
      yield 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    else yield* pairComplaints(before.calls, turn.results);
  }
  if (turn.calls.length === 0) return;
  if (before === undefined || before.role === 'model')
    yield 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
  // Accepts a conversation with calls of functions that it no longer declares (recorded).
  if (strict && after !== undefined && after.results.length === 0)
    yield 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
}

/** Matches calls and results by id, or by name without ids. */
function* pairComplaints(calls: readonly Json[], results: readonly Json[]): Complaints {
  for (const result of results) {
    const named = calls.filter((call) => call['name'] === result['name']);
    const paired =
      result['id'] === undefined ? named : named.filter((call) => call['id'] === result['id']);
    if (paired.length === 0)
      yield `Please ensure that function response ${text(result['name']) ?? ''} matches a function call of the function call turn.`;
  }
}

/**
 * In the current turn, which begins with the user's last message, the first call of each step has a
 * signature (ai.google.dev/gemini-api/docs/thought-signatures, 2026-08: "a 400 error"). Older turns
 * may lack signatures, but an invented one is refused everywhere.
 */
function* signatureComplaints(turns: readonly Turn[], { model }: Checked): Complaints {
  for (const { parts } of turns)
    for (const part of parts) {
      const signature = text(part['thoughtSignature']);
      if (signature !== undefined && !isSignature(signature, part))
        yield status(400, 'Corrupted thought signature.');
    }
  if (!model.signs) return;
  const began = turns.findLastIndex(
    ({ role, results }) => role !== 'model' && results.length === 0,
  );
  for (const [i, { parts }] of turns.entries()) {
    if (i <= began) continue;
    const first = parts.find((part) => part['functionCall'] !== undefined);
    if (first === undefined || first['thoughtSignature'] !== undefined) continue;
    const name = text(object(first['functionCall'])['name']) ?? '';
    yield `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${i + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
  }
}

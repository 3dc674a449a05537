import type { Reply } from '../dialect.ts';
import { type Json, list, object, text } from '../json.ts';
import { type Checked, type Complaints, hasOwnTools, vertexMessage } from './checked.ts';
import { status } from './refusal.ts';
import { configComplaints } from './rules-config.ts';
import { declarationComplaints } from './rules-schema.ts';
import { turnComplaints } from './rules-turns.ts';

/** The first refusal of the service or of the model. */
export function complaintOf(checked: Checked): Reply | undefined {
  const { value } = complaints(checked).next();
  return typeof value === 'string' ? status(400, value) : (value ?? undefined);
}

function* complaints(checked: Checked): Complaints {
  yield* turnComplaints(checked);
  yield* instructionComplaints(checked);
  yield* toolComplaints(checked);
  yield* configComplaints(checked);
  yield* safetyComplaints(checked);
  yield* cacheComplaints(checked.raw);
}

function* instructionComplaints({ raw, model, surface }: Checked): Complaints {
  if (raw['systemInstruction'] === undefined) return;
  if (!model.able) yield `Developer instruction is not enabled for models/${model.id}`;
  const parts = list(object(raw['systemInstruction'])['parts']).map(object);
  if (parts.length === 0 && surface.api === 'vertex')
    yield vertexMessage(
      'it must include at least one parts field, which describes the prompt input',
    );
  for (const [i, part] of parts.entries())
    if (
      Object.keys(part).every(
        (name) =>
          name === 'thought' ||
          (name === 'text' && part['text'] === '' && surface.api === 'vertex'),
      )
    )
      yield `* GenerateContentRequest.system_instruction.parts[${i}].data: required oneof field 'data' must have one initialized field\n`;
}

function* toolComplaints(checked: Checked): Complaints {
  const { raw, model } = checked;
  const tools = list(raw['tools']).map(object);
  const declared = tools.flatMap((tool) => list(tool['functionDeclarations'])).map(object);
  if (declared.length > 0 && !model.able)
    yield `Function calling is not enabled for models/${model.id}`;
  if (tools.some((tool) => Object.keys(tool).length === 0))
    yield "* GenerateContentRequest.tools[0].tool_type: required one_of 'tool_type' must have one initialized field\n";
  if (hasOwnTools(raw) && declared.length > 0 && model.generation < 3)
    yield 'Tool use with function calling is unsupported';
  yield* declarationComplaints(checked);
  const config = object(object(raw['toolConfig'])['functionCallingConfig']);
  const allowed = list(config['allowedFunctionNames']);
  const mode = text(config['mode']) ?? 'AUTO';
  if (mode !== 'NONE' && mode !== 'AUTO' && declared.length === 0)
    yield 'Function calling config is set without function_declarations.';
  if (allowed.length > 0 && mode !== 'ANY' && mode !== 'VALIDATED')
    yield 'Please set allowed_function_names only when function calling mode is ANY.';
  const names = declared.map((one) => one['name']);
  const stranger = allowed.find((name) => !names.includes(name));
  if (stranger !== undefined)
    yield `Allowed function name ${String(stranger)} is not in the function declarations.`;
}

const adjustable =
  'HATE_SPEECH SEXUALLY_EXPLICIT DANGEROUS_CONTENT HARASSMENT CIVIC_INTEGRITY JAILBREAK'
    .split(' ')
    .map((word) => `HARM_CATEGORY_${word}`);

/**
 * ai.google.dev/gemini-api/docs/caching, 2026-08: cached content replaces members of the request.
 * Every cache exists, except those with `missing` or `gone` in their name.
 */
function* cacheComplaints(raw: Json): Complaints {
  const name = text(raw['cachedContent']);
  if (name === undefined) return;
  if (
    raw['systemInstruction'] !== undefined ||
    raw['tools'] !== undefined ||
    raw['toolConfig'] !== undefined
  )
    yield 'CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\nProposed fix: move those values to CachedContent from GenerateContent request.';
  if (/missing|gone/.test(name))
    yield status(403, 'CachedContent not found (or permission denied)');
}

function* safetyComplaints({ raw, surface }: Checked): Complaints {
  const seen = new Set<unknown>();
  for (const [i, setting] of list(raw['safetySettings']).map(object).entries()) {
    const category = text(setting['category']) ?? 'HARM_CATEGORY_UNSPECIFIED';
    const known =
      adjustable.includes(category) ||
      (surface.api === 'vertex' && category.startsWith('HARM_CATEGORY_IMAGE_'));
    if (!known)
      yield `* GenerateContentRequest.safety_settings[${i}]: element predicate failed: $.category in (${adjustable
        .slice(0, 5)
        .map((name) => `HarmCategory.${name}`)
        .join(', ')})\n`;
    if (seen.has(category)) yield `Duplicate safety setting for category ${category}`;
    seen.add(category);
  }
}

/**
 * The largest request, in bytes: 20 MB until 2026-01 (ai.google.dev/gemini-api/docs/files,
 * 2026-08).
 */
const requestBytesMax = 100 * 1024 * 1024;

export function tooLarge(bytes: number): Reply | undefined {
  return bytes <= requestBytesMax
    ? undefined
    : status(400, `Request payload size exceeds the limit: ${requestBytesMax} bytes.`);
}

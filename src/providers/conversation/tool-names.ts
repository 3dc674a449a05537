import { createHash } from 'node:crypto';
import { objectsOf, textOf } from '../../base/json.ts';
import type { VendorCall } from '../adapter.ts';

/**
 * The longest name of a tool in chat (openai-openapi.yaml, FunctionObject, 2026-11) and at its
 * vendors (DeepSeek: mrexodia/ida-pro-mcp#129, 2025-09; Qwen: QwenLM/Qwen3-VL#2069, 2026-03;
 * Bedrock: service-2.json, ToolName, 2026-11). Clients of Messages, Responses and generateContent
 * may send 128 characters.
 */
const lengthMax = 64;
const hashLength = 8;

/** The name that chat has for a client's tool: a longer one is cut and ends in its hash. */
export function chatToolName<Name>(name: Name): Name | string {
  if (typeof name !== 'string' || name.length <= lengthMax) return name;
  const hash = createHash('sha256').update(name).digest('base64url').slice(0, hashLength);
  return `${name.slice(0, lengthMax - hashLength - 1)}_${hash}`;
}

/**
 * The client's name of the tool that chat calls `name`. `toolsOf`: the client's tools, which are
 * read only where the name may be shortened.
 */
export function clientToolName<Name>(
  name: Name,
  call: VendorCall,
  toolsOf: (call: VendorCall) => unknown,
): Name | string {
  if (typeof name !== 'string' || name.length !== lengthMax) return name;
  const names = objectsOf(toolsOf(call)).map((tool) => textOf(tool['name']) ?? '');
  return names.find((own) => chatToolName(own) === name) ?? name;
}

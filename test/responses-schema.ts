import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const file = fileURLToPath(new URL('../../shared/specs/openresponses-openapi.json', import.meta.url));

interface Description {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: { readonly type?: { readonly enum?: readonly string[] } } }>>;
  };
}

/** What the published description of responses finds wrong with an object or an event; nothing where it is not at hand or knows no such event. */
export function openSchema(): { response(value: unknown): string; event(value: { readonly [name: string]: unknown }): string } {
  if (!existsSync(file)) return { response: () => '', event: () => '' };
  const description: Description = JSON.parse(readFileSync(file, 'utf8'));
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(description, 'responses');
  const compiled = (name: string): ValidateFunction => ajv.compile({ $ref: `responses#/components/schemas/${name}` });
  const events = new Map<string, ValidateFunction>();
  for (const [name, { properties }] of Object.entries(description.components.schemas)) {
    const type = properties?.type?.enum?.[0];
    if (name.endsWith('StreamingEvent') && type !== undefined) events.set(type, compiled(name));
  }
  const response = compiled('ResponseResource');
  const wrong = (validate: ValidateFunction | undefined, value: unknown): string =>
    validate === undefined || validate(value) ? '' : ajv.errorsText(validate.errors);
  return {
    response: (value) => wrong(response, value),
    event: (value) => wrong(events.get(String(value['type'])), value),
  };
}

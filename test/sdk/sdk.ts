import type { Skill } from '../../sim/catalog.ts';

/**
 * What is asked, in words that every package can be given. The tool is `weather`, the image `png`,
 * the schema `person`.
 */
export interface Question {
  readonly model: string;
  readonly prompt: string;
  readonly stream?: boolean;
  readonly tools?: boolean;
  readonly image?: boolean;
  readonly schema?: boolean;
  readonly think?: boolean;
  readonly signal?: AbortSignal;
  /** Each piece of text of a stream, as it arrives. */
  readonly hear?: (piece: string) => void;
}

/** What a package made of the answer. */
export interface Told {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly finish: unknown;
  /** Tokens. */
  readonly input: number;
  readonly output: number;
  /** The same conversation with what the tools answered, call by call. */
  reply(results: readonly string[]): Promise<Told>;
}

/**
 * An official package as its users write it: two changes, the base URL and the key. It tries once.
 */
export interface Sdk {
  ask(question: Question): Promise<Told>;
  /** How its format says that the answer is complete, and that tools are called. */
  readonly finishes: { readonly stop: string; readonly tools: string };
  /** It passes on the thoughts of models that are not its vendor's. */
  readonly hearsThoughts: boolean;
  /** Its endpoint has summaries of thoughts that are kept secret themselves. */
  readonly asksForSummaries: boolean;
  /**
   * What it needs of a model that is to follow a schema; some make a tool of it that has to be
   * called.
   */
  readonly schemaNeeds: readonly Skill[];
  /** The status of an unknown key in its format, where it is not 401. */
  readonly strangerStatus?: number;
}

export type OpenSdk = (gatewayUrl: string, key: string) => Sdk;

export const weather = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
    additionalProperties: false,
  },
};

export const person = {
  type: 'object' as const,
  properties: { name: { type: 'string' as const }, age: { type: 'integer' as const } },
  required: ['name', 'age'],
  additionalProperties: false,
};

/** One pixel. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const pngUrl = `data:image/png;base64,${png}`;

export const outputTokensMax = 4_000;

/** The facts about a model that its request depends on, read from its id. */
export interface GeminiModel {
  /**
   * 2.5, 3, 3.1 …; aliases such as `gemini-flash-latest` count as the newest; undefined for other
   * models (Gemma, a tuned model's number).
   */
  readonly generation: number | undefined;
  readonly id: string;
}

export function geminiModel(id: string): GeminiModel {
  const version = /gemini-(?:[a-z-]*?)(\d+(?:\.\d+)?)/.exec(id)?.[1];
  return {
    id,
    generation:
      version === undefined
        ? /gemini-.*latest/.test(id)
          ? Number.POSITIVE_INFINITY
          : undefined
        : Number(version),
  };
}

/**
 * From this generation on, models think in levels, sign their calls, and take a schema for the
 * answer beside tools (ai.google.dev/gemini-api/docs/gemini-3, 2026-08).
 */
export const isThird = (model: GeminiModel): boolean => (model.generation ?? 0) >= 3;

/**
 * Gemma before its fourth generation takes no system instruction
 * (ai.google.dev/gemma/docs/core/prompt-structure, 2026-06).
 */
export const lacksSystem = (model: GeminiModel): boolean => /^gemma-(?:[123])/.test(model.id);

/**
 * Other models refuse penalties except zero: "Penalty is not enabled for this model"
 * (github.com/google-gemini/cookbook/issues/1290, 2026-07).
 */
export const takesPenalties = (model: GeminiModel): boolean => model.generation === 2;

/**
 * From 2.5 on, models fetch `https://…` addresses themselves (ai.google.dev/api/generate-content,
 * 2026-08).
 */
export const fetchesAddresses = (model: GeminiModel): boolean => (model.generation ?? 0) >= 2.5;

import type { Complaint } from '../dialect.ts';
import { type Json, list, object, text } from '../json.ts';
import type { Writer } from '../play.ts';
import { scoresOf } from './model.ts';
import { wholeWriter } from './writer.ts';

/** The differences between a vendor's moderation and OpenAI's. */
export interface ModerationRules {
  readonly categories: readonly string[];
  /** One flag for all categories. */
  readonly flagged: boolean;
  /** It also judges images. */
  readonly images: boolean;
}

export const openAiModeration: ModerationRules = {
  categories:
    'harassment harassment/threatening sexual hate hate/threatening illicit illicit/violent self-harm/intent self-harm/instructions self-harm sexual/minors violence violence/graphic'.split(
      ' ',
    ),
  flagged: true,
  images: true,
};

/** docs.mistral.ai/capabilities/guardrailing, 2026-08. */
export const mistralModeration: ModerationRules = {
  categories:
    'sexual hate_and_discrimination violence_and_threats dangerous_and_criminal_content selfharm health financial law pii violence'.split(
      ' ',
    ),
  flagged: false,
  images: false,
};

const isPart = (value: unknown): boolean => typeof value === 'object' && value !== null;

export function moderationComplaint(
  { input }: Json,
  { images }: ModerationRules,
): Complaint | undefined {
  const all = typeof input === 'string' ? [input] : list(input);
  if (all.length === 0) return { param: 'input', message: "Missing required parameter: 'input'." };
  for (const one of all) {
    if (typeof one === 'string') continue;
    const known =
      object(one)['type'] === 'text' ||
      (object(one)['type'] === 'image_url' &&
        text(object(object(one)['image_url'])['url']) !== undefined);
    if (!images || !known) return { param: 'input', message: 'Invalid input.' };
  }
  return undefined;
}

/** The texts to judge, one by one; the parts of an input count as one text. */
export function judgedTexts({ input }: Json): string[] {
  if (typeof input === 'string') return [input];
  const all = list(input);
  if (!all.some(isPart)) return all.map(String);
  return [all.map((part) => text(object(part)['text']) ?? '').join(' ')];
}

export function moderationWriter(
  raw: Json,
  { categories, flagged, images }: ModerationRules,
): Writer {
  return wholeWriter(({ id, model }) => ({
    id: `modr-${id}`,
    model,
    results: judgedTexts(raw).map((judged) => {
      const scores = scoresOf(judged, categories);
      const over = Object.fromEntries(
        Object.entries(scores).map(([name, score]) => [name, score > 0.5]),
      );
      return {
        ...(flagged && { flagged: Object.values(over).includes(true) }),
        categories: over,
        category_scores: scores,
        ...(images && {
          category_applied_input_types: Object.fromEntries(
            categories.map((name) => [name, ['text']]),
          ),
        }),
      };
    }),
  }));
}

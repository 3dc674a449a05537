import { hash } from '../tokens.ts';

const placesAFeature = 8;
const trigramWeight = 0.3;

/** A vector of length one. Texts that share words and parts of words have similar vectors. */
export function vectorOf(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  const add = (feature: string, weight: number): void => {
    for (let i = 0; i < placesAFeature; i++) {
      const place = hash(`${feature}#${i}`);
      vector[place % dimensions] =
        (vector[place % dimensions] ?? 0) + (place & 0x10000 ? weight : -weight);
    }
  };
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
  for (const word of words) {
    add(word, 1);
    for (let i = 0; i + 3 <= word.length; i++) add(word.slice(i, i + 3), trigramWeight);
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => Math.fround(value / length));
}

/** The relevance of a document to a query, from 0 to 1. */
export function relevanceOf(query: string, document: string): number {
  const [a, b] = [vectorOf(query, 512), vectorOf(document, 512)];
  return Math.max(
    0,
    Math.min(1, 0.5 + a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0) / 2),
  );
}

const telling: Readonly<Record<string, RegExp>> = {
  violence: /\b(?:kill|murder|stab)/i,
  harassment: /\b(?:idiot|stupid|loser)/i,
  'self-harm': /\b(?:suicide|hurt myself)/i,
  hate: /\bhate (?:them|those people)/i,
};

/** The score of a text in each moderation category, from 0 to 1. */
export function scoresOf(text: string, categories: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    categories.map((category) => [category, telling[category]?.test(text) ? 0.97 : 0.0001]),
  );
}

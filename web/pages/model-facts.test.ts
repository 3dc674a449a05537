import { expect, test } from 'vitest';
import words from '../words/en/models.ts';
import { aboutText, contentsOf } from './model-facts.tsx';

test('what a model takes and gives is what its description says, also where the catalog names neither', () => {
  const film = { kind: 'video', modalities: null, output_tokens_max: null } as const;
  expect(aboutText(words, film, 'en')).toBe('Makes videos from text.');
  expect(contentsOf(film)).toEqual({ in: ['text'], out: ['video'] });
  const named = { in: ['text', 'image'], out: ['video'] };
  expect(contentsOf({ ...film, modalities: named })).toEqual(named);
  expect(contentsOf({ kind: 'rerank', modalities: null })).toBeNull();
});

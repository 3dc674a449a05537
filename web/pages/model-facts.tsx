import type { ReactNode } from 'react';
import type { ModelRow } from '../../src/console/contract.ts';
import { Badge } from '../components/status-badge.tsx';
import { formatCount, formatShare } from '../format/count.ts';
import { formatDuration } from '../format/time.ts';
import type english from '../words/en/models.ts';
import { modelsWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { type Language, useLanguage } from '../words/language.ts';

export const abilities = ['vision', 'tools', 'reasoning', 'files'] as const;
export type Ability = (typeof abilities)[number];

export function hasAbility(model: ModelRow, ability: Ability): boolean {
  if (ability === 'tools' || ability === 'reasoning') return model[ability];
  const takes = model.kind === 'chat' ? (model.modalities?.in ?? []) : [];
  return takes.includes(ability === 'vision' ? 'image' : 'file');
}

export function AbilityBadges({ model }: { readonly model: ModelRow }): ReactNode {
  const { can } = useWords(modelsWords);
  return abilities
    .filter((ability) => hasAbility(model, ability))
    .map((ability) => <Badge key={ability}>{can[ability]}</Badge>);
}

/** The name as it is written: marks of direction in it change nothing around it. */
export function ModelId({ id }: { readonly id: string }): ReactNode {
  return <bdi className="font-mono">{id}</bdi>;
}

type Facts = Pick<ModelRow, 'kind' | 'modalities'>;

const usualOutput: Readonly<Partial<Record<ModelRow['kind'], string>>> = {
  chat: 'text',
  image: 'image',
  video: 'video',
};

/** What goes in and what comes out: where the catalog names neither, what such a model does. */
export function contentsOf({ kind, modalities }: Facts): ModelRow['modalities'] {
  const output = usualOutput[kind];
  return modalities ?? (output === undefined ? null : { in: ['text'], out: [output] });
}

type ModelsTexts = typeof english;

function listText(words: ModelsTexts, names: readonly string[]): string {
  const texts = names.map((name) => words.modalities[name] ?? name);
  const last = texts.at(-1) ?? '';
  return texts.length < 2 ? last : words.and(texts.slice(0, -1).join(words.comma), last);
}

/** A description from the facts of the catalog: what goes in and what comes out. */
export function aboutText(
  words: ModelsTexts,
  model: Facts & Pick<ModelRow, 'output_tokens_max'>,
  language: Language,
): string {
  const { about } = words;
  const { kind } = model;
  const contents = contentsOf(model);
  const takes = listText(words, contents?.in ?? ['text']);
  if (kind === 'chat') {
    const gives = listText(words, contents?.out ?? ['text']);
    const most = model.output_tokens_max;
    const limit = most === null ? '' : about.output(formatCount(most));
    return [about.chat(takes, gives), limit].filter(Boolean).join(language === 'zh' ? '' : ' ');
  }
  const text = about[kind];
  return typeof text === 'string' ? text : text(takes);
}

export function AboutText({ model }: { readonly model: ModelRow }): ReactNode {
  return aboutText(useWords(modelsWords), model, useLanguage());
}

/** First byte, tokens per second and uptime of the last 24 hours; undefined: none. */
export function speedTexts(words: ModelsTexts, { speed }: Pick<ModelRow, 'speed'>) {
  const {
    first_byte_median_ms: first,
    output_per_second: pace,
    success_share: share,
  } = speed ?? {};
  return {
    first: first == null ? undefined : formatDuration(first),
    pace: pace == null ? undefined : words.speed.paceOf(formatCount(Math.round(pace))),
    uptime: share === undefined ? undefined : formatShare(share),
  };
}

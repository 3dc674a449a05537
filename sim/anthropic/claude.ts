/** The parameters that a Claude accepts, by its generation. */
export interface Claude {
  readonly outputMax: number;
  /** The types of `thinking` that it accepts. */
  readonly thinking: readonly ('enabled' | 'adaptive' | 'disabled' | 'between_tools')[];
  /** Values of `output_config.effort`; empty: it has no such parameter. */
  readonly efforts: readonly string[];
  /**
   * `temperature`, `top_p` and `top_k`: any values, only one of the first two, or defaults only.
   */
  readonly sampling: 'free' | 'one' | 'defaults';
  /** The conversation may end with a message of the assistant. */
  readonly prefill: boolean;
  /** `tool_choice` may force a call. */
  readonly forces: boolean;
  readonly structured: boolean;
  /** Leaves thinking out of the response unless `display` asks for it. */
  readonly silent: boolean;
  /** System messages may stand inside the conversation. */
  readonly systemTurns: boolean;
  /** Thinks without being asked to. */
  readonly alwaysThinks: boolean;
}

const first: Claude = {
  outputMax: 4096,
  thinking: ['disabled'],
  efforts: [],
  sampling: 'free',
  prefill: true,
  forces: true,
  structured: false,
  silent: false,
  systemTurns: false,
  alwaysThinks: false,
};
const budgets = { thinking: ['enabled', 'disabled'] } as const;
const efforts = ['high', 'low', 'max', 'medium'];

/**
 * Generations in order, by version times ten. A model has the values of the highest row that it
 * reaches, on top of all rows before.
 */
const generations: readonly (readonly [number, Partial<Claude>])[] = [
  [30, {}],
  [35, { outputMax: 8192 }],
  [37, { outputMax: 128_000, ...budgets }],
  [40, { outputMax: 64_000 }],
  [41, { sampling: 'one', structured: true }],
  [45, { efforts: ['high', 'low', 'medium'] }],
  [
    46,
    { outputMax: 128_000, thinking: ['enabled', 'adaptive', 'disabled'], efforts, prefill: false },
  ],
  [
    47,
    {
      thinking: ['adaptive', 'disabled'],
      efforts: [...efforts, 'xhigh'],
      sampling: 'defaults',
      silent: true,
    },
  ],
  [48, { systemTurns: true }],
  [55, { thinking: ['adaptive'], forces: false, alwaysThinks: true }],
];

const id = /claude-(?:([a-z]+)-(\d)(?:[-.](\d{1,2})(?!\d))?|(\d)(?:[-.](\d))?-([a-z]+))/;

/**
 * platform.claude.com/docs/en/about-claude/models (overview, whats-new-claude-4-6, 4-7, opus-5-5)
 * and build-with-claude (effort, extended-thinking, structured-outputs), 2026-11. Other names, such
 * as the scenarios, behave like Sonnet 4.5.
 */
export function claudeNamed(model: string): Claude {
  const [, family, major, minor, oldMajor, oldMinor, oldFamily] = id.exec(model) ?? [];
  const name = family ?? oldFamily ?? '';
  const young = name === 'fable' || name === 'mythos';
  const written =
    Number(major ?? oldMajor ?? 4) * 10 +
    Number(minor ?? oldMinor ?? ((major ?? oldMajor) ? 0 : 5));
  const version = young && written > 50 ? 55 : written;
  const claude: Claude = Object.assign(
    {},
    first,
    ...generations.filter(([from]) => version >= from).map(([, traits]) => traits),
  );
  if (young && version < 55) return { ...claude, thinking: ['adaptive'], alwaysThinks: true };
  if (name === 'sonnet' && version >= 55)
    return { ...claude, thinking: ['adaptive', 'between_tools'], forces: true };
  if (name === 'haiku' && version >= 55)
    return { ...claude, thinking: ['adaptive', 'disabled'], forces: true, alwaysThinks: false };
  if (name === 'opus' && (version === 40 || version === 41))
    return { ...claude, outputMax: 32_000 };
  return claude;
}

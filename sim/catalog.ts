import {
  type ChannelTarget,
  channelLine,
  channelLines,
  modelLine,
  readTable,
  type SoldModel,
} from './catalog-lines.ts';
import { imageModelLines, imageModels } from './images/catalog.ts';
import { ownImageModelLines, ownImageModels, imagesAlone } from './own-images/catalog.ts';
import { soundAlone, soundModelLines, soundModels } from './sound/catalog.ts';
import { vectorModelLines, vectorModels } from './vectors/catalog.ts';
import { ownFormats, vendors } from './vendors.ts';
import { videoChannelLines, videoModelLines } from './video/catalog.ts';
import { videosAlone } from './video/vendors.ts';

/**
 * The abilities of a model. `file`: reads PDFs. `thinks`: shows its reasoning when the request asks
 * for it. `sums-up`: shows a summary of it on /responses.
 */
export type Skill = (typeof skills)[number];

export interface SimModel extends SoldModel {
  /** Tokens in all. */
  readonly context: number;
  readonly outputMax: number;
  /** Yuan per million tokens: input, input from the vendor's cache, output. */
  readonly prices: readonly [number, number, number];
  readonly skills: ReadonlySet<Skill>;
}

/**
 * At least one model of each vendor, at list prices of November 2026, US dollars at 7.1 yuan; local
 * servers at the price of electricity. All call tools, also when a request forces them, and follow
 * a schema, except for skills marked `-`; further skills stand at the end.
 */
const table = `
  gpt-4o                openai      openai    =                           128000   16384  17.75  8.875   71    image file
  gpt-4o-mini           openai      openai    =                           128000   16384   1.065 0.5325   4.26 image file
  gpt-5-mini            openai      openai    =                           400000  128000   1.775 0.1775  14.2  image sums-up
  gpt-5.6-terra         openai      openai    =                           400000  128000  17.75  1.775   71    image sums-up
  gpt-4.1               azure       openai    =                          1047576   32768  14.2   3.55    56.8  image file
  deepseek-chat         deepseek    deepseek  =                           128000    8192   2     0.2      3    text thinks
  deepseek-reasoner     deepseek    deepseek  =                           128000   65536   2     0.2      3    text thinks
  qwen-plus             qwen        qwen      =                          1000000   32768   0.8   0.16     2    text thinks
  qwen3-vl-plus         qwen        qwen      =                           262144   32768   1     0.2     10    image thinks
  glm-4.7               zhipu       zhipu     =                           204800  131072   2     0.4      8    text thinks
  kimi-k2.6             moonshot    moonshot  =                           262144  262144   6.745 1.136   28.4  image thinks
  MiniMax-M2.7          minimax     minimax   =                           204800  131072   2.1   0.42     8.4  text thinks
  doubao-seed-2-0-pro   volcengine  doubao    doubao-seed-2-0-pro-260215  256000  128000   3.2   0.64    16    image thinks
  mistral-small-latest  mistral     mistral   =                           262144   32768   1.065 0.1065   4.26 image thinks
  grok-4.3              xai         xai       =                          1000000   30000   8.875 1.42    17.75 image thinks
  llama-3.3-70b         groq        meta      llama-3.3-70b-versatile     131072   32768   4.189 4.189    5.609 text
  openai/gpt-oss-120b   openrouter  openai    =                           131072   65536   1.065 0.5325   4.26 text thinks
  hunyuan-turbos-latest hunyuan     hunyuan   =                            32000   16000   0.8   0.8      2    text
  hunyuan-t1-latest     hunyuan     hunyuan   =                            92000   64000   1     1        4    text thinks
  llama-4-maverick      together    meta      meta-llama/Llama-4-Maverick 524288   32768   1.917 1.917    6.035 image
  openai/gpt-oss-20b    fireworks   openai    accounts/fireworks/models/gpt-oss-20b 131072 32768 0.497 0.497 2.13 text thinks
  sonar                 perplexity  perplexity =                          128000    8192   7.1   7.1      7.1  image -tools
  sonar-reasoning-pro   perplexity  perplexity =                          128000    8192  14.2  14.2     56.8  image thinks -tools
  qwen-3-235b-thinking  cerebras    qwen      qwen-3-235b-a22b-thinking-2507 131072 65536  4.26  4.26     8.52 text thinks
  DeepSeek-R1           huggingface deepseek  deepseek-ai/DeepSeek-R1     131072   32768   3.905 3.905   15.3  text thinks
  Qwen3-VL-32B          siliconflow qwen      Qwen/Qwen3-VL-32B-Instruct  262144   32768   1     1        4    image
  gemma3                ollama      google    =                           131072    8192   0.1   0.1      0.1  image
  qwen3-8b              vllm        qwen      Qwen/Qwen3-8B               131072    8192   0.1   0.1      0.1  text thinks
  gemma-3-4b            llamacpp    google    gemma-3-4b-it               131072    8192   0.1   0.1      0.1  image
  claude-haiku-4-5      anthropic   anthropic =                           200000   64000   7.1   0.71    35.5  image file thinks
  claude-opus-4-8       anthropic   anthropic =                          1000000  128000  35.5   3.55   177.5  image file thinks
  opus-5.5              anthropic   anthropic claude-opus-5-5            1000000  128000  35.5   3.55   177.5  image file thinks
  bedrock/claude-4.5    bedrock     anthropic us.anthropic.claude-sonnet-4-5-20250929-v1:0 200000 64000 21.3 2.13 106.5 image file thinks
  nova-lite             bedrock     amazon    us.amazon.nova-lite-v1:0    300000   10000   0.426 0.1065   1.704 image
  nova-2-lite           bedrock     amazon    us.amazon.nova-2-lite-v1:0 1000000   65536   2.13  0.5325  17.75 image thinks
  llama-4-scout         bedrock     meta      us.meta.llama4-scout-17b-instruct-v1:0 3500000 8192 1.207 1.207 4.686 image
  gemini-2.5-flash      gemini      google    =                          1048576   65536   2.13  0.213   17.75 image file thinks
  gemini-3.1-pro        gemini      google    gemini-3.1-pro-preview     1048576   65536  14.2   1.42    85.2  image file thinks
  gemini-2.5-pro        vertex      google    =                          1048576   65536   8.875 0.8875  71    image file thinks
  gemini-3-flash        vertex      google    gemini-3-flash-preview     1048576   65536   3.55  0.355   21.3  image file thinks
  vertex/claude-4.5     vertex      anthropic claude-sonnet-4-5@20250929  200000   64000  21.3   2.13   106.5  image file thinks
  command-a             cohere      cohere    command-a-03-2025           256000    8000  17.75 17.75    71    text
  command-a-plus        cohere      cohere    command-a-plus-05-2026      256000   32000  17.75 17.75    71    image thinks
`;

const skills = ['image', 'file', 'tools', 'schema', 'thinks', 'sums-up'] as const;
const usual: readonly Skill[] = ['tools', 'schema'];

export const models: readonly SimModel[] = readTable(table, (columns) => {
  const [context = 0, outputMax = 0, input = 0, cached = 0, output = 0] = columns
    .slice(0, 5)
    .map(Number);
  const words = new Set(columns.slice(5));
  return {
    context,
    outputMax,
    prices: [input, cached, output] as const,
    skills: new Set(
      skills.filter(
        (skill) => words.has(skill) || (usual.includes(skill) && !words.has(`-${skill}`)),
      ),
    ),
  };
});

/** The vendor's own names of its models. */
export const upstreamModels = (vendor: string): readonly string[] =>
  models.filter((model) => model.vendor === vendor).map(({ upstream }) => upstream);

/** The scenarios worth a try by hand; README.md lists all. */
export const demoScenarios: readonly string[] = [
  'sim-chat',
  'sim-fast',
  'sim-echo',
  'sim-think',
  'sim-slow',
  'sim-slow-200ms',
  'sim-long-2000',
  'sim-silent-20',
  'sim-429',
  'sim-429-once',
  'sim-500',
  'sim-500-once',
  'sim-503',
  'sim-401',
  'sim-402',
  'sim-context',
  'sim-policy',
  'sim-filtered',
  'sim-hang',
  'sim-hang-after-3',
  'sim-cut-after-3',
  'sim-reset-after-3',
  'sim-half-event',
  'sim-error-in-stream',
  'sim-html-error',
  'sim-html-200',
  'sim-bad-json',
  'sim-no-usage',
  'sim-empty',
];

/**
 * The YAML text of a gateway configuration whose every vendor is the simulator at `simUrl`. With
 * `scenarios`, each model also exists with each of them, as `model+sim-…`, in its own channel.
 * `faults`: the scenarios for a try by hand are models of their own, too.
 */
export function simConfig(
  simUrl: string,
  scenarios: readonly string[] = [],
  faults = true,
): string {
  const played = models.flatMap((model) =>
    scenarios.map((scenario) => ({
      ...model,
      id: `${model.id}+${scenario}`,
      upstream: `${model.upstream}+${scenario}`,
    })),
  );
  const target = (vendor: string, key = keyOf(vendor)): ChannelTarget => ({
    vendor,
    baseUrl: simUrl + prefixOf(vendor),
    key,
  });
  const withBearer = (vendor: string): ChannelTarget => target(vendor, `sk-sim-${vendor}`);
  return [
    'settings: { default_models: { image: [gpt-image-1], video: [sora-2] } }',
    'groups:',
    '  - { name: default, price_multiplier: 1.0 }',
    'models:',
    ...[...models, ...played].map(chatModelLine),
    ...(faults ? demoScenarios : []).map((id) =>
      modelLine(
        { id, ownedBy: 'simulator' },
        'chat',
        'context: 128000, max_output: 16384',
        'input: 1, output: 2',
      ),
    ),
    ...vectorModelLines(),
    ...imageModelLines(),
    ...soundModelLines(),
    ...ownImageModelLines(),
    ...videoModelLines(),
    'channels:',
    ...channelLines(models, '', target),
    ...played.map((model) => channelLine(model.id, target(model.vendor), [model])),
    ...channelLines(vectorModels, '-vectors', withBearer),
    ...channelLines(imageModels, '-images', withBearer),
    ...channelLines(soundModels, '-sound', withBearer),
    ...channelLines(ownImageModels, '-own-images', target),
    ...videoChannelLines(target),
    ...(faults ? scenarioChannels(target) : []),
    '',
  ].join('\n');
}

function chatModelLine(model: SimModel): string {
  const { context, outputMax, skills: can } = model;
  const [input, cached, output] = model.prices;
  const modalities = `{ in: [text${can.has('image') ? ', image' : ''}${can.has('file') ? ', file' : ''}], out: [text] }`;
  return modelLine(
    model,
    'chat',
    `context: ${context}, max_output: ${outputMax}, modalities: ${modalities}`,
    `input: ${input}, cached_input: ${cached}, output: ${output}`,
  );
}

/**
 * Each scenario has its own channel, so that one that parks its channel does not affect the others;
 * scenarios that fail once have a second channel for the retry.
 */
function scenarioChannels(target: (vendor: string, key: string) => ChannelTarget): string[] {
  return demoScenarios.flatMap((id) =>
    (id.endsWith('-once') ? ['openai', 'deepseek'] : ['openai']).map((vendor) =>
      channelLine(`${id}-${vendor}`, target(vendor, 'sk-sim'), [{ id, upstream: id }]),
    ),
  );
}

function keyOf(vendor: string): string {
  return (
    [...ownFormats, ...videosAlone].find((format) => format.vendor === vendor)?.key ??
    `sk-sim-${vendor}`
  );
}

function prefixOf(vendor: string): string {
  return (
    [...vendors, ...ownFormats, ...videosAlone, ...soundAlone, ...imagesAlone].find(
      (dialect) => dialect.vendor === vendor,
    )?.prefix ?? ''
  );
}

import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  blind,
  type Client,
  type Feature,
  features,
  type Outcome,
  type Packages,
  type Session,
} from './client.ts';

const timeoutMs = 600_000;
const here = (folder: string) => fileURLToPath(new URL(folder, import.meta.url));

/**
 * Libraries: each has a script that tries every feature on every model, and prints one line of JSON
 * for each try.
 */
export const libraries: readonly Client[] = [
  python('litellm', 'LiteLLM', { 'litellm[mcp]': '1.106.2' }),
  python('instructor', 'Instructor', {
    instructor: '1.17.0',
    openai: '3.3.0',
    anthropic: '2.12.0',
  }),
  python('pydantic-ai', 'pydantic-ai', { 'pydantic-ai-slim[openai,anthropic]': '2.68.0' }),
  python('langchain', 'LangChain (Python)', {
    langchain: '1.4.7',
    'langchain-openai': '1.7.3',
    'langchain-anthropic': '1.7.7',
    'langchain-google-genai': '4.4.3',
  }),
  python('google-genai', 'google-genai (Python)', { 'google-genai': '3.6.1' }),
  python('anthropic-old', 'Anthropic’s SDK (Python) of 2025', { anthropic: '0.49.0' }),
  javascript('ai-sdk', 'AI SDK', {
    ai: '7.0.173',
    '@ai-sdk/openai': '4.0.118',
    '@ai-sdk/openai-compatible': '3.0.92',
    '@ai-sdk/anthropic': '4.0.105',
    '@ai-sdk/google': '4.0.121',
    zod: '4.6.7',
  }),
  javascript('langchain-js', 'LangChain (JavaScript)', {
    langchain: '1.5.14',
    '@langchain/core': '1.4.0',
    '@langchain/openai': '1.6.0',
    '@langchain/anthropic': '1.5.11',
    '@langchain/google-genai': '2.3.2',
    zod: '4.6.7',
  }),
  javascript('google-genai-js', 'google-genai (JavaScript)', {
    '@google/genai': '3.3.0',
    zod: '4.6.7',
  }),
  javascript('anthropic-old-js', 'Anthropic’s SDK (JavaScript) of 2025', {
    '@anthropic-ai/sdk': '0.39.0',
    zod: '4.6.7',
  }),
];

function python(id: string, title: string, packages: Packages['packages']): Client {
  return {
    id,
    title,
    version: Object.values(packages)[0] ?? '',
    needs: { registry: 'pypi', packages },
    play: (session) =>
      script(
        session,
        join(session.installed, 'venv/bin/python'),
        [join(here('python'), `${id}-client.py`)],
        {
          // Python's compiled files stay with the packages, not beside our scripts.
          PYTHONPYCACHEPREFIX: join(session.installed, 'compiled'),
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
          LANGSMITH_TRACING: 'false',
        },
      ),
  };
}

function javascript(id: string, title: string, packages: Packages['packages']): Client {
  return {
    id,
    title,
    version: Object.values(packages)[0] ?? '',
    needs: { registry: 'npm', packages },
    play(session) {
      // Node resolves packages from the script's folder.
      for (const name of readdirSync(here('javascript')))
        copyFileSync(join(here('javascript'), name), join(session.installed, name));
      const file = join(session.installed, `${id.replace('-js', '')}-client.mjs`);
      return script(session, session.node, [file], {
        LANGSMITH_TRACING: 'false',
        AI_SDK_LOG_WARNINGS: 'false',
      });
    },
  };
}

async function script(
  { run, url, key, models }: Session,
  command: string,
  args: readonly string[],
  quiet: Readonly<Record<string, string>>,
): Promise<readonly Outcome[]> {
  const env = {
    TOLLGATE_URL: url,
    TOLLGATE_API_KEY: key,
    MODELS: models.join(','),
    BLIND: [...blind].join(','),
    ...quiet,
  };
  const ended = await run(command, args, { env, timeoutMs });
  const outcomes = ended.stdout
    .split('\n')
    .flatMap((line) => (line.startsWith('{"door"') ? [readOutcome(line)] : []));
  if (ended.code === 0 && outcomes.length > 0) return outcomes;
  const error = `the script ended with ${ended.code ?? 'its time'}: ${ended.output.trim().slice(-800)}`;
  const asked = new Set(outcomes.map(({ model }) => model));
  const unasked = models.filter((model) => !asked.has(model));
  return [
    ...outcomes,
    ...(unasked.length > 0 ? unasked : models).map((model) => ({
      door: '-',
      feature: features[0],
      model,
      error,
    })),
  ];
}

function readOutcome(line: string): Outcome {
  const { door, feature, model, error } = JSON.parse(line);
  return {
    door: String(door),
    feature: featureNamed(feature),
    model: String(model),
    error: error === null ? undefined : String(error),
  };
}

function featureNamed(name: unknown): Feature {
  const feature = features.find((one) => one === name);
  if (feature === undefined) throw new Error(`a script told of a feature called ${String(name)}`);
  return feature;
}

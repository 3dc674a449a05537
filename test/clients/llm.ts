import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachModel, type OneModel } from './agent.ts';
import { type Client, isPerson, problemOf, secondTurnWords } from './client.ts';

const weather = '21 degrees and clear';
const tool = `def get_weather(city: str) -> str:\n    "The weather of a city"\n    return "${weather}" if city == "Paris" else "unknown"\n`;

/** `llm` over chat: a Python function as a tool, a continued conversation, an answer by schema. */
export const llm: Client = {
  id: 'llm',
  title: 'llm',
  version: '0.36',
  needs: { registry: 'pypi', packages: { llm: '0.36' } },
  play: (session) =>
    eachModel(session, 'chat', (one) => ({
      async tools() {
        const ended = await ask(one, ['--functions', tool, 'What is the weather in Paris?']);
        return problemOf(ended, ended.stdout.includes(weather), 'no weather');
      },
      async 'second turn'() {
        await ask(one, ['My name is Ada.']);
        const ended = await ask(one, ['--continue', 'What is my name?']);
        return problemOf(ended, secondTurnWords.test(ended.stdout), 'no second answer');
      },
      async schema() {
        const ended = await ask(one, [
          '--schema',
          'name, age int',
          'We met Ada, who is 36 years old.',
        ]);
        return problemOf(ended, isPerson(ended.stdout) && /Ada/.test(ended.stdout), 'not Ada, 36');
      },
    })),
};

function ask({ run, installed, scratch, url, key, model }: OneModel, args: readonly string[]) {
  const folder = join(scratch, 'llm');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'extra-openai-models.yaml'),
    `[${JSON.stringify(configuration(url, model))}]`,
  );
  writeFileSync(join(folder, 'keys.json'), JSON.stringify({ tollgate: key }));
  return run(join(installed, 'venv/bin/llm'), ['-m', model, ...args], {
    env: { LLM_USER_PATH: folder },
  });
}

const configuration = (url: string, model: string) => ({
  model_id: model,
  model_name: model,
  api_base: `${url}/v1`,
  api_key_name: 'tollgate',
  supports_tools: true,
  supports_schema: true,
});

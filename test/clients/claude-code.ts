import { join } from 'node:path';
import { eachModel, fileWith, type OneModel } from './agent.ts';
import { type Client, isPerson, problemOf, secondTurnWords, toolTask } from './client.ts';

const task = toolTask('Bash', {
  command: 'echo made by claude code > claude.txt',
  description: 'Makes a file',
});
const schema = JSON.stringify({
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
});

/**
 * Claude Code over Messages: `claude -p`, its own shell tool, a continued session, an answer by
 * schema.
 */
export const claudeCode: Client = {
  id: 'claude-code',
  title: 'Claude Code',
  version: '2.1.330',
  needs: { registry: 'npm', packages: { '@anthropic-ai/claude-code': '2.1.330' } },
  play: (session) =>
    eachModel(session, 'messages', (one) => ({
      async tools() {
        const ended = await claude(one, [], task);
        return problemOf(
          ended,
          fileWith(one, 'claude.txt', 'made by claude code'),
          'no claude.txt',
        );
      },
      async 'second turn'() {
        const ended = await claude(one, ['--continue'], 'And what is in that file?');
        return problemOf(ended, secondTurnWords.test(ended.stdout), 'no second answer');
      },
      async schema() {
        const ended = await claude(
          one,
          ['--json-schema', schema],
          'We met Ada, who is 36 years old.',
        );
        return problemOf(ended, isPerson(structured(ended.stdout)), 'no answer by the schema');
      },
    })),
};

/** The answer's member `structured_output`, as JSON; an empty text when there is none. */
function structured(stdout: string): string {
  const line = stdout
    .split('\n')
    .find((each) => each.startsWith('{"') && each.includes('"structured_output"'));
  return line === undefined ? '' : JSON.stringify(JSON.parse(line).structured_output);
}

function claude(
  { run, installed, url, key, model }: OneModel,
  args: readonly string[],
  prompt: string,
) {
  const platform = `${process.platform}-${process.arch}`;
  const program = join(installed, `node_modules/@anthropic-ai/claude-code-${platform}/claude`);
  return run(
    program,
    ['-p', '--output-format', 'json', '--dangerously-skip-permissions', ...args],
    {
      input: prompt,
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
        // As root it refuses to skip permissions without this variable, which says that it is in a
        // sandbox.
        IS_SANDBOX: '1',
      },
    },
  );
}

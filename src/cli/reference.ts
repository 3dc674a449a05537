import type { Command, Option } from 'commander';
import { commandExamples } from './examples.ts';
import { leaves, nameOf, sentence } from './help.ts';

/** The page of all commands, in Markdown: the text of `--help` in one place. */
export function cliReference(program: Command): string {
  const commands = leaves(program);
  return `${introduction}\n${commands.map(entry).join('\n')}`;
}

const introduction = `# Commands

In a checkout, run \`node bin/tollgate.js <command>\`; with the package installed, \`tollgate <command>\`. Each command has
\`--help\` with examples. With \`--json\`, a command prints one JSON value on standard output and errors on standard error; the
exit code is 0 or 1. Settings without an option are [environment variables](environment.md). \`npm run docs\` writes this
page from the program's own definitions.
`;

function entry(command: Command): string {
  const places = command.registeredArguments.map((argument) =>
    argument.required ? ` \`<${argument.name()}>\`` : ` \`[${argument.name()}]\``,
  );
  const rows = command.options.map((option) => `| \`${option.flags}\` | ${cell(option)} |`);
  const table = rows.length === 0 ? '' : `\n| option | meaning |\n|---|---|\n${rows.join('\n')}\n`;
  const lines = commandExamples[nameOf(command)] ?? [];
  const shown = lines.length === 0 ? '' : `\n\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;
  return `## ${nameOf(command)}${places.join('')}\n\n${sentence(command.description())}\n${table}${shown}`;
}

function cell({ description, mandatory, envVar, defaultValue, argChoices }: Option): string {
  const facts = [
    description,
    argChoices === undefined ? '' : argChoices.map((choice) => `\`${choice}\``).join(', '),
    mandatory ? 'required' : '',
    (typeof defaultValue === 'string' && defaultValue !== '') || typeof defaultValue === 'number'
      ? `default \`${defaultValue}\``
      : '',
    envVar === undefined ? '' : `variable \`${envVar}\``,
  ];
  return facts
    .filter((fact) => fact !== '')
    .join('; ')
    .replaceAll('|', '\\|');
}

import type { Command } from 'commander';
import { commandExamples } from './examples.ts';
import { asTyped } from './command-word.ts';
import { paint } from './terminal.ts';

/** Commands that can be run; groups of commands are left out. */
export function leaves(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

/** A command's name without the program's, the prefix of all of them: `user create`. */
export function nameOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null
    ? command.name()
    : `${nameOf(parent)} ${command.name()}`;
}

export const sentence = (text: string): string =>
  text === '' || text.endsWith('.') ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/**
 * Gives the help of every command its sentence, its style and its examples. Commander takes the
 * style away where nobody would see it.
 */
export function dressHelp(program: Command): void {
  const dress = (command: Command): void => {
    command.configureHelp({
      commandDescription: (one) => sentence(one.description()),
      styleTitle: (text) => paint('bold', text),
      styleCommandText: (text) => paint('bold', text),
      styleSubcommandText: (text) => paint('cyan', text),
      styleOptionText: (text) => paint('cyan', text),
      styleArgumentText: (text) => paint('cyan', text),
    });
    command.commands.forEach(dress);
  };
  dress(program);
  for (const command of leaves(program)) {
    const lines = (commandExamples[nameOf(command)] ?? []).map((line) => `  ${asTyped(line)}`);
    if (lines.length > 0)
      command.addHelpText('after', () =>
        ['', paint('bold', lines.length === 1 ? 'Example:' : 'Examples:'), ...lines].join('\n'),
      );
  }
  program.addHelpText(
    'after',
    asTyped(
      "\nTry it: 'tollgate start'. Set up an installation: 'tollgate init'.\nEach command has --help with examples.",
    ),
  );
}

import { type Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A command by its path: ` user create`; the program's own is empty. */
interface CommandEntry {
  readonly path: string;
  readonly commands: readonly Command[];
  readonly options: readonly Option[];
}

function entriesOf(command: Command, path = ''): readonly CommandEntry[] {
  const { commands } = command;
  const options = [...command.options, new Option('--help', 'what it does, with examples')];
  return [
    { path, commands, options },
    ...commands.flatMap((one) => entriesOf(one, `${path} ${one.name()}`)),
  ];
}

/** A script by which a shell completes the program's commands, their options and the choices. */
export function completionScript(shell: Shell, program: Command): string {
  const entries = entriesOf(program);
  return { bash, zsh, fish }[shell](entries);
}

/** In single quotes, for every shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;

const takesValue = (option: Option): boolean => option.required || option.optional;

/** Patterns of a `case` that match the paths of commands. */
const commandPaths = (entries: readonly CommandEntry[]): string =>
  entries
    .filter(({ path }) => path !== '')
    .map(({ path }) => `"${path}"`)
    .join('|');

/** The options of all commands that take a value: file names are offered for it. */
const valueOptions = (entries: readonly CommandEntry[]): string =>
  [
    ...new Set(
      entries.flatMap(({ options }) => options.filter(takesValue).map(({ long }) => long ?? '')),
    ),
  ].join('|');

/** Lines of a `case` for options whose values are known. */
const choiceCases = (
  entries: readonly CommandEntry[],
  line: (choices: readonly string[]) => string,
): string =>
  entries
    .flatMap(({ path, options }) =>
      options.flatMap(({ long, argChoices }) =>
        argChoices === undefined ? [] : [`    "${path} ${long}") ${line(argChoices)} ;;`],
      ),
    )
    .join('\n');

function bash(entries: readonly CommandEntry[]): string {
  const words = entries.map(({ path, commands, options }) => {
    const names = [...commands.map((one) => one.name()), ...options.map(({ long }) => long)];
    return `    "${path}") words="${names.join(' ')}" ;;`;
  });
  return `# bash completion of tollgate: source <(tollgate completion bash)
_tollgate() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
    ${commandPaths(entries)}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $before" in
${choiceCases(entries, (choices) => `words="${choices.join(' ')}"`)}
  esac
  if [ -z "$words" ]; then
    case "$before" in
    ${valueOptions(entries)}) COMPREPLY=(); return ;;
    esac
    case "$at" in
${words.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _tollgate tollgate
`;
}

function zsh(entries: readonly CommandEntry[]): string {
  const described = (name: string, text: string): string =>
    quoted(`${name.replaceAll(':', '\\:')}:${text}`);
  const lists = entries.map(({ path, commands, options }) => {
    const all = [
      ...commands.map((one) => described(one.name(), one.description())),
      ...options.map(({ long, description }) => described(long ?? '', description)),
    ];
    return `    "${path}") list=(${all.join(' ')}) ;;`;
  });
  return `#compdef tollgate
# zsh completion of tollgate: source <(tollgate completion zsh)
_tollgate() {
  local at="" i
  local -a list
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
    ${commandPaths(entries)}) at="$at \${words[i]}" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${choiceCases(entries, (choices) => `compadd -- ${choices.join(' ')}; return`)}
  esac
  case "\${words[CURRENT-1]}" in
    ${valueOptions(entries)}) _files; return ;;
  esac
  case "$at" in
${lists.join('\n')}
  esac
  _describe 'command or option' list || _files
}
if [ "\${funcstack[1]}" = "_tollgate" ]; then
  _tollgate "$@"
else
  compdef _tollgate tollgate
fi
`;
}

function fish(entries: readonly CommandEntry[]): string {
  const line = (path: string, rest: string): string =>
    `complete -c tollgate -n ${quoted(`__tollgate_at "${path}"`)} ${rest}`;
  const lines = entries.flatMap(({ path, commands, options }) => [
    ...commands.map((one) => line(path, `-f -a ${one.name()} -d ${quoted(one.description())}`)),
    ...options.map((option) => {
      const choices = option.argChoices?.join(' ');
      const value = choices === undefined ? ' -r' : ` -x -a ${quoted(choices)}`;
      const name = (option.long ?? '').replace('--', '-l ');
      return line(
        path,
        `${name}${takesValue(option) ? value : ''} -d ${quoted(option.description)}`,
      );
    }),
  ]);
  const paths = entries.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`]));
  return `# fish completion of tollgate: tollgate completion fish | source
function __tollgate_at
  set -l at ""
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${paths.join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

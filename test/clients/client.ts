import type { Ended, Run } from './program.ts';

export const features = [
  'set-up',
  'tools',
  'second turn',
  'schema',
  'pictures',
  'streams',
  'files',
  'errors',
  'models',
  'counts',
  'vectors',
] as const;
export type Feature = (typeof features)[number];

/** The models of `npm run clients` that see no pictures: a client is refused one. */
export const blind: ReadonlySet<string> = new Set(['deepseek-chat', 'llama-3.3-70b']);

/** One try: a feature, in one of the client's formats, on one model. */
export interface Outcome {
  readonly door: string;
  readonly feature: Feature;
  readonly model: string;
  /** The error; undefined when the try succeeded. */
  readonly error: string | undefined;
}

/** Packages of one registry, each with its exact version. */
export interface Packages {
  readonly registry: 'npm' | 'pypi';
  readonly packages: Readonly<Record<string, string>>;
}

/** The gateway's address for a client, and the client's folders. */
export interface Session {
  /** The gateway's address, without `/v1`. */
  readonly url: string;
  readonly key: string;
  readonly models: readonly string[];
  /** The folder that its packages were installed into. */
  readonly installed: string;
  /** A temporary folder: the client's home and working folder. */
  readonly scratch: string;
  /** A Node that the newest JavaScript packages support. */
  readonly node: string;
  /** Runs a program in `scratch`, with its home there, for a bounded time. */
  readonly run: Run;
}

/** A program or library that its users point at the gateway by base address and key. */
export interface Client {
  /** Its name for `--only`. */
  readonly id: string;
  readonly title: string;
  readonly version: string;
  readonly needs: Packages;
  play(session: Session): Promise<readonly Outcome[]>;
}

/**
 * A whole tool loop as a script for the simulator: a command that makes a file, then the answer.
 */
export function toolTask(tool: string, call: Readonly<Record<string, unknown>>): string {
  return `Call the tool ${tool} with <<<${JSON.stringify(call)}>>>. When it has answered, say <<<The file is there.>>>`;
}

/**
 * A text that the simulator writes in the second turn of a conversation, and never in the first.
 */
export const secondTurnWords = /turn \d+ of our conversation/;

/** The failure of a program; undefined when it exited with 0 and `done` is true. */
export function problemOf(ended: Ended, done: boolean, wanted: string): string | undefined {
  if (ended.code !== 0)
    return `${ended.code === undefined ? 'no end in time' : `exit code ${ended.code}`}: ${tail(ended.output)}`;
  return done ? undefined : `${wanted}; it said: ${tail(ended.output)}`;
}

/**
 * Whether a text is a person, as JSON. Coding agents send long prompts of their own, in which the
 * simulator may find other names than Ada.
 */
export function isPerson(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  const { name, age } = JSON.parse(text);
  return typeof name === 'string' && Number.isInteger(age);
}

function tail(output: string): string {
  return output.trim().slice(-600);
}

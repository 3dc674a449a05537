import type { Ended, Run } from './program.ts';

export const features = ['tools', 'second turn', 'schema'] as const;
export type Feature = (typeof features)[number];

/** One try: a feature, in one of the formats that the client speaks, on one model. */
export interface Outcome {
  readonly door: string;
  readonly feature: Feature;
  readonly model: string;
  /** What went wrong; undefined when it did what was asked of it. */
  readonly error: string | undefined;
}

/** Packages of one registry, each with its exact version. */
export interface Packages {
  readonly registry: 'npm' | 'pypi';
  readonly packages: Readonly<Record<string, string>>;
}

/** Where a client finds the gateway, and where it may write. */
export interface Session {
  /** The gateway's address, without `/v1`. */
  readonly url: string;
  readonly key: string;
  readonly models: readonly string[];
  /** The folder that its packages were installed into. */
  readonly installed: string;
  /** A folder that goes away: its home, and where it works. */
  readonly scratch: string;
  /** A Node that the newest JavaScript packages start on. */
  readonly node: string;
  /** Runs a program in `scratch`, with its home there, for a bounded time. */
  readonly run: Run;
}

/** A program or library that its users point at the gateway by base address and key. */
export interface Client {
  /** What `--only` calls it. */
  readonly id: string;
  readonly title: string;
  readonly version: string;
  readonly needs: Packages;
  play(session: Session): Promise<readonly Outcome[]>;
}

/**
 * The whole of a tool loop, dictated to the simulator: a command that makes a file, then the
 * answer.
 */
export function toolTask(tool: string, call: Readonly<Record<string, unknown>>): string {
  return `Call the tool ${tool} with <<<${JSON.stringify(call)}>>>. When it has answered, say <<<The file is there.>>>`;
}

/** What the simulator says in the second turn of a conversation, and never in the first. */
export const secondTurnWords = /turn \d+ of our conversation/;

/** Why a program that should have ended well did not; undefined when it did and `done` agrees. */
export function problemOf(ended: Ended, done: boolean, wanted: string): string | undefined {
  if (ended.code !== 0)
    return `${ended.code === undefined ? 'no end in time' : `exit code ${ended.code}`}: ${tail(ended.output)}`;
  return done ? undefined : `${wanted}; it said: ${tail(ended.output)}`;
}

/**
 * Whether a text is a person, as JSON. Coding agents say much before our prompt, so that the
 * simulator finds other names there than Ada.
 */
export function isPerson(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  const { name, age } = JSON.parse(text);
  return typeof name === 'string' && Number.isInteger(age);
}

function tail(output: string): string {
  return output.trim().slice(-600);
}

import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { features, type Feature, type Outcome, type Session } from './client.ts';

/** A session with one model, in its own folder. */
export interface OneModel extends Session {
  readonly model: string;
  /** The folder of the agent's own state: the same for all models. */
  readonly home: string;
}

/** The agent's try of each feature that it has: returns the error, or nothing. */
export type Tries = Readonly<Partial<Record<Feature, () => Promise<string | undefined>>>>;

/**
 * Runs a coding agent, a program, with each model: each has its own folder, in which the features
 * are tried one after the other.
 */
export async function eachModel(
  session: Session,
  door: string,
  tries: (one: OneModel) => Tries,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const model of session.models) {
    mkdirSync(session.scratch, { recursive: true });
    const scratch = mkdtempSync(join(session.scratch, 'work-'));
    const one: OneModel = {
      ...session,
      model,
      scratch,
      home: session.scratch,
      run: (command, args, options) => session.run(command, args, { ...options, folder: scratch }),
    };
    const all = tries(one);
    for (const feature of features) {
      const attempt = all[feature];
      if (attempt !== undefined)
        outcomes.push({ door, feature, model, error: await attempt().catch(String) });
    }
  }
  return outcomes;
}

/** Whether the agent made the file. */
export function fileWith({ scratch }: OneModel, name: string, words: string): boolean {
  const file = join(scratch, name);
  return existsSync(file) && readFileSync(file, 'utf8').includes(words);
}

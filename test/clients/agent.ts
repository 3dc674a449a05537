import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { features, type Feature, type Outcome, type Session } from './client.ts';

/** A session with one model, in a folder of its own. */
export interface OneModel extends Session {
  readonly model: string;
  /** Where it keeps what it remembers: the same for all models. */
  readonly home: string;
}

/** What a coding agent does for each feature that it has: says what went wrong, or nothing. */
export type Tries = Readonly<Partial<Record<Feature, () => Promise<string | undefined>>>>;

/**
 * Coding agents are programs: each model has its own folder, in which the features are tried one
 * after the other.
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

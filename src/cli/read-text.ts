import { existsSync, readFileSync, statSync } from 'node:fs';
import { Failure } from './output.ts';

/** A file that the command names. */
export function readText(file: string): string {
  if (!existsSync(file)) throw new Failure(`there is no file ${file}`);
  if (statSync(file).isDirectory()) throw new Failure(`${file} is a folder, and no file`);
  return readFileSync(file, 'utf8');
}

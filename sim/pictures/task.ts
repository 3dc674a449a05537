import { newTask, type SimTask, taskOf, withdraw } from '../video/task.ts';
import type { Wish } from './desk.ts';

/**
 * Pictures are tasks as films are, with names of their own: how many there are to be stands where a
 * film's length does.
 */
export const newPainting = ({ n, ...wish }: Wish): string =>
  `p-${newTask({ ...wish, seconds: n }).slice(2)}`;

export function paintingOf(id: string): SimTask | undefined {
  const task = id.startsWith('p-') ? taskOf(`t-${id.slice(2)}`) : undefined;
  return task && { ...task, id };
}

/** Stops what has not ended; false when it is too late, or there is no such task. */
export function stopPainting(id: string): boolean {
  const task = id.startsWith('p-') ? taskOf(`t-${id.slice(2)}`) : undefined;
  return task !== undefined && withdraw(task);
}

/** What is made while its client waits. */
export function atOnce(wish: Wish): SimTask {
  const id = newPainting(wish);
  const task = paintingOf(id);
  if (task === undefined) throw new Error('a name tells its task');
  return task;
}

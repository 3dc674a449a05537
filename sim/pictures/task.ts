import { newTask, type SimTask, taskOf, withdraw } from '../video/task.ts';
import type { ImageRequest } from './desk.ts';

/**
 * Image tasks are video tasks with other ids; the number of images takes the place of the video's
 * length.
 */
export const newPainting = ({ n, ...request }: ImageRequest): string =>
  `p-${newTask({ ...request, seconds: n }).slice(2)}`;

export function paintingOf(id: string): SimTask | undefined {
  const task = id.startsWith('p-') ? taskOf(`t-${id.slice(2)}`) : undefined;
  return task && { ...task, id };
}

/** Cancels a running task; false when it is too late, or there is no such task. */
export function stopPainting(id: string): boolean {
  const task = id.startsWith('p-') ? taskOf(`t-${id.slice(2)}`) : undefined;
  return task !== undefined && withdraw(task);
}

/** A task for a client that waits for its end. */
export function atOnce(request: ImageRequest): SimTask {
  const id = newPainting(request);
  const task = paintingOf(id);
  if (task === undefined) throw new Error('a name tells its task');
  return task;
}

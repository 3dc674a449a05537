import { newTask, type SimTask, taskOf, withdraw } from '../video/task.ts';
import type { ImageRequest } from './handler.ts';

/**
 * Image tasks are video tasks with other ids; the number of images takes the place of the video's
 * length.
 */
export const newImageTask = ({ n, ...request }: ImageRequest): string =>
  `p-${newTask({ ...request, seconds: n }).slice(2)}`;

const videoTaskOf = (id: string): SimTask | undefined =>
  id.startsWith('p-') ? taskOf(`t-${id.slice(2)}`) : undefined;

export function imageTaskOf(id: string): SimTask | undefined {
  const task = videoTaskOf(id);
  return task && { ...task, id };
}

/** Cancels a running task; false when it is too late, or there is no such task. */
export function cancelImageTask(id: string): boolean {
  const task = videoTaskOf(id);
  return task !== undefined && withdraw(task);
}

/** A task for a client that waits for its end. */
export function taskFor(request: ImageRequest): SimTask {
  const id = newImageTask(request);
  const task = imageTaskOf(id);
  if (task === undefined) throw new Error('the id encodes no task');
  return task;
}

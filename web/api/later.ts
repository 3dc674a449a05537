import { type ReactNode, createElement, use } from 'react';
import { probe, serverIsBack } from './reach.ts';

/** A script that the server no longer has: an update of the console removed it. */
export class FileGone extends Error {}

/**
 * Imports a file of the console. While the server cannot be reached it waits, so that the page that
 * is there stays. Throws `FileGone` when the server answers and does not have the file.
 */
export async function loadFile<File>(load: () => Promise<File>): Promise<File> {
  for (let failures = 1; ; failures++) {
    try {
      return await load();
    } catch (error) {
      if (!(await probe())) await serverIsBack();
      else if (failures > 1) throw await explained(error);
    }
  }
}

/** Some browsers remember that a file could not be fetched: a reload fetches it. */
async function explained(error: unknown): Promise<unknown> {
  const address = /imported module: (https?:\S+)/.exec(String(error))?.[1];
  if (address === undefined) return error;
  if ((await fetch(address, { method: 'HEAD' })).ok) location.reload();
  return new FileGone(String(error));
}

type Component<Props> = (props: Props) => ReactNode;

/** A component whose file is loaded when it is drawn, or by `load` before. */
export type Later<Props> = Component<Props> & { readonly load: () => Promise<unknown> };

export function later<File, Props extends object>(
  file: () => Promise<File>,
  pick: (file: File) => Component<Props>,
): Later<Props> {
  let loaded: Component<Props> | undefined;
  let loading: Promise<Component<Props>> | undefined;
  const load = () => {
    loading ??= loadFile(file).then((whole) => {
      loaded = pick(whole);
      return loaded;
    });
    return loading;
  };
  return Object.assign((props: Props) => createElement(loaded ?? use(load()), props), { load });
}

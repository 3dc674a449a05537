import { type ReactNode, createElement, lazy } from 'react';

type Component<Props> = (props: Props) => ReactNode;

/** A component whose file is loaded when it is drawn, or by `load` before. */
export type Later<Props> = Component<Props> & { readonly load: () => Promise<unknown> };

export function later<File, Props extends object>(
  file: () => Promise<File>,
  pick: (file: File) => Component<Props>,
): Later<Props> {
  const component = lazy(async () => ({ default: pick(await file()) }));
  return Object.assign((props: Props) => createElement(component, props), { load: file });
}

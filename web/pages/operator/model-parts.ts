import type { OperatorModel } from '../../../src/console/contract.ts';
import { refresh } from '../../api/data.ts';
import { operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { pathName } from './parts.tsx';

/** The id may hold `/`: the path of the page keeps it, the address in the API encodes it. */
export const operatorModelPath = (id: string): string =>
  `/operator/models/${id.split('/').map(pathName).join('/')}`;
export const operatorModelAddress = (id: string): string => `operator/models/${pathName(id)}`;
export const refreshModels = (): Promise<void> => refresh('operator/models');

/** `qwen-main (drained)`: a channel of a model or group, and why it takes no requests. */
export function useChannelName(): (of: Pick<OperatorModel, 'not_serving'>, name: string) => string {
  const { notServing } = useWords(operatorWords);
  return ({ not_serving: not }, name) => {
    const why = not[name];
    return why === undefined ? name : notServing.name(name, notServing.states[why]);
  };
}

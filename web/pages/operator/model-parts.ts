import { pathName, refresh } from './parts.tsx';

/** The id may hold `/`: it is encoded as one part of the address. */
export const operatorModelPath = (id: string): string =>
  `/operator/models/${id.split('/').map(pathName).join('/')}`;
export const operatorModelAddress = (id: string): string => `operator/models/${pathName(id)}`;
export const refreshModels = (): Promise<void> => refresh('operator/models');
